//! `--routes`: templates by the routes of an application.

use super::Place;

const URLS: &[u8] = b"http://h.example/user/ann/orders/7?page=2\nhttp://h.example/user/bob/orders/x?page=3\n\
                      http://h.example/user/me\nhttp://g.example/user/ann\nhttp://h.example/files/17\n";

const ROUTES: &[u8] =
    b"# ours\n/user/{name}\n/user/{name}/orders/{order}\n/user/me\nh.example/files/{file}\n";

fn place() -> Place {
    Place::with([("urls", URLS), ("routes", ROUTES)])
}

#[test]
fn templates_take_the_routes_of_a_file() {
    let place = place();
    let templates = "http://h.example/user/{name}/orders/{order}?page\nhttp://h.example/user/me\n\
                     http://g.example/user/{name}\nhttp://h.example/files/{file}\n";
    let run =
        place.run(["dedup", "-q", "--key", "template", "--routes", "routes", "urls"]).exits(0);
    assert_eq!(run.out(), templates);
    // What it writes is a list of routes that gives the same.
    place.write("written", templates);
    let run =
        place.run(["dedup", "-q", "--key", "template", "--routes", "written", "urls"]).exits(0);
    assert_eq!(run.out(), templates);
    let columns = ["dedup", "-q", "--fields", "template", "--routes", "routes", "urls"];
    assert_eq!(place.run(columns).exits(0).out().lines().count(), 5);
    let grouped = ["dedup", "-q", "--limit-by", "template:1", "--routes", "routes", "urls"];
    assert_eq!(place.run(grouped).exits(0).out().lines().count(), 4);
}

#[test]
fn paths_of_a_description_are_routes() {
    let place = place();
    place.write("api.yaml", "openapi: 3.1.0\npaths:\n  /user/{user-id}:\n    get: {}\n");
    place.write("api.json", r#"{"swagger": "2.0", "paths": {"/user/{user-id}": {}}}"#);
    for file in ["api.yaml", "api.json"] {
        let arguments = ["dedup", "-q", "--key", "template", "--routes", file];
        let run = place.run_on(arguments, "http://h.example/user/x\n").exits(0);
        // A variable of RFC 6570 has no hyphen.
        assert_eq!(run.out(), "http://h.example/user/{user_id}\n");
    }
}

#[test]
fn explain_names_the_route() {
    let place = place();
    let asked = ["explain", "--key", "template", "--routes", "routes"];
    let run = place.run([&asked[..], &["http://h.example/user/ann?b"]].concat()).exits(0);
    let told = "    route     /user/{name}\n  = http://h.example/user/{name}?b\n";
    assert!(run.out().ends_with(told), "{}", run.out());
    let run = place.run([&asked[..], &["--json", "http://h.example/user/ann"]].concat()).exits(0);
    assert!(run.out().contains(r#""route":"/user/{name}""#), "{}", run.out());
}

#[test]
fn a_store_of_templates_knows_its_routes() {
    let place = place();
    let add = ["dedup", "-q", "--key", "template", "--save-seen", "store", "urls"];
    place.run([&add[..], &["--routes", "routes"]].concat()).exits(0);
    let run = place.run([&add[..], &["--routes", "routes"]].concat()).exits(0);
    assert_eq!(run.out(), "");
    let run = place.run(add).exits(2);
    assert!(run.err.contains("the types of templates or the routes"), "{}", run.err);
    let asked = ["seen", "contains", "--key", "template", "store", "http://g.example/user/zoe"];
    place.run([&asked[..], &["--routes", "routes"]].concat()).exits(0);
}

#[test]
fn a_file_that_holds_no_routes_is_named_with_its_line() {
    let place = place();
    place.write("bad", "/a\n/b/{c\n");
    place.write("bad.json", "{\"paths\": {\n\"/a/{}\": {}}}");
    place.write("long", format!("/a\n{}\n", "/a".repeat(257)));
    for (arguments, told) in [
        (&["--key", "template", "--routes", "long"][..], "long: line 2: "),
        (&["--key", "template", "--routes", "long"], "a route has at most 256 segments"),
        (&["--key", "template", "--routes", "bad"], "bad: line 2: `/b/{c`: a brace stands alone"),
        (&["--key", "template", "--routes", "bad.json"], "bad.json: line 2: `/a/{}`: the name"),
        (&["--key", "template", "--routes", "absent"], "absent: "),
        (&["--routes", "routes"], "--routes acts on templates"),
        (
            &["--key", "template", "--routes", "routes", "-o", "routes"],
            "would replace the file of --routes",
        ),
    ] {
        let run = place.run([&["dedup", "urls"], arguments].concat()).exits(2);
        assert!(run.err.contains(told), "{}", run.err);
    }
}
