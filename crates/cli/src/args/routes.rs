//! `--routes`: the routes of an application, from a list or an OpenAPI description.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use saphyr_parser::{Event, Parser};

use crate::args::help::OUTPUT;
use crate::args::rules::read_text;
use uniqurl::key::Routes;
use uniqurl_text::Printable;

/// The routes by which templates are made.
#[derive(Debug, Args)]
pub struct RoutesArgs {
    /// Read path templates for --key template: one a line, or an OpenAPI document
    ///
    /// A URL whose path one of them fits gets it, such as /user/{name}/orders; other paths are typed. A line may name a
    /// host before the path, as --key template writes it. An OpenAPI document is JSON or YAML. {name} is a segment, or a
    /// part of one, and text goes before variables. - is standard input.
    #[arg(long, value_name = "FILE", hide_short_help = true, help_heading = OUTPUT)]
    pub routes: Option<PathBuf>,
}

impl RoutesArgs {
    /// Reads the routes.
    ///
    /// # Errors
    ///
    /// A sentence that names the file and, where one is at fault, the line.
    pub fn read(&self) -> Result<Option<Arc<Routes>>, String> {
        let Some(path) = &self.routes else { return Ok(None) };
        let text = read_text(path, "--routes")?;
        let fail = |(line, why)| format!("{}: line {line}: {why}", Printable::path(path));
        let lines = if is_openapi(&text) { paths_of(&text) } else { Ok(lines_of(&text)) };
        let mut routes = Routes::default();
        for (line, route) in lines.map_err(fail)? {
            let why = |error| format!("`{}`: {error}", Printable(route.as_bytes()));
            routes.add(&route).map_err(|error| fail((line, why(error))))?;
        }
        Ok(Some(Arc::new(routes)))
    }

    /// The file that is read before any input, with its option.
    pub fn file(&self) -> Option<(&'static str, &Path)> {
        Some(("--routes", self.routes.as_deref()?))
    }
}

/// The lines of a list with their numbers, without blank ones and comments.
fn lines_of(text: &str) -> Vec<(usize, String)> {
    let lines = (1..).zip(text.lines().map(str::trim));
    let routes = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    routes.map(|(number, line)| (number, line.to_owned())).collect()
}

/// Whether a text is a description and no list: no route begins with a brace or with these names.
fn is_openapi(text: &str) -> bool {
    let names = ["openapi:", "swagger:", "paths:"];
    text.trim_start().starts_with('{')
        || text.lines().any(|line| names.iter().any(|name| line.starts_with(name)))
}

/// The keys of the member `paths` of a description (OpenAPI 3.1, "Paths Object"), with their lines; those that do not
/// begin with a slash are extensions. JSON is YAML, too. An error is a line and what is wrong with it.
fn paths_of(text: &str) -> Result<Vec<(usize, String)>, (usize, String)> {
    let mut found = Vec::new();
    // For each open mapping whether a key comes next, and nothing for a sequence.
    let mut open: Vec<Option<bool>> = Vec::new();
    let mut is_in_paths = false;
    for event in Parser::new_from_str(text) {
        let (event, span) =
            event.map_err(|error| (error.marker().line(), error.info().to_owned()))?;
        if let (Event::Scalar(name, ..), Some(Some(true))) = (&event, open.last()) {
            match open.len() {
                1 => is_in_paths = name == "paths",
                2 if is_in_paths && name.starts_with('/') => {
                    found.push((span.start.line(), name.clone().into_owned()));
                }
                _ => {}
            }
        }
        if let Event::MappingEnd | Event::SequenceEnd = event {
            open.pop();
            continue;
        }
        let opened = match event {
            Event::MappingStart(..) => Some(Some(true)),
            Event::SequenceStart(..) => Some(None),
            Event::Scalar(..) | Event::Alias(_) => None,
            _ => continue,
        };
        // In a mapping keys and values come in turn, whatever they are.
        if let Some(Some(is_key)) = open.last_mut() {
            *is_key = !*is_key;
        }
        open.extend(opened);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_a_description_are_found_in_json_and_yaml() {
        let json = r#"{"openapi": "3.1.0", "info": {"paths": {"/no": 1}},
            "paths": {"/a/{b}": {"get": {"x": ["/no", {"/no": 2}]}}, "x-of-somebody": {"/no": 1}, "/c\u002Fd": {}},
            "components": {"paths": {"/no": {}}}}"#;
        let yaml = "# of an application\nopenapi: 3.1.0\ninfo: &i\n  title: a\npaths:\n  /a/{b}:\n    get: *i\n  '/c/d':\n\
                    \x20   - /no\nservers: [{url: /no}]\n";
        for (text, lines) in [(json, [2, 2]), (yaml, [6, 8])] {
            assert!(is_openapi(text));
            let expected = lines.into_iter().zip(["/a/{b}", "/c/d"].map(str::to_owned));
            assert_eq!(paths_of(text), Ok(expected.collect()));
        }
        assert_eq!(paths_of("paths:\n  /a: {\n").map_err(|(line, _)| line), Err(3));
    }

    #[test]
    fn lines_of_a_list_keep_their_numbers() {
        let text = "# routes\n\n  /a/{b} \nhttps://h.example/c?d\n";
        assert!(!is_openapi(text));
        let expected = vec![(3, "/a/{b}".to_owned()), (4, "https://h.example/c?d".to_owned())];
        assert_eq!(lines_of(text), expected);
    }
}
