//! For tests: the programs that people use pauselens's words and files with: zsh, fish, groff, mandoc, less, zstdcat, jq.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// A folder with a command for each of them.
///
/// # Panics
///
/// They can't be had; the message is what scripts/fetch-shell-tools says.
pub(crate) fn shell_tools() -> PathBuf {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/fetch-shell-tools");
    let output = Command::new(script).arg("bookworm").output().expect("the script can be run");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "scripts/fetch-shell-tools:\n{said}");
    PathBuf::from(String::from_utf8_lossy(&output.stdout).trim_end())
}
