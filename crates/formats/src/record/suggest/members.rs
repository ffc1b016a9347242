//! The members of JSON that make a URL.

use super::super::advice::Columns;
use super::super::census::{Census, Column};
use super::super::json;
use super::super::line::without_mark;
use super::super::trial::Trial;
use super::super::value_kind::ValueKind;
use super::suggestion::{Finds, Suggestion};

/// The format of the members that make a URL.
pub(super) fn of_json(head: &[u8], trial: &Trial<'_>) -> Option<Suggestion> {
    let census = Census::of_json(trial.lines.iter().copied());
    // No line is a value by itself, so values may span lines.
    if census.columns.is_empty() {
        return of_joined_json(head, trial);
    }
    if let Some(found) = Columns::find(&census) {
        let name = found.format("json", |column| column.place.clone());
        return trial.reads(&name).then(|| Suggestion::format(name, Finds::Urls));
    }
    let is_host_path =
        |column: &&Column| column.is_filled_by(ValueKind::HostPath) && column.name.contains("ur");
    let column = census.columns.iter().find(|column| is_host_path(column) && !column.is_item)?;
    Some(Suggestion::format(format!("json:{}", column.place), Finds::HostPaths))
}

/// The URLs of JSON whose values are not one a line: as text, if all of them have one name.
fn of_joined_json(head: &[u8], trial: &Trial<'_>) -> Option<Suggestion> {
    let first = json::first_value(without_mark(head))?;
    let census = Census::of_json(std::iter::once(first));
    let mut urls = census.columns.iter().filter(|column| column.is(ValueKind::Url));
    let name = &urls.next()?.name;
    let is_alone = urls.all(|column| column.name == *name) && trial.found("text") > 0;
    is_alone.then(|| Suggestion::format("text".to_owned(), Finds::Urls))
}
