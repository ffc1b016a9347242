//! The `uniqurl` command.

use std::process::ExitCode;

/// Faster than the system's where many threads allocate.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    uniqurl::cli::main()
}
