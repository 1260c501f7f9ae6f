//! The built-in demonstration: a program with pauses of its own, so that pauselens can be seen and tested at work
//! on any machine.

pub mod compare;
pub mod target;
