//! Debug information (DWARF): where a variable is, and where the fields of its type are.
//!
//! Only the part that describes data is read, and only along the way that is asked for: names of variables, fields by
//! name, sizes. `.debug_info` is looked through once, in the units of one name (a Go package).

mod error;
mod sections;
mod types;

pub use error::DebugInfoError;
pub use sections::DebugInfo;
pub use types::{Type, Types};
