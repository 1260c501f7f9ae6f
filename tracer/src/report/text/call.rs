//! What is known of a call besides what is known of every window: whose it was, and how it went.

use crate::report::model::Call;
use crate::report::units;

use super::page::{Page, Tone};

pub(super) fn write(page: &mut Page, call: &Call) {
    let parts = parts(call);
    if !parts.is_empty() {
        page.line(Tone::Plain, 2, 4, &parts.join("; "));
    }
}

fn parts(call: &Call) -> Vec<String> {
    let mut parts = Vec::new();
    if let Some(goroutine) = call.goroutine {
        let moved = if call.moved { ", on several threads" } else { "" };
        parts.push(match call.resumptions {
            0 => format!("of goroutine {goroutine:#x}, which never left its thread"),
            n => format!(
                "of goroutine {goroutine:#x}, which was put on a thread again {}{moved}",
                units::counted(n, "time", "times")
            ),
        });
    }
    if call.inner_calls > 0 {
        let inner = units::counted(call.inner_calls.into(), "inner call", "inner calls");
        parts.push(format!("{inner} of the same function"));
    }
    if call.tail_call {
        parts.push("it ended in a jump to another function, which goes on for it (a tail call)".to_owned());
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_is_more_than_usual() {
        let call = Call { goroutine: None, resumptions: 0, moved: false, inner_calls: 0, tail_call: false };
        assert!(parts(&call).is_empty());
        let all = Call {
            goroutine: Some(0xc000_0061c0),
            resumptions: 2,
            moved: true,
            inner_calls: 5,
            tail_call: true,
        };
        assert_eq!(
            parts(&all),
            [
                "of goroutine 0xc0000061c0, which was put on a thread again 2 times, on several threads",
                "5 inner calls of the same function",
                "it ended in a jump to another function, which goes on for it (a tail call)",
            ]
        );
        let stayed = Call { goroutine: Some(0x10), ..call };
        assert_eq!(parts(&stayed), ["of goroutine 0x10, which never left its thread"]);
    }
}
