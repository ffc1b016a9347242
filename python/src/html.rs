//! Results as notebooks show them: the accounting, and a table of the first rows.

use std::fmt::Display;

use arrow_array::{Array, ArrayRef};
use arrow_schema::Field;
use uniqurl_engine::output::{Accounting, HtmlText};
use uniqurl_text::Excerpt;

use crate::values::values_of;

/// The most rows that are shown.
const ROWS: usize = 10;

/// A table of columns of the same length. A null is an empty cell, and a long value is cut.
pub fn table<'a>(
    accounts: &Accounting<'_>,
    columns: impl IntoIterator<Item = (&'a Field, &'a [ArrayRef])>,
) -> String {
    let (mut head, mut rows) = (String::new(), Vec::new());
    for (field, chunks) in columns {
        head += &cell("th", field.name());
        let values = first_values(chunks);
        rows.resize(values.len(), String::new());
        for (row, value) in rows.iter_mut().zip(values) {
            *row += &cell("td", value);
        }
    }
    let rows: String = rows.iter().map(|cells| format!("<tr>{cells}</tr>")).collect();
    let accounts = HtmlText(accounts);
    format!("<p>{accounts}</p><table><tr>{head}</tr>{rows}</table>")
}

fn cell(kind: &str, text: impl Display) -> String {
    format!("<{kind}>{}</{kind}>", HtmlText(text))
}

fn first_values(chunks: &[ArrayRef]) -> Vec<String> {
    let mut values = Vec::new();
    for chunk in chunks {
        // A slice, since reading the values of a dictionary takes time for each row.
        let chunk = chunk.slice(0, chunk.len().min(ROWS - values.len()));
        let value_of = values_of(chunk.as_ref());
        let text = |row| value_of(row).map(|value| Excerpt(value).to_string()).unwrap_or_default();
        values.extend((0..chunk.len()).map(text));
    }
    values
}
