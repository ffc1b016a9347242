//! The JSON logs that need no pointers of a user's own.
//!
//! Of several pointers to one part, the first that leads somewhere counts.

use super::super::part::Part;

/// A part, and where it stands.
type Pointers = &'static [(Part, &'static str)];

/// By name.
const PRESETS: &[(&str, Pointers)] =
    &[("caddy", CADDY), ("cloudflare", CLOUDFLARE), ("nginx-json", NGINX), ("cdxj", CDXJ)];

/// The access log of Caddy. There is an object `tls` if and only if the request came over TLS.
const CADDY: Pointers = &[
    (Part::Scheme, "/request/tls"),
    (Part::Host, "/request/host"),
    (Part::Target, "/request/uri"),
    (Part::Method, "/request/method"),
    (Part::Status, "/status"),
    (Part::Mime, "/resp_headers/Content-Type/0"),
];

/// Cloudflare's `http_requests` log.
const CLOUDFLARE: Pointers = &[
    (Part::Scheme, "/ClientRequestScheme"),
    (Part::Host, "/ClientRequestHost"),
    (Part::Target, "/ClientRequestURI"),
    (Part::Method, "/ClientRequestMethod"),
    (Part::Status, "/EdgeResponseStatus"),
    (Part::Mime, "/EdgeResponseContentType"),
];

/// nginx, whose administrators write the format themselves and name the members as the variables. Of
/// these `uri` is the path decoded, and `args` its query; what stands in the log as it came goes before.
const NGINX: Pointers = &[
    (Part::Scheme, "/scheme"),
    (Part::ClientHost, "/http_host"),
    (Part::Host, "/host"),
    (Part::Host, "/server_name"),
    (Part::Port, "/server_port"),
    (Part::Target, "/request_uri"),
    (Part::Request, "/request"),
    (Part::DecodedPath, "/uri"),
    (Part::Query, "/args"),
    (Part::Method, "/request_method"),
    (Part::Status, "/status"),
    (Part::Mime, "/sent_http_content_type"),
];

/// What is behind the key of a line of CDXJ.
const CDXJ: Pointers = &[(Part::Url, "/url"), (Part::Status, "/status"), (Part::Mime, "/mime")];

/// The pointers of a preset.
pub(super) fn named(name: &str) -> Option<Pointers> {
    PRESETS.iter().find(|(known, _)| *known == name).map(|(_, pointers)| *pointers)
}
