//! Words that several parts of the page share: kinds, states, threads.

use crate::report::model::{ByKind, ByRegion, Ended, Kind, KindTotal, Pause, State, Unit};
use crate::report::units;

use super::clean::shorten;

/// Names are shown up to this length, reasons and thread names as well as paths.
pub(super) const NAME_LENGTH: usize = 60;

/// Stands before a kind that was inferred.
pub(super) const INFERRED: &str = "~";

/// What [`INFERRED`] means, for footnotes.
pub(super) const INFERRED_NOTE: &str =
    "kind inferred from the mapping and the major flag, not seen in the kernel";

/// A state and what it means, for a count of windows.
pub(crate) fn state(state: State, unit: Unit) -> &'static str {
    let of = |pause, call, window| match unit {
        Unit::Pause => pause,
        Unit::Call => call,
        Unit::Window => window,
    };
    match state {
        State::Complete => "complete",
        State::OpenAtAttach => "open at attach (had begun before the trace)",
        State::CutOff => "cut off (the trace ended first)",
        State::TargetExited => of(
            "target exited (before the pause was over)",
            "target exited (before the call was over)",
            "target exited (before the window was over)",
        ),
        State::EndMissed => of(
            "end missed (the next pause began first)",
            "end missed (the next call began first)",
            "end missed (the next window began first)",
        ),
        State::LeftWithoutReturn => {
            "left without a return (a panic, an exception, a long jump, the thread's end)"
        }
        State::Discarded => "no pause after all (another thread's request had come first)",
    }
}

/// Why the trace ended.
pub(super) fn ended(ended: Ended) -> &'static str {
    match ended {
        Ended::Duration => "until the asked-for time was over",
        Ended::Interrupted => "until it was interrupted",
        Ended::TargetExited => "until the target ended",
        Ended::ProgramReplaced => "until it began another program",
        Ended::RecordingCutOff => "until the recording breaks off",
        Ended::TooOften => "until it was stopped, because windows began too often",
    }
}

/// Kinds by time, longest first; equal times by count, then in the order of the design.
pub(super) fn by_time(kinds: &ByKind) -> Vec<(Kind, KindTotal)> {
    let mut kinds: Vec<_> = kinds.iter().map(|(&kind, &total)| (kind, total)).collect();
    kinds.sort_by_key(|(_, total)| std::cmp::Reverse((total.ns, total.count)));
    kinds
}

/// The kind's word, marked when any of these faults has it by inference.
pub(super) fn kind_word(kind: Kind, total: KindTotal) -> String {
    format!("{}{}", if total.inferred > 0 { INFERRED } else { "" }, kind.word())
}

/// `220 swap_in, 8 first_touch`, by time.
pub(super) fn kind_counts(kinds: &ByKind) -> String {
    let words: Vec<String> = by_time(kinds)
        .into_iter()
        .map(|(kind, total)| format!("{} {}", units::count(total.count), kind_word(kind, total)))
        .collect();
    words.join(", ")
}

/// `~runtime_metadata 6.90 ms (96), binary 71.0 µs (1)`: longest first, a mark before what is mostly inferred.
pub(super) fn region_times(regions: &ByRegion) -> String {
    let mut regions: Vec<_> = regions.iter().collect();
    regions.sort_by_key(|(_, total)| std::cmp::Reverse(total.ns));
    let words = regions.into_iter().map(|(region, total)| {
        let mark = if mostly_inferred(*total) { INFERRED } else { "" };
        format!("{mark}{} {} ({})", region.word(), units::duration(total.ns), units::count(total.count))
    });
    words.collect::<Vec<_>>().join(", ")
}

/// Whether most of these faults have their kind or region by inference.
pub(super) fn mostly_inferred(total: KindTotal) -> bool {
    total.inferred > total.count / 2
}

/// A pause's reason, which the runtime may not have given.
pub(super) fn reason(pause: &Pause) -> String {
    reason_word(&pause.reason)
}

/// A reason as a name.
pub(crate) fn reason_word(reason: &str) -> String {
    if reason.is_empty() { "unknown reason".to_owned() } else { shorten(reason, NAME_LENGTH) }
}

/// A moment of the trace, or `unknown`.
pub(super) fn moment(ns: Option<i64>) -> String {
    ns.map_or_else(|| "unknown".to_owned(), |ns| format!("{} s", units::seconds(ns)))
}

/// Entries joined with commas, the first `most` of them; the others are counted.
pub(super) fn list(entries: &[String], most: usize) -> String {
    let mut text = entries.iter().take(most).cloned().collect::<Vec<_>>().join(", ");
    if entries.len() > most {
        text.push_str(&format!(", … {} more", entries.len() - most));
    }
    text
}
