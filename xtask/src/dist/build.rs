//! The program as it is handed out: with everything linked into it, for it goes to hosts whose libraries are older than
//! this machine's, or others.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, bail};

use crate::{
    commands::{self, TRACER},
    missing::Missing,
    paths,
    setup::Toolchain,
};

/// What the workspace asks for in `.cargo/config.toml`, which these replace, and the C library in the program.
const FLAGS: &str = "-C force-frame-pointers=yes -C target-feature=+crt-static";

/// Builds it. Nothing if cargo said that it can't.
pub(super) fn linked_statically(toolchain: &Toolchain) -> Result<Option<PathBuf>> {
    c_library()?;
    let triple = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let flags = format!("CARGO_TARGET_{}_RUSTFLAGS", triple.to_uppercase().replace('-', "_"));
    let mut build = commands::cargo(toolchain)?;
    // With a target named, build scripts and macros are left alone.
    build.args(["build", "--release", "--package", TRACER, "--target", &triple]);
    build.arg("--target-dir").arg(paths::target()?);
    build.env(flags, FLAGS).env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
    // Otherwise this machine's liblzma is linked to, if it has one.
    build.env("LZMA_API_STATIC", "1");
    if !commands::status(&mut build)?.success() {
        return Ok(None);
    }
    let tracer = paths::target()?.join(triple).join("release").join("pauselens");
    alone(&tracer)?;
    Ok(Some(tracer))
}

/// Whether the C library is here for linking it in.
fn c_library() -> Result<()> {
    const FILE: &str = "libc.a";
    let told = Command::new("cc").arg(format!("-print-file-name={FILE}")).output();
    let told = told.context("cc could not be started: a C compiler is needed")?;
    let path = String::from_utf8_lossy(&told.stdout).trim().to_owned();
    if Path::new(&path).is_absolute() {
        return Ok(());
    }
    Err(Missing {
        piece: "the C library for linking it into the program (libc.a)".to_owned(),
        found: format!("cc knows no {FILE}"),
        next: "apt-get install libc6-dev, or dnf install glibc-static".to_owned(),
    }
    .into())
}

/// Sees that no library is asked for.
fn alone(tracer: &Path) -> Result<()> {
    let told = Command::new("readelf").arg("--dynamic").arg(tracer).output();
    let told = told.context("readelf could not be started: it comes with strip, in binutils")?;
    let told = String::from_utf8_lossy(&told.stdout);
    let needed: Vec<&str> = told.lines().filter(|line| line.contains("(NEEDED)")).map(str::trim).collect();
    if !needed.is_empty() {
        bail!("{} needs libraries:\n  {}", tracer.display(), needed.join("\n  "));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flags_hold_those_of_the_workspace() {
        let config = std::fs::read_to_string(paths::workspace().join(".cargo/config.toml")).unwrap();
        let line = config.lines().find_map(|line| line.strip_prefix("rustflags = [")).unwrap();
        let flags: Vec<&str> = line.split('"').skip(1).step_by(2).collect();
        assert!(FLAGS.starts_with(&flags.join(" ")), "{flags:?}");
    }
}
