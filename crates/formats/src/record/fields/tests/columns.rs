use super::super::{COLUMNS, FieldReader, PartSet, RecordPart};
use crate::record::{Carrier, Context, Format, FormatTable, Records, Values, carrying};

/// The names of the columns that `format` has.
fn names(format: &Format) -> Vec<String> {
    let columns = COLUMNS.iter().filter(|(_, part)| format.parts().has(*part));
    columns.map(|(name, _)| (*name).to_owned()).collect()
}

/// The columns of the last of these lines, each as text; none as `?`.
fn carried(name: &str, columns: &[&str], lines: &[&str]) -> String {
    let columns: Vec<String> = columns.iter().map(|name| (*name).to_owned()).collect();
    let format = carrying(&Format::parse(name).unwrap(), &columns).unwrap();
    let mut carrier = Carrier::new(&format, &columns);
    let mut values = Values::default();
    let (last, headers) = lines.split_last().unwrap();
    headers.iter().for_each(|line| carrier.pass(line.as_bytes()));
    carrier.values(last.as_bytes(), &mut values).unwrap();
    let text = |n: usize| values.get(n).map_or("?".into(), String::from_utf8_lossy);
    (0..columns.len()).map(text).collect::<Vec<_>>().join("|")
}

const ALL: [&str; 7] = ["client", "time", "method", "status", "bytes", "referrer", "agent"];

#[test]
fn access_logs_have_the_columns_in_common() {
    let clf = r#"10.0.0.7 - frank [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.0" 200 2326"#;
    let combined = format!(r#"{clf} "http://r/" "Mozilla/5.0 (\"X\")""#);
    let texts = "10.0.0.7|2000-10-10T20:55:36Z|GET|200|2326";
    let clf_columns = &ALL[..5];
    assert_eq!(carried("clf", clf_columns, &[clf]), texts);
    let both = format!("{texts}|http://r/|Mozilla/5.0 (\"X\")");
    assert_eq!(carried("combined", &ALL, &[&combined]), both);
    assert_eq!(carried("combined", &ALL, &[clf]), format!("{texts}|?|?"));
    assert_eq!(carried("vhost", &ALL, &[&format!("h:443 {combined}")]), both);
    let log = r#"log:%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i""#;
    assert_eq!(carried(log, &ALL, &[&combined]), both);
    let nginx = r#"log:$remote_addr [$msec] $request_method "$request_uri" $status $body_bytes_sent "$http_referer" "$http_user_agent""#;
    let line = r#"::1 [971211336.250] POST "/a" 404 - "-" "x\x22y""#;
    assert_eq!(carried(nginx, &ALL, &[line]), "::1|2000-10-10T20:55:36Z|POST|404|?|-|x\"y");
    let elb = r#"2015-05-13T23:39:43.945958Z lb 10.0.0.7:2817 10.0.0.1:80 0.000073 0.001048 0.000057 200 502 0 29 "GET http://h:80/ HTTP/1.1" "curl \x22" - -"#;
    let elb_columns = ["client", "time", "method", "status", "bytes", "agent"];
    let told = "10.0.0.7|2015-05-13T23:39:43Z|GET|200|29|curl \"";
    assert_eq!(carried("elb", &elb_columns, &[elb]), told);
    assert_eq!(carried("alb", &elb_columns, &[&format!("h2 {elb}")]), told);
    let haproxy = r#"10.0.1.2:33317 [06/Feb/2009:12:14:14.655] in s/s1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {} {} "HEAD /index.html HTTP/1.1""#;
    let told = "10.0.1.2|2009-02-06T12:14:14Z|HEAD|200|2750";
    assert_eq!(carried("haproxy", clf_columns, &[haproxy]), told);
}

#[test]
fn a_line_without_a_request_has_the_columns_before_it() {
    for (line, told) in [
        (
            r#"h - - [10/Oct/2000:13:55:36 +0000] "-" 408 - "-" "-""#,
            "h|2000-10-10T13:55:36Z|?|408|?|-|-",
        ),
        (r#"h - - [10/Oct/2000:13:55:36 +0000] "GET /a"#, "h|2000-10-10T13:55:36Z|?|?|?|?|?"),
        ("x", "x|?|?|?|?|?|?"),
        ("", "?|?|?|?|?|?|?"),
    ] {
        assert_eq!(carried("combined", &ALL, &[line]), told, "{line}");
    }
}

#[test]
fn a_column_of_the_input_goes_before_one_in_common() {
    let line = r#"{"time":"noon","ts":971211336,"status":"x","request":{"remote_ip":"::1","method":"GET","headers":{"User-Agent":["UA"]}}}"#;
    assert_eq!(carried("caddy", &["time", "status", "client", "agent"], &[line]), "noon|x|::1|UA");
    let line = r#"{"ts":971211336,"request":{"remote_ip":null,"client_ip":"::2"}}"#;
    assert_eq!(carried("caddy", &["time", "client"], &[line]), "2000-10-10T20:55:36Z|::2");
    let header = "#Fields: date time c-ip cs(User-Agent) sc-status";
    let line = "2000-10-10 20:55:36 10.0.0.7 Mozilla/5.0+(X) 200";
    let columns = ["time", "client", "agent", "status", "c-ip"];
    let told = "20:55:36|10.0.0.7|Mozilla/5.0+(X)|200|10.0.0.7";
    assert_eq!(carried("w3c", &columns, &[header, line]), told);
}

#[test]
fn formats_without_a_header_name_the_columns_they_have() {
    let error = |name: &str, column: &str| {
        carrying(&Format::parse(name).unwrap(), &[column.to_owned()]).unwrap_err()
    };
    assert_eq!(
        error("clf", "agent"),
        "column agent: clf has no such column: its columns are client, time, method, status, bytes"
    );
    assert!(error("lines", "agent").contains("lines has no columns with names"));
    assert!(error("csv:1", "agent").contains("columns have only numbers"));
    assert!(error("cloudfront-rows", "x").contains("client, time, method, status, bytes"));
}

/// The samples of the table have a value for each column that their formats have, unless a line may lack it.
#[test]
fn every_format_with_a_name_reads_the_columns_that_it_has() {
    let mut listed = Vec::new();
    for entry in FormatTable::shipped().entries() {
        let format = entry.format();
        let columns = names(format);
        if columns.is_empty() || ["cdx", "cdxj"].contains(&&*format.name()) {
            continue;
        }
        let mut found = vec![false; columns.len()];
        let format = carrying(format, &columns).unwrap();
        let mut records = Records::default();
        format.read(&Context::default(), entry.sample.as_bytes(), &mut records);
        let mut carrier = Carrier::new(&format, &columns);
        let mut values = Values::default();
        for record in &records.records {
            let line = record.line.of(entry.sample.as_bytes());
            if record.found == crate::record::Extracted::Skipped {
                carrier.pass(line);
                continue;
            }
            carrier.values(line, &mut values).unwrap();
            for (n, found) in found.iter_mut().enumerate() {
                *found |= values.get(n).is_some_and(|value| !value.is_empty());
            }
        }
        let shown = columns.iter().zip(found);
        let shown: Vec<_> = shown
            .map(|(name, found)| if found { name.clone() } else { format!("({name})") })
            .collect();
        listed.push(format!("{}: {}", entry.name, shown.join(" ")));
    }
    assert_eq!(listed.join("\n"), EXPECTED.trim());
}

/// Columns that the sample lacks are in parentheses.
const EXPECTED: &str = "
s3: client time method status bytes referrer agent
s3-2019: client time method status bytes referrer agent
envoy: time method status bytes agent
istio: time method status bytes agent
nginx-proxy-manager: client time method status bytes referrer agent
nginx-proxy-manager-default: client time method status bytes referrer agent
npmplus: client time method status bytes referrer agent
nginx-error: client method
nginx-ingress: client time method status bytes referrer agent
traefik: client time method status bytes referrer agent
lighttpd: client time method status bytes referrer agent
lighttpd-common: client time method status bytes
iis-rows: client time method status referrer agent
squid: client time method status bytes
uvicorn: client method status
nginx-proxy-manager-other: time method status
crawl-log: time
elb: client time method status bytes agent
alb: client time method status bytes agent
haproxy: client time method status bytes
ltsv: client time method status bytes referrer agent
cloudfront-real-time: client time method status bytes referrer agent
cloudfront-rows: client time method status bytes referrer agent
cloudfront-rows-2014: client time method status bytes referrer agent
zeek-http: client time method
cloudfront: client time method status bytes referrer agent
w3c: client time method status (bytes) (referrer) (agent)
iis: client time method status (bytes) (referrer) agent
isa: client time (method) status (bytes) (referrer) agent
vhost: client time method status bytes referrer agent
vhost-common: client time method status bytes (referrer) (agent)
combined: client time method status bytes referrer agent
varnishncsa: client time method status bytes referrer agent
clf: client time method status bytes
tomcat: client time method status bytes
caddy: client time method status (bytes) (referrer) agent
cloudflare: client (time) method status (bytes) (referrer) (agent)
traefik-json: client time method status (bytes) (referrer) (agent)
gcp-lb: client time method status (bytes) (referrer) agent
azure-frontdoor: client time method status (bytes) (referrer) (agent)
azure-appgw: client time method status bytes (agent)
akamai-ds2: client time method status bytes (referrer) agent
aws-waf: client time method status (referrer) agent
cloudfront-v2: client time method status bytes referrer agent
wikimedia-webrequest: client time method status bytes referrer agent
http2: method (status) (referrer) agent
envoy-json: time method status (bytes) agent
fastly: client time method status bytes (referrer) agent
ecs: (client) time method status (bytes) (referrer) (agent)
otel-http: client (time) method status (bytes) agent
ecs-parts: (client) time method status (bytes) (referrer) (agent)
katana: time method status
pino-http: client time method status (referrer) agent
suricata: client time method status bytes (referrer) (agent)
oscar: (time)
ingress-nginx-json: client time method status bytes (referrer) agent
nginx-json: client time method status (bytes) (referrer) (agent)
";

#[test]
fn time_and_agent_are_read_where_the_format_says_they_are() {
    let asked = PartSet::of(&[RecordPart::Time, RecordPart::Agent]);
    let read = |name: &str, lines: &[&str]| {
        let format = Format::parse(name).unwrap();
        let mut reader = FieldReader::new(&format, asked);
        let (last, headers) = lines.split_last().unwrap();
        headers.iter().for_each(|line| reader.pass(line.as_bytes()));
        let fields = reader.read(last.as_bytes()).unwrap();
        let agent = fields.text(RecordPart::Agent);
        (fields.numbers.time, agent.map(|agent| String::from_utf8_lossy(agent).into_owned()))
    };
    let both = (Some(971_211_336), Some("UA".to_owned()));
    let csv = "http://h/,2000-10-10T20:55:36Z,\"UA\"";
    assert_eq!(read("csv:u,time=t,agent=a", &["u,t,a", csv]), both);
    let tsv = "http://h/\t971211336\tUA";
    assert_eq!(read("tsv:url=1,time=2,agent=3", &[tsv]), both);
    let json = r#"{"u":"http://h/","t":971211336.5,"a":["UA"]}"#;
    assert_eq!(read("json:url=/u,time=/t,agent=/a/0", &[json]), both);
    // A member of the name is another field.
    let member = r#"{"u":"http://h/","t":971211336.5,"agent":"no"}"#;
    assert_eq!(read("json:url=/u,time=/t,agent=/a/0", &[member]), (both.0, None));
    let w3c = ["#Fields: date time cs(user-agent) cs-uri-stem", "2000-10-10 20:55:36 UA /"];
    assert_eq!(read("w3c", &w3c), both);
    assert_eq!(read("w3c", &["#Fields: cs-uri-stem", "/"]), (None, None));
    let warc = "WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: 2000-10-10T20:55:36Z\r\n\r\n";
    assert_eq!(read("warc", &[warc]), (both.0, None));
    let parts = |name: &str| FieldReader::new(&Format::parse(name).unwrap(), asked).parts();
    assert_eq!(parts("clf"), PartSet::of(&[RecordPart::Time]));
    assert_eq!(parts("lines"), PartSet::NONE);
    assert!(parts("csv:u,time=t").has(RecordPart::Time));
}
