//! The addresses of generated code that are to be named: files of names can be long, and a trace has few addresses.

use std::collections::BTreeMap;

/// A longer name is cut.
const LONGEST_NAME: usize = 4096;

/// Addresses, and the names that were found for them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::symbols) struct Wanted(BTreeMap<u64, Option<Box<str>>>);

impl Wanted {
    /// Nothing is known of these addresses yet.
    pub(in crate::symbols) fn new(addresses: impl IntoIterator<Item = u64>) -> Self {
        Self(addresses.into_iter().map(|address| (address, None)).collect())
    }

    /// There is nothing to be named.
    pub(in crate::symbols) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a function of that length holds any of them.
    pub(super) fn any_in(&self, start: u64, size_bytes: u64) -> bool {
        start
            .checked_add(size_bytes)
            .is_some_and(|end| start < end && self.0.range(start..end).next().is_some())
    }

    /// A function, whatever was said of its addresses before. Code is replaced by other code: the last word counts.
    pub(super) fn function(&mut self, start: u64, size_bytes: u64, name: &[u8]) {
        let Some(end) = start.checked_add(size_bytes).filter(|end| *end > start) else { return };
        for (_, known) in self.0.range_mut(start..end) {
            let name = &name[..name.len().min(LONGEST_NAME)];
            *known = Some(String::from_utf8_lossy(name).into());
        }
    }

    /// The name of the function that holds the address.
    pub(in crate::symbols) fn name(&self, address: u64) -> Option<&str> {
        self.0.get(&address)?.as_deref()
    }
}
