//! The fault that took longest in a pause.

use std::ffi::OsString;

use super::kind::Kind;

/// The longest single fault of the driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LongestFault {
    /// Its kind.
    pub kind: Kind,
    /// Its length in ns.
    pub ns: u64,
    /// The address.
    pub address: u64,
    /// The name of the mapping there; `None` when there was none.
    pub mapping: Option<OsString>,
}
