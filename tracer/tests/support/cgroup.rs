//! For tests: a control group, of version 1 or 2, whatever this machine has.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::Duration,
};

/// A group of the test's own, removed when this is dropped: by then its processes have to be gone.
#[derive(Debug)]
pub(crate) struct Cgroup {
    folder: PathBuf,
    version: Version,
}

/// The files have other names in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

impl Cgroup {
    /// Makes one with this controller. The error says why there can be none here.
    pub(crate) fn with(controller: &str) -> Result<Self, String> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let (root, version) = hierarchy(controller)?;
        if version == Version::Two {
            // It fails where it is on already and something else stands in the way, which then doesn't matter.
            let _ = fs::write(root.join("cgroup.subtree_control"), format!("+{controller}"));
        }
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = root.join(format!("pauselens-test-{}-{number}", process::id()));
        fs::create_dir(&folder).map_err(|error| format!("can't make {}: {error}", folder.display()))?;
        Ok(Self { folder, version })
    }

    /// The group's path, from the root of its hierarchy.
    pub(crate) fn path(&self) -> String {
        let name = self.folder.file_name().expect("it has a name");
        format!("/{}", name.to_string_lossy())
    }

    /// Puts a process in it, with all its threads. What it has used before is not charged to the group.
    pub(crate) fn add(&self, pid: u32) {
        self.write("cgroup.procs", &pid.to_string());
    }

    /// Writes a value to a file, each of version 1 or 2.
    pub(crate) fn set(&self, one: (&str, &str), two: (&str, &str)) {
        let (file, value) = if self.version == Version::One { one } else { two };
        self.write(file, value);
    }

    fn write(&self, file: &str, value: &str) {
        let path = self.folder.join(file);
        fs::write(&path, value).unwrap_or_else(|error| panic!("{value} into {}: {error}", path.display()));
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // A process that has ended stays in it for a moment.
        for _ in 0..100 {
            match fs::remove_dir(&self.folder) {
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                    thread::sleep(Duration::from_millis(20));
                }
                _ => return,
            }
        }
        eprintln!("{} is still in use", self.folder.display());
    }
}

/// Where the hierarchy with this controller is mounted.
fn hierarchy(controller: &str) -> Result<(PathBuf, Version), String> {
    let mounts =
        fs::read_to_string("/proc/self/mounts").map_err(|error| format!("/proc/self/mounts: {error}"))?;
    for line in mounts.lines() {
        let fields: Vec<_> = line.split(' ').collect();
        let [_, folder, kind, options, ..] = fields[..] else { continue };
        if kind == "cgroup" && options.split(',').any(|option| option == controller) {
            return Ok((folder.into(), Version::One));
        }
        if kind == "cgroup2" && controllers(Path::new(folder)).split_whitespace().any(|one| one == controller)
        {
            return Ok((folder.into(), Version::Two));
        }
    }
    Err(format!("no control group hierarchy with {controller} is mounted"))
}

fn controllers(root: &Path) -> String {
    fs::read_to_string(root.join("cgroup.controllers")).unwrap_or_default()
}

/// Whether the kernel has this controller at all, mounted or not.
pub(crate) fn kernel_has(controller: &str) -> bool {
    let has = |line: &str| {
        let fields: Vec<_> = line.split_whitespace().collect();
        fields.first() == Some(&controller) && fields.last() == Some(&"1")
    };
    fs::read_to_string("/proc/cgroups").is_ok_and(|text| text.lines().any(has))
}
