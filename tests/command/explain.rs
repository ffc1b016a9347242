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
fn explain_warns_about_a_file_name() {
    let place = Place::with([("a.txt", b"http://h/\n")]);
    let run = place.run(["explain", "a.txt"]).exits(0);
    assert!(run.out().contains("rejected at byte 0"), "{}", run.out());
    let told = "uniqurl: warning: a.txt: explained the name of a file\nhint: ";
    assert!(run.err.starts_with(told), "{}", run.err);
    for arguments in [&["b.txt"][..], &["http://h/a.txt"], &["--base", "http://h/", "a.txt"]] {
        let run = place.run([&["explain"], arguments].concat()).exits(0);
        assert_eq!(run.err, "", "{arguments:?}");
    }
}

#[test]
fn each_rule_shows_what_it_changes() {
    // Erlang's guide: uri_string:normalize("hTTp://LocalHost:80/%c3%B6rebro/a/../b").
    let text = explain(&["-p", "scheme", "hTTp://LocalHost:80/%c3%B6rebro/a/../b"]);
    assert_eq!(
        text,
        "\
components (RFC 3986 appendix B)
  scheme    hTTp
  host      LocalHost
  port      80
  path      /%c3%B6rebro/a/../b

scheme@1

  triplet-case (RFC 3986 section 6.2.2.1)
  the digits of triplets go to upper case
  - hTTp://LocalHost:80/%c3%B6rebro/a/../b
                        ^^^
  + hTTp://LocalHost:80/%C3%B6rebro/a/../b
                        ^^^

  scheme-case (RFC 3986 section 6.2.2.1)
  the scheme goes to lower case
  - hTTp://LocalHost:80/%C3%B6rebro/a/../b
     ^^
  + http://LocalHost:80/%C3%B6rebro/a/../b
     ^^

  host-case (RFC 3986 section 6.2.2.1)
  the host goes to lower case
  - http://LocalHost:80/%C3%B6rebro/a/../b
           ^    ^
  + http://localhost:80/%C3%B6rebro/a/../b
           ^    ^

  default-port (RFC 3986 section 6.2.3)
  the port that the scheme means anyway goes
  - http://localhost:80/%C3%B6rebro/a/../b
                    ^^^
  + http://localhost/%C3%B6rebro/a/../b

  dot-segments (RFC 3986 section 6.2.2.3)
  the segments . and .. are resolved
  - http://localhost/%C3%B6rebro/a/../b
                                 ^^^^^
  + http://localhost/%C3%B6rebro/b

  = http://localhost/%C3%B6rebro/b
"
    );
}

#[test]
fn ring_option_implies_the_profile_ring() {
    let place = Place::new();
    let run = place.run(["explain", "--ring", "decode=21", "http://h/%21"]).exits(0);
    assert!(run.out().contains("\n  = http://h/!\n"), "{}", run.out());
    let run = place.run(["explain", "-p", "crawl", "--ring", "decode=21", "http://h/"]).exits(2);
    assert!(run.err.contains("profile crawl takes no ring"), "{}", run.err);
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
    let file = |allowed: &str| {
        format!(
            "name = \"own\"\nversion = 1\nbase = \"crawl\"\n[host.\"h\"]\nbase = \"servlet\"\n{allowed}"
        )
    };
    let (own, allowing) = (file(""), file("allow = [\"encoded-slash\", \"decode\"]\n"));
    let place = Place::with([("own", own.as_bytes()), ("allowing", allowing.as_bytes())]);
    let explained = |file| {
        let urls = ["http://h/a%2Fb", "http://h/%F6"];
        let run = place.run(["explain", "--profile-file", file, urls[0], urls[1]]).exits(0);
        run.out().to_owned()
    };
    let text = explained("own");
    for hint in [
        "  allow = [\"encoded-slash\"] in the profile file switches this check off.\n",
        "  Segments are triplets of UTF-8. allow = [\"decode\"] in the profile file lets\n",
    ] {
        assert!(text.contains(hint), "{text}");
    }
    assert!(!text.contains("--allow"), "{text}");
    assert!(!explained("allowing").contains("rejected"));
}

#[test]
fn explain_warns_about_host_and_port_read_as_a_scheme() {
    let told = "hint: read a host and a port there with --assume-scheme";
    for (arguments, is_told) in [
        (&["-p", "all", "example.com:80?secret"][..], true),
        (&["--assume-scheme", "http", "example.com:80"], false),
        (&["com.example.app:/oauth"], false),
    ] {
        let run = Place::new().run(["explain"].iter().chain(arguments)).exits(0);
        assert_eq!(run.err.contains(told), is_told, "{arguments:?}: {}", run.err);
        assert!(!run.err.contains("secret"), "{}", run.err);
    }
}

#[test]
fn explanations_fit_80_columns() {
    let examples = [
        // RFC 3986 section 6.2.
        "example://a/b/c/%7Bfoo%7D",
        "eXAMPLE://a/./b/../b/%63/%7bfoo%7d",
        "HTTP://www.EXAMPLE.com/",
        "http://example.com",
        "http://example.com/?",
        "http://example.com:/",
        "http://example.com:80/",
        "mailto:Joe@Example.COM",
        "http://example.com/data/",
        // The Servlet specification.
        "/foo/;/bar",
        "/foo/..;/bar",
        "/aaa/bbb//../",
        "/a%2Fb",
        "/%2e%2E/",
        // Wikimedia.
        "/wiki/User:Ema%2fProfiling_Python",
        "/wiki/Steve_Fuller_(sociologist)",
        "/wiki/Steve_Fuller_%28sociologist%29",
        // The question of the sanitizer.
        "ex%61mple.com",
        "http://example.com/ind%65x.html",
        "http://example.com/a^b",
        // Erlang's guide.
        "http://cities/\u{f6}rebro?foo bar",
        "http://%6C%6Fcal%23host/%F6re%26bro%20",
        "http://local#host/\u{f6}re&bro ",
        "hTTp://LocalHost:80/%c3%B6rebro/a/../b",
        "/%F6re%26bro%20",
    ];
    for more in [&["-p", "all"][..], &["-p", "all", "--transcode", "latin1"]] {
        for line in explain(&[more, &examples].concat()).lines() {
            assert!(line.len() <= 80, "{line}");
        }
    }
}

#[test]
fn explain_says_that_a_url_is_canonical() {
    let text = explain(&["http://example.com/"]);
    assert!(
        text.ends_with("\n\ncrawl@1\n  http://example.com/\n  is in canonical form.\n"),
        "{text}"
    );
}

#[test]
fn components_come_first_and_the_userinfo_is_no_host() {
    let text = explain(&["https://good.example:p@evil.example:8443/a?b=c?d#e#f"]);
    assert!(
        text.starts_with(
            "\
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
"
        ),
        "{text}"
    );
    // Absent and empty are different.
    let text = explain(&["http://@[::1]:?#"]);
    let shown = "  userinfo  (empty)\n            (no host: the host follows the @)\n  host      [::1]\n  \
                 port      (empty)\n  path      (empty)\n  query     (empty)\n  fragment  (empty)\n\n";
    assert!(text.contains(shown), "{text}");
    // Each is split as the profile reads the URL.
    for (arguments, shown) in [
        (&["mailto:a@h"][..], "  scheme    mailto\n  path      a@h\n\n"),
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
    let text = explain(&["-p", "all", "http://ex%61mple.com/"]);
    assert!(
        text.contains("syntax@1, scheme@1, crawl@1, aggressive@2, servlet@1, mediawiki@1"),
        "{text}"
    );
    assert!(text.contains("encoded-unreserved"), "{text}");
    assert_eq!(text.matches("= http://example.com/\n").count(), 3, "{text}");
    // `--allow` applies to the profiles that know the check.
    let allowed = explain(&["-p", "all", "--allow", "encoded-unreserved", "http://ex%61mple.com/"]);
    assert!(!allowed.contains("rejected"), "{allowed}");
    let both = explain(&["-p", "servlet,sanitize", "--allow", "userinfo", "http://u@h/"]);
    assert!(both.contains("servlet@1, sanitize@1 allow=userinfo\n"), "{both}");
    assert!(!both.contains("rejected"), "{both}");
}

#[test]
fn explain_all_reports_profiles_that_reject_the_redirects() {
    // Only profiles that repair accept `^`.
    let place = Place::with([("moved", b"http://h/^\thttp://h/new\n")]);
    let arguments = ["explain", "-p", "all", "--redirects", "moved", "http://h/%5E"];
    let run = place.run(arguments).exits(0);
    assert!(
        run.out().contains(
            "\nsyntax@1, scheme@1, sanitize@1\n  \
             cannot be asked: moved: line 1: the first URL is rejected: byte at byte 9: a\n  \
             byte that the grammar does not allow here\n"
        ),
        "{}",
        run.out()
    );
    assert!(run.out().contains("crawl@1 redirects=1"), "{}", run.out());
    assert!(run.out().contains("  = http://h/new\n"), "{}", run.out());
    let objects = json_lines(&place.run(arguments.into_iter().chain(["--json"])).exits(0).out);
    let of = |profile: &str| objects.iter().find(|object| object["profile"] == profile).unwrap();
    assert_eq!(of("crawl@1 redirects=1")["out"], "http://h/new");
    let reason = "moved: line 1: the first URL is rejected: byte at byte 9: a byte that the \
                  grammar does not allow here";
    assert_eq!(
        of("scheme@1"),
        &json!({"profile": "scheme@1", "url": "http://h/%5E", "unusable": reason})
    );
    // Arguments that the command refuses are still wrong usage.
    let mut arguments = arguments;
    arguments[2] = "syntax,scheme";
    let run = place.run(arguments).exits(2);
    assert!(run.err.contains(reason) && run.out.is_empty(), "{}", run.err);
    // Redirects that contradict each other, and a missing list, are wrong usage too.
    let place = Place::with([("moved", b"http://h/a\thttp://h/b\nhttp://h/a\thttp://h/c\n")]);
    place.run(["explain", "-p", "all", "--redirects", "moved", "http://h/"]).exits(2);
    place.run(["explain", "-p", "all", "--redirects", "missing", "http://h/"]).exits(2);
    // A bad base is refused in the same way.
    let place = Place::new();
    let run = place.run(["explain", "-p", "syntax,crawl", "--base", "http://h/ a", "b"]).exits(0);
    assert!(run.out().contains("syntax@1\n  cannot be asked: --base is rejected"), "{}", run.out());
    assert!(run.out().contains("  = http://h/b\n"), "{}", run.out());
}

#[test]
fn long_urls_show_changed_rows_only() {
    let long = format!("http://h/{}%7e{}", "a".repeat(300), "\u{e9}".repeat(300));
    let text = explain(&[&long]);
    assert!(text.contains("  - ...\n") && text.lines().count() < 120, "{text}");
}

#[test]
fn a_pipe_gets_no_colors() {
    assert!(!explain(&["HTTP://h/"]).contains('\x1b'));
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
fn hostile_bytes_are_shown_printably() {
    use std::os::unix::ffi::OsStrExt;
    let url = std::ffi::OsStr::from_bytes(b"http://h/\x1b[31m\xFF");
    let run = Place::new().run([std::ffi::OsStr::new("explain"), url]).exits(0);
    assert!(run.out.iter().all(|b| *b == b'\n' || (0x20..=0x7E).contains(b)));
    assert!(run.out().contains("\\x1B[31m\\xFF"), "{}", run.out());
}

#[test]
fn wrong_usage_exits_with_status_2() {
    let place = Place::new();
    for arguments in [
        &["explain"][..],
        &["explain", "-p", "frob", "x"],
        &["explain", "--allow", "control", "x"],
        &["explain", "-p", "servlet", "--allow", "nul", "x"],
        &["explain", "-p", "syntax,crawl", "--allow", "nul", "x"],
        &["explain", "--base", "relative", "x"],
        &["explain", "--color", "always", "x"],
    ] {
        assert!(place.run(arguments).exits(2).out.is_empty(), "{arguments:?}");
    }
}

#[test]
fn explained_template_names_the_rule_of_each_part() {
    let url = "HTTP://h.example/2024/02/29/item12345.html?7&q=x";
    let text = explain(&["--key", "template", url]);
    let shown = "
  = http://h.example/2024/02/29/item12345.html?7&q=x

  template
    {date}    a date over segments  2024/02/29
    {int}     inside a segment      12345
    {int}     a query name          7
  = http://h.example/{date}/item{int}.html?{int}&q
";
    assert!(text.ends_with(shown), "{text}");
    // A canonical URL, without a part.
    let text = explain(&["--key", "template", "http://h.example/v1"]);
    let shown = "  is in canonical form.\n\n  template\n  = http://h.example/v1\n";
    assert!(text.ends_with(shown), "{text}");
    let long = format!("HTTP://h.example/{}", "a1B2".repeat(200));
    assert!(explain(&["--key", "template", &long]).contains("\n  = http://h.example/{token}\n"));
}

#[test]
fn explain_shows_every_key() {
    let text = explain(&["--key", "surt", "http://www.h.example/a"]);
    assert!(text.ends_with("\n  surt\n  = example,h,www)/a\n"), "{text}");
    let text = explain(&["--key", "domain", "mailto:a@h"]);
    assert!(
        text.ends_with("\n  domain: none, the key is made from the host, and the URL has none\n")
    );
    let file = "name = \"own\"\nversion = 1\nbase = \"crawl\"\n[ports]\nhttp = 8080\n";
    let place = Place::with([("own", file.as_bytes())]);
    let run =
        place.run(["explain", "--profile-file", "own", "--key", "ssurt", "http://h/"]).exits(2);
    assert!(run.err.contains("ssurt needs the ports of the registry"), "{}", run.err);
}

#[test]
fn json_has_the_key_and_the_parts_of_a_template() {
    let objects = |key, url| {
        let text = explain(&["--json", "--key", key, url]);
        json_lines(text.as_bytes()).remove(0)
    };
    assert_eq!(
        objects("template", "HTTP://h.example/17"),
        json!({
            "profile": "crawl@1",
            "url": "HTTP://h.example/17",
            "out": "http://h.example/17",
            "steps": [{
                "rule": "scheme-case",
                "source": "RFC 3986 section 6.2.2.1",
                "before": "HTTP://h.example/17",
                "after": "http://h.example/17",
            }],
            "template": "http://h.example/{int}",
            "parts": [{"part": "17", "at": 17, "type": "int", "rule": "a whole segment"}],
        })
    );
    let of = |key, url| objects(key, url)[key].clone();
    assert_eq!(of("surt", "http://h.example/"), "example,h)/");
    assert_eq!(of("domain", "mailto:a@h"), json!(null));
    assert_eq!(of("url", "http://h/"), "http://h/");
}
