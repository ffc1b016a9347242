//! `explain`: the text for people and the JSON for programs.

use super::{Place, json_lines};
use serde_json::json;

fn explain(arguments: &[&str]) -> String {
    let run = Place::new().run(["explain"].iter().chain(arguments)).exits(0);
    assert!(run.err.is_empty(), "{}", run.err);
    // A result is on one line, so that it can be copied.
    let is_whole = |line: &str| line.starts_with("  = ") || line.starts_with('{');
    let fits = |line: &str| line.len() <= 80 || is_whole(line);
    assert!(run.out().lines().all(fits), "{}", run.out());
    run.out().to_owned()
}

#[test]
fn each_rule_shows_what_it_changes() {
    let text = explain(&["-p", "scheme", "HTTP://LocalHost:80/%c3%B6/a/../b"]);
    let (_, scheme) = text.split_once("\nscheme@1\n").expect("a profile");
    assert_eq!(
        scheme,
        "
  triplet-case (RFC 3986 section 6.2.2.1)
  the digits of triplets go to upper case
  - HTTP://LocalHost:80/%c3%B6/a/../b
                        ^^^
  + HTTP://LocalHost:80/%C3%B6/a/../b
                        ^^^

  scheme-case (RFC 3986 section 6.2.2.1)
  the scheme goes to lower case
  - HTTP://LocalHost:80/%C3%B6/a/../b
    ^^^^
  + http://LocalHost:80/%C3%B6/a/../b
    ^^^^

  host-case (RFC 3986 section 6.2.2.1)
  the host goes to lower case
  - http://LocalHost:80/%C3%B6/a/../b
           ^    ^
  + http://localhost:80/%C3%B6/a/../b
           ^    ^

  default-port (RFC 3986 section 6.2.3)
  the port that the scheme means anyway goes
  - http://localhost:80/%C3%B6/a/../b
                    ^^^
  + http://localhost/%C3%B6/a/../b

  dot-segments (RFC 3986 section 6.2.2.3)
  the segments . and .. are resolved
  - http://localhost/%C3%B6/a/../b
                            ^^^^^
  + http://localhost/%C3%B6/b

  = http://localhost/%C3%B6/b
"
    );
    let text = explain(&["http://example.com/"]);
    let shown = "\n\ncrawl@1\n  http://example.com/\n  is in canonical form.\n";
    assert!(text.ends_with(shown), "{text}");
    // Rows of a long URL that do not change are left out.
    let text = explain(&[&format!("http://h/{}%7e{}", "a".repeat(300), "\u{e9}".repeat(300))]);
    assert!(text.contains("  - ...\n") && text.lines().count() < 120, "{text}");
}

#[test]
fn a_rejected_url_has_a_caret_and_a_hint() {
    // Erlang's guide: uri_string:parse("http://cities/\u{f6}rebro?foo bar").
    let text = explain(&["-p", "syntax,scheme", "http://cities/\u{f6}rebro?foo bar"]);
    assert_eq!(
        text,
        "\
components (RFC 3986 appendix B)
  scheme    http
  host      cities
  path      /\\xC3\\xB6rebro
  query     foo bar

syntax@1, scheme@1

  rejected at byte 14
    http://cities/\\xC3\\xB6rebro?foo bar
                  ^^^^
  byte: a byte that the grammar does not allow here.
  Write the byte as a triplet, or use the profile crawl, which does so; a host
  takes neither.
"
    );
}

#[test]
fn hint_names_the_profile_file_for_its_own_check() {
    let rules = "name = 'own'\nversion = 1\nbase = 'crawl'\n[host.h]\nbase = 'servlet'\n";
    let place = Place::with([("own", rules.as_bytes())]);
    let explain = ["explain", "--profile-file", "own", "http://h/a%2Fb", "http://h/%F6"];
    let run = place.run(explain).exits(0);
    for hint in [
        "  allow = [\"encoded-slash\"] in the profile file switches this check off.\n",
        "  Segments are triplets of UTF-8. allow = [\"decode\"] in the profile file lets\n",
    ] {
        assert!(run.out().contains(hint) && !run.out().contains("--allow"), "{}", run.out());
    }
    place.write("own", format!("{rules}allow = ['encoded-slash', 'decode']\n"));
    assert!(!place.run(explain).exits(0).out().contains("rejected"));
}

#[test]
fn components_come_first_and_the_userinfo_is_no_host() {
    let all = "\
components (RFC 3986 appendix B)
  scheme    https
  userinfo  good.example:p
            (no host: the host follows the @)
  host      evil.example
  port      8443
  path      /a
  query     b=c?d
  fragment  e#f

crawl@1
";
    // Absent and empty are different.
    let empty = "  userinfo  (empty)\n            (no host: the host follows the @)\n  host      [::1]\n  \
                 port      (empty)\n  path      (empty)\n  query     (empty)\n  fragment  (empty)\n\n";
    // Each is split as the profile reads the URL.
    for (arguments, shown) in [
        (&["https://good.example:p@evil.example:8443/a?b=c?d#e#f"][..], all),
        (&["http://@[::1]:?#"], empty),
        (&["mailto:a@h"], "  scheme    mailto\n  path      a@h\n\n"),
        (&["-p", "servlet,mediawiki", "//h/x"], "appendix B)\n  path      //h/x\n\n"),
        (&["-p", "servlet,crawl", "//h/x"], "  host      h\n  path      /x\n\n"),
        (
            &["--assume-scheme", "http", "h.example:80/x"],
            "  scheme    http\n  host      h.example\n  port      80\n  path      /x\n\n",
        ),
    ] {
        let text = explain(arguments);
        assert!(text.contains(shown), "{text}");
    }
}

#[test]
fn explain_all_groups_profiles_with_equal_results() {
    let all = ["-p", "all", "http://ex%61mple.com/"];
    let text = explain(&all);
    for shown in
        ["syntax@1, scheme@1, crawl@1, aggressive@2, servlet@1, mediawiki@1", "encoded-unreserved"]
    {
        assert!(text.contains(shown), "{text}");
    }
    // `--allow` applies to the profiles that know the check.
    let allowed = explain(&[&all[..], &["--allow", "encoded-unreserved"]].concat());
    assert!(!allowed.contains("rejected"), "{allowed}");
}

#[test]
fn explain_all_reports_profiles_that_reject_the_redirects() {
    // Only profiles that repair accept `^`.
    let place = Place::with([("moved", b"http://h/^\thttp://h/new\n")]);
    let arguments = ["explain", "-p", "all", "--redirects", "moved", "http://h/%5E"];
    let run = place.run(arguments).exits(0);
    for shown in [
        "\nsyntax@1, scheme@1, sanitize@1\n  \
         cannot be asked: moved: line 1: the first URL is rejected: byte at byte 9: a\n  \
         byte that the grammar does not allow here\n",
        "crawl@1 redirects=1",
        "  = http://h/new\n",
    ] {
        assert!(run.out().contains(shown), "{}", run.out());
    }
    let objects = json_lines(&place.run(arguments.into_iter().chain(["--json"])).exits(0).out);
    let scheme = objects.iter().find(|object| object["profile"] == "scheme@1").expect("one");
    let why = scheme["unusable"].as_str().expect("a reason");
    assert!(why.starts_with("moved: line 1: the first URL is rejected: byte at byte 9"), "{why}");
    // Where every profile refuses it, that is wrong usage.
    let wrong =
        arguments.map(|argument| if argument == "all" { "syntax,scheme" } else { argument });
    let run = place.run(wrong).exits(2);
    assert!(run.err.contains(why) && run.out.is_empty(), "{}", run.err);
    // A bad base is refused in the same way.
    let run = place.run(["explain", "-p", "syntax,crawl", "--base", "http://h/ a", "b"]).exits(0);
    assert!(run.out().contains("syntax@1\n  cannot be asked: --base is rejected"), "{}", run.out());
    assert!(run.out().contains("  = http://h/b\n"), "{}", run.out());
}

#[test]
fn json_output_is_one_object_per_url() {
    let text = explain(&["--json", "-p", "scheme", "HTTP://h", "http://h:x/"]);
    let objects = json_lines(text.as_bytes());
    assert_eq!(
        objects,
        [
            json!({
                "profile": "scheme@1", "url": "HTTP://h", "out": "http://h/",
                "steps": [
                    {"rule": "scheme-case", "source": "RFC 3986 section 6.2.2.1",
                     "before": "HTTP://h", "after": "http://h"},
                    {"rule": "empty-path", "source": "RFC 3986 section 6.2.3",
                     "before": "http://h", "after": "http://h/"},
                ],
            }),
            json!({"profile": "scheme@1", "url": "http://h:x/", "reject": ["port"], "at": 9}),
        ]
    );
}

#[test]
fn explained_key_follows_the_result() {
    let url = "HTTP://h.example/2024/02/29/item12345.html?7&q=x";
    let template = "
  = http://h.example/2024/02/29/item12345.html?7&q=x

  template
    {date}    a date over segments  2024/02/29
    {int}     inside a segment      12345
    {int}     a query name          7
  = http://h.example/{date}/item{int}.html?{int}&q
";
    for (key, url, shown) in [
        ("template", url, template),
        // A canonical URL, without a part.
        (
            "template",
            "http://h.example/v1",
            "  is in canonical form.\n\n  template\n  = http://h.example/v1\n",
        ),
        ("surt", "http://www.h.example/a", "\n  surt\n  = example,h,www)/a\n"),
        ("host", "http://h:8/", "\n  host\n  = h\n"),
        (
            "domain",
            "mailto:a@h",
            "\n  domain: none, the key is made from the host, and the URL has none\n",
        ),
    ] {
        let text = explain(&["--key", key, url]);
        assert!(text.ends_with(shown), "{text}");
    }
}

#[test]
fn json_has_the_key_and_the_parts_of_a_template() {
    let object = |key, url| {
        let text = explain(&["--json", "--key", key, url]);
        json_lines(text.as_bytes()).remove(0)
    };
    let template = object("template", "http://h.example/17");
    assert_eq!(template["template"], "http://h.example/{int}");
    let part = json!({"part": "17", "at": 17, "type": "int", "rule": "a whole segment"});
    assert_eq!(template["parts"], json!([part]));
    assert_eq!(object("surt", "http://h.example/")["surt"], "example,h)/");
    assert_eq!(object("domain", "mailto:a@h")["domain"], json!(null));
}
