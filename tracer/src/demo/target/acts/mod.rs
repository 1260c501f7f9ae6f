//! What the driver does in a pause besides touching pages, one file each: how it is prepared, and the function that does
//! it in the pause. None of it faults.

mod act;
mod compact;
mod compute;
mod file_io;
mod futex_wait;

pub(super) use act::{Act, ActKind, prepare};
pub(super) use compact::SWITCH as COMPACTION_SWITCH;
