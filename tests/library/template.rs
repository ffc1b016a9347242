//! Templates: each rule and each type, by tables of cases that match and of cases that nearly do.

use uniqurl::internal::TemplateRule;
use uniqurl::{Normalizer, PartType, Profile, Template};

pub fn of(url: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    Template::of(url, &mut out);
    out
}

fn text(url: &str) -> String {
    String::from_utf8(of(url.as_bytes())).unwrap()
}

/// Each URL has this template.
#[track_caller]
fn are_templates(cases: &[(&str, &str)]) {
    let wrong: Vec<_> = cases
        .iter()
        .filter(|(url, template)| text(url) != *template)
        .map(|(url, template)| format!("{url} gave {}, not {template}", text(url)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Each of these, separated by white space, is of a type as a whole segment, as a query name, and
/// before extensions.
#[track_caller]
fn are(part_type: PartType, segments: &str) {
    for segment in segments.split_whitespace() {
        are_templates(&[
            (&format!("http://h/a/{segment}/b"), &format!("http://h/a/{part_type}/b")),
            (&format!("http://h/{segment}.html"), &format!("http://h/{part_type}.html")),
            (&format!("http://h/{segment}.tar.GZ"), &format!("http://h/{part_type}.tar.GZ")),
            (&format!("http://h/{segment};v=1"), &format!("http://h/{part_type};v")),
        ]);
        if !segment.contains('=') {
            are_templates(&[(&format!("/?{segment}=1"), &format!("/?{part_type}"))]);
        }
    }
}

/// Each of these, separated by white space, stays as it is.
#[track_caller]
fn stay(segments: &str) {
    for segment in segments.split_whitespace() {
        let url = format!("http://h/a/{segment}/b");
        are_templates(&[(&url, &url)]);
    }
}

#[test]
fn uuid_is_five_groups_of_hexadecimal_digits() {
    are(
        PartType::Uuid,
        "550e8400-e29b-41d4-a716-446655440000 550E8400-E29B-41D4-A716-446655440000
         550e8400-E29B-41d4-A716-446655440000 00000000-0000-0000-0000-000000000000
         ffffffff-ffff-ffff-ffff-ffffffffffff 01890a5d-ac96-774b-bcce-b302099a8057",
    );
    stay("abcdefab-cdef-abcd-efab-cdefabcdefa abcdefab-cdef-abcd-efab-cdefabcdefag");
    stay(
        "bcdefab-cdef-abcd-efab-cdefabcdefab abcdefab-cdef-abcd-efab abcdefab-cdef-abcd--efab-cdefabcdefab",
    );
    stay("abcdefab_cdef_abcd_efab_cdefabcdefab a-b-c-d-e abcdefab-cdef-abcd-efabc-defabcdefab");
    // From lists of real URLs.
    stay(
        "5204-6126_102-0.html 2018-06-car-startup-google-founder-flights.html stm32f3-02-dac-dma
         CCA_75_2002_271-280_Persin.pdf cmd-review-2668-5B24635-3913649E-prod4 dr2000-11-16.htm
         00_master_symeonidis%2028-10-2015.pdf mc.RELEASE.2025-08-13T08-35-41Z v2025_05_24
         2017_04_26T10_18_38_07_00.jpg 2023-28-07-issue-05-Traits-Image-Processing
         VA-DJ_Zone_Best_Session_04-2015-2CD-2015-ONe.html AdaDistilled07-27-2003.pdf
         beczka-asenizacyjna-5000-l-3000-4000-6000-7000-ID15HmoK.html",
    );
    are_templates(&[
        ("/user_550e8400-e29b-41d4-a716-446655440000-x.json", "/user_{uuid}-x.json"),
        ("/%7B550e8400-e29b-41d4-a716-446655440000%7D", "/%7B{uuid}%7D"),
        ("urn:uuid:550e8400-e29b-41d4-a716-446655440000", "urn:uuid:{uuid}"),
        // The number belongs to the letters of the last group.
        (
            "/abcdefab-cdef-abcd-efab-cdefabcdefab12345",
            "/abcdefab-cdef-abcd-efab-cdefabcdefab{int}",
        ),
        (
            "/abcdefab-cdef-abcd-efab-cdefabcdefab{int}",
            "/abcdefab-cdef-abcd-efab-cdefabcdefab{int}",
        ),
        ("/abcdefab-cdef-abcd-efab-cdefabcdefab{x}", "/{uuid}%7Bx%7D"),
        // A letter or digit beside it makes it something else.
        ("/xabcdefab-cdef-abcd-efab-cdefabcdefab", "/xabcdefab-cdef-abcd-efab-cdefabcdefab"),
        ("/abcdefab-cdef-abcd-efab-cdefabcdefabx", "/abcdefab-cdef-abcd-efab-cdefabcdefabx"),
    ]);
}

#[test]
fn date_is_real_and_of_1990_to_2099() {
    are(
        PartType::Date,
        "19900101 20991231 20240229 20000229 2024-02-29 2024_12_31 2024.01.01 1990-01-01 2099.12.31
         2023-04-30",
    );
    // A number in any case, but no date.
    are(
        PartType::Int,
        "19891231 21000101 20230229 21000229 20240230 20240431 20241301 20240001 20240100 2024022
         202402290",
    );
    stay("2023-02-29 1989-12-31 2100-01-01 2024-13-01 2024-00-10 2024-01-00 2024-04-31 2024-1-5");
    stay("2024-01_05 2024.01-05 2024~01~05 24-01-05 05-01-2024 2024-01 2024-01-5 v2024.01.05");
    stay("2024-01-05T10 2024-01-05x 2024-01-051 x2024-01-05");
    are_templates(&[
        ("/report-2024-02-29.pdf", "/report-{date}.pdf"),
        ("/report_20240229_v2", "/report_{date}_v2"),
        ("/2024-02-29-a-post", "/{date}-a-post"),
        ("/a%202024.02.29%20b", "/a%20{date}%20b"),
        ("/log-20230229", "/log-{int}"),
        ("/2024-01-05-06", "/{date}-06"),
        ("/2024-01-05-2024-01-06", "/{date}-{date}"),
        ("/bg2021022019.webp", "/bg{int}.webp"),
        ("/IMG_20240105_101010.jpg", "/IMG_{date}_{int}.jpg"),
    ]);
}

#[test]
fn date_over_segments_is_one_part() {
    are_templates(&[
        ("/2024/02/29/title", "/{date}/title"),
        ("/2024/2/9", "/{date}"),
        ("/2024/2/9/", "/{date}/"),
        ("/blog/2021/05/weekly-issue-158.html", "/blog/{date}/weekly-issue-158.html"),
        ("/2024/05", "/{date}"),
        ("/2024/05/12345", "/{date}/{int}"),
        ("/2024/05/07;v=1/x", "/{date};v/x"),
        ("/2024/05;v=1/07", "/{date};v/{int}"),
        ("/2024/01/2025/02", "/{date}/{date}"),
        ("/12/2024/01", "/{int}/{date}"),
        ("2024/05/x", "{date}/x"),
        // No real day: year and month are.
        ("/2023/02/29", "/{date}/{int}"),
        ("/2024/04/31", "/{date}/{int}"),
        ("/2024/04/007", "/{date}/{int}"),
        ("/2024/04/07.html", "/{date}/{int}.html"),
        // No month.
        ("/2024/13/01", "/{int}/{int}/{int}"),
        ("/2024/0/01", "/{int}/{int}/{int}"),
        ("/2024/001/01", "/{int}/{int}/{int}"),
        ("/1989/12/31", "/{int}/{int}/{int}"),
        ("/2100/01/01", "/{int}/{int}/{int}"),
        ("/2024//01", "/{int}//{int}"),
        ("/2024;a/01", "/{int};a/{int}"),
        ("/02024/01", "/{int}/{int}"),
        ("/2024/01x", "/{int}/01x"),
        ("/2024", "/{int}"),
        ("/2024/", "/{int}/"),
        // An opaque path has no segments.
        ("x:2024/01/05", "x:2024/01/05"),
        ("http://2024/01/05", "http://2024/{int}/{int}"),
        ("/?2024/01", "/?2024/01"),
    ]);
}

#[test]
fn int_is_digits_alone() {
    are(PartType::Int, "0 7 007 42 12345 99999999999999999999999999999999999999999999");
    stay(
        "2d mp3 mp4 utf-8 v1 v2.1 3.11.2 covid-19 1st 4k h264 x86_64 9to5 -5 1,000 1e9 0x1f 5G top-10",
    );
    stay(
        "us gb 3d 24h 911s rust-1.75.0 python3.12 sdl-2 part-1 page2 c++17 n0 7z s3 ipv6 tls1.3 e2e",
    );
    stay("1.2 1.x 2.rc1 12-34 1%2C2 web2.0 1.12.0-beta.3 CVE-2021-4110 rfc3986 ISO-8859-1 es2015");
}

#[test]
fn numbers_of_five_digits_are_no_part_of_a_name() {
    are_templates(&[
        ("/item12345", "/item{int}"),
        ("/item1234", "/item1234"),
        ("/item12345.html", "/item{int}.html"),
        ("/item12345x", "/item12345x"),
        ("/a12z34567", "/a12z34567"),
        ("/title-12345-more", "/title-{int}-more"),
        ("/title-1234-more", "/title-1234-more"),
        ("/1.23456.7", "/1.{int}.7"),
        ("/a~12345~b", "/a~{int}~b"),
        ("/a%2012345%20b", "/a%20{int}%20b"),
        ("/%4112345", "/%41{int}"),
        ("/%2512345", "/%25{int}"),
        ("/tel:+15551234567", "/tel:+{int}"),
        ("tel:+15551234567", "tel:+{int}"),
        ("/id=12345,67890", "/id={int},{int}"),
    ]);
}

#[test]
fn file_extensions_stay() {
    are_templates(&[
        ("/17.html", "/{int}.html"),
        ("/17.min.js", "/{int}.min.js"),
        ("/17.tar.gz", "/{int}.tar.gz"),
        ("/17.JPG", "/{int}.JPG"),
        ("/17.mp4", "/{int}.mp4"),
        ("/17.7z", "/{int}.7z"),
        ("/17.woff2", "/{int}.woff2"),
        // Three are too many, and unknown words are no extensions.
        ("/17.a.tar.gz", "/17.a.tar.gz"),
        ("/17.tar.gz.sig", "/17.tar.gz.sig"),
        ("/17.beta", "/17.beta"),
        ("/17.", "/17."),
        ("/.17", "/.17"),
        ("/.html", "/.html"),
        ("/17.0.html", "/17.0.html"),
        ("/1.2.3.mp4", "/1.2.3.mp4"),
    ]);
}

#[test]
fn hex_has_one_case_and_changes_twice() {
    are(
        PartType::Hex,
        "a1b2c3d4 A1B2C3D4 12ab34cd 1ab2cdef deadbee1f 4f0b81cc0d9e5a0d2a44
         d41d8cd98f00b204e9800998ecf8427e DA39A3EE5E6B4B0D3255BFEF95601890AFD80709
         abcdefabcdefabcdefabcdefabcdefa1 0abcdefabcdefabcdefabcdefabcdefabcdefabc
         e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    );
    stay(
        "face cafe deadbeef defaced deadface abad1dea1x c0ffee 1234abcd abcd1234 a1b2c3d a1B2c3D4",
    );
    stay(
        "abcdefabcdefabcdefabcdefabcdefab abcdefabcdefabcdefabcdefabcdef1 1234567890abcdef 0x1f2e3d",
    );
    // From lists of real URLs.
    stay(
        "CafeBabe 42914EDDEC 920145EAFA AFFF2422 8549903F 6309054a.html fdef09e.htm main.min.1a3ded2.js
         parking-lot-ffffffffffffffff wicked-fast-web-servers-in-rust-4947688426bc
         merchants-of-complexity-4851301b why-deadbeef-cant-display-the-cover-of-m4aaac",
    );
    are_templates(&[
        ("/app.4f0b81cc.chunk.js", "/app.{hex}.chunk.js"),
        ("/main-a1b2c3d4e5.css", "/main-{hex}.css"),
        ("/deadbeef12345", "/deadbeef{int}"),
        ("/app-deadbeef.js", "/app-deadbeef.js"),
        ("/sha256:4f0b81cc0d9e", "/sha256:{hex}"),
    ]);
}

#[test]
fn ip_is_no_version_number() {
    are(
        PartType::Ip,
        "192.168.0.1 8.8.8.100 255.255.255.255 ::1 2001:db8::1 fe80::1 1:2:3:4:5:6:7:8
         ::ffff:192.0.2.1 2001:DB8:0:0:8:800:200C:417A",
    );
    stay("1.2.3.4 10.0.0.1 99.99.99.99 256.1.1.100 1.2.3.256 1.2.3 1.2.3.4.5 100.2.3 192.168.00.1");
    stay(":: a::b face::cafe Foo::Bar 12:30 12:30:00 00:11:22:33:44:55 1:2:3:4:5:6:7 1::2::3 g::1");
    stay("192.168.0.1x 192.168.0 v192.168.0.1 192.168.0.1-x ::1- 1.2.3.+100");
    stay(
        "%3A%3A1 [::1] 3.11.2 2.0.0.1 1.12.0.99 v100.1.2.3 4.4.100 0.0.0.0 10.15.7.1 std::vec::Vec",
    );
}

#[test]
fn email_ends_in_no_file_extension() {
    are(
        PartType::Email,
        "joe@example.com joe%40example.com a.b+c_d-e~f@mail.example.co.uk joe%2Btag@h.org qq12@163.com
         package-announce@lists.fedoraproject.org J@H.DE 12@a-b.info",
    );
    stay(
        "icon@2x.png logo@3x.webp photo@home.jpg jquery@3.min.js joe@localhost @joe joe@ @ joe@h.",
    );
    stay(
        "react@18.2.0 pkg@1.0.0-beta lodash@4.17.x joe@a@b.com joe@.com joe@a..com @scope @@images",
    );
    stay("joe%40localhost joe%2540h.com joe@h.com%20 a!b@h.com joe@h_1.com joe@h.c joe@h.c0m");
    are_templates(&[
        ("mailto:joe@example.com", "mailto:{email}"),
        ("mailto:joe@example.com?subject=Hi", "mailto:{email}?subject"),
    ]);
}

#[test]
fn token_changes_once_in_four_characters() {
    are(
        PartType::Token,
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk
         eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0. eyJ eyJhbGciOi AbC1dEfG2hIjKlMnO k3J9xQ2mZ7pL0vB8
         a1b2c3d4e5f6g7h8 aGVsbG8gd29ybGQhMTIz aGVsbG8gd29ybGQhMTIz== q1w2e3r4t5y6u7i8o9p0
         9zK3_fT7-xW1qLm5 1a2b3c4d-5e6f7g8h",
    );
    stay(
        "keyJson eyj eyX AbCdEfGhIjKlMnOp a1b2c3d4e5f6g7h HelloWorldFooBar1 IPhone12ProMax5GSpecs",
    );
    // From lists of real URLs.
    stay(
        "TecnologieWeb0809 Extreme-Sports-g2887 Soviet_submarine_K-219 GHSL-2022-009_ckeditor4
         xmlSchema2001Reference Windows11_Hardening",
    );
    stay(
        "abcdefghijklmnop1 top-10-of-2020-best-3-x my-post-about-2024-things how-to-do-1-2-3-and-4-5",
    );
    stay("A1A1AbcdefghijklmnopA abcdefghijklmno1-2 the_2nd_of_3_parts_in_10_days a1b2-c3d4-e5f6");
    are_templates(&[
        ("/eyJhbG1iOa0aa0000a=", "/{token}"),
        ("/AbC1dEfG2hIjKlMnO===", "/{token}==="),
        ("/AbC1dEfG2hIjKlMnO%3D", "/{token}%3D"),
        ("/a.AbC1dEfG2hIjKlMnO", "/a.{token}"),
        ("/reset:eyJhbGciOi.eyJzdWIi", "/reset:{token}.{token}"),
        ("/abcdefghijklmnop12345", "/abcdefghijklmnop{int}"),
    ]);
}

#[test]
fn locales_are_names() {
    stay("en en-US pt_BR zh-Hans-CN es-419");
}

#[test]
fn parameters_of_a_segment_keep_their_names() {
    are_templates(&[
        ("/a;v=1;w=2/b;x", "/a;v;w/b;x"),
        ("/a;jsessionid=0A1B2C3D4E5F.node1", "/a;jsessionid"),
        ("/17;12345=6", "/{int};12345"),
        ("/;=1;;a==b", "/;;;a"),
        ("/a;b/c=d", "/a;b/c=d"),
        ("data:text/html;charset=utf-8,x", "data:text/html;charset"),
    ]);
}

#[test]
fn query_keeps_each_name_once() {
    are_templates(&[
        ("/?a=1&b=2&a=3", "/?a&b"),
        ("/?123", "/?{int}"),
        ("/?123=4&456=7&x", "/?{int}&x"),
        ("/?20240229&joe@h.org=1", "/?{date}&{email}"),
        ("/?item12345=1&a[17]=2", "/?item12345&a[17]"),
        ("/?17.html", "/?17.html"),
        ("/?a=b=c&d?e/f", "/?a&d?e/f"),
        ("/?%7Bint%7D=1&{int}=2&5", "/?{int}"),
        ("/?a%7Bint%7Db", "/?a{int}b"),
        ("/?", "/"),
        ("/?&&=1&=", "/"),
        ("/?&a&&b&=c", "/?a&b"),
        ("http://h?a=1#b", "http://h?a"),
        ("?b&a&b", "?b&a"),
    ]);
    let many: Vec<String> = (0..40).map(|n| format!("n{}=1", n % 20)).collect();
    let once: Vec<String> = (0..20).map(|n| format!("n{n}")).collect();
    are_templates(&[(&format!("/?{}", many.join("&")), &format!("/?{}", once.join("&")))]);
}

#[test]
fn scheme_authority_slashes_and_empty_segments_stay() {
    are_templates(&[
        ("http://user12345@h-12345.example:8080/", "http://user12345@h-12345.example:8080/"),
        ("http://192.168.0.1/17", "http://192.168.0.1/{int}"),
        ("http://[2001:db8::1]:80/17", "http://[2001:db8::1]:80/{int}"),
        ("http://h//17///", "http://h//{int}///"),
        ("http://h", "http://h"),
        ("http://h/17#18", "http://h/{int}"),
        ("//17/17", "//17/{int}"),
        ("file:///17", "file:///{int}"),
        ("x:/17/18", "x:/{int}/{int}"),
        ("x:17", "x:{int}"),
        ("x:17/18", "x:17/18"),
        ("x:", "x:"),
        ("", ""),
        ("#", ""),
        ("17", "{int}"),
        // The name of a scheme begins with a letter.
        ("17:18/19", "17:18/{int}"),
        (":17/18", ":17/{int}"),
        ("::1;a:1", "{ip};a:1"),
    ]);
}

#[test]
fn other_bytes_become_triplets() {
    are_templates(&[
        ("/a'b\"c<d>e\\f^g`h|i j", "/a%27b%22c%3Cd%3Ee%5Cf%5Eg%60h%7Ci%20j"),
        ("/{x}/{/}/{17}/{}", "/%7Bx%7D/%7B/%7D/%7B17%7D/%7B%7D"),
        ("/{int}/%7Bint%7D/{int%7d/%7bint}/a{uuid}b", "/{int}/{int}/{int}/{int}/a{uuid}b"),
        ("/{Int}/{int }/{ints}/{{int}}", "/%7BInt%7D/%7Bint%20%7D/%7Bints%7D/%7B{int}%7D"),
        ("/%/%4/%zz/%e9%E9/%%41", "/%25/%254/%25zz/%e9%E9/%25%41"),
        ("/caf\u{e9}/\u{7f}\0", "/caf%C3%A9/%7F%00"),
        ("http://{x}.h/", "http://%7Bx%7D.h/"),
        ("/a?it's={x}", "/a?it%27s"),
        ("/a;it's={x}", "/a;it%27s"),
        ("/~a!b$c&d(e)f*g+h,i=j:k[l]_m-n.o", "/~a!b$c&d(e)f*g+h,i=j:k[l]_m-n.o"),
    ]);
    assert_eq!(of(b"/\xFF"), b"/%FF");
}

#[test]
fn trace_names_the_rule_of_each_part() {
    let url = b"http://h/2024/02/29/17.html/item12345-20240229;v=17/{int}/%7Bhex%7D?a=1&123=4#18";
    let parts = Template::trace(url);
    let told: Vec<_> = parts
        .iter()
        .map(|part| (str::from_utf8(&url[part.range.clone()]).unwrap(), part.part_type, part.rule))
        .collect();
    assert_eq!(
        told,
        [
            ("2024/02/29", PartType::Date, TemplateRule::DateSegments),
            ("17", PartType::Int, TemplateRule::WholeSegment),
            ("12345", PartType::Int, TemplateRule::Inside),
            ("20240229", PartType::Date, TemplateRule::Inside),
            ("{int}", PartType::Int, TemplateRule::Braced),
            ("%7Bhex%7D", PartType::Hex, TemplateRule::Braced),
            ("123", PartType::Int, TemplateRule::QueryName),
        ]
    );
    assert_eq!(Template::trace(b"http://h/a/v1?b=17"), []);
}

#[test]
fn template_is_appended() {
    let crawl = Normalizer::new(Profile::Crawl);
    let (mut scratch, mut out) = (Vec::new(), b"x ".to_vec());
    let url = crawl.canonical(b"HTTP://h:80/1?b&a&b", &mut scratch).unwrap();
    Template::of(&url, &mut out);
    assert_eq!(out, b"x http://h/{int}?b&a");
    Template::of(&url, &mut out);
    assert_eq!(out, b"x http://h/{int}?b&ahttp://h/{int}?b&a");
}
