//! What the numbers say: a table of rules, each of which speaks only when the report's numbers allow it.

mod basis;
mod code_path;
mod kind_rule;
mod kinds;
mod little_explained;
mod reclaim;
mod remedy;
mod rules;
mod several_kinds;
mod slow_stop;
mod stopping_fault;
#[cfg(test)]
mod tests;
mod thresholds;

pub use rules::diagnose;
