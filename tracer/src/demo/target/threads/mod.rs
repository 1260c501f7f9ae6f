//! Whoever else is there: an idle child, a thread that answers faults, one that wakes the driver, bystanders that fault all
//! the time, mutators that must be stopped.

mod bystanders;
mod computing_mutator;
mod fault_handler;
mod idle_child;
mod mutator;
mod turns;
mod waker;

pub(super) use bystanders::Bystanders;
pub(super) use computing_mutator::ComputingMutator;
pub(super) use fault_handler::{Delays, FaultHandler, open as open_userfaultfd};
pub(super) use idle_child::IdleChild;
pub(super) use mutator::Mutator;
pub(super) use waker::Waker;

use super::own_tid::tid;
