//! What is left of a time after parts were taken: parts that add up to it, whatever they say.

/// What is left, in ns.
pub(crate) struct Remainder(pub(crate) u64);

impl Remainder {
    /// Takes a part, as far as there is so much. Gives back how much it was.
    pub(crate) fn take(&mut self, ns: u64) -> u64 {
        let taken = ns.min(self.0);
        self.0 -= taken;
        taken
    }
}
