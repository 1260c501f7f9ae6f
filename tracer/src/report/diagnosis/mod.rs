//! What the numbers say: a table of rules, each of which speaks only when the report's numbers allow it.

mod basis;
mod blocked;
mod code_path;
mod compaction;
mod cpu;
#[cfg(test)]
mod dominant;
mod finding;
mod kind_rule;
mod kinds;
mod little_explained;
mod on_cpu;
mod parked;
mod reads;
mod reclaim;
mod remedy;
mod rules;
mod several_kinds;
mod slow_stop;
mod split;
mod stopping_fault;
#[cfg(test)]
mod tests;
mod thresholds;
mod touched;
mod waited_for_workers;
#[cfg(test)]
mod windows;

pub use rules::diagnose;
