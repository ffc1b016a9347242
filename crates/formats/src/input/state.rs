//! How reading an input ended.

use serde::Serialize;

/// How an input was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum InputState {
    /// Read to the end.
    Ok,
    /// Given up half-way.
    Damaged,
    /// Never opened.
    Missing,
    /// Not what was asked for: a directory, or nothing that the format can be read from.
    Refused,
    /// Left before its end, or before all that was read of it was counted, since the run ended.
    Unfinished,
}
