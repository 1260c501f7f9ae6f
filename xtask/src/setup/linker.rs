//! bpf-linker, built against the nightly's own LLVM.
//!
//! A bpf-linker with another LLVM can't read the bitcode that the nightly writes, and distributions seldom have the
//! right one. The nightly brings it as a shared library, but under a name that no linker looks for; a folder with
//! two links to it does: `libLLVM.so` for building, the file's real name for running (the folder becomes the
//! binary's run-time path, which is why links and binary live and go together, in one folder per nightly).

use std::{
    fs,
    io::{ErrorKind, Read as _},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{self, Command},
};

use anyhow::{Context as _, Result};

use super::nightly::Nightly;
use crate::{missing::Missing, paths, progress};

/// What is installed.
pub(super) const NAME: &str = "bpf-linker";
const VERSION: &str = "0.13.0";
/// The LLVM versions that this version of it has a feature for.
const LLVM_MAJORS: &[u32] = &[21, 22, 23];

/// An installed bpf-linker that has been started once.
#[derive(Debug)]
pub(super) struct Linker {
    root: PathBuf,
}

impl Linker {
    /// The folder with the binary.
    pub(super) fn bin(&self) -> PathBuf {
        self.root.join("bin")
    }

    fn works(&self) -> bool {
        // LD_LIBRARY_PATH, which cargo sets for this task, must not be what makes it work.
        let version =
            Command::new(self.bin().join(NAME)).arg("--version").env_remove("LD_LIBRARY_PATH").output();
        version.is_ok_and(|output| {
            output.status.success()
                && String::from_utf8_lossy(&output.stdout).split_whitespace().any(|word| word == VERSION)
        })
    }
}

/// Finds the bpf-linker that belongs to this nightly, or builds it.
pub(super) fn ensure(nightly: &Nightly) -> Result<Linker> {
    let toolchains = paths::cache()?.join("toolchain");
    let folder = format!("llvm-{}", nightly.commit);
    let linker = Linker { root: toolchains.join(&folder) };
    if linker.works() {
        point_current_at(&toolchains, &folder)?;
        return Ok(linker);
    }
    build(nightly, &linker)?;
    point_current_at(&toolchains, &folder)?;
    eprintln!("setup: for a plain `cargo build` as well, put this into your shell's profile:");
    eprintln!("setup:   export PATH=\"{}:$PATH\"", toolchains.join("current/bin").display());
    Ok(linker)
}

fn build(nightly: &Nightly, linker: &Linker) -> Result<()> {
    let missing = |found: String, next: String| Missing { piece: format!("{NAME} {VERSION}"), found, next };
    if !LLVM_MAJORS.contains(&nightly.llvm_major) {
        let found = format!(
            "{} has LLVM {}; this version of it knows LLVM {LLVM_MAJORS:?}",
            nightly.release, nightly.llvm_major
        );
        return Err(
            missing(found, "rustup update nightly, or a newer checkout of pauselens".to_owned()).into()
        );
    }
    which::which("cc").map_err(|_| Missing {
        piece: "a C compiler".to_owned(),
        found: "no cc on PATH".to_owned(),
        next: "apt-get install gcc".to_owned(),
    })?;

    let libraries = nightly.sysroot.join("lib");
    let llvm = find_llvm(&libraries)?.ok_or_else(|| Missing {
        piece: "the nightly's LLVM library".to_owned(),
        found: format!("no shared library libLLVM* in {}", libraries.display()),
        next: "rustup toolchain uninstall nightly && cargo xtask setup".to_owned(),
    })?;
    let links = linker.root.join("lib");
    fs::create_dir_all(&links).with_context(|| links.display().to_string())?;
    let real_name = llvm.file_name().context("a library without a name")?;
    replace_link(&llvm, &links.join(real_name))?;
    replace_link(&llvm, &links.join("libLLVM.so"))?;

    let feature = format!("llvm-{}", nightly.llvm_major);
    let mut install = Command::new("cargo");
    install
        .args(["install", NAME, "--version", VERSION, "--locked", "--force"])
        .args(["--no-default-features", "--features", &feature, "--root"])
        .arg(&linker.root)
        .env("LLVM_PREFIX", &linker.root)
        // Its intermediate files are none of this workspace's.
        .env_remove("CARGO_TARGET_DIR")
        .current_dir(&linker.root);
    let typed = format!(
        "LLVM_PREFIX={root} cargo install {NAME} --version {VERSION} --locked --force --no-default-features \
         --features {feature} --root {root}",
        root = linker.root.display()
    );
    let what = format!("building {NAME} {VERSION} with the LLVM of {} (1 to 3 minutes)", nightly.release);
    progress::step(&what, &mut install).map_err(|error| missing(format!("{error:#}"), typed))?;
    if !linker.works() {
        let binary = linker.bin().join(NAME);
        let found = format!("{} was built and doesn't run", binary.display());
        return Err(missing(found, format!("{} --version", binary.display())).into());
    }
    Ok(())
}

/// The shared library with LLVM. Beside it lies a linker script of a similar name, so names don't decide.
fn find_llvm(libraries: &Path) -> Result<Option<PathBuf>> {
    for entry in fs::read_dir(libraries).with_context(|| libraries.display().to_string())? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("libLLVM") {
            let mut magic = [0; 4];
            let read = fs::File::open(entry.path()).and_then(|mut file| file.read_exact(&mut magic));
            if read.is_ok() && magic == *b"\x7fELF" {
                return Ok(Some(entry.path()));
            }
        }
    }
    Ok(None)
}

/// `current` always leads to the bpf-linker of the nightly in use, so that a line in a shell's profile stays right.
fn point_current_at(toolchains: &Path, folder: &str) -> Result<()> {
    let current = toolchains.join("current");
    if fs::read_link(&current).is_ok_and(|target| target == Path::new(folder)) {
        return Ok(());
    }
    replace_link(Path::new(folder), &current)
}

/// Makes `link` lead to `target`, whatever it was before, without a moment in which it leads nowhere.
fn replace_link(target: &Path, link: &Path) -> Result<()> {
    let mut new = link.as_os_str().to_owned();
    new.push(format!(".{}", process::id()));
    let new = PathBuf::from(new);
    match fs::remove_file(&new) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(error).context(new.display().to_string());
        }
        _ => {}
    }
    symlink(target, &new)
        .and_then(|()| fs::rename(&new, link))
        .with_context(|| format!("the link {} could not be made", link.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn llvm_is_found_beside_its_linker_script_and_links_are_replaced() {
        let folder = std::env::temp_dir().join(format!("xtask-linker-test-{}", process::id()));
        fs::create_dir_all(&folder).unwrap();
        assert_eq!(find_llvm(&folder).unwrap(), None);

        let library = folder.join("libLLVM.so.22.1-rust");
        fs::write(folder.join("libLLVM-22-rust.so"), "INPUT(libLLVM.so.22.1-rust)").unwrap();
        fs::write(folder.join("librustc_driver.so"), "\x7fELF").unwrap();
        fs::write(&library, "\x7fELF").unwrap();
        assert_eq!(find_llvm(&folder).unwrap(), Some(library));

        point_current_at(&folder, "one").unwrap();
        point_current_at(&folder, "two").unwrap();
        assert_eq!(fs::read_link(folder.join("current")).unwrap(), Path::new("two"));
        fs::remove_dir_all(folder).unwrap();
    }
}
