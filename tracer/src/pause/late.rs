//! Faults that ended on one CPU while the driver, on another one, was sending the window's sums: the kernel side has added
//! them too late, but their details name the window. They count as the others do.

use std::collections::BTreeMap;

use tracer_common::{
    fault::{FaultRecord, Kind, classify, seen},
    pause::{KindTotal, Totals},
    thread::WorkerRecord,
};

/// What the details of the threads other than the driver add up to.
#[derive(Debug, Default)]
pub(super) struct OthersSeen {
    major: u64,
    minor: u64,
    by_kind: [KindTotal; Kind::COUNT],
    workers: BTreeMap<u32, WorkerSeen>,
}

/// What those of one worker add up to.
#[derive(Debug, Default)]
struct WorkerSeen {
    faults: u64,
    ns: u64,
    last_begin_ns: u64,
}

impl OthersSeen {
    /// Adds a detail, whose time inside the window is `ns`.
    pub(super) fn add(&mut self, record: &FaultRecord, ns: u64) {
        let kind = &mut self.by_kind[classify(record.seen) as usize];
        kind.count += 1;
        kind.sum_ns += ns;
        if record.seen & (seen::SIGNAL | seen::GIVEN_UP) == 0 {
            *(if record.seen & seen::MAJOR != 0 { &mut self.major } else { &mut self.minor }) += 1;
        }
        if record.seen & seen::WORKER != 0 {
            let worker = self.workers.entry(record.tid).or_default();
            worker.faults += 1;
            worker.ns += ns;
            worker.last_begin_ns = worker.last_begin_ns.max(record.begin_ns);
        }
    }

    /// Brings the sums up to the details where there are more of these.
    pub(super) fn settle(&self, totals: &mut Totals, workers: &mut [WorkerRecord]) {
        for (total, seen) in totals.by_kind.iter_mut().zip(&self.by_kind) {
            if seen.count > total.count {
                total.count = seen.count;
                total.sum_ns = total.sum_ns.max(seen.sum_ns);
            }
        }
        totals.major = totals.major.max(self.major);
        totals.minor = totals.minor.max(self.minor);
        for sums in workers {
            let Some(seen) = self.workers.get(&sums.tid).filter(|seen| seen.faults > sums.faults) else {
                continue;
            };
            sums.faults = seen.faults;
            sums.fault_ns = sums.fault_ns.max(seen.ns);
            if sums.begin_ns == seen.last_begin_ns {
                // It was sent as the one that the worker is in the middle of.
                sums.begin_ns = 0;
            }
        }
    }
}
