//! From the kernel side's kind to design.md's kind, with what the mapping tells.

use tracer_common::fault::{self, seen};

use super::{blocked::BlockedOn, kind::Kind};
use crate::target::Backing;

/// A kind, and whether it was inferred from the mapping and the major flag rather than observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refined {
    /// The kind.
    pub kind: Kind,
    /// Whether it is an inference.
    pub inferred: bool,
}

/// What is known of the host and the target, for the inferences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// NUMA balancing is on.
    pub numa_balancing: bool,
    /// The target holds a userfaultfd.
    pub userfaultfd: bool,
    /// Switches and wake-ups are seen.
    pub schedule_seen: bool,
    /// Requests to block devices are seen.
    pub devices_seen: bool,
}

/// The kind of a fault whose mapping is not known, or whose detail was dropped.
#[must_use]
pub fn plain(kind: fault::Kind, around: Surroundings) -> Refined {
    let observed = |kind| Refined { kind, inferred: false };
    let inferred = |kind| Refined { kind, inferred: true };
    match kind {
        fault::Kind::SwapIn => observed(Kind::SwapIn),
        fault::Kind::SwapCache => observed(Kind::SwapCache),
        fault::Kind::FileRead => observed(Kind::FileRead),
        fault::Kind::FileMap => observed(Kind::FileMap),
        fault::Kind::FirstTouch => observed(Kind::FirstTouch),
        fault::Kind::CopyOnWrite => observed(Kind::CopyOnWrite),
        fault::Kind::SharedMemory => observed(Kind::SharedMemory),
        fault::Kind::Signal => observed(Kind::Signal),
        fault::Kind::Kernel => observed(Kind::Kernel),
        fault::Kind::HugePage => observed(Kind::HugePage),
        fault::Kind::Waited if around.userfaultfd => inferred(Kind::Userfault),
        fault::Kind::Unchanged if !around.numa_balancing => inferred(Kind::FirstTouch),
        fault::Kind::Waited | fault::Kind::Unchanged | fault::Kind::Other | fault::Kind::GivenUp => {
            observed(Kind::Other)
        }
    }
}

/// The kind of a fault with these observations on memory with this backing, that was blocked on this.
#[must_use]
pub fn refine(bits: u32, backing: Option<Backing>, on: Option<BlockedOn>, around: Surroundings) -> Refined {
    let kind = fault::classify(bits);
    let unrefined = plain(kind, around);
    // The kernel stack says that the fault waited for the handler, whatever the thread itself did after that.
    let ended_otherwise = matches!(kind, fault::Kind::Signal | fault::Kind::GivenUp);
    if on == Some(BlockedOn::Userfault) && !ended_otherwise {
        return Refined { kind: Kind::Userfault, inferred: false };
    }
    // A write to a page that is not there and changes no counter: only NUMA balancing makes such a thing, or a lost race.
    let numa_write = bits & seen::WRITE != 0 && bits & seen::PRESENT == 0 && bits & seen::ERROR_CODE != 0;
    if kind == fault::Kind::Other && numa_write && around.numa_balancing && bits & seen::COUNTERS_EXACT != 0 {
        return Refined { kind: Kind::NumaHint, inferred: true };
    }
    let Some(backing) = backing else { return unrefined };
    let inferred = |kind| Refined { kind, inferred: true };
    let major = bits & seen::MAJOR != 0;
    let counters_exact = bits & seen::COUNTERS_EXACT != 0;
    match (kind, backing) {
        // The tracer's own doing: once per process, the first time that a probed instruction is stepped.
        (_, Backing::ProbeSteps) => Refined { kind: Kind::Other, inferred: false },
        // The first write to a private file page that was never read makes the copy at once (`do_cow_fault`).
        (fault::Kind::FirstTouch, Backing::PrivateFile) => inferred(Kind::CopyOnWrite),
        // Major only because it was tried twice.
        (fault::Kind::FileRead, Backing::Anonymous) => inferred(Kind::FirstTouch),
        // The first write after a file system cleaned the page (`page_mkwrite`): nothing is copied.
        (fault::Kind::CopyOnWrite, Backing::SharedFile) => inferred(Kind::FileMap),
        (fault::Kind::CopyOnWrite, Backing::SharedMemory) => inferred(Kind::SharedMemory),
        (fault::Kind::Waited, Backing::PrivateFile | Backing::SharedFile) if !around.userfaultfd => {
            inferred(Kind::FileRead)
        }
        (fault::Kind::Unchanged, Backing::PrivateFile | Backing::SharedFile) => inferred(Kind::FileMap),
        (fault::Kind::Unchanged, Backing::SharedMemory) => inferred(Kind::SharedMemory),
        (fault::Kind::Other, _) if !counters_exact => inferred(match (backing, major) {
            (Backing::Anonymous, true) => Kind::SwapIn,
            (Backing::Anonymous, false) => Kind::FirstTouch,
            (Backing::PrivateFile | Backing::SharedFile, true) => Kind::FileRead,
            (Backing::PrivateFile | Backing::SharedFile, false) => Kind::FileMap,
            (Backing::SharedMemory, _) => Kind::SharedMemory,
            (Backing::ProbeSteps, _) => Kind::Other,
        }),
        _ => unrefined,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seen::*;

    const EXACT: u32 = COUNTERS_EXACT | ERROR_CODE;

    #[test]
    fn the_mapping_settles_what_the_counters_leave_open() {
        let none = Surroundings::default();
        let userfaultfd = Surroundings { userfaultfd: true, ..none };
        let numa = Surroundings { numa_balancing: true, ..none };
        let table: &[(u32, Option<Backing>, Surroundings, Kind, bool)] = &[
            (EXACT | SWAP | ANON | MAJOR, Some(Backing::Anonymous), none, Kind::SwapIn, false),
            (EXACT | FILE, Some(Backing::ProbeSteps), none, Kind::Other, false),
            (EXACT | ANON | WRITE, Some(Backing::Anonymous), none, Kind::FirstTouch, false),
            (EXACT | ANON | WRITE, Some(Backing::PrivateFile), none, Kind::CopyOnWrite, true),
            (EXACT | PRESENT | WRITE, Some(Backing::SharedFile), none, Kind::FileMap, true),
            (EXACT | PRESENT | WRITE, Some(Backing::Anonymous), none, Kind::CopyOnWrite, false),
            (EXACT | MAJOR, Some(Backing::Anonymous), userfaultfd, Kind::Userfault, true),
            (EXACT | MAJOR, Some(Backing::Anonymous), none, Kind::Other, false),
            (EXACT | MAJOR, Some(Backing::PrivateFile), none, Kind::FileRead, true),
            (EXACT, Some(Backing::Anonymous), none, Kind::FirstTouch, true),
            (EXACT, Some(Backing::Anonymous), numa, Kind::Other, false),
            (EXACT, None, numa, Kind::Other, false),
            (MAJOR | ERROR_CODE, Some(Backing::Anonymous), none, Kind::SwapIn, true),
            (MAJOR | ERROR_CODE, Some(Backing::SharedFile), none, Kind::FileRead, true),
            (ERROR_CODE, Some(Backing::PrivateFile), none, Kind::FileMap, true),
            (ERROR_CODE | MAJOR, None, none, Kind::Other, false),
        ];
        for (bits, backing, around, kind, inferred) in table {
            let expected = Refined { kind: *kind, inferred: *inferred };
            assert_eq!(refine(*bits, *backing, None, *around), expected, "{bits:#x} on {backing:?}");
        }
    }

    #[test]
    fn the_kernel_stack_tells_a_userfaultfd_s_faults() {
        let around = Surroundings::default();
        let (bits, backing) = (EXACT | SLEPT | WRITE, Some(Backing::Anonymous));
        let told = refine(bits, backing, Some(BlockedOn::Userfault), around);
        assert_eq!(told, Refined { kind: Kind::Userfault, inferred: false });
        let locked = refine(bits, backing, Some(BlockedOn::Lock), around);
        assert_eq!(locked, Refined { kind: Kind::Other, inferred: false });
    }

    #[test]
    fn a_write_that_changes_nothing_is_a_numa_hint_where_there_are_some() {
        for (numa_balancing, kind) in [(true, Kind::NumaHint), (false, Kind::Other)] {
            let around = Surroundings { numa_balancing, ..Surroundings::default() };
            assert_eq!(refine(EXACT | WRITE, Some(Backing::Anonymous), None, around).kind, kind);
        }
    }
}
