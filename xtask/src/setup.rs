//! Puts in place what this project needs and a machine may lack. Each piece is looked for first, so that a second
//! run does nothing; nothing outside rustup and the cache folder is changed.

mod fetched;
mod go;
mod jdk;
mod linker;
mod nightly;

use std::path::PathBuf;

use anyhow::Result;

use crate::paths;

/// What building the tracer needs besides stable Rust: it exists, and it has been tried.
#[derive(Debug)]
pub(crate) struct Toolchain {
    nightly: nightly::Nightly,
    linker: linker::Linker,
}

impl Toolchain {
    /// The folder that has to be on PATH when cargo builds the tracer.
    pub(crate) fn bin(&self) -> PathBuf {
        self.linker.bin()
    }
}

/// What every task needs: nightly Rust with its sources (core is compiled for BPF from them) and a bpf-linker
/// that links the same LLVM as that nightly.
pub(crate) fn build_tools() -> Result<Toolchain> {
    let nightly = nightly::ensure()?;
    nightly.ensure_sources()?;
    let linker = linker::ensure(&nightly)?;
    Ok(Toolchain { nightly, linker })
}

/// What only the tests need.
pub(crate) fn test_tools() -> Result<()> {
    go::ensure_all()?;
    jdk::ensure_all()
}

/// The one line that `cargo xtask setup` itself prints when everything is there.
pub(crate) fn report_ready(toolchain: &Toolchain) {
    eprintln!(
        "setup: ready: {} (LLVM {}), {} in {}",
        toolchain.nightly.release,
        toolchain.nightly.llvm_major,
        linker::NAME,
        paths::cache().map(|cache| cache.display().to_string()).unwrap_or_default(),
    );
}
