//! The kinds of fault that have a rule: how to say it, and what usually helps.
//!
//! `kernel` and `other` have none: what would help against them can't be told from the kind.

use crate::report::model::{Kind, Region};

use super::kind_rule::KindRule;
use super::remedy::{Remedy, for_all, for_go, for_hotspot};

const PAGES: (&str, &str) = ("page", "pages");
const FAULTS: (&str, &str) = ("fault", "faults");

const METADATA_IN_SWAP: Remedy = for_all(
    "the runtime's bookkeeping is touched only in bursts, so the kernel takes it for unused between collections: a \
     smaller heap alone doesn't keep it in memory",
);

const HEAP_IN_SWAP: Remedy = for_all(
    "a heap in swap means that the program uses more memory than it is given: a heap limit below that of the cgroup \
     keeps it from growing into swap",
);

const GO_HEAP_IN_SWAP: Remedy = for_go(
    "for the heap: set GOMEMLIMIT below what the cgroup has (about nine tenths of memory.max or memory.high), so that the \
     collector runs before the heap is swapped out",
);

const JAVA_HEAP_IN_SWAP: Remedy = for_hotspot(
    "for the Java heap: a full collection reads all of it. Set -Xmx so that the heap fits into what the cgroup has together \
     with what is outside of it (code cache, metaspace, thread stacks, the collector's own tables)",
);

const DATA_IN_SWAP: Remedy = for_all(
    "data that a binary or library has written to (variables, relocations) is swapped like any other; it is small, so \
     pinning it alone (mlock at start) is cheap",
);

const EVICTED_CODE: Remedy = for_all(
    "what a {pause} reads from the binary or a library was never used before, or had been dropped from the page cache: \
     then file pages are under pressure. memory.low at least as large as the binary and what the service needs keeps it",
);

const EVICTED_CODE_LOCK: Remedy = for_all(
    "pin the code: mlockall(MCL_CURRENT) at start, or vmtouch -l on the binary and its libraries from outside; move what \
     fills the page cache (copies, backups, logs) into a cgroup of its own with a memory.high",
);

/// The rules, one per kind.
pub(super) const KIND_RULES: [KindRule; 11] = [
    KindRule {
        kind: Kind::SwapIn,
        name: "swap_in_during_pause",
        before: "reading",
        noun: PAGES,
        after: "back from swap",
        remedies: &[
            for_all(
                "keep the service out of swap: memory.swap.max=0 for its cgroup (systemd: MemorySwapMax=0). What \
                 does not fit is then reclaimed from files, or the service is killed, instead of being swapped out",
            ),
            for_all(
                "or protect its memory: memory.low for its cgroup (systemd: MemoryLow=) at what it needs to stay \
                 responsive; the kernel then reclaims from others first",
            ),
            for_all(
                "or make a swap-in cheap: zram, or zswap in front of the disk, keeps swapped pages compressed in memory",
            ),
            for_all(
                "vm.page-cluster sets how many pages one read from swap brings in (2 to that power): 0 for random \
                 access on fast devices, more where one slow read should bring in its neighbours",
            ),
            for_all(
                "mlockall(MCL_CURRENT | MCL_FUTURE) in the program pins its memory, if the host can hold all of it \
                 (RLIMIT_MEMLOCK or CAP_IPC_LOCK)",
            ),
            for_go(
                "GOMEMLIMIT is no protection by itself: it makes the collector run more often as the Go runtime's \
                 memory nears the limit, but pins nothing; the collector's own metadata (span sets, mark bits) can \
                 still be swapped out between collections",
            ),
        ],
        by_region: &[
            (&[Region::RuntimeMetadata], &[METADATA_IN_SWAP]),
            (&[Region::RuntimeHeap], &[HEAP_IN_SWAP, GO_HEAP_IN_SWAP, JAVA_HEAP_IN_SWAP]),
            (&[Region::Binary, Region::Library], &[DATA_IN_SWAP]),
        ],
    },
    KindRule {
        kind: Kind::SwapCache,
        name: "swap_cache_during_pause",
        before: "mapping",
        noun: PAGES,
        after: "that had been swapped out and were still or already in the swap cache",
        remedies: &[
            for_all(
                "the memory is being swapped out, or was read back by read-ahead or another thread: what helps \
                 against swapping helps here, such as memory.swap.max=0 or memory.low for the service's cgroup",
            ),
            for_all(
                "see whether it waits for a read that is under way: long faults do, short ones (a few µs) don't",
            ),
        ],
        by_region: &[],
    },
    KindRule {
        kind: Kind::FileRead,
        name: "file_read_during_pause",
        before: "reading",
        noun: PAGES,
        after: "from files: the program's binary, its libraries or files that it maps",
        remedies: &[
            for_all(
                "protect the service's cgroup with memory.low (systemd: MemoryLow=): file pages are the first to \
                 be reclaimed under pressure",
            ),
            for_all(
                "map data files with MAP_POPULATE, or read them once at start, so that the first access does not wait",
            ),
            for_all(
                "pin what must not wait: mlock on the mapping, mlockall for the binary as well, or vmtouch -l from \
                 outside",
            ),
            for_all("if the file is on a network volume, put it on a local one"),
        ],
        by_region: &[(&[Region::Binary, Region::Library], &[EVICTED_CODE, EVICTED_CODE_LOCK])],
    },
    KindRule {
        kind: Kind::FileMap,
        name: "file_map_during_pause",
        before: "mapping",
        noun: PAGES,
        after: "of files that were in memory already",
        remedies: &[
            for_all(
                "map data files with MAP_POPULATE: the page tables are then filled at start, not at first access",
            ),
            for_all("mlock or mlockall keeps mapped pages mapped"),
        ],
        by_region: &[],
    },
    KindRule {
        kind: Kind::FirstTouch,
        name: "first_touch_during_pause",
        before: "on the first touch of",
        noun: PAGES,
        after: "of new memory",
        remedies: &[
            for_all(
                "touch the memory at start, outside a {pause}: MAP_POPULATE, MADV_POPULATE_WRITE, or a warm-up",
            ),
            for_all(
                "transparent huge pages (madvise or always) make fewer, longer faults: one zeroes 2 MiB, which takes \
                 longer than 4 KiB; measure both",
            ),
            for_hotspot(
                "-XX:+AlwaysPreTouch touches the whole heap at start; with -Xms equal to -Xmx it stays touched",
            ),
            for_go(
                "a heap that shrinks and grows again touches its memory anew, since the runtime gives unused memory \
                 back to the kernel: a steadier heap (a larger GOGC, with GOMEMLIMIT as the upper end) touches less",
            ),
        ],
        by_region: &[],
    },
    KindRule {
        kind: Kind::CopyOnWrite,
        name: "copy_on_write_during_pause",
        before: "copying",
        noun: PAGES,
        after: "on write",
        remedies: &[
            for_all(
                "the usual cause is a fork while the program runs (a snapshot, a child process): every page is \
                 shared until it is written. Start children with posix_spawn, vfork or CLONE_VM, which share nothing",
            ),
            for_all("memory that a forked child doesn't need can be left out with madvise(MADV_DONTFORK)"),
            for_all("KSM (merged pages) and privately mapped files are copied on write as well"),
        ],
        by_region: &[],
    },
    KindRule {
        kind: Kind::Userfault,
        name: "userfault_during_pause",
        before: "waiting for a userfaultfd handler in",
        noun: FAULTS,
        after: "",
        remedies: &[
            for_all(
                "look at the process that answers them (a snapshot restore, a live migration, a lazy loader): its answers are what the {pause} waits for",
            ),
            for_all(
                "let it fill the memory ahead of its use (UFFDIO_COPY in the background), the collector's memory first",
            )
            .of_pauses(),
            for_all("let it fill the memory ahead of its use (UFFDIO_COPY in the background)").of_others(),
        ],
        by_region: &[],
    },
    KindRule {
        kind: Kind::Signal,
        name: "signal_during_pause",
        before: "in",
        noun: FAULTS,
        after: "that ended in a signal to the program",
        remedies: &[for_all(
            "such faults are often meant (guard pages, safepoint polls): the time is the kernel's part only, the \
             signal handler's own time comes on top; see what the program does on SIGSEGV and SIGBUS",
        )],
        by_region: &[],
    },
    KindRule {
        kind: Kind::NumaHint,
        name: "numa_hint_during_pause",
        before: "in",
        noun: FAULTS,
        after: "that are hints of NUMA balancing",
        remedies: &[for_all(
            "kernel.numa_balancing=0 turns them off for the host; binding the service to one node (numactl, \
             cpuset.mems) makes them pointless",
        )],
        by_region: &[],
    },
    KindRule {
        kind: Kind::HugePage,
        name: "huge_page_during_pause",
        before: "in",
        noun: FAULTS,
        after: "on huge pages",
        remedies: &[for_all(
            "a huge page is zeroed or copied as a whole, and the kernel may have to compact memory to find one: \
             compare with /sys/kernel/mm/transparent_hugepage/enabled=madvise and defrag=defer",
        )],
        by_region: &[],
    },
    KindRule {
        kind: Kind::SharedMemory,
        name: "shared_memory_during_pause",
        before: "in",
        noun: FAULTS,
        after: "on shared memory",
        remedies: &[
            for_all(
                "shared memory (tmpfs, memfd) is swapped like any other: see that its cgroup does not swap",
            ),
            for_all("fill it at start with MAP_POPULATE or MADV_POPULATE_WRITE"),
        ],
        by_region: &[],
    },
];
