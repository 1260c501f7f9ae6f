//! For tests: a slow disk with a file system on it. It stands on a file, so that every read goes through another thread of
//! the kernel's, and where the machine allows it that thread is allowed few reads in a second.

use std::{
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use tempfile::{NamedTempFile, TempDir};

use super::{cgroup::Cgroup, pauselens::Fixture};

/// What it stands on.
const FOLDER: &str = "/var/tmp";

const BYTES: u64 = 256 << 20;

/// Long enough for a read to outweigh everything else.
const READS_PER_SECOND: u32 = 100;

/// The disk: unmounted and removed when this is dropped.
#[derive(Debug)]
pub(crate) struct SlowDisk {
    // In the order in which they have to go.
    mounted: Mounted,
    _device: Device,
    _file: NamedTempFile,
    group: Option<Cgroup>,
}

impl SlowDisk {
    /// Makes it.
    pub(crate) fn make() -> Self {
        let file = tempfile::Builder::new().prefix("pauselens-test-disk-").tempfile_in(FOLDER).unwrap();
        file.as_file().set_len(BYTES).unwrap();
        let device = Device::on(file.path());
        said("mkfs.ext4", &["-q", "-O", "^has_journal", path(&device.path)]);
        let mounted = Mounted::from(&device.path);
        Self { mounted, _device: device, _file: file, group: slow_reads() }
    }

    /// Where its files are.
    pub(crate) fn folder(&self) -> &Path {
        self.mounted.folder.path()
    }

    /// From now on it is slow for this process, which gets a CPU before all others.
    pub(crate) fn is_slow_for(&self, fixture: &Fixture) {
        self.group.iter().for_each(|group| group.add(fixture.pid));
        super::prefer(fixture);
    }
}

/// A group that may not read often from the disk below.
fn slow_reads() -> Option<Cgroup> {
    let device = fs::metadata(FOLDER).unwrap().dev();
    let device = format!("{}:{}", rustix::fs::major(device), rustix::fs::minor(device));
    let one = format!("{device} {READS_PER_SECOND}");
    let two = format!("{device} riops={READS_PER_SECOND}");
    let group = Cgroup::with("blkio").or_else(|_| Cgroup::with("io")).ok()?;
    group.set(("blkio.throttle.read_iops_device", &one), ("io.max", &two));
    Some(group)
}

/// A block device that stands on a file.
#[derive(Debug)]
struct Device {
    path: PathBuf,
}

impl Device {
    fn on(file: &Path) -> Self {
        // Past the page cache: what was written is not in memory.
        let said = said("losetup", &["--find", "--show", "--direct-io=on", path(file)]);
        Self { path: said.trim().into() }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        said("losetup", &["--detach", path(&self.path)]);
    }
}

#[derive(Debug)]
struct Mounted {
    folder: TempDir,
}

impl Mounted {
    fn from(device: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        mount(device, folder.path(), "ext4", MountFlags::NOATIME, None).unwrap();
        Self { folder }
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // Whatever still uses it: it goes with its last user.
        if let Err(error) = unmount(self.folder.path(), UnmountFlags::DETACH) {
            eprintln!("{} can't be unmounted: {error}", self.folder.path().display());
        }
    }
}

fn path(path: &Path) -> &str {
    path.to_str().expect("paths of this test are text")
}

/// Runs a command, and gives its output.
fn said(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(output.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
