//! pauselens attaches to a running process, watches its stop-the-world pauses, and says why the long ones were long.
//!
//! The modules are the stages of the pipeline, from what was typed to what is printed; `ARCHITECTURE.md` follows one
//! command through them.

pub mod assemble;
pub mod cli;
pub mod clock;
pub mod compare;
pub mod demo;
pub mod elf;
pub mod exposure;
mod longest;
pub mod memory;
pub mod message;
pub mod pause;
pub mod probe;
pub mod recording;
pub mod report;
pub mod runtime;
pub mod session;
pub mod symbols;
pub mod target;
