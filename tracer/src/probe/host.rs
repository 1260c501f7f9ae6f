//! What this host allows: facts only. The rules that follow from them are in `plan.rs`.

use std::{collections::BTreeMap, fs, os::unix::fs::MetadataExt as _};

use super::{event_format::EventFormat, tracefs::Tracefs};

/// Every tracepoint that a plan may name.
pub const TRACEPOINTS: [&str; 18] = [
    "exceptions:page_fault_user",
    "kmem:rss_stat",
    "signal:signal_generate",
    "signal:signal_deliver",
    "sched:sched_process_exit",
    "sched:sched_process_free",
    "sched:sched_switch",
    "sched:sched_waking",
    "sched:sched_stat_runtime",
    "vmscan:mm_vmscan_direct_reclaim_begin",
    "vmscan:mm_vmscan_direct_reclaim_end",
    "vmscan:mm_vmscan_memcg_reclaim_begin",
    "vmscan:mm_vmscan_memcg_reclaim_end",
    "compaction:mm_compaction_begin",
    "compaction:mm_compaction_end",
    "block:block_bio_queue",
    "task:task_newtask",
    "sched:sched_process_exec",
];

/// Those of [`TRACEPOINTS`] that a trace can't do without; the last two are used only where new processes are to be noticed.
const REQUIRED: [&str; 4] =
    ["sched:sched_process_exit", "sched:sched_process_free", "task:task_newtask", "sched:sched_process_exec"];

/// Those of [`TRACEPOINTS`] that a trace can do without, at the price of a part of its result.
pub fn optional_tracepoints() -> impl Iterator<Item = &'static str> {
    TRACEPOINTS.into_iter().filter(|event| !REQUIRED.contains(event))
}

/// The inode of the initial pid namespace (Linux `include/linux/proc_ns.h`, `PROC_PID_INIT_INO`).
const INITIAL_PID_NAMESPACE: u64 = 0xefff_fffc;

/// A pid namespace, as bpf_get_ns_current_pid_tgid wants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PidNamespace {
    /// Device number of nsfs.
    pub device: u64,
    /// The namespace's inode.
    pub inode: u64,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// `uname -r`.
    pub kernel_release: String,
    /// The tracepoints that exist, of [`TRACEPOINTS`].
    pub tracepoints: BTreeMap<String, EventFormat>,
    /// `kmem:rss_stat` fires for every change of a counter, so a fault's kind can be told exactly.
    pub counters_exact: bool,
    /// `sched:sched_switch` says in which state the thread is that is switched away from.
    pub switch_tells_state: bool,
    /// The tracer's pid namespace, unless it is the initial one.
    pub pid_namespace: Option<PidNamespace>,
    /// Whether NUMA balancing is on: it makes faults that look like reads of fresh memory.
    pub numa_balancing: bool,
}

/// Looks at the host.
#[must_use]
pub fn gather(tracefs: &Tracefs) -> Facts {
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    let tracepoints = TRACEPOINTS
        .into_iter()
        .filter_map(|event| {
            let format = EventFormat::parse(&tracefs.read_event_file(event, "format").ok()?)?;
            Some((event.to_owned(), format))
        })
        .collect();
    Facts {
        counters_exact: is_at_least(&release, (6, 2)),
        switch_tells_state: is_at_least(&release, (5, 18)),
        kernel_release: release,
        tracepoints,
        pid_namespace: pid_namespace(),
        numa_balancing: fs::read_to_string("/proc/sys/kernel/numa_balancing")
            .is_ok_and(|value| value.trim() != "0"),
    }
}

/// What nothing but the version tells.
///
/// Linux 6.2 (commit f1a7941243c1, "mm: convert mm's rss stats into percpu_counter"): each change of a counter is an event of
/// its own; before, a thread batched 64 of them. Linux 5.18 (commit 9c2136be0878, "sched/tracing: Append prev_state to tp args
/// instead"): the event of a switch has the state as an argument; where it hasn't, attaching the program that wants it fails.
fn is_at_least(release: &str, wanted: (u32, u32)) -> bool {
    let mut numbers = release.split(|character: char| !character.is_ascii_digit()).map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) >= wanted,
        _ => false,
    }
}

fn pid_namespace() -> Option<PidNamespace> {
    let metadata = fs::metadata("/proc/self/ns/pid").ok()?;
    (metadata.ino() != INITIAL_PID_NAMESPACE)
        .then_some(PidNamespace { device: metadata.dev(), inode: metadata.ino() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactness_follows_the_release() {
        for (release, exact) in [
            ("5.10.223", false),
            ("6.1.0-21-amd64", false),
            ("6.2.0", true),
            ("6.18.44-fc", true),
            ("7.2-rc1", true),
            ("odd", false),
        ] {
            assert_eq!(is_at_least(release, (6, 2)), exact, "{release}");
        }
    }
}
