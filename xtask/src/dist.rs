//! `cargo xtask dist`: what is handed out, in a folder and as an archive of it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use anyhow::{Context as _, Result, bail};

use crate::{commands, paths, setup};

const NAME: &str = "pauselens";
/// What of the checkout goes along.
const DOCUMENTS: [&str; 5] = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "docs"];

/// Builds the tracer and puts it together with its documents, completions and manual pages.
pub(crate) fn run() -> Result<ExitCode> {
    let toolchain = setup::build_tools()?;
    if !commands::build_release_tracer(&toolchain)? {
        return Ok(ExitCode::FAILURE);
    }
    let tracer = paths::release_tracer()?;
    let target = tracer.ancestors().nth(2).context("the release build is in no target folder")?;
    let name = format!("{NAME}-{}-{}-linux", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH);
    let (dist, folder) = (target.join("dist"), target.join("dist").join(&name));
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("{} can't be removed", folder.display()))?;
    }
    fs::create_dir_all(&folder).with_context(|| format!("{} can't be made", folder.display()))?;
    did(Command::new("strip").arg("-o").arg(folder.join(NAME)).arg(&tracer))?;
    did(Command::new(folder.join(NAME)).arg("generate-docs").arg(&folder))?;
    for document in DOCUMENTS {
        copy(&paths::workspace().join(document), &folder.join(document))?;
    }
    let archive = archive(&dist, &name)?;
    println!("{}\n{}", folder.display(), archive.display());
    Ok(ExitCode::SUCCESS)
}

/// The same bytes whoever makes it, and whenever.
fn archive(dist: &Path, name: &str) -> Result<PathBuf> {
    let archive = dist.join(format!("{name}.tar.gz"));
    let mut tar = Command::new("tar");
    tar.args([
        "--sort=name",
        "--owner=0",
        "--group=0",
        "--numeric-owner",
        "--mtime=@0",
        "--mode=u+w,go-w,a+rX",
    ]);
    // Without the time that gzip would write into it.
    tar.args(["--use-compress-program", "gzip -n9", "-cf"]).arg(&archive).arg("-C").arg(dist).arg(name);
    did(&mut tar)?;
    Ok(archive)
}

fn did(command: &mut Command) -> Result<()> {
    let status = commands::status(command)?;
    if !status.success() {
        bail!("{} has failed ({status})", command.get_program().display());
    }
    Ok(())
}

/// Copies a file, or a folder with all that is in it.
fn copy(from: &Path, to: &Path) -> Result<()> {
    if !from.is_dir() {
        fs::copy(from, to).with_context(|| format!("{} can't be copied", from.display()))?;
        return Ok(());
    }
    fs::create_dir_all(to).with_context(|| format!("{} can't be made", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("{} can't be read", from.display()))? {
        let entry = entry?;
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}
