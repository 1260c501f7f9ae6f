//! The calling thread's own counters of faults and context switches: what a pause is checked against.

use std::{fs, mem::MaybeUninit};

/// The calling thread's fault counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Faults {
    pub(super) minor: u64,
    pub(super) major: u64,
}

impl Faults {
    /// Reads them now.
    pub(super) fn of_this_thread() -> Self {
        let usage = usage_of_this_thread();
        Self { minor: count(usage.ru_minflt), major: count(usage.ru_majflt) }
    }

    /// What was added since an earlier reading.
    pub(super) fn since(self, earlier: Self) -> Self {
        Self {
            minor: self.minor.saturating_sub(earlier.minor),
            major: self.major.saturating_sub(earlier.major),
        }
    }

    pub(super) fn all(self) -> u64 {
        self.minor + self.major
    }
}

/// How often the calling thread left its CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Switches {
    /// To wait for something.
    pub(super) voluntary: u64,
    /// Because the CPU was given to another thread, or the CPU quota was used up.
    pub(super) involuntary: u64,
}

impl Switches {
    /// Reads them now.
    pub(super) fn of_this_thread() -> Self {
        let usage = usage_of_this_thread();
        Self { voluntary: count(usage.ru_nvcsw), involuntary: count(usage.ru_nivcsw) }
    }

    /// What was added since an earlier reading.
    pub(super) fn since(self, earlier: Self) -> Self {
        Self {
            voluntary: self.voluntary.saturating_sub(earlier.voluntary),
            involuntary: self.involuntary.saturating_sub(earlier.involuntary),
        }
    }
}

fn usage_of_this_thread() -> libc::rusage {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is valid for a write of one `rusage`, of which all-zero bytes are a valid value.
    unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
        usage.assume_init()
    }
}

fn count(value: libc::c_long) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

/// Whether the kernel has mapped the page into this process that it steps probed instructions in.
///
/// It appears with the first user-space probe that is hit, and touching it costs one fault inside whatever the
/// probe is in: the first traced pause has one fault more than the demo made.
pub(super) fn probe_page_mapped() -> bool {
    fs::read_to_string("/proc/self/maps").is_ok_and(|maps| maps.contains("[uprobes]"))
}
