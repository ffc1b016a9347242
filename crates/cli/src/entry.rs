//! What the arguments of the process ask for, and who does it.

use std::io;
use std::process::ExitCode;

use clap::error::ErrorKind;

use super::flags::{self, Cli, Columns, Command, Form};
use super::outputs::Division;
use super::run::{self, Plan};
use super::status::wrote;
use super::{bench, compare, explain, generate, memory, open_files, profiles, set, tables};
use uniqurl::Backend;
use uniqurl_engine::output::{self, TableKind};
use uniqurl_engine::{Dedup, Job, Order};

/// Runs the command with the arguments of this process.
pub fn main() -> ExitCode {
    tables::expect_panics();
    open_files::allow_most();
    match Cli::parse_or_exit(Backend::best().name()).command {
        Command::Dedup(dedup) => {
            let dedup = *dedup;
            if let Err(message) = dedup.memory.check() {
                flags::exit(&flags::usage("dedup", ErrorKind::ValueValidation, message));
            }
            let job = Job::Dedup(Dedup {
                order: match dedup.order {
                    flags::Order::First => Order::First,
                    flags::Order::Sorted => Order::Sorted,
                    flags::Order::None => Order::None,
                },
                count: dedup.columns == Columns::CountAndUrl,
                min_count: dedup.min_count,
                limit: dedup.limit,
            });
            let plan = Plan {
                job,
                fields: dedup.fields,
                carry: dedup.carry,
                keep: dedup.keep,
                form: dedup.form,
                seen: dedup.seen,
                save_seen: dedup.save_seen,
                division: dedup.split_by.map(|(by, shards)| {
                    let suffix = dedup.split_suffix.unwrap_or_default();
                    Division { by, shards, suffix }
                }),
                memory: dedup.memory.memory(dedup.common.threads(), memory::warn),
                name: output::Job::Dedup,
            };
            run::start(&dedup.common, plan)
        }
        Command::Normalize(normalize) => {
            let job = match TableKind::of(&normalize.common.output) {
                Some(_) => Job::Tabulate,
                None => Job::Normalize { json: normalize.form == Form::Json },
            };
            run::start(&normalize.common, Plan::new(job, output::Job::Normalize))
        }
        Command::Explain(explain) => wrote(explain::main(&explain)),
        Command::Compare(compare) => compare::main(&compare),
        Command::Profiles { name } => wrote(profiles::write(name, &mut io::stdout().lock())),
        Command::Set(set) => set::main(&set),
        Command::Bench(bench) => bench::main(&bench),
        Command::Completions { shell } => {
            wrote(generate::completions(shell, &mut io::stdout().lock()))
        }
        Command::Man { command } => wrote(generate::man(command, &mut io::stdout().lock())),
    }
}
