//! The anatomy of a pause, named: what its driver was blocked on, who had its CPU, how the world stopped.

use std::cmp::Reverse;

use super::known::Known;
use crate::{
    pause::{self, BlockedOn, FinishedPause, StackTotal},
    report::model::{
        Blocked, CpuWaits, KernelPath, Neighbour, Stopping, StoppingThread, WaitedForWorkers, Worker,
    },
    target::thread_name,
};

/// Places and neighbours that are listed of one pause.
const LISTED: usize = 32;

/// Where the driver was blocked outside faults: places with the same names are one.
pub(super) fn blocked(pause: &FinishedPause, known: &Known<'_>) -> Vec<Blocked> {
    let mut places: Vec<(u64, Blocked)> = Vec::new();
    for ((kernel_stack, user_stack), total) in &pause.waits.blocked {
        let (on, kernel_frames) = kernel(known, *kernel_stack);
        let frames = known.stack(*user_stack, false);
        let same = places.iter_mut().find(|(_, place)| {
            (place.on, &place.kernel_frames, &place.frames) == (on, &kernel_frames, &frames)
        });
        let woken_by_tid = (total.woken_by != 0).then_some(total.woken_by);
        match same {
            Some((longest_ns, place)) => {
                place.count += total.count;
                place.ns += total.ns;
                if total.longest_ns > *longest_ns {
                    *longest_ns = total.longest_ns;
                    place.woken_by_tid = woken_by_tid;
                }
            }
            None => places.push((
                total.longest_ns,
                Blocked { on, count: total.count, ns: total.ns, woken_by_tid, kernel_frames, frames },
            )),
        }
    }
    let mut places: Vec<Blocked> = places.into_iter().map(|(_, place)| place).collect();
    places.sort_by(|a, b| Reverse(a.ns).cmp(&Reverse(b.ns)).then_with(|| a.frames.cmp(&b.frames)));
    places.truncate(LISTED);
    places
}

/// The driver's waits for a CPU; `None` when switches were not seen.
pub(super) fn cpu_waits(pause: &FinishedPause, known: &Known<'_>) -> Option<CpuWaits> {
    if !known.schedule_seen {
        return None;
    }
    let outside = &pause.record.outside;
    let mut after: Vec<Neighbour> = pause
        .waits
        .after
        .iter()
        .map(|(before, total)| Neighbour {
            name: before.name.clone(),
            tid: before.task,
            of_target: before.own,
            count: total.count,
            ns: total.ns,
        })
        .collect();
    after.sort_by_key(|neighbour| (Reverse(neighbour.ns), neighbour.tid));
    after.truncate(LISTED);
    Some(CpuWaits {
        switches: outside.switches,
        count: outside.waits,
        ns: outside.waiting_ns + pause.record.driver_totals.waiting_ns,
        longest_ns: outside.longest_wait_ns,
        after,
    })
}

/// The workers, by thread id.
pub(super) fn workers(pause: &FinishedPause, pid: u32) -> Vec<Worker> {
    let mut workers: Vec<Worker> = pause
        .workers
        .iter()
        .map(|worker| Worker {
            tid: worker.tid,
            name: thread_name(pid, worker.tid),
            faults: worker.faults,
            in_faults_ns: worker.in_faults_ns,
            budget: worker.budget,
        })
        .collect();
    workers.sort_by_key(|worker| worker.tid);
    workers
}

/// How long the driver waited for them.
pub(super) fn waited_for_workers(pause: &FinishedPause) -> Option<WaitedForWorkers> {
    pause.waited.map(|waited| WaitedForWorkers {
        ns: waited.for_workers_ns,
        in_their_faults_ns: waited.for_their_faults_ns,
        faults_wall_ns: waited.in_their_faults_ns,
        at_least: waited.at_least,
    })
}

/// How the world came to a stop.
pub(super) fn stopping(stopping: &pause::Stopping, known: &Known<'_>) -> Stopping {
    let threads = stopping
        .threads
        .iter()
        .map(|thread| {
            let (on, kernel_frames) = kernel(known, thread.kernel_stack);
            let user = known.stacks.contains_key(&thread.user_stack);
            StoppingThread {
                tid: thread.tid,
                name: thread_name(known.pid, thread.tid),
                at_request: thread.at_request,
                since_ns: thread.since_ns,
                budget: thread.budget,
                blocked_on: (thread.blocked_there && on != BlockedOn::Unknown).then_some(on),
                kernel_frames,
                frames: if user { known.stack(thread.user_stack, false) } else { Vec::new() },
            }
        })
        .collect();
    Stopping { ns: stopping.ns, last_tid: stopping.last, budget: stopping.budget, threads }
}

/// Where in the kernel one code path's faults were blocked: stacks with the same names are one.
pub(super) fn kernel_paths(total: &StackTotal, known: &Known<'_>, paths: &mut Vec<KernelPath>) {
    for (kernel_stack, (faults, ns)) in &total.kernel {
        let (on, frames) = kernel(known, *kernel_stack);
        match paths.iter_mut().find(|path| path.on == on && path.frames == frames) {
            Some(path) => {
                path.faults += faults;
                path.ns += ns;
            }
            None => paths.push(KernelPath { on, faults: *faults, ns: *ns, frames }),
        }
    }
    paths.sort_by_key(|path| (Reverse(path.ns), path.frames.clone()));
}

fn kernel(known: &Known<'_>, stack: u64) -> (BlockedOn, Vec<String>) {
    match known.kernel_stacks.get(stack) {
        Some(stack) => (stack.on, stack.frames.clone()),
        None => (BlockedOn::Unknown, Vec::new()),
    }
}
