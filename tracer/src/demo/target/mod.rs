//! The demo target: a process with its own pauses, inside which it faults a known number of pages of known kinds.
//!
//! It is traced from outside like any other program and is the fixture of the tests that need root: what it did is
//! printed as one JSON line at the end ([`stats::Stats`]), checked against the thread's own counters. Everything
//! that a pause needs is prepared and rehearsed before it begins, so that no fault happens in it but the counted.
//!
//! The pause functions are `pauselens_demo_stop_world` and `pauselens_demo_start_world` ([`world`]), the reasons
//! that they are given are in [`reasons`].

mod account;
mod acts;
mod burst;
mod clock;
mod computing;
mod console;
mod counters;
mod facts;
mod kinds;
mod memory;
mod options;
mod own_tid;
mod pause;
mod pinning;
mod plan;
pub mod reasons;
mod rehearsal;
mod run;
pub mod stats;
mod threads;
pub mod world;

pub use options::Options;
pub use run::run;
