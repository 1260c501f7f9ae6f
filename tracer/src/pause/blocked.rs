//! What a thread is blocked on, told from the kernel functions on its stack when it left the CPU; and what a thread was
//! doing when the stop was requested.

use serde::{Deserialize, Serialize};

/// What a thread is blocked on.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[serde(rename_all = "snake_case")]
pub enum BlockedOn {
    /// A device's answer.
    Io,
    /// A futex: a lock or condition of the program.
    Futex,
    /// The answer of a `userfaultfd` handler.
    Userfault,
    /// A lock of the kernel's, such as that of the process's memory map.
    Lock,
    /// Time: it sleeps.
    Sleep,
    /// Events of descriptors: poll, epoll, select.
    Poll,
    /// Something else.
    Other,
    /// The kernel stack that would tell is missing.
    Unknown,
}

impl BlockedOn {
    /// For people, after `blocked on`.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Io => "I/O",
            Self::Futex => "a futex",
            Self::Userfault => "a userfaultfd handler",
            Self::Lock => "a lock in the kernel",
            Self::Sleep => "a timer (it slept)",
            Self::Poll => "events of descriptors",
            Self::Other => "something else",
            Self::Unknown => "something unknown",
        }
    }

    /// Decides by the names of the kernel's functions, innermost first. Names are those of Linux 5.10 to 7.2.
    #[must_use]
    pub fn of_kernel_frames<'a>(frames: impl IntoIterator<Item = &'a str>) -> Self {
        let mut any = false;
        for frame in frames {
            any = true;
            let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| frame.starts_with(prefix));
            if begins(&["handle_userfault", "userfaultfd_"]) {
                return Self::Userfault;
            }
            if begins(&[
                "io_schedule",
                // Another thread is reading the page.
                "__read_swap_cache_async",
                "submit_bio_wait",
                "wait_for_completion_io",
                "rq_qos_wait",
                "blk_",
                "__blk_",
            ]) {
                return Self::Io;
            }
            if begins(&["futex_", "__futex_", "do_futex"]) {
                return Self::Futex;
            }
            if begins(&[
                "rwsem_",
                "__rwsem_",
                "down_",
                "__down_",
                "mutex_",
                "__mutex_",
                "rt_mutex",
                "__rt_mutex",
            ]) {
                return Self::Lock;
            }
            if begins(&["do_nanosleep", "hrtimer_nanosleep", "common_nsleep"]) {
                return Self::Sleep;
            }
            if begins(&["ep_poll", "do_epoll", "do_sys_poll", "do_poll", "do_select", "core_sys_select"]) {
                return Self::Poll;
            }
        }
        if any { Self::Other } else { Self::Unknown }
    }
}

/// What a thread was doing when the stop was requested.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[serde(rename_all = "snake_case")]
pub enum AtRequest {
    /// Inside a page fault.
    InFault,
    /// Running, in the program's code or in a system call that had not blocked.
    OnCpu,
    /// Ready to run, without a CPU.
    WaitingForCpu,
    /// Blocked in a system call.
    InSyscall,
}

impl AtRequest {
    /// For people.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::InFault => "in a page fault",
            Self::OnCpu => "on CPU",
            Self::WaitingForCpu => "waiting for a CPU",
            Self::InSyscall => "blocked in a system call",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_function_that_says_something_decides() {
        let table: &[(&[&str], BlockedOn)] = &[
            (
                &["__schedule", "schedule", "io_schedule", "folio_wait_bit_common", "do_swap_page"],
                BlockedOn::Io,
            ),
            (&["schedule", "futex_do_wait", "__futex_wait", "__x64_sys_futex"], BlockedOn::Futex),
            (&["schedule", "futex_wait_queue_me", "do_futex"], BlockedOn::Futex),
            (&["schedule", "handle_userfault", "do_anonymous_page"], BlockedOn::Userfault),
            (&["schedule", "rwsem_down_read_slowpath", "down_read", "do_user_addr_fault"], BlockedOn::Lock),
            (&["schedule", "do_nanosleep", "__x64_sys_nanosleep"], BlockedOn::Sleep),
            (&["schedule", "schedule_hrtimeout_range", "ep_poll"], BlockedOn::Poll),
            (&["schedule", "anon_pipe_read", "vfs_read"], BlockedOn::Other),
            (&[], BlockedOn::Unknown),
        ];
        for (frames, expected) in table {
            assert_eq!(BlockedOn::of_kernel_frames(frames.iter().copied()), *expected, "{frames:?}");
        }
    }
}
