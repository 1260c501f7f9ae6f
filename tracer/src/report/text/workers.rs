//! Threads that worked for the pause besides its driver: each with its faults and where its time went, and the faults of
//! all of them.

use crate::report::model::{Pause, WaitedForWorkers, Worker, WorkerFaults};
use crate::report::units;

use super::budget::longest_first;
use super::clean::shorten;
use super::page::{Page, Tone};
use super::{touched, words};

/// How many workers are listed unless everything is wanted.
const MOST: usize = 4;

/// How many parts of a worker's budget are named unless everything is wanted.
const MOST_PARTS: usize = 3;

pub(super) fn write(page: &mut Page, pause: &Pause) {
    let mut workers: Vec<&Worker> = pause.workers.iter().filter(|worker| worker.worked()).collect();
    if !workers.is_empty() {
        workers.sort_by_key(|worker| std::cmp::Reverse(worker.in_faults_ns));
        page.line(Tone::Plain, 2, 4, "other threads that worked for the pause, most time in faults first:");
        let most = page.at_most(MOST);
        for worker in workers.iter().take(most) {
            page.line(Tone::Plain, 4, 6, &in_words(page, worker));
        }
        if workers.len() > most {
            page.line(Tone::Faint, 4, 6, &format!("… {} more", workers.len() - most));
        }
    }
    if let Some(faults) = pause.worker_faults.as_ref().filter(|faults| faults.faults > 0) {
        their_faults(page, faults, pause.waited_for_workers);
    }
    if let Some(text) = waited(pause) {
        page.line(Tone::Plain, 2, 4, &text);
    }
    if let Some(text) = idle(pause, workers.len()) {
        page.line(Tone::Faint, 2, 4, &text);
    }
}

/// What they were, all together.
fn their_faults(page: &mut Page, faults: &WorkerFaults, waited: Option<WaitedForWorkers>) {
    let wall = match waited {
        Some(waited) if waited.faults_wall_ns > 0 => {
            let at_least = if waited.at_least { "at least " } else { "" };
            format!(", {at_least}{} of wall time", units::duration(waited.faults_wall_ns))
        }
        _ => String::new(),
    };
    let mut text = format!(
        "their {}, {} summed over them{wall}",
        units::counted(faults.faults, "fault", "faults"),
        units::duration(faults.sum_ns),
    );
    if !faults.by_kind.is_empty() {
        text.push_str(&format!(": {}", words::kind_counts(&faults.by_kind)));
    }
    page.line(Tone::Plain, 4, 6, &text);
    touched::places(page, 4, "touched by them", &faults.by_region, &faults.places, faults.sum_ns);
}

/// Workers that did nothing, and those of which nothing was seen.
fn idle(pause: &Pause, working: usize) -> Option<String> {
    let idle = (pause.workers.len() - working) as u64;
    let counted = |n| {
        if working > 0 {
            units::counted(n, "more worker", "more workers")
        } else {
            units::counted(n, "worker", "workers")
        }
    };
    match (idle, pause.workers_unseen) {
        (0, 0) => None,
        (n, 0) => Some(format!("{} slept all the time", counted(n))),
        (0, n) => Some(format!("of {} nothing was seen in it", counted(n))),
        (n, unseen) => Some(format!(
            "{} slept all the time, and of {} nothing was seen in it",
            counted(n),
            units::count(unseen)
        )),
    }
}

/// How long the driver waited for them.
fn waited(pause: &Pause) -> Option<String> {
    let waited = pause.waited_for_workers.filter(|waited| waited.ns > 0)?;
    let of_pause = |ns: u64| {
        pause
            .duration_ns
            .map_or_else(String::new, |duration_ns| format!(" ({})", units::share(ns, duration_ns)))
    };
    let at_least = if waited.at_least { "at least " } else { "" };
    let mut text = format!(
        "while they worked, the thread that ran the pause was blocked for {at_least}{}{}",
        units::duration(waited.ns),
        of_pause(waited.ns)
    );
    if waited.in_their_faults_ns > 0 {
        text.push_str(&format!(
            "; for {at_least}{}{} of that, one of them at least was in a fault",
            units::duration(waited.in_their_faults_ns),
            of_pause(waited.in_their_faults_ns)
        ));
    }
    Some(text)
}

fn in_words(page: &Page, worker: &Worker) -> String {
    let name = worker.name.as_deref().map_or_else(String::new, |name| format!(" ({})", shorten(name, 30)));
    let parts = longest_first(&worker.budget, |_| true);
    let words: Vec<String> = parts
        .iter()
        .take(page.at_most(MOST_PARTS))
        .map(|part| format!("{} {}", units::duration(part.ns), part.words))
        .collect();
    let spent = if words.is_empty() { String::new() } else { format!("; {}", words.join(", ")) };
    format!(
        "thread {}{name}: {}, {} in them{spent}",
        worker.tid,
        units::counted(worker.faults, "fault", "faults"),
        units::duration(worker.in_faults_ns),
    )
}

#[cfg(test)]
mod tests {
    use super::super::style::Style;
    use super::*;
    use crate::memory::Region;
    use crate::report::fixtures::pause;
    use crate::report::model::{Budget, Kind, KindTotal, Part, Place};

    #[test]
    fn the_one_with_most_time_in_faults_is_first() {
        let mut pause = pause(1, "GC", 0, 30_000_000);
        let worker = |tid, in_faults_ns| Worker {
            tid,
            name: Some("GC Thread#1".to_owned()),
            faults: 12,
            in_faults_ns,
            budget: Budget {
                fault_blocked_io_ns: in_faults_ns,
                on_cpu_ns: 30_000_000 - in_faults_ns,
                ..Budget::default()
            },
        };
        pause.workers = vec![worker(7, 10_000_000), worker(8, 20_000_000)];
        let total = KindTotal { count: 24, ns: 30_000_000, inferred: 0 };
        pause.worker_faults = Some(WorkerFaults {
            faults: 24,
            sum_ns: 30_000_000,
            fault_details: Part { of: 24, have: 24 },
            by_kind: [(Kind::SwapIn, total)].into(),
            by_region: [(Region::RuntimeHeap, total)].into(),
            places: vec![Place { region: Region::RuntimeHeap, what: "Java heap".to_owned(), total }],
            stacks: Vec::new(),
        });
        let mut page = Page::new(&Style { colour: false, width: 100, verbose: false });
        write(&mut page, &pause);
        let expected = "  other threads that worked for the pause, most time in faults first:
    thread 8 (GC Thread#1): 12 faults, 20.0 ms in them; 20.0 ms in faults, blocked on I/O, 10.0 ms
      on CPU
    thread 7 (GC Thread#1): 12 faults, 10.0 ms in them; 20.0 ms on CPU, 10.0 ms in faults, blocked
      on I/O
    their 24 faults, 30.0 ms summed over them: 24 swap_in
    touched by them: runtime_heap 30.0 ms (24)
      runtime_heap, Java heap: 30.0 ms (24)
";
        assert_eq!(page.into_string(), expected);
    }
}
