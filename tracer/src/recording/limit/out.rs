//! Lines on their way to the file: compressed, in frames that can be decoded one by one.

use std::{io, sync::Arc};

/// A frame is ended after so many bytes of lines.
pub(super) const FRAME_BYTES: usize = 512 << 10;
/// zstd's own default, as where there is no limit.
const LEVEL: i32 = 3;

/// Compressed lines. A copy of it takes no memory.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) bytes: Arc<[u8]>,
    /// Of the lines.
    pub(super) line_bytes: u64,
}

/// What is to be written next, in this order: frames, then lines.
pub(super) struct Out {
    frames: Vec<Frame>,
    lines: Vec<u8>,
    compressor: zstd::bulk::Compressor<'static>,
}

impl std::fmt::Debug for Out {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_struct("Out").field("frames", &self.frames.len()).finish_non_exhaustive()
    }
}

impl Out {
    /// Nothing yet.
    pub(super) fn new() -> io::Result<Self> {
        let mut compressor = zstd::bulk::Compressor::new(LEVEL)?;
        compressor.include_checksum(true)?;
        Ok(Self { frames: Vec::new(), lines: Vec::new(), compressor })
    }

    /// Adds lines, each with its end.
    pub(super) fn lines(&mut self, lines: &[u8]) {
        self.lines.extend_from_slice(lines);
    }

    /// Adds a line, without its end.
    pub(super) fn line(&mut self, line: &[u8]) {
        self.lines.extend_from_slice(line);
        self.lines.push(b'\n');
    }

    /// Adds frames.
    pub(super) fn frames(&mut self, frames: impl IntoIterator<Item = Frame>) -> io::Result<()> {
        self.end_frame()?;
        self.frames.extend(frames);
        Ok(())
    }

    /// A frame with these lines, which is not added.
    pub(super) fn compress(&mut self, lines: &[u8]) -> io::Result<Frame> {
        let bytes = self.compressor.compress(lines)?.into();
        Ok(Frame { bytes, line_bytes: lines.len() as u64 })
    }

    /// Whether there is as much as should be written at once.
    pub(super) fn is_due(&self) -> bool {
        !self.frames.is_empty() || self.lines.len() >= FRAME_BYTES
    }

    /// All of it, as frames.
    pub(super) fn take(&mut self) -> io::Result<Vec<Frame>> {
        self.end_frame()?;
        Ok(std::mem::take(&mut self.frames))
    }

    /// Forgets it.
    pub(super) fn clear(&mut self) {
        self.frames.clear();
        self.lines.clear();
    }

    fn end_frame(&mut self) -> io::Result<()> {
        if !self.lines.is_empty() {
            let lines = std::mem::take(&mut self.lines);
            let frame = self.compress(&lines)?;
            self.frames.push(frame);
            // Its memory is used again.
            self.lines = lines;
            self.lines.clear();
        }
        Ok(())
    }
}

/// The bytes of frames, one after the other.
pub(super) struct Frames<'a> {
    pub(super) frames: &'a [Frame],
    pub(super) read: usize,
}

impl io::Read for Frames<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while let Some((frame, rest)) = self.frames.split_first() {
            let read = io::Read::read(&mut &frame.bytes[self.read..], to)?;
            self.read += read;
            if read > 0 || to.is_empty() {
                return Ok(read);
            }
            (self.frames, self.read) = (rest, 0);
        }
        Ok(0)
    }
}
