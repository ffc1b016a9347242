//! What the columns of a table are called and hold, and which of them are read.

use std::fmt::Write;

use crate::input::Trouble;
use crate::record::{Container, NoColumn, TableFormat};
use uniqurl::bytes::Printable;

/// A column that holds values, and no other columns.
#[derive(Debug, Clone)]
pub(super) struct Leaf {
    /// The names on the way to it.
    pub(super) path: Vec<String>,
    /// Which column each of these is of those that it is among.
    pub(super) place: Vec<usize>,
    pub(super) holds: Holds,
}

/// What the rows of a column hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// Text or bytes.
    Text,
    /// Whole numbers, decimals, and binary fractions.
    Numbers,
    /// Truth values.
    Flags,
    /// Dates, times of day, or both.
    Times,
    /// Several values a row.
    Lists,
    /// Nulls alone, as in a part of a data set in which a column happens to have no value.
    Nothing,
    /// What no part of a URL is read from.
    Other,
}

/// Columns that are listed in a message.
const LISTED: usize = 40;

/// Finds the columns that `table` asks for: the table with its layout, and which leaves they are.
pub(super) fn choose(
    table: &TableFormat,
    leaves: &[Leaf],
) -> Result<(TableFormat, Vec<usize>), Trouble> {
    let names: Vec<Vec<u8>> = leaves.iter().map(|leaf| leaf.path.join(".").into_bytes()).collect();
    let found = table.resolve(&names, |leaf| leaves[leaf].holds == Holds::Text);
    let (resolved, wanted) =
        found.map_err(|why| Trouble::Columns(no_column(&why, table, leaves)))?;
    for (cell, leaf) in wanted.iter().enumerate() {
        let what = match leaves[*leaf].holds {
            Holds::Text | Holds::Nothing => continue,
            Holds::Numbers | Holds::Flags | Holds::Times if cell != resolved.source() => continue,
            Holds::Numbers => "numbers, and no URL",
            Holds::Flags => "booleans, and no URL",
            Holds::Times => "times, and no URL",
            Holds::Lists => "several values a row",
            Holds::Other => "neither text nor numbers, booleans or times",
        };
        let name = printed(&leaves[*leaf]);
        return Err(Trouble::Columns(format!(
            "its column `{name}` holds {what}; {}",
            listed(leaves)
        )));
    }
    Ok((resolved, wanted))
}

fn no_column(why: &NoColumn, table: &TableFormat, leaves: &[Leaf]) -> String {
    if leaves.is_empty() {
        return "it has no columns, and so no URLs".to_owned();
    }
    let name = table.container().name();
    match why {
        NoColumn::Missing(column) => {
            let column = Printable(column.as_bytes());
            format!("it has no column `{column}`; {}", listed(leaves))
        }
        NoColumn::Unclear => format!(
            "none of its columns is called `url`, and not just one holds text; {}; say which, as the \
             format {name}:COLUMN does",
            listed(leaves)
        ),
    }
}

/// The name of a column, as messages show it.
pub(super) fn printed(leaf: &Leaf) -> String {
    Printable(leaf.path.join(".").as_bytes()).to_string()
}

/// The names of the columns.
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

/// What is said of a file that is not the container that it is to be read as.
pub(super) fn other(wanted: Container, found: Option<Container>) -> String {
    let wanted = match wanted {
        Container::Parquet => "a Parquet file, which begins with PAR1",
        Container::Arrow => "an Arrow file or stream",
    };
    match found {
        Some(found) => format!("is not {wanted}; the format {}:COLUMN reads it", found.name()),
        None => format!("is not {wanted}; the format auto tells what it is"),
    }
}
