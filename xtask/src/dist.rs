//! `cargo xtask dist`: what is handed out, in a folder and as an archive of it.

mod build;
mod third_party;

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
/// What goes where.
const INSTALL: &str = include_str!("dist/INSTALL.md");

/// Builds the tracer and puts it together with its documents, completions and manual pages.
pub(crate) fn run() -> Result<ExitCode> {
    let toolchain = setup::build_tools()?;
    let Some(tracer) = build::linked_statically(&toolchain)? else { return Ok(ExitCode::FAILURE) };
    let name = format!("{NAME}-{}-{}-linux", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH);
    let dist = paths::target()?.join("dist");
    let folder = dist.join(&name);
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("{} can't be removed", folder.display()))?;
    }
    fs::create_dir_all(&folder).with_context(|| format!("{} can't be made", folder.display()))?;
    did(Command::new("strip").arg("-o").arg(folder.join(NAME)).arg(&tracer))?;
    let mut documents = Command::new(folder.join(NAME));
    did(documents.arg("generate-docs").arg(&folder).args(date().map(|date| format!("--date={date}"))))?;
    for document in DOCUMENTS {
        copy(&paths::workspace().join(document), &folder.join(document))?;
    }
    for (name, text) in [("INSTALL.md", INSTALL), ("THIRD-PARTY.md", &third_party::list(&toolchain)?)] {
        let path = folder.join(name);
        fs::write(&path, text).with_context(|| format!("{} can't be written", path.display()))?;
    }
    let archive = archive(&dist, &name)?;
    println!("{}\n{}", folder.display(), archive.display());
    eprintln!("dist: INSTALL.md in it says what goes where");
    Ok(ExitCode::SUCCESS)
}

/// The day of the last commit: the same for whoever makes it of the same sources. None without git.
fn date() -> Option<String> {
    let mut git = Command::new("git");
    git.args(["log", "-1", "--format=%cs"]).current_dir(paths::workspace());
    let told = git.output().ok().filter(|told| told.status.success())?;
    Some(String::from_utf8(told.stdout).ok()?.trim().to_owned()).filter(|date| !date.is_empty())
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
