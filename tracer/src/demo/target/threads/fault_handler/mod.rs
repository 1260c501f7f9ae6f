//! A thread that answers page faults of this process after a set delay: faults of known length.

mod abi;
mod answering;
mod delays;
mod descriptor;

pub(in super::super) use answering::FaultHandler;
pub(in super::super) use delays::Delays;
pub(in super::super) use descriptor::open;
