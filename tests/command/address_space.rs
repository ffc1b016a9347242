//! A limited address space (`ulimit -v`): a run spills, or ends by the limit with its accounting.

use super::open_files::run_under;
use super::shared::say;
use super::{Place, Run};

/// Enough long URLs to fill a small address space; each comes twice.
fn place() -> Place {
    let place = Place::new();
    let line =
        |i: u32| format!("http://example.com/{:05}{}\n", i * 7919 % 12_000, "x".repeat(1000));
    place.write("in", (0..24_000).map(line).collect::<String>());
    place
}

/// Runs with the arguments under a limit in MiB.
fn run(place: &Place, limit: u32, arguments: &str) -> Run {
    let arguments: Vec<_> =
        ["dedup", "in", "-j", "2"].into_iter().chain(arguments.split(' ')).collect();
    run_under(place, &format!("-v {}", limit << 10), &arguments)
}

/// An emulator needs the address space for itself.
fn is_emulated() -> bool {
    let is_emulated = std::env::var_os("UNIQURL_COMMAND").is_some();
    if is_emulated {
        say("NOT TRIED: an emulator needs the address space for itself");
    }
    is_emulated
}

#[test]
fn default_budget_fits_a_limited_address_space() {
    if is_emulated() {
        return;
    }
    let place = place();
    for order in ["first", "sorted"] {
        let whole = place.run(["dedup", "in", "--order", order]).exits(0);
        let limited = run(&place, 300, &format!("--order {order}")).exits(0);
        assert!(limited.out == whole.out, "{order}");
    }
}

#[test]
fn memory_that_a_limit_refuses_ends_a_run_with_its_accounting() {
    if is_emulated() {
        return;
    }
    let place = place();
    let mut limited = 0;
    for limit in (100..250).step_by(30) {
        let run = run(&place, limit, "--memory 4G -o out");
        let is_limited = run.status == Some(3);
        assert!(run.status == Some(0) || is_limited, "{limit} MiB: {:?}: {}", run.status, run.err);
        let accounts =
            run.err.lines().any(|line| line.starts_with("records ") && line.contains("unique"));
        assert!(accounts && !run.err.contains("panicked"), "{limit} MiB: {}", run.err);
        assert_eq!(place.path("out").exists(), !is_limited, "{limit} MiB");
        let _ = std::fs::remove_file(place.path("out"));
        limited += u32::from(is_limited);
    }
    assert!(limited > 0);
}
