//! For tests: a perf user of its own, who counts a tracepoint's events on one thread.

use std::{
    fs::File,
    io::{self, Read as _},
    os::fd::FromRawFd as _,
};

use perf_event_open_sys::bindings::{PERF_FLAG_FD_CLOEXEC, PERF_TYPE_TRACEPOINT, perf_event_attr};
use tracer::probe::Tracefs;

/// Counts while it lives.
#[derive(Debug)]
pub(crate) struct Counter(File);

impl Counter {
    /// Begins to count the events that the calling thread makes.
    ///
    /// # Panics
    ///
    /// There is no such tracepoint, or this user may not count.
    pub(crate) fn of_this_thread(event: &str) -> Self {
        let tracefs = Tracefs::open().unwrap_or_else(|error| panic!("{error}"));
        let id = tracefs.read_event_file(event, "id").unwrap_or_else(|error| panic!("{event}: {error}"));
        let config = id.trim().parse().expect("a tracepoint's id is a number");
        let mut attributes = perf_event_attr { type_: PERF_TYPE_TRACEPOINT, config, ..Default::default() };
        attributes.size = u32::try_from(size_of::<perf_event_attr>()).expect("a small struct");
        // SAFETY: the attributes are a live struct of the size given.
        let descriptor = unsafe {
            perf_event_open_sys::perf_event_open(&raw mut attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC.into())
        };
        assert!(descriptor >= 0, "{event}: {}", io::Error::last_os_error());
        // SAFETY: a descriptor that the kernel has just made, owned by nobody else.
        Self(unsafe { File::from_raw_fd(descriptor) })
    }

    /// How many there have been.
    pub(crate) fn read(&self) -> u64 {
        let mut count = [0; 8];
        (&self.0).read_exact(&mut count).expect("a counter can be read");
        u64::from_ne_bytes(count)
    }
}
