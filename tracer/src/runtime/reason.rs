//! What a runtime says about one of its pauses: why it stopped the world, and when, by its own clock
//! readings.

/// Why the world was stopped.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Reason {
    /// The reason in the runtime's own words, such as "GC sweep termination".
    pub name: String,
    /// Whether the pause belongs to a garbage collection; `None` if the runtime does not say.
    pub is_gc: Option<bool>,
}

/// The runtime's own readings of the clock during one pause: nanoseconds of `CLOCK_MONOTONIC`, which is the
/// clock that the kernel side reads too. `None`: this runtime or version does not hand the reading over.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct RuntimeStamps {
    /// When the runtime began to stop the world.
    pub requested_ns: Option<u64>,
    /// When every mutator had stopped.
    pub stopped_ns: Option<u64>,
    /// When the runtime decided to restart the world.
    pub now_ns: Option<u64>,
}
