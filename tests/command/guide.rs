//! Pages of docs/ with commands: every command prints what the page says.

use super::built;
use std::fs;
use std::path::Path;
use std::process::Command;

/// A command of the page, and the lines that it prints.
struct Example {
    command: String,
    output: String,
}

/// The examples of one block, which run in one directory, in order.
fn examples(block: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    for line in block.lines() {
        match line.strip_prefix("$ ") {
            Some(command) => {
                examples.push(Example { command: command.to_owned(), output: String::new() });
            }
            None => {
                let last = examples.last_mut().expect("a command before its output");
                last.output.push_str(line);
                last.output.push('\n');
            }
        }
    }
    examples
}

/// The blocks between ```` ```console ```` and ```` ``` ````.
fn blocks(page: &str) -> impl Iterator<Item = &str> {
    page.split("```console\n").skip(1).map(|rest| rest.split("```").next().expect("a block"))
}

/// Defines `uniqurl` for the shell. It may be a program with an emulator before it.
fn prelude() -> String {
    let process = built::process();
    let words = std::iter::once(process.get_program()).chain(process.get_args());
    let words: Vec<_> =
        words.map(|word| format!("'{}'", word.to_str().expect("a path in UTF-8"))).collect();
    format!("uniqurl() {{ {} \"$@\"; }}\n", words.join(" "))
}

#[test]
fn every_command_of_the_page_of_questions_prints_what_the_page_says() {
    assert!(run_commands_of("questions.md") > 20);
}

#[test]
fn every_command_of_the_page_of_recon_prints_what_the_page_says() {
    assert!(run_commands_of("recon.md") > 1);
}

/// Runs the commands of a page, and returns how many there are.
fn run_commands_of(page: &str) -> usize {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs").join(page)).expect("the page");
    let prelude = prelude();
    let (mut ran, mut wrong) = (0, Vec::new());
    for block in blocks(&page) {
        let place = super::Place::new();
        for Example { command, output } in examples(block) {
            let script = format!("{prelude}{command}");
            let run = Command::new("sh").arg("-c").arg(script).current_dir(place.0.path()).output();
            let run = run.expect("a shell");
            let printed = String::from_utf8_lossy(&run.stdout);
            if printed != output {
                let errors = String::from_utf8_lossy(&run.stderr);
                wrong.push(format!("$ {command}\nexpected:\n{output}printed:\n{printed}{errors}"));
            }
            ran += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    ran
}
