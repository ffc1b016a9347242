//! The README and the guide in docs/: every command prints what its page says, every page is in the
//! book, and no paragraph is long.
//!
//! A block ```` ```console ```` holds commands after `$ `, each before its output: standard output, or
//! that with the messages after it. A line `...` stands for any lines, and one after `# ` is a comment.
//! Commands of a page run in one directory, in order; it holds the files of `corpora/guide/`, and
//! `corpora` itself. A block ```` ```sh ```` does not run: its first line is a comment that says why, or
//! it holds commands of cargo alone. Commands in the tables of coming-from.md run, without their outputs.
//!
//! `UNIQURL_WRITE=1 cargo test -p uniqurl-cli --test command guide` writes the outputs into the pages.

use super::bench::cannot_restart;
use super::{Place, built};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How a block begins that does not run.
const NOT_RUN: &str = "# Not run by the tests: ";

/// The blocks that do not run. More need a reason that a reader accepts.
const BLOCKS_NOT_RUN: usize = 8;

/// The longest paragraph: 8 lines of 100 characters.
const LONGEST_PARAGRAPH: usize = 800;

pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

/// The README and all pages of docs/, by their paths from the root.
fn pages() -> Vec<String> {
    let mut pages = vec!["README.md".to_owned()];
    let mut directories = vec!["docs".to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(root().join(&directory)).expect("a directory") {
            let entry = entry.expect("an entry");
            let name = format!("{directory}/{}", entry.file_name().to_str().expect("UTF-8"));
            if entry.path().is_dir() {
                directories.push(name);
            } else if name.ends_with(".md") {
                pages.push(name);
            }
        }
    }
    pages.sort_unstable();
    pages
}

fn read(page: &str) -> String {
    fs::read_to_string(root().join(page)).expect(page)
}

/// A part of a page: its text outside of blocks, or a block with its language.
enum Part {
    Text(String),
    Block { fence: String, body: String },
}

/// The parts of a page, in order. Written one after another they are the page.
fn parts(page: &str) -> Vec<Part> {
    let (mut parts, mut text) = (Vec::new(), String::new());
    let mut lines = page.split_inclusive('\n');
    while let Some(line) = lines.next() {
        if !line.starts_with("```") {
            text.push_str(line);
            continue;
        }
        parts.push(Part::Text(std::mem::take(&mut text)));
        let fence = line[3..].trim().to_owned();
        let body = lines.by_ref().take_while(|line| line.trim_end() != "```").collect();
        parts.push(Part::Block { fence, body });
    }
    parts.push(Part::Text(text));
    parts
}

/// A command of a page, and the lines that it prints.
struct Example {
    comments: String,
    command: String,
    output: String,
}

/// The examples of one block. Lines after `> ` go on with a command, and `# ` begins a comment.
fn examples(block: &str) -> Vec<Example> {
    let (mut examples, mut comments): (Vec<Example>, _) = (Vec::new(), String::new());
    for line in block.lines() {
        if line.starts_with("# ") {
            comments.push_str(line);
            comments.push('\n');
            continue;
        }
        if let Some(command) = line.strip_prefix("$ ") {
            let (command, comments) = (command.to_owned(), std::mem::take(&mut comments));
            examples.push(Example { comments, command, output: String::new() });
            continue;
        }
        let last = examples.last_mut().expect("a command before its output");
        match line.strip_prefix("> ") {
            Some(more) if last.output.is_empty() => {
                last.command.push('\n');
                last.command.push_str(more);
            }
            _ => {
                last.output.push_str(line);
                last.output.push('\n');
            }
        }
    }
    examples
}

/// Defines `uniqurl` for the shell. It may be a program with an emulator before it.
pub(super) fn prelude() -> String {
    let process = built::process();
    let words = std::iter::once(process.get_program()).chain(process.get_args());
    let words: Vec<_> =
        words.map(|word| format!("'{}'", word.to_str().expect("a path in UTF-8"))).collect();
    format!("uniqurl() {{ {} \"$@\"; }}\n", words.join(" "))
}

/// A directory as the pages expect it.
fn directory() -> Place {
    let place = Place::new();
    let corpora = root().join("corpora");
    std::os::unix::fs::symlink(&corpora, place.path("corpora")).expect("linked");
    for entry in fs::read_dir(corpora.join("guide")).expect("samples") {
        let entry = entry.expect("an entry");
        fs::copy(entry.path(), place.path(entry.file_name())).expect("copied");
    }
    place
}

/// A line without the time and the speed of a run.
fn without_time(line: &str) -> &str {
    if !line.starts_with("records ") {
        return line;
    }
    line.rfind(" in ").map_or(line, |at| &line[..at])
}

/// Whether the output is the expected one, but for times and what `...` stands for.
fn is_expected(expected: &str, printed: &str) -> bool {
    fn agree(expected: &[&str], printed: &[&str]) -> bool {
        match expected {
            [] => printed.is_empty(),
            ["...", rest @ ..] => (0..=printed.len()).any(|at| agree(rest, &printed[at..])),
            [first, rest @ ..] => printed.split_first().is_some_and(|(line, more)| {
                without_time(first) == without_time(line) && agree(rest, more)
            }),
        }
    }
    let expected: Vec<_> = expected.lines().collect();
    let printed: Vec<_> = printed.lines().collect();
    agree(&expected, &printed)
}

/// An example that prints something else than its page, and its new output.
struct Wrong {
    why: String,
    output: String,
}

fn run(example: &Example, prelude: &str, place: &Place) -> Result<(), Wrong> {
    if example.command.starts_with("uniqurl bench") && cannot_restart() {
        return Ok(());
    }
    let script = |end: &str| format!("{prelude}{{ {}\n}} {end}", example.command);
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(script("2>errors")).current_dir(place.path("")).env("TERM", "dumb");
    let run = shell.output().expect("a shell");
    let printed = String::from_utf8_lossy(&run.stdout).into_owned();
    let errors = place.text("errors");
    fs::remove_file(place.path("errors")).expect("removed");
    let all = format!("{printed}{errors}");
    // A failure and a warning are shown.
    let has_failed = matches!(run.status.code(), None | Some(2..=140));
    let shows_all = has_failed || errors.contains("warning: ");
    if is_expected(&example.output, &all) || !shows_all && is_expected(&example.output, &printed) {
        return Ok(());
    }
    let Example { command, output, .. } = example;
    let output_now = if shows_all || output.contains("records ") { all } else { printed };
    let why = format!("$ {command}\nexpected:\n{output}printed:\n{output_now}");
    Err(Wrong { why, output: output_now })
}

/// Runs a block, adds differences to `wrong`, and returns the block with the outputs of now.
pub(super) fn run_block(
    block: &str,
    prelude: &str,
    place: &Place,
    wrong: &mut Vec<String>,
) -> String {
    let mut written = String::new();
    for mut example in examples(block) {
        if let Err(Wrong { why, output }) = run(&example, prelude, place) {
            wrong.push(why);
            example.output = output;
        }
        let command = example.command.replace('\n', "\n> ");
        written.push_str(&format!("{}$ {command}\n{}", example.comments, example.output));
    }
    written
}

/// Runs the commands of a page, and returns how many blocks do not run.
fn run_page(page: &str, wrong: &mut Vec<String>) -> usize {
    let (prelude, place) = (prelude(), directory());
    let (mut written, mut not_run, before) = (String::new(), 0, wrong.len());
    for part in parts(&read(page)) {
        match part {
            Part::Text(text) => written.push_str(&text),
            Part::Block { fence, body } => {
                let mut body = body;
                match fence.as_str() {
                    "console" => body = run_block(&body, &prelude, &place, wrong),
                    "sh" if body.starts_with(NOT_RUN) => not_run += 1,
                    "sh" if body.lines().all(|line| line.starts_with("cargo ")) => {}
                    "sh" => wrong.push(format!("begin this block with `{NOT_RUN}...`:\n{body}")),
                    _ => {}
                }
                written.push_str(&format!("```{fence}\n{body}```\n"));
            }
        }
    }
    if std::env::var_os("UNIQURL_WRITE").is_some() {
        fs::write(root().join(page), written).expect("written");
    }
    for why in &mut wrong[before..] {
        *why = format!("{page}: {why}");
    }
    not_run
}

#[test]
fn every_command_of_the_guide_prints_what_its_page_says() {
    let mut wrong = Vec::new();
    let not_run: usize = pages().iter().map(|page| run_page(page, &mut wrong)).sum();
    assert!(wrong.is_empty(), "{} are wrong\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(not_run, BLOCKS_NOT_RUN, "blocks that do not run");
}

/// The commands in the tables of a page: code in a cell that begins with `uniqurl `.
fn commands_in_tables(page: &str) -> Vec<String> {
    let rows = page.lines().filter(|line| line.starts_with('|'));
    let code = rows.flat_map(|row| row.split('`').skip(1).step_by(2));
    // A table escapes the bar of a pipe.
    code.filter(|code| code.starts_with("uniqurl ")).map(|code| code.replace("\\|", "|")).collect()
}

#[test]
fn every_translation_from_another_program_runs() {
    let (prelude, place) = (prelude(), directory());
    let commands = commands_in_tables(&read("docs/coming-from.md"));
    assert!(commands.len() > 30, "{commands:?}");
    for command in commands {
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("{prelude}{command}")).current_dir(place.path(""));
        let run = shell.output().expect("a shell");
        let errors = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "{command}: {errors}");
        assert!(
            !run.stdout.is_empty() || command.contains(" -o "),
            "{command}: nothing is written"
        );
        assert!(!errors.contains("warning: "), "{command}: {errors}");
    }
}

#[test]
fn every_page_is_in_the_book_once() {
    let summary = read("docs/SUMMARY.md");
    let mut listed: Vec<_> =
        links(&summary).into_iter().map(|link| format!("docs/{link}")).collect();
    listed.sort_unstable();
    let mut pages = pages();
    pages.retain(|page| page != "README.md" && page != "docs/SUMMARY.md");
    assert_eq!(listed, pages);
}

/// The targets of the links in a page, without those in code.
fn links(page: &str) -> Vec<String> {
    let mut links = Vec::new();
    for part in parts(page) {
        let Part::Text(text) = part else { continue };
        for link in text.split("](").skip(1) {
            links.push(link.split(')').next().expect("a part").to_owned());
        }
    }
    links
}

/// The anchors of the headings of a page, as GitHub and mdBook make them.
fn anchors(page: &str) -> Vec<String> {
    let mut anchors = Vec::new();
    for part in parts(page) {
        let Part::Text(text) = part else { continue };
        for line in text.lines().filter(|line| line.starts_with('#')) {
            let heading = line.trim_start_matches('#').trim().to_lowercase();
            let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
            anchors.push(kept.map(|c| if c == ' ' { '-' } else { c }).collect());
        }
    }
    anchors
}

#[test]
fn every_link_leads_somewhere() {
    let mut wrong = Vec::new();
    for page in pages() {
        let path = root().join(&page);
        for link in links(&read(&page)) {
            if link.contains("://") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let file = match file {
                "" => path.clone(),
                file => path.parent().expect("a directory").join(file),
            };
            let is_there = file.exists()
                && (anchor.is_empty()
                    || anchors(&fs::read_to_string(&file).expect("text"))
                        .iter()
                        .any(|one| one == anchor));
            if !is_there {
                wrong.push(format!("{page}: {link}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn readme_has_at_most_150_lines() {
    assert!(read("README.md").lines().count() <= 150);
}

#[test]
fn no_paragraph_has_more_than_8_lines() {
    let mut wrong = Vec::new();
    for page in pages() {
        for part in parts(&read(&page)) {
            let Part::Text(text) = part else { continue };
            for paragraph in paragraphs(&text) {
                if paragraph.chars().count() > LONGEST_PARAGRAPH {
                    wrong.push(format!("{page}: {paragraph}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The paragraphs of a text, and the items of its lists. Rows of tables are none.
fn paragraphs(text: &str) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    for line in text.lines() {
        let line = line.trim();
        let begins_item = line.starts_with("- ")
            || line.split_once(". ").is_some_and(|(number, _)| number.parse::<u32>().is_ok());
        if line.is_empty() || line.starts_with('|') || begins_item {
            paragraphs.push(String::new());
        }
        if !line.starts_with('|') {
            paragraphs.last_mut().expect("one").push_str(line);
        }
    }
    paragraphs
}

#[test]
fn page_of_messages_lists_every_code() {
    const START: &str = "<!-- codes -->\n";
    const END: &str = "<!-- end of codes -->";
    let mut table = "| code | meaning |\n|---|---|\n".to_owned();
    for code in uniqurl::RejectReason::ALL {
        table.push_str(&format!("| `{code}` | {} |\n", code.sentence()));
    }
    let page = read("docs/messages.md");
    let (before, rest) = page.split_once(START).expect("where the table begins");
    let (written, after) = rest.split_once(END).expect("where the table ends");
    if std::env::var_os("UNIQURL_WRITE").is_some() {
        let page = format!("{before}{START}{table}{END}{after}");
        fs::write(root().join("docs/messages.md"), page).expect("written");
    } else {
        assert_eq!(written, table);
    }
}
