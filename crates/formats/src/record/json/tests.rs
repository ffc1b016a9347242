use super::super::format::tests::show;
use super::super::{Context, Extracted, Format};
use uniqurl::RejectReason;
use uniqurl::internal::Origin;

fn json(pointer: &str, line: &[u8]) -> String {
    let format = Format::parse(&format!("json:{pointer}")).unwrap();
    show(&format, &Context::default(), line)
}

fn named(name: &str, line: &[u8]) -> String {
    show(&Format::parse(name).unwrap(), &Context::default(), line)
}

#[test]
fn pointer_walks_objects_and_arrays() {
    assert_eq!(json("/url", br#"{"a":[{}],"url":"http://h/"}"#), "url http://h/");
    assert_eq!(json("/a/1/b~1c~0", br#" {"a":[0,{"b/c~":"u"}]} "#), "url u");
    assert_eq!(json("", br#""u""#), "url u");
    assert_eq!(json("/", br#"{"":"u"}"#), "url u");
    assert_eq!(json("/a/10", br#"{"a":[0,1,2,3,4,5,6,7,8,9,"u"]}"#), "url u");
    assert_eq!(json("/a/01", br#"{"a":[0,"u"]}"#), "no-field 0");
}

#[test]
fn missing_or_non_string_value_is_no_field_and_null_is_blank() {
    for line in [r#"{"u":1}"#, r#"{"u":["x"]}"#, r#"{"u":{}}"#, "{}", "[]", "1", "null"] {
        assert_eq!(json("/u", line.as_bytes()), "no-field 0", "{line}");
    }
    for line in [r#"{"u":null}"#, r#"{"u":5,"u":null}"#, r#"{"\x75":null}"#] {
        assert_eq!(json("/u", line.as_bytes()), "blank", "{line}");
    }
    assert_eq!(json("host=/h,target=/u", br#"{"h":"a","u":null}"#), "no-field 0");
    assert_eq!(json("/a/b", br#"{"a":"x"}"#), "no-field 0");
}

#[test]
fn invalid_json_is_a_log_syntax_error() {
    for line in [
        "{",
        "x",
        r#"{"u":1,x}"#,
        r#"{"u":"x"} y"#,
        r#"{"u":"x"#,
        r#"{"v":"\q","u":"x"}"#,
        r#"{"u":"x",}"#,
    ] {
        assert_eq!(json("/u", line.as_bytes()), "log-syntax 0", "{line}");
    }
    let deep = [b"{\"v\":".as_slice(), &b"[".repeat(100_000)].concat();
    assert_eq!(json("/u", &deep), "log-syntax 0");
    let deep = [&b"{\"u\":".repeat(100_000)[..], b"1"].concat();
    let pointer = "/u".repeat(128);
    assert!(json(&pointer, &deep).starts_with("log-syntax"));
}

#[test]
fn json_escapes_are_decoded_once() {
    assert_eq!(json("/u", br#"{"u":"http:\/\/h\u002f\"\\x41"}"#), r#"url http://h/"\x41"#);
    assert_eq!(json("/\u{e9}", br#"{"\u00e9":"a\u0041"}"#), "url aA");
}

#[test]
fn nginx_hex_escape_is_read_as_a_byte() {
    let ctx = Context::default();
    let format = Format::parse("json:/u").unwrap();
    let line = br#"{"v":"\x16","u":"/\xC3\xA9\x22\x5C\x0a\\x41\x4"}"#;
    assert_eq!(show(&format, &ctx, line), "log-syntax 0", "a sequence that is no escape at all");
    let line = br#"{"v":"\x16\xFF","u":"/\x7e\x22\x5C\x0a\\x41"}"#;
    assert_eq!(show(&format, &ctx, line), "url /~\"\\\n\\x41");
}

#[test]
fn bytes_that_are_not_utf8_are_kept() {
    let format = Format::parse("json:/u").unwrap();
    let line = b"{\"\xff\":\"\xfe\",\"u\":\"/\xe9\\xE9\\ud800\"}";
    let mut out = super::super::Records::default();
    format.read(&Context::default(), line, &mut out);
    assert_eq!(out.scratch, b"/\xe9\xe9\xed\xa0\x80");
    let plain = b"{\"u\":\"/\xe9\"}";
    out.clear();
    format.read(&Context::default(), plain, &mut out);
    assert!(out.scratch.is_empty(), "the bytes are used where they stand");
}

#[test]
fn last_of_two_equal_names_wins() {
    assert_eq!(json("/u", br#"{"u":"a","u":"b"}"#), "url b");
    assert_eq!(json("/u", br#"{"u":"a","u":null}"#), "blank");
    assert_eq!(json("/a/u", br#"{"a":{"u":"a"},"a":{}}"#), "no-field 0");
    // Independent of the other values.
    for other in
        ["5", "true", "{}", "[]", "[\"x\"]", "{\"u\":\"y\"}", "null", "1e999", "\"\\ud800\""]
    {
        let line = format!(r#"{{"u":{other},"u":"b"}}"#);
        assert_eq!(json("/u", line.as_bytes()), "url b", "{line}");
        let line = format!(r#" {{"a" : {other} , "a":{{"v":[{other}, {{}}],"u" :"b"}} }} "#);
        assert_eq!(json("url=/a/u,status=/a/s", line.as_bytes()), "url b", "{line}");
        let line = format!(r#"{{"u":"a","u":{other}}}"#);
        let mut out = super::super::Records::default();
        Format::parse("json:/u").unwrap().read(&Context::default(), line.as_bytes(), &mut out);
        let last = match (other, out.records[0].found) {
            ("null", Extracted::Blank) => true,
            ("\"\\ud800\"", Extracted::Url(_, url)) => url.of(&out.scratch) == b"\xed\xa0\x80",
            (_, found) => found == Extracted::Reject(RejectReason::NoField, 0),
        };
        assert!(last, "{line}: {out:?}");
    }
    assert_eq!(json("/0/u", br#"[{"u":5,"u":"a"},{"u":5}]"#), "url a");
    assert_eq!(json("/u", br#"{"u":5,"u":"a",}"#), "log-syntax 0");
    assert_eq!(json("/u", br#"{"u":5 "u":"a"}"#), "log-syntax 0");
    assert_eq!(json("/u", br#"{"u":5,"u":"a"} x"#), "log-syntax 0");
}

#[test]
fn selected_values_may_hold_any_byte() {
    let pointer = "url=/u,status=/s";
    let statuses: [&[u8]; 6] = [b"\"\xff\"", b"\"\t\"", b"-5", b"[5]", b"1", b"\"\\ud800\""];
    for status in statuses {
        let line = [b"{\"u\":\"http://h/a\tb\",\"s\":", status, b"}"].concat();
        assert_eq!(json(pointer, &line), "url http://h/a\tb", "{}", line.escape_ascii());
        let stepped_over = [&b"{\"v\":\"\t\","[..], &line[1..]].concat();
        assert_eq!(json(pointer, &stepped_over), "log-syntax 0", "{}", line.escape_ascii());
    }
}

#[test]
fn slow_path_agrees_with_the_fast_path() {
    let pointers = "url=/u,status=/s,mime=/m/0,scheme=/t";
    let root = super::Json::parse(pointers).unwrap().root;
    let values = [
        r#""x""#,
        r#""A\u0041""#,
        "5",
        "-5",
        "0.5",
        "1e3",
        "18446744073709551616",
        "true",
        "null",
        "{}",
        "[]",
        r#"["y","z"]"#,
        r#"{"u":"n"}"#,
        " \"\" ",
    ];
    let mut by_fast_path = 0;
    for first in values {
        for second in values {
            for names in [["u", "s"], ["u", "m"], ["u", "t"], ["t", "s"], ["s", "s"], ["m", "m"]] {
                let line =
                    format!(r#"{{"{}":{first},"v":[1,{{}}],"{}":{second}}}"#, names[0], names[1]);
                let text = line.as_bytes();
                if let Some(taken) = super::walk::usual(&root, text) {
                    by_fast_path += 1;
                    assert_eq!(super::slow_path::walk(&root, text), Ok(taken), "{line}");
                }
            }
        }
    }
    assert!(by_fast_path > 300, "the fast path read {by_fast_path} lines");
}

#[test]
fn url_is_joined_from_parts_as_in_logs() {
    let parts = "scheme=/s,host=/h,path=/p,query=/q";
    for (line, shown) in [
        (
            r#"{"s":"https","h":"e.org:8443","p":"/a","q":"b=c"}"#,
            "joined 18 https://e.org:8443/a?b=c",
        ),
        (r#"{"h":"e.org","p":"/a","q":"?b"}"#, "joined 12 http://e.org/a?b"),
        (r#"{"h":"e.org:443","p":"/a","q":""}"#, "joined 17 https://e.org:443/a"),
        (r#"{"h":"a\\x41","p":"/a"}"#, "log-syntax 0"),
        (r#"{"h":"e/x","p":"/a"}"#, "log-syntax 0"),
        (r#"{"h":"e","s":"java script","p":"/a"}"#, "log-syntax 0"),
        (r#"{"h":null,"p":"//x/a","q":null}"#, "target //x/a"),
        (r#"{"h":"e.org","q":"a"}"#, "no-field 0"),
        (r#"{"h":"e.org","p":"a"}"#, "relative 0"),
    ] {
        assert_eq!(json(parts, line.as_bytes()), shown, "{line}");
    }
    let base = Origin { scheme: b"wss".to_vec(), authority: b"b".to_vec() };
    let ctx = Context { base: Some(base), ..Context::default() };
    let format = Format::parse("json:host=/h,target=/t").unwrap();
    assert_eq!(show(&format, &ctx, br#"{"t":"/a?b"}"#), "joined 7 wss://b/a?b");
    assert_eq!(show(&format, &ctx, br#"{"h":"h","t":"/a?b"}"#), "joined 7 wss://h/a?b");
    assert_eq!(show(&format, &ctx, br#"{"h":"h","t":"http://o/"}"#), "url http://o/");
}

#[test]
fn presets_read_their_logs() {
    let caddy = r#"{"level":"info","request":{"remote_ip":"1.2.3.4","proto":"HTTP/2.0","method":"GET","host":"e.org","uri":"/a?b","tls":{"resumed":false}},"status":200,"resp_headers":{"Content-Type":["text/html"]}}"#;
    assert_eq!(json("caddy", caddy.as_bytes()), "joined 13 https://e.org/a?b");
    let plain = caddy.replace(r#","tls":{"resumed":false}"#, "").replace(r#"["text/html"]"#, "1");
    assert_eq!(json("caddy", plain.as_bytes()), "joined 12 http://e.org/a?b");
    let cloudflare = r#"{"ClientRequestHost":"e.org","ClientRequestMethod":"GET","ClientRequestScheme":"https","ClientRequestURI":"/a?b","EdgeResponseStatus":200}"#;
    assert_eq!(json("cloudflare", cloudflare.as_bytes()), "joined 13 https://e.org/a?b");
    let nginx = r#"{"host":"e.org","http_host":"","request":"GET /a?b HTTP/1.1","status":"200"}"#;
    assert_eq!(json("nginx-json", nginx.as_bytes()), "joined 12 http://e.org/a?b");
    let nginx =
        r#"{"http_host":"h.org:81","host":"e.org","request_uri":"/u","request":"GET /a HTTP/1.1"}"#;
    assert_eq!(json("nginx-json", nginx.as_bytes()), "joined 15 http://h.org:81/u");
    // `uri` is the decoded path, as in a format string, and the last choice for the URL.
    for (line, shown) in [
        (r#"{"host":"h","uri":"/a b%?","args":"c=%20"}"#, "joined 8 http://h/a b%25%3F?c=%20"),
        (r#"{"host":"h","uri":"//o/x","args":""}"#, "joined 8 http://h//o/x"),
        (r#"{"uri":"\x2fa#","args":"-"}"#, "target /a%23"),
        (r#"{"request_uri":"/%41","uri":"/A","args":"b"}"#, "target /%41"),
        (r#"{"request":"GET /%41 HTTP/1.1","uri":"/A","args":"b"}"#, "target /%41"),
        (r#"{"host":"h","uri":"","args":"b"}"#, "no-field 0"),
    ] {
        assert_eq!(json("nginx-json", line.as_bytes()), shown, "{line}");
    }
    // Like $server_port in a format string: a client that names no port means the default one.
    for (line, shown) in [
        (r#"{"server_name":"s","server_port":443,"request_uri":"/"}"#, "joined 13 https://s:443/"),
        (r#"{"host":"h","server_port":"8080","request_uri":"/"}"#, "joined 13 http://h:8080/"),
        (
            r#"{"http_host":"c","host":"h","server_port":"443","request_uri":"/"}"#,
            "joined 9 https://c/",
        ),
        (r#"{"http_host":"c","server_port":"8080","request_uri":"/"}"#, "joined 8 http://c/"),
        (r#"{"http_host":"c:81","server_port":80,"request_uri":"/"}"#, "joined 11 http://c:81/"),
        (
            r#"{"http_host":"-","host":"h","server_port":[],"request_uri":"/"}"#,
            "joined 8 http://h/",
        ),
        (
            r#"{"scheme":"http","host":"h","server_port":443,"request_uri":"/"}"#,
            "joined 12 http://h:443/",
        ),
    ] {
        assert_eq!(json("nginx-json", line.as_bytes()), shown, "{line}");
    }
}

#[test]
fn malformed_pointers_are_rejected() {
    for (name, words) in [
        ("json:url", "begins with a slash"),
        ("json:/a~2", "in a pointer, ~"),
        ("json:host=/h", "there must be a url"),
        ("json:host=/a/b,target=/a", "leads into"),
        ("json:target=/a,host=/a/b", "leads into"),
    ] {
        let error = Format::parse(name).unwrap_err().to_string();
        assert!(error.contains(words), "{name}: {error}");
    }
}

#[test]
fn pointer_is_no_deeper_than_json_is_read() {
    let pointer = "/u".repeat(127);
    let line = format!("{}\"http://h/\"{}", "{\"u\":".repeat(127), "}".repeat(127));
    assert_eq!(json(&pointer, line.as_bytes()), "url http://h/");
    // As many as overflow the stack where each level is a call.
    for tokens in [129, 100_000] {
        let error = Format::parse(&format!("json:{}", "/u".repeat(tokens))).unwrap_err();
        assert!(error.to_string().contains("at most 128 tokens"));
    }
}

#[test]
fn other_selected_values_need_not_be_utf8() {
    let mut ctx = Context::default();
    ctx.filter.status("200").unwrap();
    ctx.filter.mime("text/*").unwrap();
    let format = Format::parse("json:url=/u,mime=/h/m/0,status=/s").unwrap();
    for (mime, status, shown) in [
        (&b"text/\xE9"[..], "200", "url http://h/"),
        (b"text/\\xE9", "\"200\"", "url http://h/"),
        (b"text/\\udce9", "200", "url http://h/"),
        (b"text/\xE9", "404", "filtered"),
        (b"text/\xE9", "-200", "filtered"),
        (b"\xE9", "200", "filtered"),
    ] {
        let line = [
            &b"{\"h\":{\"m\":[\""[..],
            mime,
            b"\"]},\"u\":\"http://h/\",\"s\":",
            status.as_bytes(),
        ];
        let line = [&line.concat()[..], b"}"].concat();
        assert_eq!(show(&format, &ctx, &line), shown, "{}", line.escape_ascii());
    }
    let caddy = b"{\"request\":{\"method\":\"\xE9\",\"host\":\"h\",\"uri\":\"/\",\"tls\":{}}}";
    assert_eq!(json("caddy", caddy), "joined 9 https://h/");
    let scheme = b"{\"s\":\"\xE9\",\"h\":\"h\",\"t\":\"/\"}";
    assert_eq!(json("scheme=/s,host=/h,target=/t", scheme), "log-syntax 0");
    assert_eq!(json("url=/u,mime=/m", b"{\"u\":1,\"m\":\"\xE9\"}"), "no-field 0");
    assert_eq!(json("url=/u,mime=/m", b"{\"u\":\"x\",\"m\":\"\xE9\""), "log-syntax 0");
}

#[test]
fn scheme_may_be_a_switch_or_a_version() {
    for (scheme, shown) in [
        ("on", "joined 11 https://h:8/a"),
        ("off", "joined 10 http://h:8/a"),
        ("HTTP/2", "joined 10 http://h:8/a"),
        ("HTTPS", "joined 11 HTTPS://h:8/a"),
    ] {
        let line = format!(r#"{{"s":"{scheme}","h":"h:8","p":"/a"}}"#);
        assert_eq!(json("scheme=/s,host=/h,path=/p", line.as_bytes()), shown, "{line}");
    }
    assert_eq!(
        named(
            "akamai-ds2",
            br#"{"proto":"HTTP/1.1","reqHost":"h","reqPort":"443","reqPath":"/a"}"#
        ),
        "joined 9 https://h/a"
    );
}

#[test]
fn percent_encoding_of_the_log_itself_is_undone_once() {
    let members = r#""x-host-header":"h","cs-uri-stem":"/a%2520b","cs-uri-query":"?c=%2541""#;
    for line in [format!("{{{members}}}"), format!(r#"{{{members},"x":"\x41"}}"#)] {
        assert_eq!(
            named("cloudfront-v2", line.as_bytes()),
            "joined 8 http://h/a%20b??c=%41",
            "{line}"
        );
    }
}
