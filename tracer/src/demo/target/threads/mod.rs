//! Whoever else is there: an idle child, a thread that answers faults, bystanders that fault all the time, a mutator
//! that must be stopped.

mod bystanders;
mod fault_handler;
mod idle_child;
mod mutator;

pub(super) use bystanders::Bystanders;
pub(super) use fault_handler::{Delays, FaultHandler, open as open_userfaultfd};
pub(super) use idle_child::IdleChild;
pub(super) use mutator::Mutator;
