//! Compares recordings that are made of one text.

use std::path::Path;

use tracer::{
    compare::{self, Input, Options, differential},
    recording::Recording,
    report::{
        compare::{render_html, render_json},
        text::{Style, render_comparison},
    },
};

use crate::{compressed, mutate_lines};

/// Makes runs of the lines, as they are and changed in one way and another, puts them on two sides, compares these, and
/// writes the result in every form. Errors are fine; panics, endless loops and memory without bound are not.
pub fn compare_all(text: &[u8]) {
    let run = |number: u32| {
        let changed = if number == 0 { text.to_vec() } else { mutate_lines(text, number * 7_919)? };
        let name = format!("fuzzed-{number}.jsonl.zst");
        let recording = Recording::of_bytes(compressed(&changed)?, Path::new(&name)).ok()?;
        Some(Input { recording })
    };
    // One run on each side, several, or only one on one of them.
    let (of_a, of_b) = [(1, 1), (2, 3), (1, 3)][text.len() % 3];
    let a: Vec<Input> = (0..of_a).filter_map(run).collect();
    let b: Vec<Input> = (of_a..of_a + of_b).filter_map(run).collect();
    let options = Options { process: None, seed: 7, smallest_difference: 0.05 };
    let Ok(compared) = compare::compare(&a, &b, &options) else { return };
    let comparison = &compared.comparison;
    let _ = render_comparison(comparison, &Style::default());
    let _ = render_json(comparison);
    let _ = render_html(comparison);
    for by_time in [false, true] {
        for per_pause in [false, true] {
            let _ = differential(&compared, by_time, per_pause);
        }
    }
}
