//! The demonstration program that comes with this project: it stops its world itself, for reasons that it
//! knows, and so shows whether what is reported is right.

mod reason;
mod recognise;
mod sites;
mod workers;

pub(super) use reason::reason;
pub(super) use recognise::{LOOKED_FOR, recognise};
pub(super) use workers::is_worker;
