//! The children that a process has now: where the kernel side can't tell their ids.

use std::fs;

use crate::target::thread_ids;

/// In the tracer's pid namespace. Empty when it is gone, or when the kernel was built without the list
/// (`CONFIG_PROC_CHILDREN`).
pub(super) fn children_of(pid: u32) -> Vec<u32> {
    let lists = thread_ids(pid)
        .unwrap_or_default()
        .into_iter()
        .filter_map(|tid| fs::read_to_string(format!("/proc/{pid}/task/{tid}/children")).ok());
    lists
        .flat_map(|list| list.split_ascii_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<u32>>())
        .collect()
}
