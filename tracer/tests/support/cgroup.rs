//! For tests: a control group, of version 1 or 2, whatever this machine has.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::{self, Command},
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::Duration,
};

/// What its name begins with.
const PREFIX: &str = "pauselens-test-";

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

#[allow(dead_code, reason = "each test file includes this module and uses a part of it")]
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
        let folder = root.join(format!("{PREFIX}{}-{number}", process::id()));
        fs::create_dir(&folder).map_err(|error| format!("can't make {}: {error}", folder.display()))?;
        // Of memory: the host's own may be 0. Not there in version 2, nor for other controllers.
        let _ = fs::write(folder.join("memory.swappiness"), "100");
        Ok(Self { folder, version })
    }

    /// One below this one, for processes; this one then has none of its own.
    pub(crate) fn below(&self) -> Self {
        if self.version == Version::Two {
            self.write("cgroup.subtree_control", "+memory");
        }
        let folder = self.folder.join("below");
        fs::create_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let _ = fs::write(folder.join("memory.swappiness"), "100");
        Self { folder, version: self.version }
    }

    /// Reads a number from a file, of version 1 or 2; `None` when the file is not there, or has none.
    pub(crate) fn number(&self, one: &str, two: &str) -> Option<u64> {
        let file = if self.version == Version::One { one } else { two };
        fs::read_to_string(self.folder.join(file)).ok()?.trim().parse().ok()
    }

    /// A command that becomes the program, inside the group.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new("sh");
        let script = "echo $$ > \"$1\" && shift && exec \"$@\"";
        command.args(["-c", script, "sh"]).arg(self.folder.join("cgroup.procs")).arg(program);
        command
    }

    /// Swaps out all that will go, of a group with the memory controller. Less than was asked for is an error to the
    /// kernel, and none here.
    pub(crate) fn reclaim(&self) {
        match self.version {
            Version::One => {
                let _ = fs::write(self.folder.join("memory.force_empty"), "0");
            }
            Version::Two => {
                let current = fs::read(self.folder.join("memory.current")).unwrap_or_default();
                let _ = fs::write(self.folder.join("memory.reclaim"), current);
            }
        }
    }

    /// The group's path, from the root of its hierarchy.
    pub(crate) fn path(&self) -> String {
        let mut parts: Vec<_> = self.folder.iter().map(|part| part.to_string_lossy()).collect();
        let own = parts.iter().position(|part| part.starts_with(PREFIX)).expect("it has a name");
        format!("/{}", parts.split_off(own).join("/"))
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

#[allow(dead_code, reason = "each test file includes this module and uses a part of it")]
/// Whether the kernel has this controller at all, mounted or not.
pub(crate) fn kernel_has(controller: &str) -> bool {
    let has = |line: &str| {
        let fields: Vec<_> = line.split_whitespace().collect();
        fields.first() == Some(&controller) && fields.last() == Some(&"1")
    };
    fs::read_to_string("/proc/cgroups").is_ok_and(|text| text.lines().any(has))
}
