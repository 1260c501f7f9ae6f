//! The worst pauses in full: what a click on one shows.

use serde_json::{Map, Value, json};

use super::{names::Names, parts};
use crate::{
    longest::Longest,
    recording::Recorded,
    report::{
        model::{Pause, State},
        text::entries::mostly,
    },
};

/// So many of the worst pauses are there in full.
const MOST: usize = 200;

/// And so many of those that were not seen whole.
const MOST_PARTIAL: usize = 20;

/// No further ones when they take this many bytes of the page.
const MOST_BYTES: usize = 1_800_000;

/// How much of each list of a pause is kept.
const STACKS: usize = 40;
const KERNEL_PATHS: usize = 4;
const PLACES: usize = 60;
const OTHERS: usize = 40;

/// Lists of names, which become the number of a stack.
const FRAMES: [&str; 3] = ["frames", "kernel_frames", "requested_by"];

/// Names, which become numbers.
const NAMES: [&str; 8] = ["reason", "what", "name", "mapping", "device", "serves", "cgroup", "address"];

/// Takes pauses.
#[derive(Debug)]
pub(super) struct Details {
    worst: Longest<Pause>,
    partial: Vec<Pause>,
}

impl Details {
    /// Without any.
    pub(super) fn new() -> Self {
        Self { worst: Longest::new(MOST), partial: Vec::new() }
    }

    /// Takes one.
    pub(super) fn add(&mut self, pause: Box<Pause>) {
        match pause.duration_ns.filter(|_| pause.state == State::Complete) {
            Some(ns) if self.worst.wants(ns) => self.worst.offer(ns, pause.id, *pause),
            Some(_) => {}
            None if self.partial.len() < MOST_PARTIAL => self.partial.push(*pause),
            None => {}
        }
    }

    /// Pauses as in the JSON report, with numbers in place of names and stacks.
    pub(super) fn into_values(self, recorded: &Recorded, names: &mut Names) -> Vec<Value> {
        let (mut values, mut bytes) = (Vec::new(), 0);
        for mut pause in self.worst.into_sorted().into_iter().chain(self.partial) {
            recorded.name(&mut pause);
            let value = detail(pause, names);
            bytes += value.to_string().len();
            if bytes > MOST_BYTES {
                break;
            }
            values.push(value);
        }
        values
    }
}

fn detail(mut pause: Pause, names: &mut Names) -> Value {
    let parts: Vec<u64> = parts::parts(&pause).into_iter().flat_map(|(part, ns)| [part as u64, ns]).collect();
    let mostly = names.number(&mostly(&pause));
    let left_out = cut(&mut pause);
    // A pause is an object whatever is in it.
    let mut value = serde_json::to_value(pause).unwrap_or_default();
    tabulate(&mut value, names);
    if let Value::Object(fields) = &mut value {
        fields.insert("parts".to_owned(), json!(parts));
        fields.insert("mostly".to_owned(), json!(mostly));
        fields.insert("left_out".to_owned(), Value::Object(left_out));
    }
    value
}

/// Cuts long lists, and says how many were cut off.
fn cut(pause: &mut Pause) -> Map<String, Value> {
    let mut left_out = Map::new();
    let mut note = |name: &str, n: usize| {
        if n > 0 {
            left_out.insert(name.to_owned(), json!(n));
        }
    };
    note("stacks", cut_to(&mut pause.stacks, STACKS));
    note("places", cut_to(&mut pause.places, PLACES));
    note("blocked", cut_to(&mut pause.blocked, OTHERS));
    note("workers", cut_to(&mut pause.workers, OTHERS));
    note("stopping_faults", cut_to(&mut pause.stopping_faults, OTHERS));
    if let Some(stopping) = &mut pause.stopping {
        note("stopping_threads", cut_to(&mut stopping.threads, OTHERS));
    }
    if let Some(faults) = &mut pause.worker_faults {
        note("worker_stacks", cut_to(&mut faults.stacks, STACKS));
        note("worker_places", cut_to(&mut faults.places, PLACES));
    }
    let workers = pause.worker_faults.iter_mut().flat_map(|faults| &mut faults.stacks);
    for stack in pause.stacks.iter_mut().chain(workers) {
        stack.kernel.truncate(KERNEL_PATHS);
    }
    left_out
}

fn cut_to<T>(list: &mut Vec<T>, most: usize) -> usize {
    let left_out = list.len().saturating_sub(most);
    list.truncate(most);
    left_out
}

fn tabulate(value: &mut Value, names: &mut Names) {
    match value {
        Value::Object(fields) => {
            for (field, value) in fields {
                match value {
                    Value::Array(frames) if FRAMES.contains(&field.as_str()) => {
                        *value = json!(names.stack(frames.iter().filter_map(Value::as_str)));
                    }
                    Value::String(name) if NAMES.contains(&field.as_str()) => {
                        *value = json!(names.number(name))
                    }
                    other => tabulate(other, names),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| tabulate(value, names)),
        _ => {}
    }
}
