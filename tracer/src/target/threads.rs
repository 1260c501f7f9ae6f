//! The threads of a process.

use std::{fs, io, path::PathBuf};

/// The ids of the process's threads at this moment, in the tracer's pid namespace.
///
/// # Errors
/// When `/proc/PID/task` can't be read: the process is gone, or is not ours to look at.
pub fn thread_ids(pid: u32) -> io::Result<Vec<u32>> {
    let mut ids = Vec::new();
    for entry in fs::read_dir(format!("/proc/{pid}/task"))? {
        // An entry that vanishes while it is listed is a thread that ended.
        if let Some(id) = entry.ok().and_then(|entry| entry.file_name().to_str()?.parse().ok()) {
            ids.push(id);
        }
    }
    Ok(ids)
}

/// The thread's name, `None` when it can't be read.
#[must_use]
pub fn thread_name(pid: u32, tid: u32) -> Option<String> {
    let path: PathBuf = ["/proc", &pid.to_string(), "task", &tid.to_string(), "comm"].iter().collect();
    let name = fs::read(path).ok()?;
    Some(String::from_utf8_lossy(&name).trim_end_matches('\n').to_owned())
}
