//! Tests of `log:FORMAT`.

use super::super::fields::Fields;
use super::super::format::tests::show;
use super::super::part::RecordPart;
use super::super::{Context, Format};
use uniqurl::internal::Origin;

fn log(format: &str, line: &str) -> String {
    let format = Format::parse(&format!("log:{format}")).unwrap_or_else(|error| panic!("{error}"));
    show(&format, &Context::default(), line.as_bytes())
}

fn error(format: &str) -> String {
    Format::parse(&format!("log:{format}")).unwrap_err().to_string()
}

const COMBINED: &str = r#"%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i""#;
const NGINX: &str = r#"$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent""#;
const LINE: &str =
    r#"1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET /a%20b HTTP/1.1" 200 5 "-" "UA""#;

#[test]
fn combined_format_strings_of_apache_and_nginx_are_read() {
    for format in [COMBINED, NGINX, &COMBINED.replace('"', "\\\"")] {
        assert_eq!(log(format, LINE), "target /a%20b");
    }
}

#[test]
fn modifiers_do_not_change_where_a_field_ends() {
    let format = r#"%>h %!200,304{User-agent}i %{c}a %^FB %{X}^ti 100%% %<r|"#;
    assert_eq!(log(format, "h - a b c 100% GET /x HTTP/1.1|"), "target /x");
}

#[test]
fn spaces_in_the_user_name_do_not_hide_the_time() {
    let line = LINE.replacen("- -", "- John [the] Doe", 1);
    assert_eq!(log(COMBINED, &line), "target /a%20b");
}

#[test]
fn times_with_spaces_are_one_field() {
    assert_eq!(log("$time_local $request_uri", "17/May/2015:10:05:03 +0000 /a"), "target /a");
    assert_eq!(log("%{%d/%b/%Y %T %z}t %U", "17/May/2015 10:05:03 +0000 /a"), "target /a");
    assert_eq!(log("%t %U", "[17/May/2015:10:05:03 +0000] /a"), "target /a");
}

#[test]
fn line_that_does_not_match_is_a_log_syntax_error() {
    for line in ["x", "h - - \"GET /a\"", "h - - [t] \"GET /a\"", "h - - [t t] \"GET /a\"200"] {
        assert_eq!(log(COMBINED, line), "log-syntax 0", "{line}");
    }
    assert_eq!(log("x %U", "y /a"), "log-syntax 0");
    assert_eq!(log("$request_uri", "-"), "log-syntax 0");
}

#[test]
fn line_cut_in_the_request_is_truncated_and_one_cut_later_is_read() {
    let start = "h - - [17/May/2015:10:05:03 +0000] ";
    assert_eq!(log(COMBINED, &format!("{start}\"GET /a")), "truncated 0");
    assert_eq!(log(COMBINED, &format!("{start}\"GET /a\" 2")), "target /a");
    assert_eq!(log(r#""%m %U" %s"#, "\"GET"), "truncated 0");
    assert_eq!(log(r#""%{Referer}i" %U"#, "\"htt"), "log-syntax 0");
}

#[test]
fn quoted_field_ends_at_its_closing_quote() {
    assert_eq!(log(r#""%m %U %H" "%{X}i""#, r#""GET /x" "a HTTP/1.1""#), "log-syntax 0");
    assert_eq!(log(r#""%{X}i" "%r""#, r#""a\" \"GET /no" "GET /a""#), "target /a");
}

#[test]
fn a_request_without_quotes_ends_after_its_version() {
    assert_eq!(log("%h %r %s", "h GET /a b HTTP/1.1 200"), "target /a b");
    assert_eq!(log("%h %r", "h GET /a b"), "target /a b");
}

#[test]
fn a_target_without_quotes_runs_up_to_the_status() {
    let format = "%h %t %m %U%q %>s %b";
    let line = |rest: &str| log(format, &format!("h [10/Oct/2024:13:55:36 +0000] GET {rest}"));
    assert_eq!(line("/my file.html?x=1 200 5"), "target /my file.html?x=1");
    assert_eq!(line("/my file.html 200"), "target /my file.html");
    assert_eq!(line("/3 100% 200 5"), "target /3 100%25");
    assert_eq!(line("/in 2000 and-  - 5"), "target /in 2000 and- ");
    for cut in ["/my file", "/my file 20", "/my 2000 files "] {
        assert_eq!(line(cut), "log-syntax 0", "{cut}");
    }
    assert_eq!(log("$uri $status", "/a 404 b 200"), "target /a 404 b");
    assert_eq!(log("$request_uri;$status;", "/a;b;2000;c;-;"), "target /a;b;2000;c");
    assert_eq!(log("%r %s", "GET /a 200"), "target /a");
    assert_eq!(log("%r %s", "GET /a HTTP/1.1 b HTTP/1.1 200"), "target /a HTTP/1.1 b");
    assert_eq!(log(r#""%U" %s"#, r#""/a b" x"#), "target /a b", "these say where it ends");
}

#[test]
fn path_and_query_fields_are_joined() {
    let format = r#""%m %U%q %H""#;
    assert_eq!(log(format, r#""GET /a b?c=%20?d HTTP/1.1""#), "target /a b?c=%20?d");
    assert_eq!(log(format, r#""GET /a HTTP/1.1""#), "target /a");
    assert_eq!(log(format, r#""GET /a? HTTP/1.1""#), "target /a?");
    assert_eq!(log("%U %q|", "/a ?b|"), "target /a?b");
    assert_eq!(log("%U %q|", "/a |"), "target /a");
    assert_eq!(log("%q %U", "?b /a"), "target /a?b");
    assert_eq!(log("$uri$is_args$args $status", "/a-b?c-"), "log-syntax 0");
    assert_eq!(log("$uri$is_args$args $status", "/a-b?c- 200"), "target /a-b?c-");
    assert_eq!(log("$uri$is_args$args $status", "/a-b- 200"), "target /a-b");
    assert_eq!(log("$uri?$args $status", "/a?b 200"), "target /a?b");
    assert_eq!(log("$uri?$args $status", "/a?- 200"), "target /a");
}

#[test]
fn decoded_path_is_encoded_again_where_needed() {
    assert_eq!(
        log("%U %q", r"/%41#\x3fé\\ ?x=%41#").replace('é', "e"),
        r"target /%2541%23%3Fe\?x=%41#"
    );
    assert_eq!(log("%U%q|", r"/100%?%25|"), "target /100%25?%25");
    assert_eq!(log("${uri}|", "/a?b#c|"), "target /a%3Fb%23c");
    assert_eq!(log("$request_uri|", "/%41?b|"), "target /%41?b", "this one was not decoded");
}

#[test]
fn method_decides_the_form_of_a_connect_target() {
    assert_eq!(log("%m %U", "CONNECT h"), "authority-form 0");
    assert_eq!(log("%m %U", "OPTIONS *"), "asterisk-form 0");
    assert_eq!(log("$request_uri", "h:443"), "authority-form 0");
}

#[test]
fn host_header_precedes_the_used_host_and_the_server_name() {
    let format = "%{Host}i %V %v %U";
    assert_eq!(log(format, "c u s /a"), "joined 8 http://c/a");
    assert_eq!(log(format, "- u s /a"), "joined 8 http://u/a");
    assert_eq!(log(format, "- - s /a"), "joined 8 http://s/a");
    assert_eq!(log(format, "- - - /a"), "target /a");
    assert_eq!(
        log("$http_host $host $server_name $request_uri", "c u s /a"),
        "joined 8 http://c/a"
    );
}

#[test]
fn port_field_completes_the_server_name_only() {
    assert_eq!(log("%v:%p %U", "h:8080 /a"), "joined 13 http://h:8080/a");
    assert_eq!(log("%v:%p %U", "[::1]:443 /a"), "joined 17 https://[::1]:443/a");
    assert_eq!(log("$host $server_port $uri", "h 443 /a"), "joined 13 https://h:443/a");
    assert_eq!(log("%{Host}i %p %U", "h 443 /a"), "joined 9 https://h/a");
    assert_eq!(log("%{Host}i %{local}p %U", "h:81 80 /a"), "joined 11 http://h:81/a");
    assert_eq!(log("%v %{remote}p %U", "h 443 /a"), "joined 8 http://h/a");
}

#[test]
fn scheme_comes_from_the_log_then_the_port_then_the_base() {
    assert_eq!(log("$scheme $host $server_port $uri", "https h 80 /a"), "joined 12 https://h:80/a");
    assert_eq!(log("%{X-Forwarded-Proto}i %v %U", "https h /a"), "joined 9 https://h/a");
    assert_eq!(log("%{X-Forwarded-Proto}i %v %U", "- h /a"), "joined 8 http://h/a");
    assert_eq!(log("%{X-Forwarded-Proto}i %v %U", "javascript h /a"), "joined 8 http://h/a");
    let both = "$scheme $http_x_forwarded_proto $host $uri";
    assert_eq!(log(both, "http https h /a"), "joined 9 https://h/a");
    let base = Origin { scheme: b"https".to_vec(), authority: b"b".to_vec() };
    let ctx = Context { base: Some(base), ..Context::default() };
    let format = Format::parse("log:%v %U").unwrap();
    assert_eq!(show(&format, &ctx, b"h /a"), "joined 9 https://h/a");
    assert_eq!(show(&format, &ctx, b"- /a"), "joined 9 https://b/a");
}

#[test]
fn host_or_port_may_be_adjacent_to_the_target() {
    let format = "$status $scheme://$host$request_uri $bytes_sent";
    assert_eq!(log(format, "200 https://h/a?b 5"), "joined 9 https://h/a?b");
    assert_eq!(log("%v%U%q", "h/a?b"), "joined 8 http://h/a?b");
    assert_eq!(log("%v%U%q", "[::1]/a"), "joined 12 http://[::1]/a");
    assert_eq!(log("%v:%p%U%q", "h:8080/a?b"), "joined 13 http://h:8080/a?b");
    assert_eq!(log("%v:%p%U%q", "h:-/a"), "joined 8 http://h/a");
    let format = "$scheme://$host:$server_port$request_uri $status";
    assert_eq!(log(format, "https://[::1]:444/a 200"), "joined 17 https://[::1]:444/a");
    assert_eq!(log(format, "https://h:444 200"), "log-syntax 0");
}

#[test]
fn absolute_target_overrides_the_host() {
    assert_eq!(log("%v %r", "h GET http://o/a HTTP/1.1"), "url http://o/a");
}

#[test]
fn unreadable_log_format_is_rejected_with_a_reason() {
    for (format, words) in [
        ("%h %t", "names no request"),
        ("$remote_addr", "names no request"),
        ("plain", "names no request"),
        ("%h%r", "byte 6: nothing stands between"),
        ("%p%r", "byte 6: nothing stands between"),
        ("$uri$args", "byte 8: nothing stands between"),
        ("%r %{X", "byte 7: a { that no } closes"),
        ("$request ${X", "byte 13: a { that no } closes"),
        ("%r %", "byte 7: a percent sign at the end"),
        ("%r % x", "byte 7: a percent sign that begins no directive"),
        ("$request $ x", "byte 13: a dollar sign"),
        ("\"%r", "a quotation mark that never closes"),
        ("%r\\n", "no line feed"),
    ] {
        let error = error(format);
        assert!(error.contains(words), "{format}: {error}");
    }
}

#[test]
fn only_a_reason_of_squid_is_no_target() {
    for (target, found) in [
        ("error:invalid-request", "log-syntax 0"),
        ("error:", "log-syntax 0"),
        ("error://h/a", "url error://h/a"),
        ("error:/a.html", "url error:/a.html"),
    ] {
        let format = Format::parse("log:$request_method $request_uri $status").unwrap();
        let line = format!("GET {target} 200");
        assert_eq!(show(&format, &Context::default(), line.as_bytes()), found, "{target}");
    }
}

#[test]
fn format_strings_of_goaccess_are_read() {
    let combined = r#"%h %^[%d:%t %^] "%r" %s %b "%R" "%u""#;
    assert_eq!(log(combined, LINE), "target /a%20b");
    assert_eq!(log(&format!("log-format {combined}"), LINE), "target /a%20b");
    let vhost = format!("h.example:443 {LINE}");
    assert_eq!(log(&format!("%v:%^ {combined}"), &vhost), "joined 16 http://h.example/a%20b");
    for (format, line, shown) in [
        (
            r#"%v %h %d %t "%m %U %H" %~%D"#,
            r#"h 1.2.3.4 a b "GET /x?y HTTP/1.1"   5"#,
            "joined 8 http://h/x?y",
        ),
        (
            r"%dT%t.%^\t%U\t%q\t%K\t%v",
            "2015-05-13T23:39:43.9Z\t/x%20\tq=1\tTLSv1.2\th",
            "joined 9 https://h/x%20?q=1",
        ),
        (r"%d\t%U\t%q", "2015-05-13\t/x\t-", "target /x"),
        (r"%d\t%U\t%q", "2015-05-13\t/x?a\ta", "target /x?a"),
        ("100%% %x %U", "100% t /x", "target /x"),
    ] {
        assert_eq!(log(format, line), shown, "{format}");
    }
    assert!(error("%^ %Z %r").contains("no field of GoAccess"));
    assert!(error("%^ %~ %r").contains("after %~ stands"));
    // These are Apache's: a letter means another field there.
    assert_eq!(log(r#"%^FB 50%%d %t "%r""#, r#"x 50%d [t t] "GET /x""#), "target /x");
}

#[test]
fn fields_beside_the_url_are_read_by_a_format_string_of_goaccess() {
    let format = r#"%h %^[%d:%t %^] "%r" %s %b "%R" "%u" %T"#;
    let format = Format::parse(&format!("log:{format}")).unwrap();
    let line = r#"192.0.2.1 - - [17/May/2015:10:05:03 +0200] "GET /a HTTP/1.1" 404 5 "http://r/" "UA x" 0.25"#;
    let fields = Fields::filled(format.parts(), |out| format.fields(line.as_bytes(), out)).unwrap();
    assert_eq!(fields.text(RecordPart::Client), Some(&b"192.0.2.1"[..]));
    assert_eq!(fields.text(RecordPart::Referrer), Some(&b"http://r/"[..]));
    assert_eq!(fields.text(RecordPart::Agent), Some(&b"UA x"[..]));
    let numbers = fields.numbers;
    assert_eq!((numbers.status, numbers.bytes), (Some(404), Some(5)));
    assert_eq!(numbers.duration, Some(250_000));
    assert_eq!(numbers.time, Some(1_431_849_903));
}
