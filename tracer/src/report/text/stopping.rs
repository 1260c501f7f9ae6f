//! What kept the world from stopping: other threads that were inside a fault when the stop was requested.

use crate::report::model::Pause;
use crate::report::units;

use super::page::{Page, Tone};
use super::stack;

/// How many are listed unless everything is wanted.
const MOST: usize = 5;

pub(super) fn write(page: &mut Page, pause: &Pause) {
    if pause.stopping_faults.is_empty() {
        return;
    }
    let title = format!(
        "threads in a fault while the world was stopping ({}):",
        units::duration_or_unknown(pause.stopping_ns)
    );
    page.line(Tone::Plain, 2, 4, &title);
    let most = page.at_most(MOST);
    for fault in pause.stopping_faults.iter().take(most) {
        let before = match fault.before_request_ns {
            0 => "began after the request".to_owned(),
            ns => format!("already in it for {} when the stop was requested", units::duration(ns)),
        };
        let text = format!(
            "thread {}, {}: {before}; {} of the stopping, {} in full",
            fault.tid,
            fault.kind.word(),
            units::duration(fault.in_stopping_ns),
            units::duration(fault.full_ns),
        );
        page.line(Tone::Plain, 4, 6, &text);
        stack::frames(page, 6, &fault.frames);
    }
    if pause.stopping_faults.len() > most {
        page.line(Tone::Faint, 4, 6, &format!("… {} more", pause.stopping_faults.len() - most));
    }
    if pause.explained_by_faults_ns > pause.in_faults_ns {
        let share = pause.duration_ns.map_or_else(String::new, |duration_ns| {
            format!(" ({})", units::share(pause.explained_by_faults_ns, duration_ns))
        });
        let text = format!(
            "with them, faults explain {} of the pause{share}",
            units::duration(pause.explained_by_faults_ns)
        );
        page.line(Tone::Plain, 2, 4, &text);
    }
}
