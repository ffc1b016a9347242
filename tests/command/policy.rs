//! `aggressive`, switches, and lists of parameters.

use super::Place;
use super::packed::gzip;

const URLS: &[u8] = b"http://www.h.x/a/index.html?b=1&a=2&utm_id=x\nhttps://h.x/a?a=2&b=1\n\
                      http://h.x//a/;jsessionid=1?a=2&b=1#f\nhttp://u@h.x/a?ref=1&a=3\n";

#[test]
fn aggressive_profile_follows_its_switches() {
    let place = Place::with([("in", URLS)]);
    let run = place.run(["dedup", "-p", "aggressive", "in"]).exits(0);
    assert_eq!(run.out(), "http://h.x/a?a=2&b=1\nhttps://h.x/a?a=2&b=1\nhttp://h.x/a?a=3&ref=1\n");
    let arguments = ["dedup", "-p", "aggressive", "in", "--with", "fold-scheme,drop-query"];
    assert_eq!(place.run(arguments).exits(0).out(), "http://h.x/a\n");
    let arguments = ["normalize", "-p", "aggressive", "in", "--without", "strip-www", "--without"];
    let run = place.run(arguments.into_iter().chain(["sort-query"])).exits(0);
    assert_eq!(run.out().lines().next(), Some("http://www.h.x/a?b=1&a=2"));
}

#[test]
fn switches_and_parameter_lists_need_a_supporting_profile() {
    let place = Place::with([("in", URLS)]);
    let arguments =
        ["normalize", "in", "--with", "keep-fragment", "--drop-param", "a", "--keep-param"];
    let run = place.run(arguments.into_iter().chain(["*", "--stats", "stats"])).exits(0);
    assert_eq!(run.out().lines().nth(2), Some("http://h.x//a/;jsessionid=1?b=1#f"));
    assert_eq!(
        place.json("stats")["profile"],
        "crawl@1 with=keep-fragment drop-param=a keep-param=*"
    );
    let arguments = ["normalize", "-p", "scheme", "in", "--without", "keep-userinfo,keep-fragment"];
    let run = place.run(arguments).exits(0);
    assert_eq!(run.out().lines().nth(3), Some("http://h.x/a?ref=1&a=3"));
}

#[test]
fn redirects_are_followed_to_the_end_of_the_chain() {
    let place = Place::with([
        ("in", b"http://H/a#x\nhttp://h/b\nhttp://h/c\nhttp://h/d\n"),
        ("moved", b"http://h/a\thttp://h/b\nhttp://h/b\thttps://k\nhttp://h/d\thttp://h/c\n"),
    ]);
    place.write("moved.gz", gzip(&place.read("moved")));
    for list in ["moved", "moved.gz", "-", "/dev/stdin"] {
        let arguments = ["dedup", "in", "--redirects", list, "--stats", "stats"];
        let run = place.run_on(arguments, place.read("moved")).exits(0);
        assert_eq!(run.out(), "https://k/\nhttp://h/c\n", "{list}");
        assert_eq!(place.json("stats")["profile"], "crawl@1 redirects=3");
    }
    let with_base = ["normalize", "in", "--redirects", "moved", "--base", "http://h/"];
    assert_eq!(place.run(with_base).exits(0).out().lines().next(), Some("https://k/"));
}

#[test]
fn profile_file_may_be_standard_input() {
    let place = Place::with([("in", b"http://h/A\n")]);
    let rules = "name = \"own\"\nversion = 1\nbase = \"crawl\"\n[switches]\nlower-path = true\n";
    for (arguments, end) in
        [(["dedup", "in"], "http://h/a\n"), (["explain", "http://h/A"], "= http://h/a\n")]
    {
        let option = ["--profile-file", "-"];
        let run = place.run_on([arguments, option].concat(), rules).exits(0);
        assert!(run.out().ends_with(end), "{}", run.out());
    }
}

#[test]
fn profiles_are_listed_with_their_versions() {
    let run = Place::new().run(["profiles"]).exits(0);
    for name in ["string@1 ", "crawl@1 ", "aggressive@2 ", "ring@1 ", "servlet@1 "] {
        assert!(run.out().lines().any(|line| line.starts_with(name)), "{}", run.out());
    }
    assert!(run.out().contains("\nwayback is another name of ia\n"), "{}", run.out());
    assert!(run.out().contains("\ntracking list (strip-tracking): version 2\n"), "{}", run.out());
    let list = format!("\nPublic Suffix List (domain): {}\n", uniqurl::key::suffix_list_date());
    assert!(run.out().ends_with(&list), "{}", run.out());
    assert!(run.out().lines().all(|line| line.len() <= 100), "{}", run.out());
    Place::new().run(["profiles", "nothing"]).exits(2);
}

#[test]
fn printed_profile_round_trips() {
    let place = Place::with([("in", URLS)]);
    let listed = place.run(["profiles"]).exits(0);
    for profile in
        listed.out().lines().map_while(|line| line.split(' ').next().filter(|n| !n.is_empty()))
    {
        place.write("p.toml", place.run(["profiles", profile]).exits(0).out);
        let by_name = place.run(["normalize", "-p", profile, "in", "--stats", "a"]).exits(0);
        let by_file =
            place.run(["normalize", "--profile-file", "p.toml", "in", "--stats", "b"]).exits(0);
        assert_eq!(by_name.out(), by_file.out(), "{profile}");
        assert_eq!(place.json("a")["profile"], place.json("b")["profile"]);
    }
}

#[test]
fn profile_file_supplies_the_profile_name() {
    let file =
        b"name = 'shop'\nversion = 3\nbase = 'crawl'\n[host.'*.h.x'.switches]\nstrip-www = true\n";
    let place = Place::with([("in", URLS), ("shop.toml", file)]);
    let arguments = ["normalize", "in", "--profile-file", "shop.toml", "--stats", "stats"];
    let run = place.run(arguments).exits(0);
    assert_eq!(run.out().lines().next(), Some("http://h.x/a/index.html?b=1&a=2&utm_id=x"));
    let profile = place.json("stats")["profile"].as_str().unwrap().to_owned();
    assert!(profile.starts_with("shop@3 base=crawl@1 hosts=1 rules="), "{profile}");
    let run = place.run([&arguments[..], &["--key", "ssurt"]].concat()).exits(0);
    assert!(run.out().starts_with("x,h,//80:http@/a/index.html"), "{}", run.out());
}

/// The output may hold any byte, although the profile itself writes only ASCII.
#[test]
fn host_under_string_keeps_its_raw_bytes() {
    let file = b"name = 's'\nversion = 1\nbase = 'crawl'\n[host.'s.x']\nbase = 'string'\n";
    let list = b"http://s.x/a\tb\nhttp://s.x/\xFF\nhttp://a/\n";
    let place = Place::with([("in", list), ("host.toml", file)]);
    let rules = ["--profile-file", "host.toml", "-f", "lines", "in"];
    let run = |first: &[&str]| place.run([first, &rules].concat()).exits(0);
    let escaped = "http://s.x/a\\x09b\nhttp://s.x/\\xFF\nhttp://a/\n";
    assert_eq!(run(&["dedup", "--fields", "canonical"]).out(), escaped);
    for name in ["set.parquet", "set.arrow"] {
        run(&["dedup", "-o", name]);
        let read = ["normalize", "-p", "string", "-f", &format!("{}:canonical", &name[4..]), name];
        assert_eq!(place.run(read).exits(0).out, list, "{name}");
        run(&["normalize", "-o", name]);
        assert_eq!(place.run(read).exits(0).out, list, "{name}");
    }
    let warned = run(&["dedup"]);
    assert!(warned.err.contains("1 of 3 lines hold a tab"), "{}", warned.err);
}

#[test]
fn question_mark_of_a_parameter_glob_is_any_byte() {
    let list = "http://h/?utm_source=x&id=1&a,b=2&c%3Dd=3\n";
    for (option, out) in [("--keep-param", "a,b=2&c%3Dd=3"), ("--drop-param", "utm_source=x&id=1")]
    {
        let run = Place::new().run_on(["dedup", option, "a?b", option, "c?d"], list).exits(0);
        assert_eq!(run.out(), format!("http://h/?{out}\n"));
    }
}
