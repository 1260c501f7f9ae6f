//! Code paths of both sides next to each other, for a differential flame graph: each side's mean over its runs, so that
//! every run counts as much, and runs of any length can be compared.

use std::collections::BTreeMap;

use super::{run::Run, sides::Compared};

/// A code path on both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct DifferentialStack {
    /// Functions, innermost first.
    pub frames: Vec<String>,
    /// A: faults, or nanoseconds in them.
    pub a: f64,
    /// B.
    pub b: f64,
}

/// The code paths of the drivers' faults, in the order of their names: counts or times, for each pause or each second.
#[must_use]
pub fn differential(compared: &Compared, by_time: bool, per_pause: bool) -> Vec<DifferentialStack> {
    let mut stacks: BTreeMap<&Vec<String>, [f64; 2]> = BTreeMap::new();
    for (side, runs) in [compared.a(), compared.b()].into_iter().enumerate() {
        for run in runs {
            let below = below(run, per_pause) * runs.len() as f64;
            if below <= 0.0 {
                continue;
            }
            for (frames, sums) in &run.paths {
                stacks.entry(frames).or_default()[side] +=
                    if by_time { sums.ns } else { sums.faults } / below;
            }
        }
    }
    let stacks = stacks.into_iter();
    stacks.map(|(frames, [a, b])| DifferentialStack { frames: frames.clone(), a, b }).collect()
}

fn below(run: &Run, per_pause: bool) -> f64 {
    if per_pause { run.pauses as f64 } else { run.covered_ns as f64 / 1e9 }
}
