//! Marks in a list of frames: what is to be said of it, in place of an address. No code is at such addresses: the first page
//! is never mapped.

/// The stack was unwound to its end. Ends a list of frames that was unwound from a copy, as one of the next two.
pub(super) const WHOLE: u64 = 1;
/// The outermost frames are missing: there are more than are kept, or they are beyond what was copied.
pub(super) const CUT: u64 = 2;
/// Nothing tells who called the frame before.
pub(super) const STOPPED: u64 = 3;
/// In a walk by frame pointers: the frame before has none, so its caller, and perhaps more of them, is missing.
pub(in crate::symbols) const MISSING: u64 = 4;

/// Whether it is a mark, and not an address.
pub(in crate::symbols) fn is_mark(frame: u64) -> bool {
    (WHOLE..=MISSING).contains(&frame)
}

/// What a mark is called in a stack; `None`: it is not shown.
pub(in crate::symbols) fn name_of(mark: u64) -> Option<&'static str> {
    match mark {
        CUT => Some("[deeper frames not recorded]"),
        STOPPED => Some("[unwinding stopped: no unwind information]"),
        MISSING => Some("[callers not recorded: no frame pointer]"),
        _ => None,
    }
}

/// Whether the list was unwound from a copy.
pub(super) fn is_unwound(frames: &[u64]) -> bool {
    matches!(frames.last(), Some(&(WHOLE | CUT | STOPPED)))
}
