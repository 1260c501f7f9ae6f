//! The calling thread's id.

/// As the process itself sees it.
pub(super) fn tid() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs()
}
