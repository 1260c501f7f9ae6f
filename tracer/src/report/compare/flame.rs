//! A differential flame graph: B's code paths, red where they have more than A's and blue where they have less.

use std::fmt::Write as _;

use inferno::flamegraph::{self, Options, TextTruncateDirection};

use crate::{
    compare::{Compared, DifferentialStack, differential},
    report::{inert::inert, samples::By},
};

/// Numbers are drawn in thousandths, so that small ones are not lost: the library takes whole ones.
const PARTS: f64 = 1_000.0;
/// In what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Per {
    /// In a pause.
    Pause,
    /// In a second of watched time.
    Second,
}

/// There is no flame graph.
#[derive(Debug, thiserror::Error)]
pub enum FlameError {
    /// Nothing to draw.
    #[error(
        "there is no fault in any of these recordings, so there is no flame graph; --format text has the lengths"
    )]
    NoFaults,
    /// The library failed.
    #[error("the flame graph can't be drawn: {0}")]
    Drawing(String),
}

/// The flame graph as SVG.
///
/// # Errors
/// When there is no fault on either side, or it can't be drawn.
pub fn flame(compared: &Compared, by: By, per: Per) -> Result<String, FlameError> {
    let stacks = differential(compared, by == By::Time, per == Per::Pause);
    draw(&stacks, &compared.comparison.window, by, per)
}

fn draw(stacks: &[DifferentialStack], window: &str, by: By, per: Per) -> Result<String, FlameError> {
    let lines: Vec<String> = stacks.iter().filter_map(line).collect();
    if lines.is_empty() {
        return Err(FlameError::NoFaults);
    }
    let (what, unit) = match by {
        By::Time => ("time in faults", "ns"),
        By::Count => ("faults", "faults"),
    };
    let per = match per {
        Per::Pause => format!("per {window}"),
        Per::Second => "per second of watched time".to_owned(),
    };
    let mut options = Options::default();
    options.title = format!("pauselens: B compared with A, {what} {per}");
    options.subtitle = Some(format!(
        "Width: B's mean over its runs. Red: more than in A, blue: less. Both are {per}, so runs of any length compare; \
         what only A has is not drawn."
    ));
    options.count_name = format!("{unit} {per}");
    options.factor = 1.0 / PARTS;
    options.text_truncate_direction = TextTruncateDirection::Right;
    let mut drawn = Vec::new();
    flamegraph::from_lines(&mut options, lines.iter().map(String::as_str), &mut drawn)
        .map_err(|error| FlameError::Drawing(error.to_string()))?;
    String::from_utf8(drawn).map_err(|error| FlameError::Drawing(error.to_string()))
}

/// `outermost;...;innermost A B`.
fn line(stack: &DifferentialStack) -> Option<String> {
    let [a, b] = [stack.a, stack.b].map(|value| (value * PARTS).round() as u64);
    if a == 0 && b == 0 {
        return None;
    }
    let mut line = String::new();
    for (index, frame) in stack.frames.iter().rev().enumerate() {
        if index > 0 {
            line.push(';');
        }
        line.push_str(&inert(frame, &[';']));
    }
    // Writing to a string can't fail.
    let _ = write!(line, " {a} {b}");
    Some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(frames: &[&str], a: f64, b: f64) -> DifferentialStack {
        DifferentialStack { frames: frames.iter().map(|&frame| frame.to_owned()).collect(), a, b }
    }

    #[test]
    fn numbers_are_per_pause_and_names_are_inert() {
        let hostile = "</text><script>alert(1)</script>;x\u{1b}[2J 12 34";
        let stacks = [stack(&["inner", "outer"], 0.0, 12.5), stack(&[hostile, "outer"], 3.0, 0.5)];
        let svg = draw(&stacks, "pause", By::Time, Per::Pause).unwrap();
        assert!(!svg.contains("<script>alert"), "markup in a name is text");
        assert!(
            svg.contains("&lt;script&gt;alert(1)&lt;/script&gt;\\x3bx\\x1b[2J 12 34"),
            "the name is whole"
        );
        assert!(svg.contains("per pause"), "it says what it is per");
        assert!(svg.contains("13 ns per pause"), "the root is the sum");
        assert!(svg.contains("outer"));
    }

    #[test]
    fn nothing_is_no_flame_graph() {
        assert!(matches!(draw(&[], "pause", By::Count, Per::Second), Err(FlameError::NoFaults)));
    }
}
