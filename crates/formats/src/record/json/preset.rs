//! The JSON logs that have predefined pointers.
//!
//! If several pointers give the same part, the first one with a value counts.

use super::super::part::RecordPart;

/// A part, and its pointer.
type Pointers = &'static [(RecordPart, &'static str)];

/// The presets by name.
const PRESETS: &[(&str, Pointers)] =
    &[("caddy", CADDY), ("cloudflare", CLOUDFLARE), ("nginx-json", NGINX), ("cdxj", CDXJ)];

/// Caddy's access log. It has an object `tls` if and only if the request came over TLS.
const CADDY: Pointers = &[
    (RecordPart::Scheme, "/request/tls"),
    (RecordPart::Host, "/request/host"),
    (RecordPart::Target, "/request/uri"),
    (RecordPart::Method, "/request/method"),
    (RecordPart::Status, "/status"),
    (RecordPart::Mime, "/resp_headers/Content-Type/0"),
];

/// Cloudflare's `http_requests` log.
const CLOUDFLARE: Pointers = &[
    (RecordPart::Scheme, "/ClientRequestScheme"),
    (RecordPart::Host, "/ClientRequestHost"),
    (RecordPart::Target, "/ClientRequestURI"),
    (RecordPart::Method, "/ClientRequestMethod"),
    (RecordPart::Status, "/EdgeResponseStatus"),
    (RecordPart::Mime, "/EdgeResponseContentType"),
];

/// nginx: administrators write the format themselves and name the members after the variables. Of
/// these, `uri` is the decoded path, and `args` is its query. Members with the raw target take precedence.
const NGINX: Pointers = &[
    (RecordPart::Scheme, "/scheme"),
    (RecordPart::ClientHost, "/http_host"),
    (RecordPart::Host, "/host"),
    (RecordPart::Host, "/server_name"),
    (RecordPart::Port, "/server_port"),
    (RecordPart::Target, "/request_uri"),
    (RecordPart::Request, "/request"),
    (RecordPart::DecodedPath, "/uri"),
    (RecordPart::Query, "/args"),
    (RecordPart::Method, "/request_method"),
    (RecordPart::Status, "/status"),
    (RecordPart::Mime, "/sent_http_content_type"),
];

/// The object in a CDXJ line.
const CDXJ: Pointers =
    &[(RecordPart::Url, "/url"), (RecordPart::Status, "/status"), (RecordPart::Mime, "/mime")];

/// The pointers to the numbers of a record. Of several to one number, the first with a value counts.
#[derive(Debug, Clone, Default)]
pub(in crate::record) struct MeasuredPointers {
    /// To the status.
    pub status: Vec<Vec<Vec<u8>>>,
    /// To the bytes sent.
    pub bytes: Vec<Vec<Vec<u8>>>,
    /// To the duration in seconds.
    pub seconds: Vec<Vec<Vec<u8>>>,
    /// To the time: a date, or a number since 1970.
    pub time: Vec<Vec<Vec<u8>>>,
}

/// The members with the numbers of a preset; all presets have them at the top.
pub(super) fn measured(name: &str) -> Option<MeasuredPointers> {
    let list = |names: &[&str]| names.iter().map(|name| vec![name.as_bytes().to_vec()]).collect();
    let all = |status, bytes: &[_], seconds: &[_], time: &[_]| MeasuredPointers {
        status: list(&[status]),
        bytes: list(bytes),
        seconds: list(seconds),
        time: list(time),
    };
    Some(match name {
        "caddy" => all("status", &["size"], &["duration"], &["ts"]),
        "cloudflare" => {
            all("EdgeResponseStatus", &["EdgeResponseBytes"], &[], &["EdgeStartTimestamp"])
        }
        "nginx-json" => all(
            "status",
            &["body_bytes_sent", "bytes_sent"],
            &["request_time"],
            &["time_iso8601", "msec", "time_local"],
        ),
        "cdxj" => all("status", &[], &[], &[]),
        _ => return None,
    })
}

/// The pointers of a preset.
pub(super) fn named(name: &str) -> Option<Pointers> {
    PRESETS.iter().find(|(known, _)| *known == name).map(|(_, pointers)| *pointers)
}
