//! Threads that worked for the pause besides its driver: each with its faults and where its time went.

use crate::report::model::{Pause, Worker};
use crate::report::units;

use super::budget::longest_first;
use super::clean::shorten;
use super::page::{Page, Tone};

/// How many workers are listed unless everything is wanted.
const MOST: usize = 4;

/// How many parts of a worker's budget are named unless everything is wanted.
const MOST_PARTS: usize = 3;

pub(super) fn write(page: &mut Page, pause: &Pause) {
    if pause.workers.is_empty() {
        return;
    }
    let mut workers: Vec<&Worker> = pause.workers.iter().collect();
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
    use crate::report::fixtures::pause;
    use crate::report::model::Budget;

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
        let mut page = Page::new(&Style { colour: false, width: 100, verbose: false });
        write(&mut page, &pause);
        let expected = "  other threads that worked for the pause, most time in faults first:
    thread 8 (GC Thread#1): 12 faults, 20.0 ms in them; 20.0 ms in faults, blocked on I/O, 10.0 ms
      on CPU
    thread 7 (GC Thread#1): 12 faults, 10.0 ms in them; 20.0 ms on CPU, 10.0 ms in faults, blocked
      on I/O
";
        assert_eq!(page.into_string(), expected);
    }
}
