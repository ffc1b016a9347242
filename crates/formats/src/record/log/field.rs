//! The meanings of the fields of a log.

use super::super::part::RecordPart;

/// The meaning of a log's field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::record) enum Field {
    /// Unrelated to the URL.
    Other,
    /// The request line.
    Request,
    /// The raw target.
    Uri,
    /// The decoded path.
    Path,
    /// The query with its `?`, or nothing.
    Query,
    /// The query without its `?`.
    Args,
    /// `?` if there is a query, else nothing.
    IsArgs,
    /// The path followed by its query.
    PathQuery,
    /// The path, then `?` and the query, or else a dash.
    PathDashQuery,
    /// The method.
    Method,
    /// The status of the response, used only by filters.
    Status,
    /// The host as the client wrote it, perhaps with a port.
    ClientHost,
    /// The host that the server chose for the request.
    Host,
    /// The server's own name.
    ServerName,
    /// The port of the server.
    Port,
    /// The scheme, as seen by the server.
    Scheme,
    /// The scheme, as seen by a proxy in front of the server.
    ForwardedScheme,
    /// The version of TLS, or a dash: the scheme is https, or http.
    TlsVersion,
    /// Unrelated to the URL, but [read beside it](super::super::Fields): the bytes sent.
    Bytes,
    /// The duration of the request in microseconds.
    Micros,
    /// The duration in milliseconds.
    Millis,
    /// The duration in seconds.
    Seconds,
    /// The time of the request as a date.
    Date,
    /// The time of the request in seconds since 1970.
    EpochSeconds,
    /// The time in milliseconds since 1970.
    EpochMillis,
    /// The time in microseconds since 1970.
    EpochMicros,
    /// The client.
    Client,
    /// The referrer.
    Referrer,
    /// The agent.
    Agent,
}

impl Field {
    /// Number of fields that matter to the URL or to filters: the first ones. The others are read beside it.
    pub const COUNT: usize = Field::TlsVersion as usize + 1;

    /// The field as the URL and filters need it.
    pub fn of_url(self) -> Field {
        if self.is_of_url() { self } else { Field::Other }
    }

    pub fn is_of_url(self) -> bool {
        (self as usize) < Field::COUNT
    }

    /// The part of a record that the field is beside the URL.
    pub fn part(self) -> Option<RecordPart> {
        Some(match self {
            Field::Status => RecordPart::Status,
            Field::Bytes => RecordPart::Bytes,
            Field::Micros | Field::Millis | Field::Seconds => RecordPart::Seconds,
            Field::Date | Field::EpochSeconds | Field::EpochMillis | Field::EpochMicros => {
                RecordPart::Time
            }
            // A request line begins with its method.
            Field::Method | Field::Request => RecordPart::Method,
            Field::Client => RecordPart::Client,
            Field::Referrer => RecordPart::Referrer,
            Field::Agent => RecordPart::Agent,
            _ => return None,
        })
    }

    pub fn is_host(self) -> bool {
        matches!(self, Field::ClientHost | Field::Host | Field::ServerName)
    }

    /// True for a part of an authority, which holds no slash.
    pub fn ends_at_slash(self) -> bool {
        self.is_host() || self == Field::Port
    }

    /// True for the request, or a part of it.
    pub fn is_request(self) -> bool {
        !self.is_host()
            && self.is_of_url()
            && !matches!(
                self,
                Field::Other
                    | Field::Status
                    | Field::Port
                    | Field::Scheme
                    | Field::ForwardedScheme
                    | Field::TlsVersion
            )
    }

    /// The field that this one and the next form if they are adjacent.
    pub fn with(self, next: Field) -> Option<Field> {
        Some(match (self.of_url(), next.of_url()) {
            (Field::Other, Field::Other) => Field::Other,
            (Field::Path, Field::Query) => Field::PathQuery,
            (Field::Path, Field::IsArgs) => Field::PathDashQuery,
            (Field::PathDashQuery, Field::Args) => Field::PathDashQuery,
            _ => return None,
        })
    }
}
