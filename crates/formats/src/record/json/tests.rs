use super::super::fields::Fields;
use super::super::format::tests::show;
use super::super::{Context, Extracted, Format};
use super::Pointers;
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
fn control_characters_of_the_url_hide_no_part_beside_it() {
    let format = Format::parse("json:url=/u,status=/s").unwrap();
    let line = b"{\"a\":{\"n\":1},\"u\":\"http://h/\ta\",\"s\":404}";
    let fields = Fields::filled(format.parts(), |out| format.fields(line, out)).unwrap();
    assert_eq!(fields.numbers.status, Some(404));
    let mut values = Vec::new();
    let pointers = Pointers::new([&[b"s".to_vec()][..]]);
    super::cells(line, &pointers, &mut |value| values.extend(value.map(<[u8]>::to_vec)));
    assert_eq!(values, [b"404"]);
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

/// The values that generated JSON is made of.
const VALUES: [&str; 17] = [
    "null",
    r#""\\x41\\\\x42""#,
    "true",
    "-0",
    "12.5e+3",
    "18446744073709551616",
    r#""""#,
    r#""http://h/a?b""#,
    r#""a long string that takes several words""#,
    r#""\u00e9\n\"\\\/""#,
    r#""\u0061\ud83d\ude00""#,
    "{ }",
    "[\t]",
    r#"{"a":{"b":[0,{"c":1}]}}"#,
    r#"[{"name":"Host","value":"h"}]"#,
    r#"{"\u0061":1,"a":2,"a/b~":"}"}"#,
    "[[[]],[{}],\"]\"]",
];

fn generated(random: &mut impl FnMut(usize) -> usize, depth: usize) -> String {
    let space = [" ", "", "", "\t\r\n"][random(4)];
    let items = (0..random(4)).map(|_| match depth < 4 && random(2) == 0 {
        true => generated(random, depth + 1),
        false => VALUES[random(VALUES.len())].to_owned(),
    });
    let items: Vec<String> = items.collect();
    let names = ["a", "b", "c", "a/b~", "\\u0062", "", "0"];
    let member = |item: &String| format!("\"{}\"{space}:{item}", names[random(names.len())]);
    let separator = format!("{space},{space}");
    match items.len() % 2 == depth % 2 {
        true => {
            format!("{{{space}{}}}", items.iter().map(member).collect::<Vec<_>>().join(&separator))
        }
        false => format!("[{}{space}]", items.join(&separator)),
    }
}

#[test]
fn scan_agrees_with_serde_json_on_generated_and_damaged_text() {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize % below
    };
    let pointers =
        ["", "/a", "/a/b", "/a/b/1/c", "/0", "/1", "/b", "/b/0", "/a~1b~0", "/a/a", "//a"];
    let tokens: Vec<_> = pointers.map(|pointer| super::pointers::parse(pointer).unwrap()).into();
    let tree = Pointers::new(tokens.iter().map(Vec::as_slice));
    let nothing = Pointers::default();
    let (mut valid, mut invalid, mut values) = (0, 0, 0);
    for _ in 0..20_000 {
        let mut text = generated(&mut random, 0).into_bytes();
        for _ in 0..random(3) {
            let at = random(text.len());
            match random(4) {
                0 => text[at] = b"{}[]\",:\\0-.eE+tfn\x01\xFF \n"[random(21)],
                1 => text.truncate(at + 1),
                2 => drop(text.remove(at)),
                _ => text.insert(at, b"\"\\,:0]}"[random(7)]),
            }
        }
        let shown = text.escape_ascii();
        let is_valid = serde_json::from_slice::<serde::de::IgnoredAny>(&text).is_ok();
        assert_eq!(nothing.read(&text).is_ok(), is_valid, "{shown}");
        if !is_valid {
            invalid += 1;
            continue;
        }
        // Only text that is not JSON is rewritten.
        let mut rewritten = Vec::new();
        super::without_hex_escapes(&text, &mut rewritten);
        assert_eq!(rewritten, text, "{shown}");
        // Some of what is valid is too much for a value: bytes that are no UTF-8, numbers, lone surrogates.
        let Ok(expected) = serde_json::from_slice::<serde_json::Value>(&text) else { continue };
        valid += 1;
        // The tree leads into what its first pointers take as a whole, too.
        for (found, pointer) in tree.read(&text).unwrap().into_iter().zip(pointers) {
            let found = found.filter(|value| !value.is_empty());
            let found =
                found.map(|value| serde_json::from_slice::<serde_json::Value>(value).unwrap());
            values += usize::from(found.is_some());
            assert_eq!(found.as_ref(), expected.pointer(pointer), "{pointer} {shown}");
        }
    }
    assert!(valid > 8_000 && invalid > 4_000 && values > 15_000, "{valid} {invalid} {values}");
}

#[test]
fn strings_decode_as_serde_json_decodes_them() {
    let mut escaped = 0;
    for first in 0..=255u8 {
        for place in 0..20 {
            for rest in ["", "\\n", "\\u00e9x", "\\ud800", "\\", "\\u12"] {
                let text =
                    [&b"\""[..], &b"x".repeat(place), &[first], rest.as_bytes(), b"\""].concat();
                let mut scan = super::Scan::new(&text, super::Controls::Fail);
                let found = scan.value(super::Controls::Pass).ok();
                let found = found.filter(|_| scan.end().is_ok()).and_then(super::string);
                let expected = serde_json::from_slice(&text).ok().map(|super::JsonText(text)| text);
                escaped += usize::from(!rest.is_empty() && expected.is_some());
                assert_eq!(found, expected, "{}", text.escape_ascii());
            }
        }
    }
    assert!(escaped > 10_000, "{escaped}");
}

#[test]
fn deep_brackets_cost_no_stack_and_an_element_is_found_by_a_member() {
    let deep = [&b"[".repeat(1_000_000)[..], &b"]".repeat(1_000_000)].concat();
    assert_eq!(Pointers::default().read(&deep), Ok(Vec::new()));
    let host = "host=/r/h/name=host/value,path=/p";
    for (headers, shown) in [
        (r#"[{"name":"a","value":"x"},{"name":"Host","value":"h"}]"#, "joined 8 http://h/"),
        (r#"[{"value":"h","n":1,"name":"HOST"},{"name":1,"value":"x"}]"#, "joined 8 http://h/"),
        (r#"[{"name":"hos","value":"x"},["name"],"host",{}]"#, "target /"),
        (r#"{"name=host":{"value":"h"}}"#, "joined 8 http://h/"),
        (r#"{"name":"host","value":"x"}"#, "target /"),
    ] {
        let line = format!(r#"{{"r":{{"h":{headers}}},"p":"/"}}"#);
        assert_eq!(json(host, line.as_bytes()), shown, "{line}");
    }
}
