//! What kept the world from stopping: the thread that stopped last, what the threads were doing when the stop was
//! requested, and their faults.

use crate::report::model::{AtRequest, Pause, Stopping, StoppingFault, StoppingThread};
use crate::report::units;

use super::clean::shorten;
use super::page::{Page, Tone};
use super::stack;

/// How many threads or faults are listed unless everything is wanted.
const MOST: usize = 4;

/// A stopping phase shorter than one in so many of the pause is not taken apart, unless everything is wanted or another
/// thread was in a fault.
const NOTABLE: u64 = 20;

pub(super) fn write(page: &mut Page, pause: &Pause) {
    let mut told = Vec::new();
    if let Some(stopping) = pause.stopping.as_ref().filter(|stopping| is_notable(page, pause, stopping)) {
        page.line(Tone::Plain, 2, 4, &phase(pause, stopping));
        told = threads(page, pause, stopping);
    }
    let rest: Vec<&StoppingFault> =
        pause.stopping_faults.iter().filter(|fault| !told.contains(&fault.tid)).collect();
    if !rest.is_empty() {
        let title = format!(
            "{} in a fault while the world was stopping ({}):",
            if told.is_empty() { "threads" } else { "other threads" },
            units::duration_or_unknown(pause.stopping_ns)
        );
        page.line(Tone::Plain, 2, 4, &title);
        let most = page.at_most(MOST);
        for fault in rest.iter().take(most) {
            let before = match fault.before_request_ns {
                0 => "began after the request".to_owned(),
                ns => format!("already in it for {} when the stop was requested", units::duration(ns)),
            };
            page.line(Tone::Plain, 4, 6, &format!("thread {}, {before}; {}", fault.tid, in_words(fault)));
            stack::frames(page, 6, &fault.frames);
        }
        if rest.len() > most {
            page.line(Tone::Faint, 4, 6, &format!("… {} more", rest.len() - most));
        }
    }
    // What workers' faults explain is told with the workers.
    let of_workers_ns = pause.waited_for_workers.map_or(0, |waited| waited.in_their_faults_ns);
    let explained_ns = pause.explained_by_faults_ns.saturating_sub(of_workers_ns);
    if !pause.stopping_faults.is_empty() && explained_ns > pause.in_faults_ns {
        let share = pause.duration_ns.map_or_else(String::new, |duration_ns| {
            format!(" ({})", units::share(explained_ns, duration_ns))
        });
        let text = format!("with them, faults explain {} of the pause{share}", units::duration(explained_ns));
        page.line(Tone::Plain, 2, 4, &text);
    }
}

fn is_notable(page: &Page, pause: &Pause, stopping: &Stopping) -> bool {
    page.verbose()
        || !pause.stopping_faults.is_empty()
        || pause.duration_ns.is_none_or(|duration_ns| stopping.ns >= duration_ns / NOTABLE)
}

/// `stopping took 12.0 µs: thread 4251 stopped last`, and how it spent the time unless that stands in the list below.
fn phase(pause: &Pause, stopping: &Stopping) -> String {
    let took = format!("stopping took {}", units::duration(stopping.ns));
    let spent = stopping.budget.in_words();
    match stopping.last_tid.filter(|&tid| tid != pause.driver_tid) {
        Some(tid) if stopping.threads.first().is_some_and(|thread| thread.tid == tid) => {
            format!("{took}: thread {tid} stopped last")
        }
        Some(tid) => format!("{took}: thread {tid} stopped last, and spent it {spent}"),
        None => {
            format!("{took}, in which no other thread was seen to be waited for; its driver spent it {spent}")
        }
    }
}

/// The threads whose state changed, with their faults; says which ones were listed.
fn threads(page: &mut Page, pause: &Pause, stopping: &Stopping) -> Vec<u32> {
    let most = page.at_most(MOST);
    let mut told = Vec::new();
    for thread in stopping.threads.iter().take(most) {
        page.line(Tone::Plain, 4, 6, &thread_in_words(thread));
        // A thread is listed once, its faults with it.
        let faults: Vec<&StoppingFault> = pause
            .stopping_faults
            .iter()
            .filter(|fault| fault.tid == thread.tid && !told.contains(&fault.tid))
            .take(most)
            .collect();
        for fault in &faults {
            page.line(Tone::Plain, 6, 8, &in_words(fault));
            stack::frames(page, 8, &fault.frames);
        }
        if faults.is_empty() && !(thread.frames.is_empty() && thread.kernel_frames.is_empty()) {
            stack::in_kernel(page, 6, &thread.kernel_frames);
            stack::frames(page, 6, &thread.frames);
        }
        told.push(thread.tid);
    }
    if stopping.threads.len() > most {
        page.line(Tone::Faint, 4, 6, &format!("… {} more threads", stopping.threads.len() - most));
    }
    told
}

fn thread_in_words(thread: &StoppingThread) -> String {
    let name = thread.name.as_deref().map_or_else(String::new, |name| format!(" ({})", shorten(name, 30)));
    let doing = match (thread.at_request, thread.blocked_on) {
        (AtRequest::InSyscall, Some(on)) => format!("blocked on {}", on.words()),
        (at_request, _) => at_request.words().to_owned(),
    };
    let since = match thread.since_ns {
        Some(ns) => format!("for {}", units::duration(ns)),
        None => "for an unknown time".to_owned(),
    };
    format!(
        "thread {}{name}: {doing} {since} when the stop was requested; then {}",
        thread.tid,
        thread.budget.in_words()
    )
}

fn in_words(fault: &StoppingFault) -> String {
    format!(
        "{}: {} of the stopping, {} in full",
        fault.kind.word(),
        units::duration(fault.in_stopping_ns),
        units::duration(fault.full_ns)
    )
}
