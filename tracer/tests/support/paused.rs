//! For tests: a C program whose pauses are counted by its arguments, alone or as a family: see `paused.c`.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// Builds it into a folder, under this name.
pub(crate) fn build_paused(folder: &Path, name: &str) -> PathBuf {
    let program = folder.join(name);
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/paused.c");
    let output = Command::new("gcc")
        .args(["-O1", "-pthread", "-o"])
        .arg(&program)
        .arg(source)
        .output()
        .expect("gcc runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

/// A command that runs it. It waits at `r` until the file `go` is in the folder.
#[allow(dead_code, reason = "each test file includes this module and uses a part of it")]
pub(crate) fn paused(program: &Path, words: &str) -> Command {
    let mut command = Command::new(program);
    command.args(words.split(' ')).env("GO", program.with_file_name("go"));
    command
}
