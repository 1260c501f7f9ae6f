//! A fault: what is observed of it in the kernel, what kind that makes it, and its record on the wire.

use crate::wire;

/// What a fault was, as far as the kernel side can tell from its own observations.
///
/// The user side refines some of them with what it knows of the mapping (see `pause/kinds.rs` there).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Read back from a swap device: a swap entry went away and the kernel called the fault major.
    SwapIn = 0,
    /// Found in the swap cache: a swap entry went away and the fault was minor.
    SwapCache = 1,
    /// A file page that had to be read: major.
    FileRead = 2,
    /// A file page that was in the page cache: minor.
    FileMap = 3,
    /// A new anonymous page.
    FirstTouch = 4,
    /// A private copy of a page that was there, or the right to write to it.
    CopyOnWrite = 5,
    /// A page of shared memory.
    SharedMemory = 6,
    /// Ended in a signal: a JVM poll, a guard page, a real crash.
    Signal = 7,
    /// The kernel's own access to user memory on the program's behalf, without I/O.
    Kernel = 8,
    /// The thread waited, and no counter of this process changed on this thread: somebody else brought the page in
    /// (a `userfaultfd` handler, another thread's read).
    Waited = 9,
    /// A read of a missing page after which no counter had changed: the zero page, a NUMA hint, a lost race.
    Unchanged = 10,
    /// None of these could be told.
    Other = 11,
    /// A huge page of anonymous memory.
    HugePage = 12,
    /// Given up by the kernel, to deliver a signal: the thread comes back for the page later.
    GivenUp = 13,
}

impl Kind {
    /// How many kinds there are: the length of arrays indexed by kind.
    pub const COUNT: usize = 14;

    /// All kinds, in the order of their numbers.
    pub const ALL: [Self; Self::COUNT] = [
        Self::SwapIn,
        Self::SwapCache,
        Self::FileRead,
        Self::FileMap,
        Self::FirstTouch,
        Self::CopyOnWrite,
        Self::SharedMemory,
        Self::Signal,
        Self::Kernel,
        Self::Waited,
        Self::Unchanged,
        Self::Other,
        Self::HugePage,
        Self::GivenUp,
    ];

    /// The kind with this number; a number of no kind is [`Kind::Other`].
    #[must_use]
    pub fn from_number(number: u8) -> Self {
        Self::ALL.get(usize::from(number)).copied().unwrap_or(Self::Other)
    }
}

/// Observations of one fault, as bits: what `kmem:rss_stat` showed between its begin and end, and the hardware's
/// error code.
pub mod seen {
    /// `MM_FILEPAGES` changed (member 0).
    pub const FILE: u32 = 1 << 0;
    /// `MM_ANONPAGES` changed (member 1).
    pub const ANON: u32 = 1 << 1;
    /// `MM_SWAPENTS` changed (member 2).
    pub const SWAP: u32 = 1 << 2;
    /// `MM_SHMEMPAGES` changed (member 3).
    pub const SHARED: u32 = 1 << 3;
    /// The four members above are known exactly: the kernel reports every change (Linux 6.2 and later).
    pub const COUNTERS_EXACT: u32 = 1 << 4;
    /// The kernel called the fault major.
    pub const MAJOR: u32 = 1 << 5;
    /// The hardware's error code is known.
    pub const ERROR_CODE: u32 = 1 << 6;
    /// The page was present: a protection fault (bit 0 of the x86 error code).
    pub const PRESENT: u32 = 1 << 7;
    /// A write (bit 1 of the x86 error code).
    pub const WRITE: u32 = 1 << 8;
    /// The access was made in kernel mode.
    pub const KERNEL_MODE: u32 = 1 << 9;
    /// Ended in a signal.
    pub const SIGNAL: u32 = 1 << 10;
    /// Direct or memory-cgroup reclaim ran inside the fault.
    pub const RECLAIM: u32 = 1 << 11;
    /// The fault began before the window that it is counted in.
    pub const BEGAN_BEFORE: u32 = 1 << 12;
    /// The faulting thread drives the pause.
    pub const DRIVER: u32 = 1 << 13;
    /// The stack's outermost frames are missing.
    pub const STACK_CUT: u32 = 1 << 14;
    /// The thread slept inside the fault: it waited for I/O, a lock, or somebody else.
    pub const SLEPT: u32 = 1 << 15;
    /// Anonymous memory grew by a huge page at once: see [`super::is_huge`].
    pub const HUGE: u32 = 1 << 16;
    /// The kernel gave the fault up to deliver a signal.
    pub const GIVEN_UP: u32 = 1 << 17;
    /// Memory was compacted inside the fault.
    pub const COMPACTED: u32 = 1 << 18;
    /// By a thread that works for the window besides its driver.
    pub const WORKER: u32 = 1 << 19;
    /// The stack was copied: see [`crate::stack_copy`].
    pub const STACK_COPIED: u32 = 1 << 20;
}

/// A huge page. Smaller large pages (the kernel's mTHP) are not told from single ones.
pub const HUGE_BYTES: u64 = 2 << 20;
/// Other threads' single pages that the same counter can show together with a huge one.
pub const HUGE_SLACK_BYTES: u64 = 64 << 10;

/// Whether a counter that has grown by so much shows a huge page. Between two readings of a counter that several threads
/// change there can be many single pages, if a CPU was held up; that they come to just this is next to impossible.
#[must_use]
#[inline(always)]
pub fn is_huge(growth_bytes: u64) -> bool {
    (HUGE_BYTES..HUGE_BYTES + HUGE_SLACK_BYTES).contains(&growth_bytes)
}

/// Decides a fault's kind from the bits of [`seen`].
///
/// Sources: Linux 6.18 `mm/memory.c`: `do_swap_page` drops `MM_SWAPENTS` and raises `MM_ANONPAGES`;
/// `do_anonymous_page` raises `MM_ANONPAGES`, unless it maps the zero page; `wp_page_copy` moves a page from
/// `MM_FILEPAGES` to `MM_ANONPAGES`, raises `MM_ANONPAGES` for a copy of the zero page and changes nothing when an
/// anonymous page is copied after a fork; `do_cow_fault` raises `MM_ANONPAGES` for a page that was read from a file.
#[must_use]
#[inline(always)]
pub fn classify(bits: u32) -> Kind {
    let is = |wanted: u32| bits & wanted != 0;
    let both = |wanted: u32| bits & wanted == wanted;
    if is(seen::SIGNAL) {
        return Kind::Signal;
    }
    if is(seen::GIVEN_UP) {
        return Kind::GivenUp;
    }
    if is(seen::COUNTERS_EXACT) {
        if is(seen::SWAP) {
            return if is(seen::MAJOR) { Kind::SwapIn } else { Kind::SwapCache };
        }
        if is(seen::MAJOR) && is(seen::FILE | seen::ANON) {
            return Kind::FileRead;
        }
    }
    if is(seen::KERNEL_MODE) {
        return Kind::Kernel;
    }
    if !is(seen::COUNTERS_EXACT) {
        return if both(seen::ERROR_CODE | seen::PRESENT | seen::WRITE) {
            Kind::CopyOnWrite
        } else {
            Kind::Other
        };
    }
    if is(seen::ANON) {
        if is(seen::HUGE) && !is(seen::FILE | seen::SHARED | seen::PRESENT) {
            return Kind::HugePage;
        }
        return if is(seen::FILE | seen::SHARED) || both(seen::ERROR_CODE | seen::PRESENT) {
            Kind::CopyOnWrite
        } else {
            Kind::FirstTouch
        };
    }
    if is(seen::SHARED) {
        return Kind::SharedMemory;
    }
    if is(seen::FILE) {
        return Kind::FileMap;
    }
    // A retry makes a fault major on some kernels and paths only; that the thread slept shows on all.
    if is(seen::MAJOR | seen::SLEPT) && !is(seen::PRESENT) {
        return Kind::Waited;
    }
    if !is(seen::ERROR_CODE) {
        return Kind::Other;
    }
    if both(seen::PRESENT | seen::WRITE) {
        return Kind::CopyOnWrite;
    }
    if is(seen::PRESENT | seen::WRITE) { Kind::Other } else { Kind::Unchanged }
}

/// One fault inside a window, as sent through the ring buffer.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultRecord {
    /// [`crate::stack::TAG_FAULT`].
    pub tag: u32,
    /// Bits of [`seen`].
    pub seen: u32,
    /// The window's number within its process.
    pub window: u64,
    /// Identity of the user stack: a hash of its frames, 0 when there is none.
    pub stack: u64,
    /// Begin, `CLOCK_MONOTONIC`, in ns. Not clipped to the window.
    pub begin_ns: u64,
    /// End, `CLOCK_MONOTONIC`, in ns. Not clipped to the window.
    pub end_ns: u64,
    /// The address that was accessed: a runtime address.
    pub address: u64,
    /// The instruction that faulted: a runtime address.
    pub ip: u64,
    /// Time inside direct or memory-cgroup reclaim, in ns.
    pub reclaim_ns: u64,
    /// Time inside compaction, in ns.
    pub compact_ns: u64,
    /// Time blocked outside reclaim and compaction, until the wake-ups, in ns.
    pub blocked_ns: u64,
    /// Time ready to run without a CPU, in ns.
    pub waiting_ns: u64,
    /// Identity of the kernel stack at the longest of these blocks; 0 when there is none.
    pub kernel_stack: u64,
    /// What was read from block devices on this thread, in bytes: the page and its read-ahead.
    pub read_bytes: u64,
    /// How many requests that were.
    pub read_requests: u32,
    /// The last of these devices, as the block layer numbers it: major << 20 | minor; 0 when there is none.
    pub device: u32,
    /// By how much anonymous memory grew at once, when that was a huge page; 0 otherwise.
    pub huge_bytes: u64,
    /// The process.
    pub tgid: u32,
    /// The thread.
    pub tid: u32,
}
wire!(FaultRecord, 128);

#[cfg(test)]
mod tests {
    use super::*;
    use seen::*;

    const EXACT: u32 = COUNTERS_EXACT | ERROR_CODE;

    #[test]
    fn every_observation_has_its_kind() {
        let table: &[(u32, Kind, &str)] = &[
            (EXACT | SWAP | ANON | MAJOR, Kind::SwapIn, "swapped page, read from the device"),
            (EXACT | SWAP | ANON, Kind::SwapCache, "swapped page, read ahead by a neighbour's fault"),
            (EXACT | SWAP | ANON | MAJOR | KERNEL_MODE, Kind::SwapIn, "the same, touched by read(2)"),
            (EXACT | FILE | MAJOR, Kind::FileRead, "cold page of a mapped file"),
            (EXACT | FILE, Kind::FileMap, "warm page of a mapped file"),
            (EXACT | ANON | MAJOR | WRITE, Kind::FileRead, "first write to a cold private file page"),
            (EXACT | ANON | WRITE, Kind::FirstTouch, "first write to anonymous memory"),
            (EXACT | ANON | PRESENT | WRITE, Kind::CopyOnWrite, "write over the zero page"),
            (EXACT | ANON | FILE | PRESENT | WRITE, Kind::CopyOnWrite, "write to a private file page"),
            (EXACT | PRESENT | WRITE, Kind::CopyOnWrite, "write after fork: no counter changes"),
            (EXACT | SHARED | WRITE, Kind::SharedMemory, "memfd page"),
            (EXACT | SIGNAL, Kind::Signal, "guard page"),
            (EXACT | GIVEN_UP | SLEPT, Kind::GivenUp, "interrupted by a signal"),
            (EXACT | ANON | WRITE | HUGE, Kind::HugePage, "first write to a huge page"),
            (EXACT | ANON | SWAP | MAJOR | HUGE, Kind::SwapIn, "a huge page read back"),
            (EXACT | ANON | KERNEL_MODE | WRITE, Kind::Kernel, "read(2) into fresh memory"),
            (EXACT | MAJOR, Kind::Waited, "userfaultfd, retried under the map's lock"),
            (EXACT | SLEPT | WRITE, Kind::Waited, "userfaultfd, retried under the mapping's own lock"),
            (EXACT, Kind::Unchanged, "read of untouched anonymous memory: the zero page"),
            (EXACT | PRESENT, Kind::Other, "read of a present page: a race, or not ours to explain"),
            (COUNTERS_EXACT, Kind::Other, "no error code, no counter"),
            (MAJOR | ERROR_CODE, Kind::Other, "older kernel: counters are batched; the mapping must tell"),
            (PRESENT | WRITE | ERROR_CODE, Kind::CopyOnWrite, "older kernel, write to a present page"),
        ];
        for (bits, kind, what) in table {
            assert_eq!(classify(*bits), *kind, "{what}");
        }
    }

    #[test]
    fn numbers_and_kinds_agree() {
        for kind in Kind::ALL {
            assert_eq!(Kind::from_number(kind as u8), kind);
        }
        assert_eq!(Kind::from_number(200), Kind::Other);
    }
}
