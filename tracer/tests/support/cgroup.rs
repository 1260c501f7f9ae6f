//! For tests: a memory cgroup whose memory can be swapped out on demand, v1 or v2.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::Duration,
};

/// A memory cgroup of the test's own, removed when this is dropped; its processes must have ended.
#[derive(Debug)]
pub(crate) struct Cgroup {
    folder: PathBuf,
    version: u32,
}

impl Cgroup {
    /// Makes it. The error says why there can be none here.
    pub(crate) fn new(name: &str) -> Result<Self, String> {
        let mounts = fs::read_to_string("/proc/self/mounts").map_err(|error| error.to_string())?;
        let of_type = |wanted: &str, fits: &dyn Fn(&str, &str) -> bool| {
            mounts.lines().find_map(|line| {
                let fields: Vec<&str> = line.split(' ').collect();
                (fields[2] == wanted && fits(fields[1], fields[3])).then(|| PathBuf::from(fields[1]))
            })
        };
        let v1 = of_type("cgroup", &|_, options| options.split(',').any(|option| option == "memory"));
        let v2 = of_type("cgroup2", &|folder, _| {
            let file = Path::new(folder).join("cgroup.subtree_control");
            fs::read_to_string(file).is_ok_and(|names| names.split_whitespace().any(|name| name == "memory"))
        });
        let (root, version) = match (v1, v2) {
            (Some(root), _) => (root, 1),
            (None, Some(root)) => (root, 2),
            (None, None) => {
                return Err("no memory controller is in use in any mounted cgroup hierarchy".into());
            }
        };
        let folder = root.join(format!("{name}-{}", std::process::id()));
        fs::create_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        if version == 1 {
            // The host's own may be 0.
            let _ = fs::write(folder.join("memory.swappiness"), "100");
        }
        Ok(Self { folder, version })
    }

    /// A command that becomes the program, inside the group.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new("sh");
        let script = "echo $$ > \"$1\" && shift && exec \"$@\"";
        command.args(["-c", script, "sh"]).arg(self.folder.join("cgroup.procs")).arg(program);
        command
    }

    /// Swaps out all that will go. Less than was asked for is an error to the kernel, and none here.
    pub(crate) fn reclaim(&self) {
        if self.version == 1 {
            let _ = fs::write(self.folder.join("memory.force_empty"), "0");
        } else {
            let current = fs::read(self.folder.join("memory.current")).unwrap_or_default();
            let _ = fs::write(self.folder.join("memory.reclaim"), current);
        }
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // A moment passes between a process's end and its leaving the group.
        for _ in 0..100 {
            if fs::remove_dir(&self.folder).is_ok() {
                return;
            }
            thread::sleep(Duration::from_millis(50));
        }
        eprintln!("the cgroup stays behind; try: rmdir {}", self.folder.display());
    }
}
