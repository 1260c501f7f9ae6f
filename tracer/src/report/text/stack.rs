//! Code paths: each stack as one readable line, innermost function first.

use crate::report::model::Pause;
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

pub(super) fn write(page: &mut Page, pause: &Pause) {
    if pause.stacks.is_empty() {
        return;
    }
    page.gap();
    page.line(Tone::Faint, 2, 4, "code paths by time in faults, innermost function first");
    let most = page.at_most(MOST_STACKS);
    for stack in pause.stacks.iter().take(most) {
        let text = format!(
            "{} ({} of the time in faults), {}: {}",
            units::duration(stack.ns),
            units::share(stack.ns, pause.in_faults_ns),
            units::counted(stack.faults, "fault", "faults"),
            words::kind_counts(&stack.by_kind),
        );
        page.line(Tone::Plain, 2, 4, text.trim_end_matches([':', ' ']));
        frames(page, 4, &stack.frames);
    }
    if pause.stacks.len() > most {
        let rest = pause.stacks.iter().skip(most).fold(0_u64, |sum, stack| sum.saturating_add(stack.ns));
        let more = (pause.stacks.len() - most) as u64;
        let text = format!(
            "… {}, {}",
            units::counted(more, "more code path", "more code paths"),
            units::duration(rest)
        );
        page.line(Tone::Faint, 2, 4, &text);
    }
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
    let last = pieces.len() - 1;
    for piece in &mut pieces[..last] {
        piece.push_str(" ←");
    }
    page.pieces(indent, indent + 2, &pieces);
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
    fn no_stack_is_called_unknown() {
        assert_eq!(shown(0, false), "  [code path unknown]\n");
        assert_eq!(shown(1, false), "  f0\n");
    }
}
