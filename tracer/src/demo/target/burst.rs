//! Empty pauses one after the other, without a sleep or at a set pace.

use super::{
    clock::{now_ns, sleep_until},
    counters::Faults,
    reasons, rehearsal,
    stats::BurstStats,
    world,
};

/// Makes so many.
pub(super) fn burst(count: usize, pauses_per_second: Option<u64>) -> BurstStats {
    rehearsal::bring_in();
    sleep_until(now_ns());
    let faults_before = Faults::of_this_thread();
    let begin_ns = now_ns();
    let (mut sum_ns, mut min_ns, mut max_ns) = (0, u64::MAX, 0);
    for index in 0..count as u64 {
        if let Some(rate) = pauses_per_second {
            sleep_until(begin_ns + index * 1_000_000_000 / rate);
        }
        let stop_ns = now_ns();
        world::pauselens_demo_stop_world(reasons::NOTHING);
        world::pauselens_demo_start_world();
        let duration_ns = now_ns() - stop_ns;
        sum_ns += duration_ns;
        min_ns = min_ns.min(duration_ns);
        max_ns = max_ns.max(duration_ns);
    }
    let elapsed_ns = now_ns() - begin_ns;
    let faults = Faults::of_this_thread().since(faults_before);
    BurstStats {
        count: count as u64,
        elapsed_ns,
        sum_ns,
        min_ns: if count == 0 { 0 } else { min_ns },
        max_ns,
        minflt: faults.minor,
        majflt: faults.major,
    }
}
