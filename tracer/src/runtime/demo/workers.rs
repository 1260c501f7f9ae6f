//! Which of the demonstration's threads work for its pauses.

/// Whether a thread with this name does.
pub(in crate::runtime) fn is_worker(thread_name: &str) -> bool {
    thread_name.starts_with("worker-")
}
