//! The nightly toolchain that compiles the kernel side: whether it is there, which LLVM it has, and its sources.

use std::{path::PathBuf, process::Command};

use anyhow::{Context as _, Result};

use crate::{missing::Missing, progress};

/// The name under which aya-build asks rustup for it.
const TOOLCHAIN: &str = "nightly";

/// An installed nightly.
#[derive(Debug)]
pub(super) struct Nightly {
    /// Where it is installed.
    pub(super) sysroot: PathBuf,
    /// Its version, for people.
    pub(super) release: String,
    /// The start of its commit's hash: two nightlies of one version differ in it.
    pub(super) commit: String,
    /// Major version of the LLVM that it is built with.
    pub(super) llvm_major: u32,
}

/// Finds the nightly in use, or installs one.
pub(super) fn ensure() -> Result<Nightly> {
    if let Some(nightly) = find()? {
        return Ok(nightly);
    }
    let mut install = Command::new("rustup");
    install.args(["toolchain", "install", TOOLCHAIN, "--profile", "minimal", "--component", "rust-src"]);
    let missing = |found: String| Missing {
        piece: format!("the Rust toolchain {TOOLCHAIN}"),
        found,
        next: format!("rustup toolchain install {TOOLCHAIN} --profile minimal"),
    };
    progress::step("installing nightly Rust, which compiles the kernel side", &mut install)
        .map_err(|error| missing(format!("{error:#}")))?;
    Ok(find()?.ok_or_else(|| missing("rustup installed it and doesn't find it".to_owned()))?)
}

fn find() -> Result<Option<Nightly>> {
    let which = Command::new("rustup").args(["which", "--toolchain", TOOLCHAIN, "rustc"]).output();
    let which = which.map_err(|error| Missing {
        piece: "rustup".to_owned(),
        found: format!("starting it: {error}"),
        next: "https://rustup.rs".to_owned(),
    })?;
    if !which.status.success() {
        return Ok(None);
    }
    let rustc = PathBuf::from(String::from_utf8_lossy(&which.stdout).trim());
    let unusable = |found: String| Missing {
        piece: format!("a working {TOOLCHAIN} compiler"),
        found: format!("{}: {found}", rustc.display()),
        next: format!("rustup toolchain uninstall {TOOLCHAIN} && cargo xtask setup"),
    };
    let version = Command::new(&rustc).arg("-vV").output().map_err(|error| unusable(error.to_string()))?;
    let text = String::from_utf8_lossy(&version.stdout);
    let sysroot = rustc.ancestors().nth(2).context("rustup named a compiler that lies in no toolchain")?;
    let nightly = parse(&text, sysroot.to_owned()).ok_or_else(|| {
        unusable(format!("{}, {:?}, {:?}", version.status, text, String::from_utf8_lossy(&version.stderr)))
    })?;
    Ok(Some(nightly))
}

/// Reads `rustc -vV`. `None` if a line that is needed isn't there.
fn parse(version: &str, sysroot: PathBuf) -> Option<Nightly> {
    let value = |key: &str| version.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
    Some(Nightly {
        sysroot,
        release: value("release")?.to_owned(),
        commit: value("commit-hash")?.get(..9)?.to_owned(),
        llvm_major: value("LLVM version")?.split('.').next()?.parse().ok()?,
    })
}

impl Nightly {
    /// The standard library's sources are there, or get installed.
    pub(super) fn ensure_sources(&self) -> Result<()> {
        if self.sysroot.join("lib/rustlib/src/rust/library/core/src/lib.rs").is_file() {
            return Ok(());
        }
        let add = ["component", "add", "rust-src", "--toolchain", TOOLCHAIN];
        progress::step(
            "adding the standard library's sources (rust-src), of which core is compiled for BPF",
            Command::new("rustup").args(add),
        )
        .map_err(|error| Missing {
            piece: format!("rust-src for {} ({})", self.release, self.commit),
            found: format!("{error:#}"),
            next: format!("rustup {}", add.join(" ")),
        })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERSION: &str = "rustc 1.97.0-nightly (e50aa6fba 2026-05-19)\nbinary: rustc\n\
        commit-hash: e50aa6fba4e63ab34c72bf9acfd2c307c1155d1a\ncommit-date: 2026-05-19\n\
        host: x86_64-unknown-linux-gnu\nrelease: 1.97.0-nightly\nLLVM version: 22.1.4\n";

    #[test]
    fn reads_what_rustc_says_of_itself() {
        let nightly = parse(VERSION, PathBuf::new()).unwrap();
        assert_eq!(nightly.release, "1.97.0-nightly");
        assert_eq!(nightly.commit, "e50aa6fba");
        assert_eq!(nightly.llvm_major, 22);
    }

    #[test]
    fn a_compiler_that_does_not_say_its_llvm_is_not_taken() {
        let (without_llvm, _) = VERSION.split_once("LLVM").unwrap();
        assert!(parse(without_llvm, PathBuf::new()).is_none());
        assert!(
            parse(&VERSION.replace("e50aa6fba4e63ab34c72bf9acfd2c307c1155d1a", "unknown"), PathBuf::new())
                .is_none()
        );
    }
}
