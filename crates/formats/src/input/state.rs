//! How reading an input ended.

/// The final state of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputState {
    /// Read to the end.
    Ok,
    /// Reading stopped half-way.
    Damaged,
    /// Never opened.
    Missing,
    /// Not a readable input of the requested kind: a directory, or nothing the format can be read from.
    Refused,
    /// The run ended before the input was read to its end, or before all bytes read were counted.
    Unfinished,
}

impl InputState {
    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            InputState::Ok => "ok",
            InputState::Damaged => "damaged",
            InputState::Missing => "missing",
            InputState::Refused => "refused",
            InputState::Unfinished => "unfinished",
        }
    }
}
