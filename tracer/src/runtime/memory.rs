//! What a runtime's own structures say of addresses.

use std::{fmt::Debug, sync::Arc};

/// What an address is to the runtime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Belongs {
    /// Whether it is in the heap that the collector manages; otherwise it is bookkeeping outside of it.
    pub heap: bool,
    /// The structure in words, such as `span sets`.
    pub what: Arc<str>,
}

/// A part that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The part, such as `mark bits`.
    pub part: &'static str,
    /// Why.
    pub why: String,
}

/// A runtime's memory, as its own structures tell, read from the target without changing it.
///
/// What has been read stays known: these structures are never given back while the process lives. It grows; so it is
/// read again now and then.
pub trait RuntimeMemory: Debug + Send {
    /// What the address is. `None`: in no structure that is known. May read the target to tell parts of the heap apart.
    fn find(&mut self, address: u64) -> Option<Belongs>;

    /// Reads what is new, if the address is not in a known structure (or in one that is known roughly) and enough time
    /// has passed. Whether anything was read.
    fn look_again_for(&mut self, address: u64) -> bool;

    /// Whether the whole heap is known: what lies outside of it is no heap.
    fn heap_is_known(&self) -> bool;

    /// What could not be read, and why.
    fn missing(&self) -> Vec<Missing>;
}
