//! What the driver waited for outside faults: where it was blocked, who had its CPU, and whether a quota was used up.

use crate::report::model::{Blocked, CpuWaits, Neighbour, Pause, Throttling, Unit};
use crate::report::units;

use super::clean::shorten;
use super::page::{Page, Tone};
use super::{stack, words};

/// How many places are listed unless everything is wanted.
const MOST_PLACES: usize = 3;

/// How many neighbours are listed unless everything is wanted.
const MOST_NEIGHBOURS: usize = 3;

/// Waits of less than one in so many of the pause are left to its table, unless everything is wanted.
const NOTABLE: u64 = 20;

pub(super) fn write(page: &mut Page, pause: &Pause, unit: Unit) {
    let least_ns = if page.verbose() { 0 } else { pause.duration_ns.unwrap_or(0) / NOTABLE };
    if let Some(waits) = pause.cpu_waits.as_ref().filter(|waits| waits.ns >= least_ns) {
        cpu(page, waits);
    }
    if let Some(throttling) = &pause.throttling {
        let text = format!(
            "{}: a reading before and one after the {}, so it need not have been in it",
            throttling_in_words(throttling),
            unit.one()
        );
        page.line(Tone::Plain, 2, 4, &text);
    }
    let blocked_ns = pause.blocked.iter().fold(0_u64, |sum, place| sum.saturating_add(place.ns));
    if blocked_ns >= least_ns {
        blocked(page, pause);
    }
}

/// `the CPU quota of cgroup /api was used up 3 times, 4.20 ms summed over CPUs, in 60.0 s`.
pub(super) fn throttling_in_words(throttling: &Throttling) -> String {
    format!(
        "the CPU quota of cgroup {} was used up {}, {} summed over CPUs, in {}",
        shorten(&throttling.cgroup, words::NAME_LENGTH),
        units::counted(throttling.times, "time", "times"),
        units::duration(throttling.ns),
        units::duration(throttling.over_ns),
    )
}

fn cpu(page: &mut Page, waits: &CpuWaits) {
    if waits.count == 0 && waits.ns == 0 {
        return;
    }
    let text = format!(
        "waited for a CPU {}, {} in all, the longest {}{}",
        units::counted(waits.count, "time", "times"),
        units::duration(waits.ns),
        units::duration(waits.longest_ns),
        if waits.after.is_empty() { "" } else { "; who had it before:" },
    );
    page.line(Tone::Plain, 2, 4, &text);
    let most = page.at_most(MOST_NEIGHBOURS);
    for neighbour in waits.after.iter().take(most) {
        page.line(Tone::Plain, 4, 6, &neighbour_in_words(neighbour));
    }
    if waits.after.len() > most {
        page.line(Tone::Faint, 4, 6, &format!("… {} more", waits.after.len() - most));
    }
}

fn neighbour_in_words(neighbour: &Neighbour) -> String {
    format!(
        "{} in {}: {}, thread {}{}",
        units::duration(neighbour.ns),
        units::counted(neighbour.count, "wait", "waits"),
        shorten(&neighbour.name, words::NAME_LENGTH),
        neighbour.tid,
        if neighbour.of_target { " of the program itself" } else { "" },
    )
}

/// The program's functions without the outer ones that the pause was asked for by, which stand above: `as above` in
/// their place, when there are several.
fn without_requester(frames: &[String], requested_by: Option<&Vec<String>>) -> Vec<String> {
    let common = requested_by.map_or(0, |requested_by| {
        frames.iter().rev().zip(requested_by.iter().rev()).take_while(|(a, b)| a == b).count()
    });
    let mut kept = frames.to_vec();
    if common > 2 {
        kept.truncate(frames.len() - common + 1);
        kept.push("… as above".to_owned());
    }
    kept
}

fn blocked(page: &mut Page, pause: &Pause) {
    let places: &[Blocked] = &pause.blocked;
    if places.is_empty() {
        return;
    }
    page.line(Tone::Plain, 2, 4, "blocked outside faults:");
    let most = page.at_most(MOST_PLACES);
    for place in places.iter().take(most) {
        let woken =
            place.woken_by_tid.map_or_else(String::new, |tid| format!(", the longest ended by thread {tid}"));
        let text = format!(
            "{} on {} in {}{woken}",
            units::duration(place.ns),
            place.on.words(),
            units::counted(place.count, "wait", "waits"),
        );
        page.line(Tone::Plain, 4, 6, &text);
        stack::in_kernel(page, 6, &place.kernel_frames);
        stack::frames(page, 6, &without_requester(&place.frames, pause.requested_by.as_ref()));
    }
    if places.len() > most {
        let rest_ns = places.iter().skip(most).fold(0_u64, |sum, place| sum.saturating_add(place.ns));
        let text = format!("… {} more, {}", places.len() - most, units::duration(rest_ns));
        page.line(Tone::Faint, 4, 6, &text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asked_for_the_pause_is_said_once() {
        let frames = |names: &str| names.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let requested_by = frames("stop start gc main");
        let shown = |names: &str| without_requester(&frames(names), Some(&requested_by)).join(" ");
        assert_eq!(shown("futex sleep stop start gc main"), "futex sleep stop … as above");
        assert_eq!(shown("futex sleep other gc main"), "futex sleep other gc main");
        assert_eq!(shown("stop start gc main"), "stop … as above");
        assert_eq!(without_requester(&frames("a b"), None), frames("a b"));
    }
}
