//! The class data archive (CDS): classes as they are after loading, mapped from a file or copied out of it.

use std::ops::Range;

use super::reader::{Failure, Reader, plausible};

/// Where it is. `None`: no archive is in use.
pub(super) fn read(reader: Reader<'_>) -> Result<Option<Range<u64>>, Failure> {
    let start = reader.variable("MetaspaceObj", "_shared_metaspace_base")?;
    let end = reader.variable("MetaspaceObj", "_shared_metaspace_top")?;
    if start == end {
        return Ok(None);
    }
    plausible("the class data archive", start..end).map(Some)
}
