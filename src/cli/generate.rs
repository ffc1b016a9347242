//! Shell completions and man pages, made from the argument definitions so that they never disagree.

use super::flags::{Cli, Page};
use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;
use std::io::{self, Write};

/// Writes the completion script for a shell.
pub fn completions(shell: Shell, out: &mut impl Write) -> io::Result<()> {
    // By way of memory: the generator panics where it cannot write, as to a closed pipe.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "uniqurl", &mut script);
    out.write_all(&script)
}

/// Writes the man page of the command, or of one of its subcommands.
pub fn man(page: Option<Page>, out: &mut impl Write) -> io::Result<()> {
    let mut whole = Cli::command();
    // Gives the subcommands their full names.
    whole.build();
    let command = match page {
        None => whole,
        Some(page) => {
            let found = whole.find_subcommand(page.name());
            found.expect("each page has its subcommand").clone()
        }
    };
    let mut text = Vec::new();
    let source = concat!("uniqurl ", env!("CARGO_PKG_VERSION"));
    Man::new(command).source(source).render(&mut text)?;
    out.write_all(&text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    #[test]
    fn every_shell_learns_every_option() {
        for &shell in Shell::value_variants() {
            let mut script = Vec::new();
            completions(shell, &mut script).expect("written");
            let script = String::from_utf8(script).expect("text");
            for name in ["uniqurl", "dedup", "normalize", "files-from", "max-url"] {
                assert!(script.contains(name), "{shell} does not know {name}");
            }
        }
    }

    #[test]
    fn every_page_is_a_man_page_with_its_own_name() {
        for (page, name) in [
            (None, "uniqurl"),
            (Some(Page::Dedup), "uniqurl\\-dedup"),
            (Some(Page::Normalize), "uniqurl\\-normalize"),
            (Some(Page::Explain), "uniqurl\\-explain"),
            (Some(Page::Compare), "uniqurl\\-compare"),
            (Some(Page::Profiles), "uniqurl\\-profiles"),
            (Some(Page::Set), "uniqurl\\-set"),
            (Some(Page::Bench), "uniqurl\\-bench"),
        ] {
            let mut text = Vec::new();
            man(page, &mut text).expect("written");
            let text = String::from_utf8(text).expect("text");
            assert!(text.contains(".TH") && text.contains(&format!(".SH NAME\n{name}")), "{text}");
        }
    }
}
