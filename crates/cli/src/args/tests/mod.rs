mod reference;

use crate::args::cli::{Cli, Command};
use crate::args::dedup::{DedupArgs, OrderArg};
use crate::args::default_command::Stdin;
use crate::args::format::{FORMATS, FormatChoice};
use crate::args::help::{self, COMMON, FILTERS, INCREMENTAL, INPUT, OUTPUT, RESOURCES, RULES};
use crate::args::parse::{NAMED_ONCE, command};
use crate::args::run_args::RunArgs;
use crate::args::usage::message;
use crate::args::values::{age, max_url, size, time};
use crate::progress::When;
use clap::CommandFactory;
use std::ffi::OsString;
use std::path::Path;
use uniqurl::internal::Backend;
use uniqurl::{Key, Profile};
use uniqurl_engine::output::Field;
use uniqurl_engine::{cores, most_threads, most_workers};
use uniqurl_formats::record::{Format, MAX_URL};

fn parse(line: &str) -> Result<Cli, clap::Error> {
    let arguments = std::iter::once("uniqurl").chain(line.split_whitespace());
    crate::args::parse(arguments.map(OsString::from).collect(), "avx2", Stdin::Other)
}

fn dedup(line: &str) -> DedupArgs {
    match parse(&format!("dedup {line}")).expect("valid").command {
        Command::Dedup(dedup) => *dedup,
        other => panic!("{other:?}"),
    }
}

fn error(line: &str) -> String {
    let error = parse(line).expect_err(line);
    assert_eq!(error.exit_code(), 2, "{line}");
    message(&error)
}

#[test]
fn clap_definitions_are_consistent() {
    Cli::command().debug_assert();
    let all = command();
    all.clone().debug_assert();
    let ids: Vec<_> = all.get_subcommands().flat_map(|command| command.get_arguments()).collect();
    for id in NAMED_ONCE {
        assert!(ids.iter().any(|argument| argument.get_id() == id), "{id}");
    }
}

#[test]
fn last_value_of_a_repeated_option_wins() {
    let again = dedup(
        "-q -j 3 --order sorted -p ia -f warc --memory 1G --max-url 2K --count --schemes http -q -j 4 --order count \
         -p syntax -f lines --memory 2G --max-url 3K --count --schemes https",
    );
    assert_eq!((again.order, again.memory.memory), (OrderArg::Count, Some(2 << 30)));
    let RunArgs { profile, format, max_url, filters, .. } = &again.common;
    assert_eq!((profile.profile, *max_url), (Profile::Syntax, 3 << 10));
    assert_eq!(*format, FormatChoice::Named(Format::Lines));
    assert_eq!((again.common.threads(), again.common.quiet), (4, true));
    assert_eq!(filters.schemes.len(), 2, "lists grow");
}

#[test]
fn options_that_name_a_file_cannot_be_repeated() {
    for option in [
        "-o",
        "--rejects",
        "--stats",
        "--report",
        "--save-seen",
        "--files-from",
        "--redirects",
        "--profile-file",
    ] {
        let told = error(&format!("dedup {option} a {option} b"));
        assert!(told.contains("cannot be used multiple times"), "{option}: {told}");
    }
    let told = error("bench --save a --save b");
    assert!(told.contains("cannot be used multiple times"), "{told}");
}

#[test]
fn defaults_are_as_documented() {
    let DedupArgs { common, order, count, fields, min_count, limit, memory, .. } = dedup("");
    let DedupArgs { seen, save_seen, split_by, split_suffix, .. } = dedup("");
    assert_eq!((split_by, split_suffix), (None, None));
    assert_eq!((seen, save_seen), (vec![], None));
    assert_eq!((memory.memory, memory.temp_dir), (None, None));
    assert_eq!((common.key, fields), (Key::Url, vec![]));
    assert_eq!((order, count, min_count, limit), (OrderArg::First, false, 1, None));
    assert_eq!((common.profile.profile, common.backend), (Profile::Crawl, Backend::best()));
    assert_eq!((&common.format, common.max_url), (&FormatChoice::Auto, MAX_URL));
    assert_eq!((common.output.as_path(), common.progress), (Path::new("-"), When::Auto));
    assert_eq!((common.keep_going, common.quiet), (false, false));
    assert!((1..=1024).contains(&common.threads()));
}

#[test]
fn every_option_is_parsed() {
    let all = dedup(
        "a - --files-from list -p syntax@1 -f ws:3 --base http://h/ --assume-scheme https -j 3 \
         --max-url 1m --backend scalar --keep-going --rejects r --stats s -q --progress never \
         -o out --order sorted --count --min-count 2 --limit 5 --memory 3G --temp-dir t",
    );
    assert_eq!(all.memory.memory, Some(3 << 30));
    assert_eq!(all.memory.temp_dir.as_deref(), Some(Path::new("t")));
    let common = all.common;
    assert_eq!(common.files, [Path::new("a"), Path::new("-")]);
    assert_eq!((common.profile.profile, common.backend), (Profile::Syntax, Backend::Scalar));
    assert_eq!((common.threads(), common.max_url), (3, 1 << 20));
    assert_eq!(common.format, FormatChoice::Named(Format::parse("ws:3").expect("valid")));
    assert_eq!((common.keep_going, common.quiet), (true, true));
    assert_eq!((common.progress, all.order), (When::Never, OrderArg::Sorted));
    assert_eq!((all.count, all.min_count, all.limit), (true, 2, Some(5)));
    let keyed = dedup("--key surt --fields count,first --fields host");
    assert_eq!(keyed.common.key, Key::Surt);
    assert_eq!(keyed.fields, [Field::Count, Field::First, Field::Host]);
    let normalize = parse("normalize --json").expect("valid").command;
    assert!(matches!(normalize, Command::Normalize(normalize) if normalize.json));
}

#[test]
fn allow_and_with_are_checked_against_the_profile() {
    let common = dedup("-p servlet --allow encoded-slash,control --with keep-empty-segments");
    let normalizer = common.common.rules.normalizer(common.common.profile.profile).expect("valid");
    let expected = "servlet@1 allow=encoded-slash,control with=keep-empty-segments";
    assert_eq!(normalizer.description(), expected);
    for line in [
        "dedup --allow control",
        "dedup -p servlet --allow userinfo",
        "dedup -p sanitize --allow backslash",
        "dedup -p sanitize --with keep-empty-segments",
        "dedup -p servlet --with squeeze-slashes",
        "dedup -p servlet --allow byte",
        "dedup -p servlet --allow ",
        "dedup -p crawl --ring decode=2F",
        "dedup -p mediawiki --ring decode=2F",
    ] {
        error(line);
    }
    let told = "makes no check control, a check of sanitize, servlet";
    assert!(error("dedup -p mediawiki --allow control").contains(told));
    assert!(error("dedup -p servlet --allow nul").contains("makes no check nul"));
}

#[test]
fn ring_option_selects_the_profile_ring() {
    for line in ["--ring decode=2F", "--ring decode=2F -p ring", "-p ring@1 --ring encode="] {
        assert_eq!(dedup(line).common.profile.profile, Profile::Ring);
    }
    assert_eq!(dedup("").common.profile.profile, Profile::Crawl);
    assert!(error("dedup --ring decode=2F,2f,41").contains("byte 41 (A)"));
    let overlap = ["uniqurl", "dedup", "--ring", "decode=2F encode=2F"].map(OsString::from);
    let error = crate::args::parse(overlap.into(), "avx2", Stdin::Other).expect_err("an overlap");
    assert!(error.to_string().contains("byte 2F (/)"), "{error}");
}

#[test]
fn sizes_have_units_of_1024_or_1000() {
    for (text, bytes) in [
        ("0", 0),
        ("7", 7),
        ("1K", 1024),
        ("64k", 65_536),
        ("3M", 3 << 20),
        ("2G", 2 << 30),
        ("1KiB", 1024),
        ("3mib", 3 << 20),
        ("2GiB", 2 << 30),
        ("1kB", 1000),
        ("3MB", 3_000_000),
        ("2GB", 2_000_000_000),
    ] {
        assert_eq!(size(text), Ok(bytes), "{text}");
    }
    for text in [
        "", "K", "1T", "1B", "1iB", "GB", "1K1", "50%", "1.5K", "-1", "+1", " 1", "1 K", "\u{e9}",
        "0x10",
    ] {
        assert!(size(text).expect_err(text).contains("not a number"), "{text}");
    }
    for text in ["18446744073709551616", "18446744073709551615K", "99999999999G"] {
        assert_eq!(size(text), Err("too large".into()), "{text}");
    }
    assert_eq!(size("18446744073709551615"), Ok(u64::MAX));
    assert_eq!((max_url("1"), max_url("64M")), (Ok(1), Ok(64 << 20)));
    assert!(max_url("0").is_err() && max_url("67108865").is_err());
}

#[test]
fn ages_have_a_unit() {
    for (text, seconds) in
        [("0s", 0), ("90m", 5_400), ("12h", 43_200), ("30d", 2_592_000), ("2w", 1_209_600)]
    {
        assert_eq!(age(text), Ok(seconds), "{text}");
    }
    for text in ["", "d", "30", "1.5d", "-1d", "+1d", "30 d", "1y", "30D", "1h30m", "\u{e9}"] {
        assert!(age(text).expect_err(text).contains("like 12h, 30d or 2w"), "{text}");
    }
    assert_eq!(age("99999999999999999999s"), Err("too large".into()));
    assert_eq!(age("18446744073709551615w"), Err("too large".into()));
}

#[test]
fn times_are_days_times_and_ages() {
    for (text, seconds) in [
        ("1970-01-01T00:00:00Z", 0),
        ("2026-11-27", 1_795_737_600),
        ("2026-11-27T08:00:00Z", 1_795_766_400),
        ("2026-11-27T09:00:00+01:00", 1_795_766_400),
    ] {
        assert_eq!(time(text), Ok(seconds), "{text}");
    }
    let day = time("1d").expect("an age");
    let now = i64::try_from(uniqurl_store::seen::UnixTime::now().0).expect("a time");
    assert!((now - 86_400..now - 86_000).contains(&day));
    for text in ["", "2026", "2026-11", "2026-13-01", "2026-02-30", "27.11.2026", "x", "30"] {
        assert!(time(text).expect_err(text).contains("not a time like"), "{text}");
    }
}

#[test]
fn error_for_a_bad_number_names_the_valid_range() {
    for (line, told) in [
        ("dedup --min-count 0", "not a whole number that is 1 or more"),
        ("dedup --min-count 1.5", "not a whole number that is 1 or more"),
        ("dedup --limit -1", "not a whole number that is 0 or more"),
        ("dedup --limit=-1", "not a whole number that is 0 or more"),
        ("dedup --limit 18446744073709551616", "too large"),
        ("dedup -j 0", "not a whole number from 1 to 1024"),
        ("normalize --threads -1", "not a whole number from 1 to 1024"),
        ("dedup -j 99999", "not a whole number from 1 to 1024"),
        ("dedup --memory -1", "not a number of bytes, like 65536, 64K, 1M, 2GiB or 2GB"),
        ("dedup --max-url -1", "not a number of bytes, like 65536, 64K, 1M, 2GiB or 2GB"),
        ("dedup --max-rejected -1", "not a number of records like 100"),
        ("bench --runs 0", "not a whole number from 1 to 100"),
        ("bench -j 1,0", "not a whole number from 1 to 1024"),
    ] {
        assert!(error(line).contains(told), "{line}: {}", error(line));
    }
    assert_eq!((dedup("--limit 0").limit, dedup("--min-count 1").min_count), (Some(0), 1));
    assert_eq!(dedup("-j 64").common.threads(), 64);
    assert_eq!(dedup("-j 1024").common.threads(), most_threads(cores()).min(1024));
    assert_eq!(dedup("-j 64").common.most_workers(), most_workers(cores()));
    assert_eq!(dedup("-j 64 --trace file").common.most_workers(), usize::MAX);
}

#[test]
fn shell_completion_offers_every_format_without_arguments() {
    for name in FORMATS {
        assert!(parse(&format!("dedup -f {name}")).is_ok(), "{name}");
    }
    // Placeholders in names are in capitals.
    let mut names = Format::names().filter(|name| !name.contains(char::is_uppercase));
    let missing = names.find(|name| !FORMATS.contains(name));
    assert_eq!(missing, None);
}

#[test]
fn wrong_usage_exits_with_status_2() {
    for line in [
        "",
        "frobnicate",
        "dedup --frobnicate",
        "dedup -p nothing",
        "dedup -p crawl@2",
        "dedup -j 0",
        "dedup -j 1025",
        "dedup --max-url 65M",
        "dedup -f csv",
        "dedup -f lines --status 200",
        "dedup -f csv:url --mime text/html",
        "dedup -f combined --mime text/html",
        "dedup --status 20x",
        "dedup --match (",
        "dedup --host [",
        "dedup --schemes http:",
        "dedup --max-rejected 101%",
        "dedup --max-rejected x",
        "dedup -f ws:0",
        "dedup -f log:",
        "dedup --min-count 0",
        "dedup --wait",
        "dedup --max-age 30d",
        "dedup --save-seen -",
        "seen",
        "seen frob s",
        "seen add",
        "seen add s -o x",
        "seen contains s",
        "seen contains s - -",
        "seen forget s",
        "seen forget s --older-than yesterday",
        "seen export s -o x.parquet",
        "seen export s --after -1",
        "seen stats s t",
        "dedup --memory 0",
        "dedup --memory 1023K",
        "normalize --memory 1G",
        "dedup --order last",
        "dedup --key sha",
        "dedup --fields",
        "dedup --fields url",
        "dedup --fields host,",
        "dedup --fields host --count",
        "dedup --carry",
        "dedup --carry a,a",
        "dedup --carry canonical --json",
        "dedup --carry first --fields host,first -o x.parquet",
        "dedup --carry a --keep max:",
        "dedup --carry a --keep greatest",
        "dedup --keep last",
        "dedup --json -o x.parquet",
        "normalize --carry a",
        "normalize --fields host",
        "normalize --order first",
        "normalize --count",
        "completions cmd",
    ] {
        error(line);
    }
    assert!(error("dedup - --files-from -").contains("standard input"));
    assert!(error("dedup --rejects -").contains("unless -o FILE"));
    assert!(error("normalize -o x --stats x").contains("same place"));
    assert!(dedup("-o x --stats /dev/null --rejects /dev/null").common.stats.is_some());
}

#[test]
fn unavailable_backend_is_an_error_that_lists_the_available_ones() {
    for backend in Backend::ALL.iter().filter(|backend| !backend.is_available()) {
        assert!(
            error(&format!("dedup --backend {}", backend.name()))
                .contains("this CPU has only scalar")
        );
    }
    for backend in Backend::available() {
        assert_eq!(dedup(&format!("--backend {}", backend.name())).common.backend, backend);
    }
}

#[test]
fn dedup_without_inputs_on_a_terminal_is_an_error() {
    let parse = |line: &str| {
        let arguments = line.split_whitespace().map(OsString::from).collect();
        crate::args::parse(arguments, "avx2", Stdin::Terminal)
    };
    let error = parse("uniqurl dedup").expect_err("no input");
    assert_eq!(error.exit_code(), 2);
    assert!(error.to_string().contains("name a FILE"), "{error}");
    for line in ["uniqurl dedup -", "uniqurl dedup a", "uniqurl dedup --files-from l"] {
        assert!(parse(line).is_ok(), "{line}");
    }
}

#[test]
fn version_names_the_backend() {
    let shown = parse("--version").expect_err("shown instead");
    assert_eq!(shown.exit_code(), 0);
    let expected = format!("uniqurl {} (scanner avx2)\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(shown.to_string(), expected);
}

/// The subcommands and those below them, with help that is 100 columns wide whatever the terminal.
fn subcommands() -> Vec<clap::Command> {
    let mut command = command().term_width(100);
    command.build();
    let with_those_below = |command: &clap::Command| {
        let below = command.get_subcommands().filter(|_| command.get_name() != "help");
        below.chain([command]).cloned().collect::<Vec<_>>()
    };
    command.get_subcommands().flat_map(with_those_below).collect()
}

#[test]
fn short_help_fits_one_screen_and_points_to_the_long_one() {
    for mut command in subcommands() {
        let name = command.get_name().to_owned();
        let text = command.render_help().to_string();
        assert!(text.lines().count() <= 40, "{name} -h has {} lines", text.lines().count());
        // One line each: a text that is wrapped goes on in the column of the texts.
        let is_wrapped = |line: &&str| line.starts_with("            ");
        // The names of all pages need more than a line.
        if name != "man" {
            assert_eq!(text.lines().find(is_wrapped), None, "{name}");
        }
        if command.get_arguments().any(clap::Arg::is_hide_short_help_set) {
            assert_eq!(text.lines().last(), Some(help::MORE), "{name}");
        }
    }
}

#[test]
fn the_first_sentence_of_each_option_stands_alone() {
    for command in subcommands().iter().filter(|command| command.get_name() != "help") {
        for argument in command.get_arguments() {
            let place = format!("{} {argument}", command.get_name());
            let first = argument.get_help().expect(&place).to_string();
            assert!(first.len() <= 100 && !first.contains('\n'), "{place}: {first}");
            assert!(first.starts_with(|c: char| c.is_uppercase() || c == '-'), "{place}: {first}");
            // Clap writes two texts for its own option.
            if let (Some(long), false) = (argument.get_long_help(), argument.get_id() == "help") {
                let long = long.to_string();
                let details = long.strip_prefix(&first).expect(&place);
                assert!(details.starts_with("\n\n"), "{place}: {long}");
            }
        }
    }
}

#[test]
fn long_help_begins_with_examples_and_groups_options_by_task() {
    let mut all = subcommands();
    let dedup = all.iter_mut().find(|command| command.get_name() == "dedup").expect("it is there");
    let text = dedup.render_long_help().to_string();
    let headings = text.lines().filter_map(|line| line.strip_suffix(':'));
    let headings: Vec<_> = headings.filter(|line| !line.starts_with([' ', '#'])).collect();
    #[rustfmt::skip]
    assert_eq!(headings, [
        "Examples", "Arguments", COMMON, INPUT, FILTERS, RULES, OUTPUT, INCREMENTAL, RESOURCES, "Exit status",
    ]);
    assert_eq!(text.lines().nth(2), Some("Examples:"), "the first line says what dedup does");
    assert!(text.find("Examples:") < text.find("Usage:"));
    for profile in Profile::ALL {
        assert!(text.contains(&format!("  {:10}  {}", profile.name(), profile.summary())));
    }
    for command in all {
        let examples = command.get_before_long_help().map(ToString::to_string);
        let mut commented = false;
        for line in examples.iter().flat_map(|text| text.lines().skip(1)) {
            assert_eq!(line.starts_with("  # "), !line.is_empty() && !commented, "{line}");
            commented = line.starts_with("  # ");
        }
    }
}

#[test]
fn hostile_arguments_are_quoted_printably() {
    let shown = crate::status::printable(&error("dedup --\x07\u{e9}"));
    assert!(shown.contains("\\xC3\\xA9"), "{shown}");
    assert!(shown.bytes().all(|b| b == b'\n' || (0x20..=0x7E).contains(&b)));
}
