//! Tells the program how it was built, for the results of `uniqurl bench`.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let compiler = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    tell("COMPILER", output(Command::new(compiler).arg("--version")));
    // OUT_DIR is target/PROFILE/build/PACKAGE/out; Cargo names no other profile than debug and release.
    let out = env::var_os("OUT_DIR").map(PathBuf::from);
    let profile = out.as_deref().and_then(|out| out.ancestors().nth(3)?.file_name()?.to_str());
    tell("PROFILE", profile.map(str::to_owned));
    tell("COMMIT", commit());
}

fn tell(name: &str, value: Option<String>) {
    println!("cargo::rustc-env=UNIQURL_{name}={}", value.unwrap_or_default());
}

/// The commit, if the sources are a work tree of this project and not a part of another one.
fn commit() -> Option<String> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR")?);
    let root = here.ancestors().nth(2)?.canonicalize().ok()?;
    let git = |arguments: &[&str]| output(Command::new("git").args(arguments).current_dir(&here));
    let top = git(&["rev-parse", "--show-toplevel"])?;
    if Path::new(&top).canonicalize().ok()? != root {
        return None;
    }
    // Each commit and checkout changes the second of them.
    for name in ["HEAD", "logs/HEAD"] {
        let path = here.join(git(&["rev-parse", "--git-path", name])?);
        if path.exists() {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    git(&["rev-parse", "HEAD"])
}

/// The first line that a command prints, if it succeeds.
fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.lines().next().map(str::to_owned)
}
