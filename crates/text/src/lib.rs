//! Texts of strangers for terminals and reports. URLs, log lines and file names may hold escape sequences,
//! line feeds and secrets.
//!
//! In: any bytes. Out: bytes that act on no terminal ([`Printable`]), and texts with `***` in place of
//! secrets ([`UrlExcerpt`], [`ShownPath`], [`redact`]); where two of them differ ([`differences`]).

mod differences;
mod printable;
mod masked;
mod url_excerpt;
mod shown_path;
mod redact;

pub use differences::differences;
pub use masked::HIDDEN;
pub use printable::{Excerpt, Printable, is_control, stands_for_itself};
pub use redact::{Secrets, redact, redact_query, redact_record};
pub use shown_path::ShownPath;
pub use url_excerpt::UrlExcerpt;
