//! Debian's kernel packages: fetched by apt under a configuration of its own, so that the host's apt is left as it is.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, bail};

use super::kernels::Kernel;
use crate::{missing::Missing, paths};

/// Kernels for virtual machines: disks and file systems are built in, so that they boot without an initramfs.
const METAPACKAGE: &str = "linux-image-cloud-amd64";
/// The packages that hold the image itself; which of the two depends on the release.
const IMAGE_PACKAGES: [&str; 2] = ["linux-image-", "linux-binary-"];
/// Where Debian's package debian-archive-keyring puts the keys of all releases.
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// A kernel that can be booted.
#[derive(Debug)]
pub(super) struct Image {
    pub(super) path: PathBuf,
    /// What `uname -r` says there.
    pub(super) release: String,
}

/// Takes the kernel from the cache, or fetches the release's newest into it.
pub(super) fn ensure(kernel: &Kernel) -> Result<Image> {
    let cache = paths::cache()?.join("vm");
    let folder = cache.join(kernel.suite);
    if let Some(image) = cached(&folder)? {
        return Ok(image);
    }
    let work = cache.join(format!(".{}.{}", kernel.suite, std::process::id()));
    let fetched = fetch(kernel, &work).and_then(|()| {
        let _ = fs::remove_dir_all(&folder);
        fs::rename(work.join("kernel"), &folder).context("moving the kernel into the cache")
    });
    let _ = fs::remove_dir_all(&work);
    fetched.map_err(|error| Missing {
        piece: format!("Debian's kernel {} ({})", kernel.name, kernel.suite),
        found: format!("{error:#}"),
        next: "the command that failed, by hand; or `cargo xtask vm` with the other kernels' names"
            .to_owned(),
    })?;
    cached(&folder)?.with_context(|| format!("no kernel in {}", folder.display()))
}

fn cached(folder: &Path) -> Result<Option<Image>> {
    if !folder.is_dir() {
        return Ok(None);
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Some(release) = name.strip_prefix("vmlinuz-") {
            return Ok(Some(Image { release: release.to_owned(), path }));
        }
    }
    Ok(None)
}

/// Leaves `work/kernel/vmlinuz-RELEASE`.
fn fetch(kernel: &Kernel, work: &Path) -> Result<()> {
    eprintln!("vm: {}: fetching Debian's kernel of {}", kernel.name, kernel.suite);
    for folder in ["lists/partial", "archives/partial", "packages", "unpacked", "kernel"] {
        fs::create_dir_all(work.join(folder))?;
    }
    let signed = if Path::new(KEYRING).exists() { format!(" signed-by={KEYRING}") } else { String::new() };
    let source = format!("deb [arch=amd64 targets=Packages{signed}] {} {} main\n", mirror()?, kernel.suite);
    fs::write(work.join("sources.list"), source)?;
    output(apt("apt-get", work).arg("update"))?;
    let depends = output(apt("apt-cache", work).args([
        "depends",
        "--recurse",
        "--important",
        "--no-conflicts",
        "--no-breaks",
        "--no-replaces",
        METAPACKAGE,
    ]))?;
    let packages = image_packages(&depends);
    if packages.is_empty() {
        bail!("{METAPACKAGE} of {} depends on no package with an image", kernel.suite);
    }
    let packages_folder = work.join("packages");
    output(apt("apt-get", work).arg("download").args(packages).current_dir(&packages_folder))?;
    let unpacked = work.join("unpacked");
    for package in fs::read_dir(packages_folder)? {
        output(Command::new("dpkg").arg("-x").arg(package?.path()).arg(&unpacked))?;
    }
    let (path, release) = find_image(&unpacked)?.context("the packages hold no vmlinuz")?;
    fs::copy(path, work.join("kernel").join(format!("vmlinuz-{release}")))?;
    Ok(())
}

/// The Debian mirror that this host's own apt uses.
fn mirror() -> Result<String> {
    let uris = output(Command::new("apt-get").args(["update", "--print-uris"]))?;
    find_mirror(&uris).context("this host's apt knows no Debian mirror (`apt-get update --print-uris`)")
}

/// Lines such as `'MIRROR/debian/dists/SUITE/InRelease' FILE 0`.
fn find_mirror(uris: &str) -> Option<String> {
    uris.lines().find_map(|line| {
        let uri = line.strip_prefix('\'')?.split('\'').next()?;
        let (mirror, _) = uri.split_once("/dists/")?;
        mirror.ends_with("/debian").then(|| mirror.to_owned())
    })
}

/// The packages' names stand at the beginnings of lines, their relations are indented.
fn image_packages(depends: &str) -> Vec<&str> {
    let is_image = |name: &&str| {
        let version = IMAGE_PACKAGES.iter().find_map(|prefix| name.strip_prefix(prefix));
        version.is_some_and(|version| version.starts_with(|first: char| first.is_ascii_digit()))
    };
    depends.lines().filter(is_image).collect()
}

/// `boot/vmlinuz-RELEASE`, or `usr/lib/modules/RELEASE/vmlinuz` in newer packages.
fn find_image(unpacked: &Path) -> Result<Option<(PathBuf, String)>> {
    if let Some(image) = cached(&unpacked.join("boot"))? {
        return Ok(Some((image.path, image.release)));
    }
    let modules = unpacked.join("usr/lib/modules");
    if modules.is_dir() {
        for entry in fs::read_dir(modules)? {
            let entry = entry?;
            let image = entry.path().join("vmlinuz");
            if image.is_file() {
                return Ok(Some((image, entry.file_name().to_string_lossy().into_owned())));
            }
        }
    }
    Ok(None)
}

/// An apt command whose state, cache and sources are those in `work`; all else is the host's.
fn apt(program: &str, work: &Path) -> Command {
    let mut command = Command::new(program);
    let mut option = |name: &str, value: String| {
        command.arg("-o").arg(format!("{name}={value}"));
    };
    option("Dir::State::lists", work.join("lists").display().to_string());
    option("Dir::Cache", work.display().to_string());
    option("Dir::Etc::sourcelist", work.join("sources.list").display().to_string());
    option("Dir::Etc::sourceparts", "-".to_owned());
    // What is fetched is checked all the same; a user of its own couldn't write into a private cache folder.
    option("APT::Sandbox::User", String::new());
    command
}

/// What the command prints; its messages are part of the error if it fails.
fn output(command: &mut Command) -> Result<String> {
    let shown = format!("{command:?}");
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("{} could not be started", command.get_program().display()))?;
    if !output.status.success() {
        bail!("{shown}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr).trim_end());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_main_archive_s_mirror_is_taken() {
        let uris = "'http://mirror.example/other/dists/x/InRelease' a 0 \n\
            'http://mirror.example/debian-security/dists/bookworm-security/InRelease' b 0 \n\
            'http://mirror.example/debian/dists/bookworm/InRelease' c 0 \n";
        assert_eq!(find_mirror(uris).as_deref(), Some("http://mirror.example/debian"));
        assert_eq!(find_mirror(""), None);
    }

    #[test]
    fn packages_with_an_image_are_found_among_all_that_a_kernel_depends_on() {
        let depends = "linux-image-cloud-amd64\n  Depends: linux-image-7.2.13-cloud-amd64\n\
            linux-image-7.2.13-cloud-amd64\n  Depends: linux-base-7.2.13-cloud-amd64\n\
            linux-base-7.2.13-cloud-amd64\nlinux-binary-7.2.13-cloud-amd64\nlinux-initramfs-tool\n";
        let expected = ["linux-image-7.2.13-cloud-amd64", "linux-binary-7.2.13-cloud-amd64"];
        assert_eq!(image_packages(depends), expected);
    }
}
