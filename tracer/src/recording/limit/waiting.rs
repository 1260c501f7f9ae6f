//! Lines of faults that wait in memory for their pause's end: compressed as the file would have them, so that it is known
//! what they would take of it, and that there is room for many.

use std::io;

use super::out::{Frame, Out};

/// Lines are compressed when there are so many bytes of them.
const FRAME_BYTES: usize = 256 << 10;

/// The lines of one pause's faults.
#[derive(Clone, Debug, Default)]
pub(super) struct Waiting {
    frames: Vec<Frame>,
    /// Of the frames.
    bytes: u64,
    /// Those that are in no frame yet.
    lines: Vec<u8>,
}

impl Waiting {
    /// Adds a line, without its end.
    pub(super) fn add(&mut self, line: &[u8], out: &mut Out) -> io::Result<()> {
        self.lines.extend_from_slice(line);
        self.lines.push(b'\n');
        if self.lines.len() >= FRAME_BYTES {
            let frame = out.compress(&self.lines)?;
            self.bytes += frame.bytes.len() as u64;
            self.frames.push(frame);
            self.lines.clear();
        }
        Ok(())
    }

    /// Bytes in memory.
    pub(super) fn memory(&self) -> usize {
        self.lines.len() + usize::try_from(self.bytes).unwrap_or(usize::MAX)
    }

    /// Bytes in the file, of them all: as the first of them were compressed. Few have none: what they take is little.
    pub(super) fn file_bytes(&self) -> Option<u64> {
        let lines: u64 = self.frames.iter().map(|frame| frame.line_bytes).sum();
        (lines > 0).then(|| self.bytes + self.lines.len() as u64 * self.bytes / lines)
    }

    /// Lets them go on.
    pub(super) fn write(self, out: &mut Out) -> io::Result<()> {
        if !self.frames.is_empty() {
            out.frames(self.frames)?;
        }
        out.lines(&self.lines);
        Ok(())
    }
}
