//! The driver's waits in one pause, added up: where it was blocked outside faults, and who had the CPU that it waited for.

use std::collections::HashMap;

use tracer_common::schedule::{IntervalRecord, doing};

use super::{blocked::BlockedOn, budget::KnownBlocks, kernel_stacks::KernelStacks};

/// Places at which a driver was blocked that are kept of one pause, and threads that had its CPU; further ones are added up
/// under one name each.
const KEPT: usize = 512;

/// In place of a thread's name: those past the bound, added up.
const FURTHER: &str = "[further threads]";

/// A place in the code: the kernel stack and the user stack by their identities.
type At = (u64, u64);

/// Blocks at one place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockTotal {
    /// How many.
    pub count: u64,
    /// Until the wake-ups, in ns.
    pub ns: u64,
    /// The longest, in ns.
    pub longest_ns: u64,
    /// Who ended the longest one; 0 when it was no thread of the process.
    pub woken_by: u32,
}

/// A thread that had the CPU before the driver got it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Before {
    /// Its id in the initial pid namespace.
    pub task: u32,
    /// Its name.
    pub name: String,
    /// Whether it is a thread of the same process.
    pub own: bool,
}

/// Waits that ended when one thread left the CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitTotal {
    /// How many.
    pub count: u64,
    /// In ns.
    pub ns: u64,
}

/// The driver's waits in one pause.
#[derive(Clone, Debug, Default)]
pub struct DriverWaits {
    /// Blocks outside faults, by place.
    pub blocked: HashMap<At, BlockTotal>,
    /// Waits for a CPU, in faults or not. Idle CPUs are not among them.
    pub after: HashMap<Before, WaitTotal>,
}

impl DriverWaits {
    /// Adds an interval in which the driver had no CPU.
    pub(super) fn add(&mut self, record: &IntervalRecord) {
        let (blocked_ns, waiting_ns) = split(record);
        if blocked_ns > 0 && record.fault_begin_ns == 0 && record.doing & doing::FREEING == 0 {
            let at = (record.kernel_stack, record.user_stack);
            let at = if self.blocked.contains_key(&at) || self.blocked.len() < KEPT { at } else { (0, 0) };
            let total = self.blocked.entry(at).or_default();
            total.count += 1;
            total.ns += blocked_ns;
            if blocked_ns > total.longest_ns {
                total.longest_ns = blocked_ns;
                total.woken_by = record.woken_by;
            }
        }
        if waiting_ns > 0 && record.after != 0 {
            let own = record.doing & doing::AFTER_OWN != 0;
            let before = Before { task: record.after, name: thread_name(&record.after_name), own };
            let kept = self.after.contains_key(&before) || self.after.len() < KEPT;
            let before = if kept { before } else { Before { task: 0, name: FURTHER.to_owned(), own: false } };
            let total = self.after.entry(before).or_default();
            total.count += 1;
            total.ns += waiting_ns;
        }
    }

    /// Blocks outside faults by what they waited for.
    pub(super) fn known(&self, stacks: &KernelStacks, known: &mut KnownBlocks) {
        for ((kernel_stack, _), total) in &self.blocked {
            match stacks.on(*kernel_stack) {
                BlockedOn::Futex => known.futex_ns += total.ns,
                BlockedOn::Io => known.io_ns += total.ns,
                BlockedOn::Unknown => {}
                _ => known.other_ns += total.ns,
            }
        }
    }
}

/// How long the thread was blocked in the interval, and how long it waited for a CPU after that, in ns.
#[must_use]
pub(super) fn split(record: &IntervalRecord) -> (u64, u64) {
    let whole_ns = record.to_ns.saturating_sub(record.from_ns);
    if record.doing & doing::PREEMPTED != 0 {
        return (0, whole_ns);
    }
    if record.doing & doing::BLOCKED == 0 {
        return (0, 0);
    }
    let woken = (record.from_ns..=record.to_ns).contains(&record.woken_ns);
    let blocked_ns = if woken { record.woken_ns - record.from_ns } else { whole_ns };
    (blocked_ns, whole_ns - blocked_ns)
}

/// A name as the kernel keeps it.
fn thread_name(name: &[u8; 16]) -> String {
    let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
    String::from_utf8_lossy(&name[..end]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytemuck::Zeroable as _;

    #[test]
    fn the_wake_up_divides_an_interval() {
        let interval = |bits, woken_ns| IntervalRecord {
            doing: bits,
            from_ns: 1000,
            woken_ns,
            to_ns: 1500,
            ..IntervalRecord::zeroed()
        };
        for (bits, woken_ns, expected) in [
            (doing::BLOCKED, 1400, (400, 100)),
            (doing::BLOCKED, 0, (500, 0)),
            (doing::BLOCKED, 900, (500, 0)),
            (doing::PREEMPTED, 0, (0, 500)),
            (doing::RUNNING, 0, (0, 0)),
        ] {
            assert_eq!(split(&interval(bits, woken_ns)), expected, "{bits:#x} {woken_ns}");
        }
    }

    #[test]
    fn threads_past_the_bound_are_added_up() {
        let mut waits = DriverWaits::default();
        let threads = u32::try_from(KEPT).unwrap_or(0) + 10;
        for after in 1..=threads {
            let preempted = IntervalRecord {
                doing: doing::PREEMPTED,
                from_ns: 100,
                to_ns: 103,
                after,
                ..IntervalRecord::zeroed()
            };
            waits.add(&preempted);
        }
        let all_ns: u64 = waits.after.values().map(|total| total.ns).sum();
        let further = waits.after.iter().find(|(before, _)| before.name == FURTHER).map(|(_, total)| *total);
        assert_eq!(all_ns, 3 * u64::from(threads));
        assert_eq!(further, Some(WaitTotal { count: 10, ns: 30 }));
    }
}
