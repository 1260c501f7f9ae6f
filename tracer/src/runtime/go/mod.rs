//! The Go runtime, versions 1.18 to 1.27 (tested: 1.19, 1.21, 1.22, 1.23, 1.25, 1.26, 1.27); a newer one is
//! taken to be like 1.27.
//!
//! | since | what changed |
//! | --- | --- |
//! | 1.18 | the oldest version whose function table is read; no reason is passed |
//! | 1.21 | `stopTheWorldWithSema` takes the reason as a number |
//! | 1.22 | `startTheWorldWithSema` is passed the reason and when stopping began |
//! | 1.23 | and when stopping was finished |
//! | 1.26 | the function table no longer holds its text base |

mod memory;
mod reason;
mod recognise;
mod sites;
mod stamps;
mod version;

pub(super) use memory::GoMemory;
pub(super) use reason::{reason, reason_of_callers};
pub(super) use recognise::{LOOKED_FOR, recognise};
pub(super) use stamps::{carries_stopped, stamps};
pub(super) use version::GoVersion;
