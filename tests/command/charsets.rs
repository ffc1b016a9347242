//! `--transcode`: URLs whose triplets are in another charset.

use super::Place;

#[test]
fn transcode_rewrites_triplets_as_utf8() {
    // Erlang's guide: uri_string:transcode("/%F6re%26bro%20", [{in_encoding, latin1}]).
    let place =
        Place::with([("in", b"http://h/%F6re%26bro%20\nhttp://h/%C3%B6re%26bro%20\nhttp://h/a\n")]);
    let plain = place.run(["dedup", "in"]).exits(0);
    assert_eq!(plain.summary("unique"), 3);
    let run = place.run(["dedup", "--transcode", "latin1", "in", "--stats", "stats"]).exits(0);
    assert_eq!(run.out(), "http://h/%C3%B6re%26bro%20\nhttp://h/a\n");
    let stats = place.json("stats");
    assert_eq!(stats["profile"], "crawl@1 transcode=windows-1252");
    let arguments = ["normalize", "--transcode", "Shift_JIS", "--base", "http://h"];
    let run = place.run_on(arguments, "/%83n/%83%6e/%E3%83%8F\n").exits(0);
    assert_eq!(run.out(), "http://h/%E3%83%8F/%E3%83%8F/%E3%83%8F\n");
}

#[test]
fn help_of_transcode_names_example_charsets() {
    let place = Place::new();
    for command in ["dedup", "normalize", "compare", "explain"] {
        let run = place.run(["man", command]).exits(0);
        let page = run.out().replace("\\-", "-");
        assert!(page.contains("Convert triplets in this charset, such as latin1, to UTF-8"));
        assert!(page.contains("LABEL is one of the Encoding Standard: latin1"), "{page}");
    }
}

#[test]
fn explain_names_the_charset() {
    let run = Place::new().run(["explain", "--transcode", "latin1", "http://h/%F6"]).exits(0);
    let step = "  transcode (RFC 3986 section 2.5)
  triplets of another charset are rewritten as UTF-8
  - http://h/%F6
             ^^^
  + http://h/%C3%B6
             ^^^^^^
";
    assert!(run.out().contains(step), "{}", run.out());
}

#[test]
fn charset_applies_to_all_hosts_of_a_profile_file() {
    let rules = "name = 'mine'\nversion = 1\nbase = 'crawl'\n[host.wiki]\nbase = 'mediawiki'\n";
    let list = b"http://h/%F6\nhttp://wiki/%F6%2f\n";
    let place = Place::with([("mine", rules.as_bytes()), ("in", list)]);
    let arguments = ["--profile-file", "mine", "--transcode", "latin1"];
    for command in ["dedup", "normalize"] {
        let run = place.run([command, "in"].iter().chain(&arguments)).exits(0);
        assert_eq!(run.out(), "http://h/%C3%B6\nhttp://wiki/%C3%B6/\n");
    }
    let run = place.run(["explain", "http://wiki/%F6%2f"].iter().chain(&arguments)).exits(0);
    assert!(run.out().contains("  transcode (RFC") && run.out().contains("ring-decode"));
    // A host whose profile reads no charset is named, with its file.
    let place = Place::with([("mine", rules.replace("mediawiki", "ia").as_bytes()), ("in", list)]);
    let run = place.run(["dedup", "in"].iter().chain(&arguments)).exits(2);
    assert!(run.err.contains("mine: profile ia reads no charset"), "{}", run.err);
}

#[test]
fn unknown_charsets_and_unsupported_profiles_are_rejected() {
    let place = Place::with([("in", b"http://h/\n")]);
    for (arguments, told) in [
        (&["--transcode", "utf-16"][..], "extends ASCII"),
        (&["--transcode", "frob"], "extends ASCII"),
        (&["--transcode", "latin1", "-p", "ia"], "profile ia reads no charset"),
        (&["--transcode", "latin1", "-p", "string"], "profile string reads no charset"),
    ] {
        for command in ["dedup", "normalize"] {
            let run = place.run([command, "in"].iter().chain(arguments)).exits(2);
            assert!(run.err.contains(told), "{arguments:?} {}", run.err);
        }
    }
}
