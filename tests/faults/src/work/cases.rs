//! The cases of [`super`] as data: arguments, and texts that grow.

use std::borrow::Cow;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// A text: a repeated part, with a text before and a text after it.
///
/// In the part, `{n}` stands for its number, `{next}` for the next number, and `{hex}` for its number in four
/// hexadecimal digits; before it, `{length}` for the length of the rest; after it, `{all}` for all parts once
/// more. A character stands for a byte.
#[derive(Clone)]
pub struct Text {
    /// Also the name of its file.
    pub name: Cow<'static, str>,
    before: &'static str,
    part: &'static str,
    after: &'static str,
}

/// A command with texts that grow.
pub struct Case {
    pub name: String,
    arguments: String,
    /// The bytes of a unit of each text.
    pub unit: usize,
    /// The exit status.
    pub status: i32,
    pub texts: Vec<Text>,
}

impl Text {
    /// The text with about so many bytes of its part.
    pub fn of(&self, bytes: usize) -> Vec<u8> {
        let numbered = |n: usize| {
            let part = self.part.replace("{n}", &format!("{n:06}"));
            let part = part.replace("{next}", &format!("{:06}", n + 1));
            bytes_of(&part.replace("{hex}", &format!("{n:04x}")))
        };
        let first = numbered(0);
        let count = bytes.div_ceil(first.len());
        let is_numbered = first != numbered(1);
        let parts =
            if is_numbered { (0..count).flat_map(numbered).collect() } else { first.repeat(count) };
        let after: Vec<_> = self.after.split("{all}").map(bytes_of).collect();
        let rest = [&parts[..], &after.join(&parts[..])].concat();
        let before = bytes_of(&self.before.replace("{length}", &rest.len().to_string()));
        [before, rest].concat()
    }
}

/// A byte for each character.
fn bytes_of(text: &str) -> Vec<u8> {
    text.chars().map(|char| char as u8).collect()
}

impl Case {
    /// The arguments, separated by blanks. `[NAME]` stands for the text of that name, and `OPTION*NAME` for the
    /// option with each line of it. A text that they do not name is an input.
    pub fn arguments(&self, texts: &[(&str, Vec<u8>)]) -> Vec<OsString> {
        let mut unnamed: Vec<_> = texts.iter().map(|(name, _)| *name).collect();
        let mut text_of = |name: &str| {
            unnamed.retain(|other| *other != name);
            texts.iter().find(|(other, _)| *other == name).map(|(_, text)| text.clone())
        };
        let mut arguments = Vec::new();
        for argument in self.arguments.split(' ') {
            let whole = argument.strip_suffix(']').and_then(|rest| rest.split_once('['));
            if let Some((option, text)) = whole.and_then(|(o, name)| Some((o, text_of(name)?))) {
                arguments.push(joined(option, &text));
            } else if let Some((option, text)) =
                argument.split_once('*').and_then(|(o, name)| Some((o, text_of(name)?)))
            {
                let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
                arguments.extend(lines.map(|line| joined(option, line)));
            } else {
                text_of(argument);
                arguments.push(argument.into());
            }
        }
        arguments.extend(unnamed.into_iter().map(OsString::from));
        arguments
    }

    /// The bytes of so many units of all texts.
    pub fn bytes(&self, units: usize) -> usize {
        self.unit * units * self.texts.len()
    }

    /// Keeps so many of the texts. Cases whose arguments name texts have no more than that.
    pub fn draw(&mut self, most: usize, mut below: impl FnMut(usize) -> usize) {
        while self.texts.len() > most {
            self.texts.swap_remove(below(self.texts.len()));
        }
    }
}

fn joined(option: &str, value: &[u8]) -> OsString {
    OsString::from_vec([option.as_bytes(), value].concat())
}

/// A reader: the arguments, and a record around a URL.
struct Reader(&'static str, &'static str, &'static str);

/// Formats with a reader of their own, and some of those that a format string, pointers or columns describe.
const READERS: &[Reader] = &[
    Reader("lines", "http://a.example/", "\n"),
    Reader("target", "/", "\n"),
    Reader("text", "see http://a.example/", " there\n"),
    Reader("sitemap", "<urlset><url><loc>http://a.example/", "</loc></url></urlset>\n"),
    Reader("clf", "h - - [10/Oct/2000:13:55:36 -0700] \"GET /", " HTTP/1.0\" 200 2\n"),
    Reader(
        "combined",
        "h - - [10/Oct/2000:13:55:36 -0700] \"GET /",
        " HTTP/1.0\" 200 2 \"-\" \"c\"\n",
    ),
    Reader(
        "vhost",
        "a.example h - - [10/Oct/2000:13:55:36 -0700] \"GET /",
        " HTTP/1.0\" 200 2 \"-\" \"c\"\n",
    ),
    Reader("log:%h\t\"%r\"\t%s\t\"%{Referer}i\"", "h\t\"GET /", " HTTP/1.1\"\t200\t\"-\"\n"),
    Reader("log:%h\t%U%q\t%s", "h\t/", "\t200\n"),
    Reader("w3c", "#Fields: cs-method cs-uri-stem cs-uri-query sc-status\nGET /a ", " 200\n"),
    Reader(
        "elb",
        "2015-05-13T23:39:43.945958Z lb 192.0.2.9:2817 10.0.0.1:80 0 0 0 200 200 0 29 \"GET http://a.example:80/",
        " HTTP/1.1\" \"curl/7.38.0\" - -\n",
    ),
    Reader(
        "cloudfront",
        "#Version: 1.0\n#Fields: date time cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs-uri-query cs-protocol\n\
         2019-12-04\t21:02:31\tGET\td.cloudfront.net\t/x\t200\t-\t",
        "\thttps\n",
    ),
    Reader(
        "haproxy",
        "192.0.2.10:33317 [06/Feb/2009:12:14:14.655] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- \
         1/1/1/1/0 0/0 \"GET /",
        " HTTP/1.1\"\n",
    ),
    Reader("ws:1", "http://a.example/", " b\n"),
    Reader("csv:1", "\"http://a.example/", "\",b\n"),
    Reader("csv:url", "id,url,c\n1,\"http://a.example/", "\",b\n"),
    Reader("tsv:1", "http://a.example/", "\tb\n"),
    Reader("json:/u", "{\"u\":\"http://a.example/", "\",\"v\":1}\n"),
    Reader(
        "cdx",
        "a 20200101000000 http://h.example/",
        " text/html 200 3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ - - 1043 333 a.warc.gz\n",
    ),
    Reader(
        "cdxj",
        "a 20200101000000 {\"url\": \"http://h.example/",
        "\", \"mime\": \"text/html\"}\n",
    ),
    Reader(
        "warc",
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://h.example/",
        "\r\nContent-Length: 0\r\n\r\n\r\n\r\n",
    ),
    Reader(
        "wat:links",
        "WARC/1.0\r\nWARC-Type: metadata\r\nWARC-Target-URI: http://h.example/\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n{\"Envelope\":{\"WARC-Header-Metadata\":{\"WARC-Type\":\"response\",\
         \"WARC-Target-URI\":\"http://h.example/\"},\"Payload-Metadata\":{\"HTTP-Response-Metadata\":{\
         \"HTML-Metadata\":{\"Links\":[{\"path\":\"A@/href\",\"url\":\"",
        "\"}]}}}}}",
    ),
    Reader(
        "lines --envelope docker",
        "{\"log\":\"http://a.example/",
        "\\n\",\"stream\":\"stdout\",\"time\":\"2024-01-01T00:00:00Z\"}\n",
    ),
    Reader("lines --envelope syslog", "<34>Oct 11 22:14:15 h app: http://a.example/", "\n"),
    Reader(
        "arc",
        "filedesc://a.arc 0.0.0.0 20000101000000 text/plain 75\n1 0 A\nURL IP-address Archive-date Content-type \
         Archive-length\n\nhttp://h.example/",
        " 1.1.1.1 20000101000000 text/html 0\n\n",
    ),
];

/// Parts of lines that readers may look at again and again.
const PARTS: &[(&str, &str)] = &[
    ("plain", "a"),
    ("commas", "a,"),
    ("quotes", "\""),
    ("doubled", "a\"\""),
    ("escaped", "\\\""),
    ("backslashes", "\\"),
    ("apostrophes", "a'"),
    ("open", "["),
    ("closed", "]"),
    ("braces", "{"),
    ("objects", "{\"a\":\"b\","),
    ("angles", "<"),
    ("tags", "<a href='"),
    ("comments", "<!--"),
    ("locations", "<loc>http://a/</loc>"),
    ("references", "&amp;"),
    ("blanks", "a "),
    ("tabs", "a\t"),
    ("bars", "a|"),
    ("colons", "a:"),
    ("schemes", "http://"),
    ("urls", "http://a.example/{n} "),
    ("joined", "http://a.example/{n},"),
    ("addresses", "mailto:a{n}@b.example,"),
    ("mails", "a@b.example,"),
    ("pairs", "a{n}=b&"),
    ("semicolons", "a=b; "),
    ("units", "\\u0026"),
    ("bytes", "\\x41"),
    ("percents", "%"),
    ("triplets", "%c3%A9"),
    ("requests", "\"GET /a HTTP/1.1\" 200 1 "),
    ("versions", "a HTTP/1.1\" "),
    ("times", "[10/Oct/2000:13:55:36 -0700] "),
    ("dashes", "- "),
    ("returns", "a\r"),
    ("nuls", "a\0"),
    ("high", "\u{c3}\u{a9}"),
];

/// URLs for the profiles and the keys.
const URLS: &[Text] = &[
    text("segments", "http://a.example/", "a/", "\n"),
    text("numbered", "http://a.example/", "{n}/", "\n"),
    text("words", "http://a.example/", "some-words-{n}/2024-02-03/", "\n"),
    text("params", "http://a.example/?", "a{n}=b&", "\n"),
    text("reversed", "http://a.example/?", "z=b&a=c&", "\n"),
    text("names", "http://a.example/?", "a{n}&", "\n"),
    text("tracking", "http://a.example/?", "utm_source=a&", "\n"),
    text("questions", "http://a.example/", "?a", "\n"),
    text("ampersands", "http://a.example/?", "&", "\n"),
    text("references", "http://a.example/?", "a=b&amp;", "\n"),
    text("above", "http://a.example/", "../", "\n"),
    text("up-and-down", "http://a.example/", "a/../", "\n"),
    text("first-down", "http://a.example/a/b/c/d/e/f/", "a/a/../", "\n"),
    text("here", "http://a.example/", "./", "\n"),
    text("hidden-dots", "http://a.example/", "a/%2e%2E/", "\n"),
    text("triplets", "http://a.example/", "%41", "\n"),
    text("characters", "http://a.example/", "%c3%a9", "\n"),
    text("slashes", "http://a.example/", "%2F", "\n"),
    text("again", "http://a.example/", "%25", "\n"),
    text("percents", "http://a.example/", "%", "\n"),
    text("wide", "http://a.example/", "%u0041", "\n"),
    text("empty", "http://a.example/", "/", "\n"),
    text("backslashes", "http://a.example/", "\\", "\n"),
    text(
        "path-sessions",
        "http://a.example/",
        "a;jsessionid=0123456789ABCDEF0123456789ABCDEF/",
        "\n",
    ),
    text("sessions", "http://a.example/?", "sid=0123456789abcdef0123456789abcdef&", "\n"),
    text("php-sessions", "http://a.example/?", "PHPSESSID=0123456789abcdef0123456789abcdef&", "\n"),
    text("net-sessions", "http://a.example/", "(S(0123456789abcdef01234567))/", "\n"),
    text("parameters", "http://a.example/", "a;b=c/", "\n"),
    text("dot-parameters", "http://a.example/", "a/..;b=c/", "\n"),
    text("semicolons", "http://a.example/", ";", "\n"),
    text("indexes", "http://a.example/", "index.html/", "\n"),
    text("blanks", "http://a.example/", "a ", "\n"),
    text("high", "http://a.example/", "\u{c3}\u{a9}", "\n"),
    text("capitals", "http://a.example/", "ABC", "\n"),
    text("brackets", "http://a.example/?", "a[]=b&", "\n"),
    text("fragment", "http://a.example/#", "#a", "\n"),
    text("labels", "http://", "a.", "example/\n"),
    text("www", "http://", "www.", "example/\n"),
    text("dots", "http://a", ".", "/\n"),
    text("capital-labels", "http://", "AB.", "example/\n"),
    text("international", "http://", "%C3%BC.", "example/\n"),
    text("one-label", "http://", "%C3%BC", ".example/\n"),
    text("puny", "http://", "xn--tda.", "example/\n"),
    text("suffixes", "http://", "co.uk.", "example/\n"),
    text("groups", "http://[", "0:", ":1]/\n"),
    text("numbers", "http://", "1.", "1/\n"),
    text("digits", "http://", "1", "/\n"),
    text("ports", "http://a.example:", "0", "80/\n"),
    text("users", "http://", "a:b@", "a.example/\n"),
    text("user", "http://", "a:", "@a.example/\n"),
    text("schemes", "", "http://", "a.example/\n"),
    text("scheme", "", "a+", "://a.example/\n"),
    text("archived", "", "http://web.archive.org/web/2020/", "a.example/\n"),
];

const fn text(
    name: &'static str,
    before: &'static str,
    part: &'static str,
    after: &'static str,
) -> Text {
    Text { name: Cow::Borrowed(name), before, part, after }
}

/// The names of the profiles, as `uniqurl profiles` lists them.
const PROFILES: &[&str] = &[
    "string",
    "syntax",
    "scheme",
    "crawl",
    "aggressive",
    "ia",
    "whatwg",
    "sanitize",
    "servlet",
    "mediawiki",
    "restbase",
    "upload",
    "ring",
];

/// Options that take [`URLS`]: every key, and rules beside those of a profile.
const RULES: &[&str] = &[
    "dedup --fields template,domain,surt,ssurt,hash,scheme,userinfo,host,port,path,query,fragment,original,first",
    "normalize -p aggressive --transcode latin1 --drop-param ref --keep-param filter[*] --base http://b.example/c/",
    "dedup -p aggressive --limit-by template:1 --stats /dev/null --report /dev/null",
];

/// A command of [`OTHERS`]: arguments, bytes of a unit of each text, exit status, texts.
type Other = (&'static str, usize, i32, &'static [Text]);

const K: usize = 1 << 10;

/// Lists of names and patterns, tables, members, messages, and records by the thousand.
const OTHERS: &[Other] = &[
    // Lists in files.
    (
        "dedup --redirects moved --seen seen --files-from names --format-file formats",
        16 * K,
        0,
        &[
            text("url", "http://a.example/000000\n", "\n", ""),
            text(
                "moved",
                "",
                "http://a.example/{n}\thttp://a.example/{next}\nhttp://b.example/{next}\thttp://b.example/{n}\n\
             http://c.example/{n}\thttp://d.example/{n}\nhttp://d.example/{n}\thttp://c.example/{n}\n",
                "",
            ),
            text("seen", "", "http://a.example/{n}\n", ""),
            text("names", "", "/dev/null\n", ""),
            text(
                "formats",
                "",
                "[[format]]\nname=\"f{n}\"\ndescription=\"x\"\njson.url=\"/u{n}\"\n[[format]]\nname=\"g{n}\"\n\
             description=\"x\"\nlog='{n} $status \"$request\"'\n",
                "",
            ),
        ],
    ),
    (
        "dedup --profile-file rules",
        8 * K,
        0,
        &[
            text("url", "http://a.example/?x=1\n", "\n", ""),
            text(
                "rules",
                "name=\"x\"\nversion=1\nbase=\"crawl\"\nparameters.drop=[",
                "\"a{n}\",",
                "]\n",
            ),
        ],
    ),
    (
        "dedup --profile-file rules",
        8 * K,
        0,
        &[
            text("url", "http://a.example/?x=1\n", "\n", ""),
            text(
                "rules",
                "name=\"x\"\nversion=1\nbase=\"crawl\"\n",
                "# {n}\n[host.\"h{n}.example\".switches]\nsort-query=true\n\
             [host.\"*.g{n}.example\"]\nbase=\"ia\"\n",
                "",
            ),
        ],
    ),
    (
        "dedup --profile-file rules",
        8 * K,
        2,
        &[text(
            "rules",
            "name=\"x\"\nversion=1\nbase=\"crawl\"\n",
            "[host.\"h{n}.example\".switches]\nsort-query=true\n",
            "x=1\n",
        )],
    ),
    (
        "dedup --profile-file rules",
        64 * K,
        2,
        &[text(
            "rules",
            "name=\"x\"\nversion=1\nbase=\"crawl\"\n",
            "[host.\"h{n}.example\".switches]\nx=1\n",
            "",
        )],
    ),
    ("dedup --profile-file rules", 8 * K, 2, &[text("rules", "", "k{n}=1\n", "")]),
    (
        "dedup --format-file formats",
        16 * K,
        2,
        &[text(
            "formats",
            "",
            "[[format]]\nname=\"f{n}\"\ndescription=\"x\"\njson.url=\"/u{n}\"\n",
            "[[format]]\nname=1\n",
        )],
    ),
    ("dedup --files-from names", 16 * K, 2, &[text("names", "", "/dev/null\n", "none\n")]),
    (
        "normalize",
        K,
        0,
        &[
            text(
                "members.gz",
                "",
                "\u{1f}\u{8b}\u{8}\0\0\0\0\0\u{2}\u{3}\u{cb}())\u{b0}\u{d2}\u{d7}O\u{d4}K\u{ad}H\u{cc}-\u{c8}\
             I\u{d5}\u{e7}\u{2}\0\u{b5}>\u{af}\u{e}\u{12}\0\0\0",
                "",
            ),
            text("frames.zst", "", "(\u{b5}/\u{fd} \u{12}\u{91}\0\0http://a.example/\n", ""),
            text(
                "streams.bz2",
                "",
                "BZh91AY&SY\u{c5}5\u{b3}\u{ee}\0\0\u{5}Y\u{80}\0\u{10}\0\u{1}\u{80}\u{10}\"FD@ \u{0}1\u{3}@\u{d0})\
             \u{a6}\u{9e}\u{a6}\u{d2}~\u{a7}:\u{94}\u{dc}\u{16}\u{da}a\u{1}\u{82}\u{ee}H\u{a7}\n\u{12}\u{18}\u{a6}\u{b6}}\u{c0}",
                "",
            ),
            text(
                "streams.xz",
                "",
                "\u{fd}7zXZ\0\0\u{1}i\"\u{de}6\u{2}\0!\u{1}\u{16}\0\0\0t/\u{e5}\u{a3}\u{1}\0\u{11}\
             http://a.example/\n\0\0\0\u{b5}>\u{af}\u{e}\0\u{1}&\u{12}GG\u{e1}\u{10}\u{90}B\u{99}\r\u{1}\0\0\0\0\u{1}YZ",
                "",
            ),
        ],
    ),
    // Options that are given again and again, and lists of values.
    (
        "dedup --match=*patterns --not-match=*others --host=*hosts --host=*blocks --not-host=*strangers --ext=[ext] \
      --schemes=[schemes]",
        4 * K,
        0,
        &[
            text("url", "http://h000001.example/x\n", "\n", ""),
            text("patterns", "", "x{n}\n", ""),
            text("others", "", "y{n}.*z\n", ""),
            text("hosts", "", "h{n}.example\n", ""),
            text("blocks", "", "2001:db8:{hex}::/48\n", ""),
            text("strangers", "", "*.g{n}.example\n", ""),
            text("ext", "", "a{n},", "b"),
            text("schemes", "", "a{n},", "http"),
        ],
    ),
    (
        "dedup --drop-param=*names --fields=[fields]",
        8 * K,
        0,
        &[
            text("url", "http://a.example/?a=1\n", "\n", ""),
            text("names", "", "a{n}\n", ""),
            text("fields", "", "canonical,", "canonical"),
        ],
    ),
    (
        "dedup --keep-param=*names",
        8 * K,
        0,
        &[text("url", "http://a.example/?a=1\n", "\n", ""), text("names", "", "a{n}*\n", "")],
    ),
    (
        "dedup -f combined --status=[status] --method=[method] --agent=[agent]",
        8 * K,
        0,
        &[
            text(
                "log",
                "h - - [10/Oct/2000:13:55:36 -0700] \"GET /a HTTP/1.0\" 200 2 \"-\" \"c\"\n",
                "\n",
                "",
            ),
            text("status", "", "200,", "200"),
            text("method", "", "M{n},", "GET"),
            text("agent", "", "a{n}|", "c"),
        ],
    ),
    (
        "dedup -f csv:url --carry=[columns] table",
        8 * K,
        0,
        &[
            text("columns", "", "c{n},", "id"),
            text("table", "url,id,", "c{n},", "x\nhttp://a.example/,{all},1\n"),
        ],
    ),
    (
        "dedup -f log:[layout]",
        8 * K,
        0,
        &[text("log", "/a\t", "h\t", "200\n"), text("layout", "%U\t", "%{a{n}}i\t", "%s")],
    ),
    (
        "dedup -f lines --base=[base]",
        8 * K,
        0,
        &[text("url", "x\n", "\n", ""), text("base", "http://a.example/", "../a/", "")],
    ),
    // Tables and objects of many columns and members.
    (
        "normalize",
        4 * K,
        0,
        &[
            text("numbers", "", "1,", "1\n{all}1\n{all}1\n{all}1\n"),
            text("targets", "", "/a\t", "1\n{all}1\n{all}1\n{all}1\n"),
            text("words", "", "a ", "1\n{all}1\n{all}1\n{all}1\n"),
            text("pairs", "", "a{n}:/b\t", "1\n{all}1\n{all}1\n{all}1\n"),
            text("members", "{\"a\":1", ",\"a{n}\":\"/b\"", "}\n{\"a\":1{all}}\n"),
            text("hosts", "{\"a\":1", ",\"host{n}\":\"a.example\"", "}\n{\"a\":1{all}}\n"),
        ],
    ),
    (
        "normalize -f json:/u",
        16 * K,
        0,
        &[
            text("members", "{", "\"a{n}\":1,", "\"u\":\"http://a.example/\"}\n"),
            text("same", "{", "\"u\":\"http://a.example/\",", "\"u\":\"http://a.example/\"}\n"),
            text("wrong", "{", "\"u\":1,", "\"u\":\"http://a.example/\"}\n"),
            text("elements", "{\"u\":\"http://a.example/\",\"v\":[", "0,", "0]}\n"),
        ],
    ),
    (
        "normalize -f wat:links",
        16 * K,
        0,
        &[text(
            "links",
            "WARC/1.0\r\nWARC-Type: metadata\r\nWARC-Target-URI: http://h.example/\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n\r\n{\"Envelope\":{\"WARC-Header-Metadata\":{\"WARC-Type\":\"response\",\
             \"WARC-Target-URI\":\"http://h.example/\"},\"Payload-Metadata\":{\"HTTP-Response-Metadata\":{\
             \"HTML-Metadata\":{\"Links\":[",
            "{\"path\":\"A@/href\",\"url\":\"a{n}\"},",
            "{}]}}}}}",
        )],
    ),
    (
        "normalize -f warc",
        16 * K,
        0,
        &[
            text(
                "headers",
                "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://h.example/\r\nContent-Length: 0\r\n",
                "X-{n}: y\r\n",
                "\r\n\r\n\r\n",
            ),
            text(
                "records",
                "",
                "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://h.example/\r\nContent-Length: 0\r\n\r\n\r\n\r\n",
                "",
            ),
        ],
    ),
    (
        "normalize -f w3c",
        16 * K,
        0,
        &[
            text("fields", "#Fields: cs-uri", " c{n}", "\n/a{all}\n"),
            text("headers", "", "#Fields: cs-uri c{n}\n/a b\n", ""),
        ],
    ),
    (
        "normalize -f csv:1",
        16 * K,
        0,
        &[
            text("rows", "", "a\"\n", ""),
            text("quotations", "", "\"a\n", ""),
            text("cells", "", "\"a\"b\n", ""),
            text("pairs", "", "\"\"\n", ""),
        ],
    ),
    (
        "normalize -f sitemap",
        16 * K,
        0,
        &[
            text("open", "", "<loc>\n", ""),
            text("comments", "", "<!--\n", ""),
            text("sections", "", "<![CDATA[\n", ""),
            text("closed", "", "</loc>\n", ""),
        ],
    ),
    (
        "normalize -f text",
        16 * K,
        0,
        &[
            text("tags", "<html>\n", "<a href='\n", ""),
            text("comments", "<html>\n", "<!-- http://a.example/ \n", ""),
            text("values", "<html>\n", "<a xmlns:a='\n", ""),
        ],
    ),
    // Records by the thousand.
    (
        "dedup --memory 1M --temp-dir . --order sorted --count",
        512 * K,
        0,
        &[text("urls", "", "http://a.example/{n}\n", "")],
    ),
    (
        "dedup --memory 1M --temp-dir . --limit-by host:100",
        512 * K,
        0,
        &[text("urls", "", "http://a.example/{n}\n", "")],
    ),
    (
        "dedup --memory 1M --temp-dir . --limit-by host:10000000",
        512 * K,
        3,
        &[text("urls", "", "http://a.example/{n}\n", "")],
    ),
    (
        "dedup -f tsv:1 --carry 2 --keep last",
        16 * K,
        0,
        &[text("urls", "", "http://a.example/{n}\t{n}\n", "")],
    ),
    (
        "dedup --key template --count",
        16 * K,
        0,
        &[text("urls", "", "http://a.example/a{n}b/c?d{n}\n", "")],
    ),
    ("dedup --save-seen store", 16 * K, 0, &[text("urls", "", "http://a.example/{n}\n", "")]),
    // Messages.
    ("dedup -f [format]", 8 * K, 2, &[text("format", "", "combind", "")]),
    ("dedup -p [profile]", 8 * K, 2, &[text("profile", "", "crawl-", "")]),
    ("dedup --[option]", 8 * K, 2, &[text("option", "", "order", "")]),
    ("dedup --match=[expression]", 8 * K, 2, &[text("expression", "", "http://u:secret@h/", "(")]),
    ("dedup --host=[host]", 8 * K, 2, &[text("host", "", "http://u:secret@h/", "")]),
    ("dedup --ring=[ring]", 8 * K, 2, &[text("ring", "decode=", "2F,", "ZZ")]),
    ("dedup [name]", 8 * K, 2, &[text("name", "", "http://u:secret@h/?a#b", "")]),
    ("dedup -f log:[layout]", 8 * K, 2, &[text("layout", "%U", "%{", "")]),
    ("dedup -f json:[pointer]", 8 * K, 2, &[text("pointer", "", "/a", "")]),
    ("explain -p all [url]", 2 * K, 0, &[text("url", "http://a.example/", "%41../?a=b&", "")]),
    (
        "explain -p all --key template --json [url]",
        2 * K,
        0,
        &[text("url", "http://a.example/", "%41../{n}/", "")],
    ),
    (
        "compare [one] [other]",
        4 * K,
        1,
        &[
            text("one", "http://a.example/", "a{n}/", ""),
            text("other", "http://a.example/", "b{n}/", ""),
        ],
    ),
];

/// The arguments of runs over files. A long URL is not to be rejected for its length.
const RUN: &str = "-q -j 1 --max-url 16M --rejects /dev/null";

/// All cases.
pub fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |arguments: &str, unit, status, texts| {
        let name = arguments.to_owned();
        let arguments = match arguments.split_once(' ').unwrap_or((arguments, "")) {
            ("dedup", rest) => format!("dedup {RUN} {rest}"),
            ("normalize", rest) => format!("normalize {RUN} {rest}"),
            _ => name.clone(),
        };
        let arguments = arguments.trim_end().to_owned();
        cases.push(Case { name, arguments, unit, status, texts });
    };
    let parts = |kind: &str, before, after| {
        let named = |name: &str| format!("{kind} {name}").trim_start().to_owned();
        let text = |&(name, part)| Text { name: named(name).into(), before, part, after };
        PARTS.iter().map(text).collect::<Vec<_>>()
    };
    for Reader(format, before, after) in READERS {
        let mut texts = parts("", before, after);
        // A table without its header has no such column.
        if *format != "csv:url" {
            texts.extend(parts("line of", "", "\n"));
        }
        add(&format!("normalize -f {format}"), 4 * K, 0, texts);
    }
    add("normalize", 4 * K, 0, [parts("", "word ", "\n"), parts("line of", "", "\n")].concat());
    add(
        "dedup --redact --json -f lines",
        4 * K,
        0,
        parts("", "http://u:s@h:bad/", "\nhttp://a.example/\n"),
    );
    for profile in PROFILES {
        add(&format!("normalize -f lines -p {profile}"), 4 * K, 0, URLS.to_vec());
    }
    for rules in RULES {
        add(&format!("{rules} -f lines"), 4 * K, 0, URLS.to_vec());
    }
    for (arguments, unit, status, texts) in OTHERS {
        add(arguments, *unit, *status, texts.to_vec());
    }
    cases
}
