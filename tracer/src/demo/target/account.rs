//! The account of a pause: what its faults should have been, and whether the thread's own counters agree.

use std::{collections::BTreeMap, sync::atomic::Ordering};

use super::{
    acts::Act,
    kinds::Work,
    pause::Measured,
    reasons,
    stats::{ComputingMutatorStats, DelayStats, MutatorStats, PauseStats},
    threads::{ComputingMutator, Delays, Mutator},
};

/// The account of a pause, without what was measured.
pub(super) fn expected<'a>(
    number: u64,
    round: u64,
    reason: u32,
    works: impl Iterator<Item = &'a Work>,
) -> PauseStats {
    let mut touched = BTreeMap::new();
    let mut expected = BTreeMap::new();
    let mut populated = 0;
    for work in works {
        *touched.entry(work.kind().name().to_owned()).or_insert(0) += work.pages();
        for (word, count) in work.faults() {
            *expected.entry(word.to_owned()).or_insert(0) += count;
        }
        if work.kind().counted_as().is_none() {
            populated += work.pages();
        }
    }
    PauseStats {
        number,
        round,
        reason,
        reason_name: reasons::name(reason).unwrap_or("demo: unknown").to_owned(),
        touched,
        expected,
        expected_others: BTreeMap::new(),
        populated,
        counted: BTreeMap::new(),
        duration_ns: None,
        stopping_ns: None,
        minflt: None,
        majflt: None,
        probe_page_faults: None,
        cpu_ns: None,
        voluntary_switches: None,
        involuntary_switches: None,
        acts: BTreeMap::new(),
        futex_wait: None,
        exact: None,
        userfault_delay: None,
        mutator: None,
        computing_mutator: None,
        ends_process: false,
    }
}

/// Completes the account with what was measured.
pub(super) fn measured(stats: &mut PauseStats, measured: &Measured, works: &[Work]) {
    let by_work = || works.iter().zip(&measured.by_work);
    let each_exact = by_work().all(|(work, faults)| faults.all() == in_thread_counters(work));
    let sum: u64 = works.iter().map(in_thread_counters).sum();
    stats.duration_ns = Some(measured.duration_ns);
    stats.stopping_ns = Some(measured.stopping_ns);
    stats.minflt = Some(measured.faults.minor);
    stats.majflt = Some(measured.faults.major);
    stats.cpu_ns = Some(measured.cpu_ns);
    stats.voluntary_switches = Some(measured.switches.voluntary);
    stats.involuntary_switches = Some(measured.switches.involuntary);
    stats.probe_page_faults = Some(measured.probe_page_faults);
    stats.exact = Some(each_exact && measured.faults.all() == sum + measured.probe_page_faults);
    stats.userfault_delay = works.iter().find_map(|work| delays(work.delays()?));
    for (work, faults) in by_work() {
        let counted = stats.counted.entry(work.kind().name().to_owned()).or_default();
        counted.minflt += faults.minor;
        counted.majflt += faults.major;
    }
}

/// Adds what the driver did besides touching pages.
pub(super) fn with_acts(stats: &mut PauseStats, measured: &Measured, acts: &[(&str, Box<dyn Act>)]) {
    stats.acts =
        acts.iter().map(|(name, _)| (*name).to_owned()).zip(measured.by_act.iter().copied()).collect();
    stats.futex_wait = acts.iter().find_map(|(_, act)| act.futex_wait());
}

/// Adds the mutator that computed.
pub(super) fn with_computing_mutator(stats: &mut PauseStats, mutator: &ComputingMutator) {
    stats.computing_mutator = Some(ComputingMutatorStats {
        tid: mutator.tid(),
        elapsed_ns: mutator.elapsed_ns(),
        cpu_ns: mutator.cpu_ns(),
    });
}

/// What the pages add to the thread's own counters.
fn in_thread_counters(work: &Work) -> u64 {
    if work.kind().in_thread_counters() { work.pages() } else { 0 }
}

/// Adds the mutator's fault.
pub(super) fn with_mutator(stats: &mut PauseStats, measured: &Measured, mutator: &Mutator) {
    let delay_ns = mutator.delays().sum_ns.load(Ordering::Acquire);
    let lead_ns = measured.stop_called_ns.saturating_sub(mutator.fault_begin_ns());
    stats.mutator = Some(MutatorStats { tid: mutator.tid(), delay_ns, lead_ns });
    // Shorter than the lead, the fault was over before the stop was requested.
    if delay_ns > lead_ns {
        stats.expected_others.insert("userfault".to_owned(), 1);
    }
}

fn delays(delays: &Delays) -> Option<DelayStats> {
    // The first was the rehearsal's.
    let count = delays.events.load(Ordering::Acquire).checked_sub(1).filter(|count| *count > 0)?;
    let sum_ns = delays.sum_ns.load(Ordering::Acquire);
    Some(DelayStats {
        count,
        min_ns: delays.min_ns.load(Ordering::Acquire),
        mean_ns: sum_ns / count,
        max_ns: delays.max_ns.load(Ordering::Acquire),
        sum_ns,
    })
}
