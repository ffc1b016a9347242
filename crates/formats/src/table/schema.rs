//! The names and types of a table's columns, and the choice of those to read.

use std::fmt::Write;
use std::path::Path;

use crate::input::Trouble;
use crate::record::{Container, NoColumn, TableFormat};
use uniqurl_text::Printable;

/// A column with values, not with nested columns.
#[derive(Debug, Clone)]
pub(super) struct Leaf {
    /// Its path of names.
    pub(super) path: Vec<String>,
    /// Its path of indexes, one per level.
    pub(super) place: Vec<usize>,
    pub(super) holds: Holds,
}

/// The kind of values in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// Text or bytes.
    Text,
    /// Whole numbers, decimals and floats.
    Numbers,
    /// Booleans.
    Flags,
    /// Dates, times of day, or both.
    Times,
    /// Several values per row.
    Lists,
    /// Only nulls, as when a column has no values in one part of a data set.
    Nothing,
    /// A type that no part of a URL can come from.
    Other,
}

/// Most columns that a message lists.
const LISTED: usize = 40;

/// Finds the columns that `table` asks for. Returns the table with its layout, and the indexes of the
/// leaves.
pub(super) fn choose(
    table: &TableFormat,
    leaves: &[Leaf],
) -> Result<(TableFormat, Vec<usize>), Trouble> {
    let names: Vec<Vec<u8>> = leaves.iter().map(|leaf| leaf.path.join(".").into_bytes()).collect();
    let found = table.resolve(&names, |leaf| leaves[leaf].holds == Holds::Text);
    let (resolved, wanted) = found.map_err(|why| Trouble::Columns(no_column(&why, leaves)))?;
    for (cell, leaf) in wanted.iter().enumerate() {
        let what = match leaves[*leaf].holds {
            // One part of a data set may have no values of a column. Its rows are blank, and no
            // error.
            Holds::Text | Holds::Nothing => continue,
            // These may be parts beside the URL, such as a status or a time, or columns to carry.
            Holds::Numbers | Holds::Flags | Holds::Times if cell != resolved.source() => continue,
            Holds::Numbers => "numbers instead of URLs",
            Holds::Flags => "booleans instead of URLs",
            Holds::Times => "times instead of URLs",
            Holds::Lists => "several values a row",
            Holds::Other => "neither text nor numbers, booleans or times",
        };
        let name = printed(&leaves[*leaf]);
        return Err(Trouble::Columns(format!(
            "its column `{name}` holds {what}: {}",
            listed(leaves)
        )));
    }
    Ok((resolved, wanted))
}

fn no_column(why: &NoColumn, leaves: &[Leaf]) -> String {
    if leaves.is_empty() {
        return "it has no columns".to_owned();
    }
    match why {
        NoColumn::Missing(column) => {
            let column = Printable::path(Path::new(column));
            format!("it has no column `{column}`: {}", listed(leaves))
        }
        NoColumn::Unclear => format!(
            "it has no column `url`, and more or fewer than one column of text: {}",
            listed(leaves)
        ),
    }
}

/// Formats the name of a column for messages.
pub(super) fn printed(leaf: &Leaf) -> String {
    Printable(leaf.path.join(".").as_bytes()).to_string()
}

/// Lists the names of the columns.
fn listed(leaves: &[Leaf]) -> String {
    let mut text = String::from("its columns are ");
    for (i, leaf) in leaves.iter().take(LISTED).enumerate() {
        text.push_str(if i > 0 { ", " } else { "" });
        text.push_str(&printed(leaf));
        text.push_str(match leaf.holds {
            Holds::Text => " (text)",
            Holds::Numbers => " (numbers)",
            Holds::Flags => " (booleans)",
            Holds::Times => " (times)",
            Holds::Lists => " (lists)",
            Holds::Nothing => " (nulls)",
            Holds::Other => "",
        });
    }
    if leaves.len() > LISTED {
        // Writing to a String cannot fail.
        let _ = write!(text, " and {} more", leaves.len() - LISTED);
    }
    text
}

/// The message for a file in another container than the requested one.
pub(super) fn other(wanted: Container, found: Option<Container>) -> String {
    let wanted = match wanted {
        Container::Parquet => "a Parquet file, which begins with PAR1",
        Container::Arrow => "an Arrow file or stream",
    };
    match found {
        Some(found) => format!("is not {wanted}, but a table of the format {}", found.name()),
        None => format!("is not {wanted}"),
    }
}
