//! Code paths: each stack as one readable line, innermost function first.

use crate::report::model::{KernelPath, Pause, Stack};
use crate::report::units;

use super::clean::shorten;
use super::page::{Page, Tone};
use super::words;

/// How many code paths a pause lists unless everything is wanted.
const MOST_STACKS: usize = 4;

/// A stack of more frames than these two together keeps both ends: the inner one says what was touched, the
/// outer one who wanted it.
const INNER_FRAMES: usize = 10;
const OUTER_FRAMES: usize = 4;

/// A function's name is cut beyond this; Go's generic names reach it, ordinary ones don't.
const FRAME_LENGTH: usize = 200;

/// How many functions of the kernel are named, and up to which length, unless everything is wanted.
const KERNEL_FRAMES: usize = 4;
const KERNEL_FRAME_LENGTH: usize = 60;

/// Further places in the kernel are told of when they took at least one in so many of the first one's time.
const NOTABLE: u64 = 20;

pub(super) fn write(page: &mut Page, pause: &Pause) {
    if !pause.stacks.is_empty() {
        page.gap();
        page.line(Tone::Faint, 2, 4, "code paths by time in faults, innermost function first");
        code_paths(page, &pause.stacks, pause.in_faults_ns);
    }
    let workers = pause.worker_faults.as_ref().filter(|faults| !faults.stacks.is_empty());
    if let Some(faults) = workers {
        page.gap();
        let title = "code paths of the other threads that worked for the pause, by time in faults";
        page.line(Tone::Faint, 2, 4, title);
        code_paths(page, &faults.stacks, faults.sum_ns);
    }
}

fn code_paths(page: &mut Page, stacks: &[Stack], in_faults_ns: u64) {
    let most = page.at_most(MOST_STACKS);
    for stack in stacks.iter().take(most) {
        let text = format!(
            "{} ({} of the time in faults), {}: {}",
            units::duration(stack.ns),
            units::share(stack.ns, in_faults_ns),
            units::counted(stack.faults, "fault", "faults"),
            words::kind_counts(&stack.by_kind),
        );
        page.line(Tone::Plain, 2, 4, text.trim_end_matches([':', ' ']));
        kernel_paths(page, &stack.kernel);
        frames(page, 4, &stack.frames);
    }
    if stacks.len() > most {
        let rest = stacks.iter().skip(most).fold(0_u64, |sum, stack| sum.saturating_add(stack.ns));
        let more = (stacks.len() - most) as u64;
        let text = format!(
            "… {}, {}",
            units::counted(more, "more code path", "more code paths"),
            units::duration(rest)
        );
        page.line(Tone::Faint, 2, 4, &text);
    }
}

/// Where in the kernel the faults of one code path were blocked: one line unless everything is wanted.
fn kernel_paths(page: &mut Page, paths: &[KernelPath]) {
    let most = page.at_most(1);
    for path in paths.iter().take(most) {
        let text = format!(
            "blocked in the kernel: {}, {} on {}{}",
            units::counted(path.faults, "fault", "faults"),
            units::duration(path.ns),
            path.on.words(),
            if path.frames.is_empty() { "" } else { ":" },
        );
        if page.verbose() {
            page.line(Tone::Plain, 4, 6, text.trim_end_matches(':'));
            in_kernel(page, 6, &path.frames);
            continue;
        }
        let mut pieces = vec![text];
        pieces.extend(folded(page, &path.frames));
        page.pieces(4, 6, &pieces);
    }
    let (shown, rest) = paths.split_at(most.min(paths.len()));
    let sum_ns = |paths: &[KernelPath]| paths.iter().fold(0_u64, |sum, path| sum.saturating_add(path.ns));
    if sum_ns(rest) > sum_ns(shown) / NOTABLE {
        let more = units::counted(rest.len() as u64, "more such place", "more such places");
        page.line(Tone::Faint, 4, 6, &format!("… {more}, {}", units::duration(sum_ns(rest))));
    }
}

/// The kernel's functions of one wait, above the program's: those that say what it was for, all if everything is
/// wanted. Nothing when there are none.
pub(super) fn in_kernel(page: &mut Page, indent: usize, names: &[String]) {
    if names.is_empty() {
        return;
    }
    let mut pieces = vec!["in the kernel:".to_owned()];
    if page.verbose() {
        let length = page.at_most(FRAME_LENGTH);
        pieces.extend(joined(names.iter().map(|name| shorten(name, length)).collect()));
    } else {
        pieces.extend(folded(page, names));
    }
    page.pieces(indent, indent + 2, &pieces);
}

/// The innermost functions below the scheduler's: the first of them say what was waited for.
fn folded(page: &Page, names: &[String]) -> Vec<String> {
    let schedules = |name: &str| {
        let name = name.trim_start_matches('_');
        name.starts_with("schedule")
            || name.starts_with("io_schedule")
            || name.starts_with("preempt_schedule")
    };
    let said: Vec<&String> = names.iter().skip_while(|name| schedules(name)).collect();
    let said = if said.is_empty() { names.iter().collect() } else { said };
    let length = page.at_most(KERNEL_FRAME_LENGTH);
    let mut pieces: Vec<String> = said.iter().take(KERNEL_FRAMES).map(|name| shorten(name, length)).collect();
    if said.len() > KERNEL_FRAMES {
        pieces.push("…".to_owned());
    }
    joined(pieces)
}

/// An arrow behind every piece but the last.
fn joined(mut pieces: Vec<String>) -> Vec<String> {
    if let Some((_, inner)) = pieces.split_last_mut() {
        inner.iter_mut().for_each(|piece| piece.push_str(" ←"));
    }
    pieces
}

/// One stack: `inner ← outer ← …`, going on under itself.
pub(super) fn frames(page: &mut Page, indent: usize, frames: &[String]) {
    let length = page.at_most(FRAME_LENGTH);
    let mut pieces: Vec<String> = frames.iter().map(|frame| shorten(frame, length)).collect();
    if pieces.is_empty() {
        pieces.push("[code path unknown]".to_owned());
    }
    // One frame is never replaced: "… 1 more …" takes as much room as most names.
    if pieces.len() > page.at_most(INNER_FRAMES + OUTER_FRAMES).saturating_add(1) {
        let left_out = pieces.len() - INNER_FRAMES - OUTER_FRAMES;
        pieces.splice(INNER_FRAMES..INNER_FRAMES + left_out, [format!("… {left_out} more …")]);
    }
    page.pieces(indent, indent + 2, &joined(pieces));
}

#[cfg(test)]
mod tests {
    use super::super::style::Style;
    use super::*;

    fn shown(count: usize, verbose: bool) -> String {
        let mut page = Page::new(&Style { colour: false, width: 100, verbose });
        let names: Vec<String> = (0..count).map(|index| format!("f{index}")).collect();
        frames(&mut page, 2, &names);
        page.into_string()
    }

    #[test]
    fn a_long_stack_keeps_both_ends() {
        assert_eq!(
            shown(40, false),
            "  f0 ← f1 ← f2 ← f3 ← f4 ← f5 ← f6 ← f7 ← f8 ← f9 ← … 26 more … ← f36 ← f37 ← f38 ← f39\n"
        );
        assert!(shown(15, false).contains("f9 ← f10 ← f11"));
        assert!(shown(16, false).contains("f9 ← … 2 more … ← f12"));
        assert!(shown(40, true).contains("f20 ← f21"));
    }

    #[test]
    fn the_kernel_is_folded_to_what_says_something() {
        let names = ["__schedule", "schedule", "io_schedule", "folio_wait_bit_common", "a", "b", "c", "d"];
        let names = names.map(str::to_owned);
        let shown = |names: &[String], verbose| {
            let mut page = Page::new(&Style { colour: false, width: 100, verbose });
            in_kernel(&mut page, 2, names);
            page.into_string()
        };
        assert_eq!(shown(&names, false), "  in the kernel: folio_wait_bit_common ← a ← b ← c ← …\n");
        assert!(shown(&names, true).contains("__schedule ← schedule ← io_schedule ← folio"));
        assert!(shown(&names, true).contains("c ← d\n"));
        assert_eq!(shown(&names[..2], false), "  in the kernel: __schedule ← schedule\n");
        assert_eq!(shown(&[], false), "");
    }

    #[test]
    fn no_stack_is_called_unknown() {
        assert_eq!(shown(0, false), "  [code path unknown]\n");
        assert_eq!(shown(1, false), "  f0\n");
    }
}
