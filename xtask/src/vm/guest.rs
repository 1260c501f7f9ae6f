//! What goes into the machine: a folder that becomes its disk.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result};

use crate::{missing::Missing, paths};

/// A version whose runtime counts its own stops of the world, which it does since 1.22.
const GO: &str = "1.27.3";

/// The beginning of the folder's name; what follows is the process id of the task.
const WORK: &str = ".guest.";

/// The guest's files, in a folder that is removed with this.
#[derive(Debug)]
pub(super) struct Guest {
    work: PathBuf,
    has_go: bool,
}

impl Drop for Guest {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.work);
    }
}

impl Guest {
    /// Collects them: a shell, this pauselens with the libraries that it needs, a Go program if that can be had.
    pub(super) fn new(pauselens: &Path) -> Result<Self> {
        let cache = paths::cache()?.join("vm");
        fs::create_dir_all(&cache)?;
        remove_leftovers(&cache)?;
        let work = cache.join(format!("{WORK}{}", std::process::id()));
        let mut guest = Self { work, has_go: false };
        for folder in ["bin", "dev", "proc", "sys", "tmp", "var/tmp"] {
            fs::create_dir_all(guest.files().join(folder))?;
        }
        guest.add(&busybox()?, "bin/busybox")?;
        guest.add(&paths::workspace().join("scripts/vm/init"), "init")?;
        guest.add(pauselens, "bin/pauselens")?;
        for library in libraries(pauselens)? {
            guest.add(&library, &library.to_string_lossy())?;
        }
        match guest.build_go_program() {
            Ok(()) => guest.has_go = true,
            Err(error) => eprintln!("vm: without a Go program: {error:#}"),
        }
        Ok(guest)
    }

    /// The folder that becomes the disk.
    pub(super) fn files(&self) -> PathBuf {
        self.work.join("files")
    }

    /// A place for what is made of them.
    pub(super) fn work(&self) -> &Path {
        &self.work
    }

    /// Whether there is a Go program.
    pub(super) fn has_go(&self) -> bool {
        self.has_go
    }

    fn add(&self, file: &Path, name: &str) -> Result<()> {
        let to = self.files().join(name.trim_start_matches('/'));
        to.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::copy(file, to).with_context(|| format!("copying {}", file.display())).map(drop)
    }

    fn build_go_program(&self) -> Result<()> {
        let script = paths::workspace().join("scripts/fetch-go");
        let go = Command::new(script).arg(GO).stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
        let go = String::from_utf8_lossy(&go.stdout).trim().to_owned();
        // The script has said what is wrong.
        anyhow::ensure!(!go.is_empty(), "Go {GO} can't be had");
        let status = Command::new(go)
            .args(["build", "-o"])
            .arg(self.files().join("bin/collections"))
            .arg("collections.go")
            .current_dir(paths::workspace().join("scripts/vm"))
            .env("CGO_ENABLED", "0")
            .env("GOTOOLCHAIN", "local")
            .env("GOCACHE", paths::cache()?.join("go-build"))
            .env_remove("GOFLAGS")
            .env_remove("GOROOT")
            .status()?;
        anyhow::ensure!(status.success(), "go build: {status}");
        Ok(())
    }
}

/// Folders of tasks that were interrupted.
fn remove_leftovers(cache: &Path) -> Result<()> {
    for entry in fs::read_dir(cache)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if let Some(pid) = name.strip_prefix(WORK)
            && !Path::new("/proc").join(pid).exists()
        {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

/// A busybox that needs no libraries.
fn busybox() -> Result<PathBuf> {
    let missing = |found: String| Missing {
        piece: "a static busybox, the shell of the machine".to_owned(),
        found,
        next: "apt-get install busybox-static".to_owned(),
    };
    let path = which::which("busybox").map_err(|_| missing("no busybox on PATH".to_owned()))?;
    let needed = libraries(&path)?;
    if needed.is_empty() {
        Ok(path)
    } else {
        Err(missing(format!("{} needs {} libraries", path.display(), needed.len())).into())
    }
}

/// The shared libraries that a program needs, its loader included: none if it is static.
fn libraries(program: &Path) -> Result<Vec<PathBuf>> {
    let ldd = Command::new("ldd").arg(program).output();
    let ldd = ldd.map_err(|error: io::Error| Missing {
        piece: "ldd".to_owned(),
        found: error.to_string(),
        next: "apt-get install libc-bin".to_owned(),
    })?;
    Ok(parse_ldd(&String::from_utf8_lossy(&ldd.stdout)))
}

/// Lines such as `NAME => PATH (ADDRESS)` or, for the loader, `PATH (ADDRESS)`.
fn parse_ldd(text: &str) -> Vec<PathBuf> {
    let path = |line: &str| line.split_whitespace().find(|word| word.starts_with('/')).map(PathBuf::from);
    text.lines().filter_map(path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_and_loader_are_found() {
        let text =
            "\tlinux-vdso.so.1 (0x7f)\n\tlibc.so.6 => /lib/libc.so.6 (0x7f)\n\t/lib64/ld.so.2 (0x7f)\n";
        assert_eq!(parse_ldd(text), [Path::new("/lib/libc.so.6"), Path::new("/lib64/ld.so.2")]);
        assert!(parse_ldd("\tnot a dynamic executable\n").is_empty());
    }
}
