//! Does the target handle page faults by itself?

use std::fs;

/// Whether one of the process's descriptors is a userfaultfd. `false` also when they can't be listed.
#[must_use]
pub fn holds_userfaultfd(pid: u32) -> bool {
    fs::read_dir(format!("/proc/{pid}/fd")).is_ok_and(|entries| {
        entries
            .filter_map(Result::ok)
            .filter_map(|entry| fs::read_link(entry.path()).ok())
            .any(|link| link.as_os_str().as_encoded_bytes() == b"anon_inode:[userfaultfd]")
    })
}
