//! The code cache: compiled methods, stubs and the interpreter.

use std::ops::Range;

use super::reader::{Failure, Reader, plausible};

/// All addresses that are reserved for code.
pub(super) fn read(reader: Reader<'_>) -> Result<Range<u64>, Failure> {
    let (start, end) = match reader.variable("CodeCache", "_low_bound") {
        Ok(start) => (start, reader.variable("CodeCache", "_high_bound")?),
        // 8 has one piece.
        Err(Failure::NoField(newer)) => {
            let Ok(heap) = reader.variable("CodeCache", "_heap") else { return Err(newer.into()) };
            let memory = reader.address(heap, "CodeHeap", "_memory")?;
            let bound = |field| reader.field(memory, "VirtualSpace", field);
            (bound("_low_boundary")?, bound("_high_boundary")?)
        }
        Err(error) => return Err(error),
    };
    plausible("the code cache", start..end)
}
