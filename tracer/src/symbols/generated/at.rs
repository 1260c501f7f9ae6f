//! Reads a file from its beginning whoever else has its descriptor, and line by line without trusting its lines.

use std::{
    fs::File,
    io::{self, BufRead, Read, Seek, SeekFrom},
    os::unix::fs::FileExt as _,
};

/// A place in a file.
#[derive(Debug)]
pub(super) struct At<'a> {
    file: &'a File,
    offset: u64,
    end: u64,
}

impl<'a> At<'a> {
    /// The file's first bytes, at most so many: it may grow while it is read.
    pub(super) fn begin(file: &'a File, most_bytes: u64) -> Self {
        Self { file, offset: 0, end: most_bytes }
    }
}

impl Read for At<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end.saturating_sub(self.offset)).unwrap_or(usize::MAX);
        let length = buffer.len().min(left);
        let read = self.file.read_at(&mut buffer[..length], self.offset)?;
        self.offset += read as u64;
        Ok(read)
    }
}

impl Seek for At<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let offset = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::Current(by) => self.offset.checked_add_signed(by),
            SeekFrom::End(by) => self.end.checked_add_signed(by),
        };
        self.offset = offset.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.offset)
    }
}

/// Reads the next line without its end into `line`. `None` at the end of the file; `Some(false)`: it was longer than
/// `most_bytes`, and only its beginning is there.
pub(super) fn next_line(
    reader: &mut impl BufRead,
    line: &mut Vec<u8>,
    most_bytes: usize,
) -> io::Result<Option<bool>> {
    line.clear();
    let (mut whole, mut any) = (true, false);
    loop {
        let buffer = reader.fill_buf()?;
        if buffer.is_empty() {
            return Ok(any.then_some(whole));
        }
        any = true;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let part = &buffer[..end.unwrap_or(buffer.len())];
        let room = most_bytes - line.len();
        whole &= part.len() <= room;
        line.extend_from_slice(&part[..part.len().min(room)]);
        let used = part.len() + usize::from(end.is_some());
        reader.consume(used);
        if end.is_some() {
            return Ok(Some(whole));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_cut_and_counted_on() {
        let text = b"short\n\nmuch too long\nlast".to_vec();
        for capacity in [1, 3, 64] {
            let mut reader = io::BufReader::with_capacity(capacity, &text[..]);
            let mut line = Vec::new();
            let mut seen = Vec::new();
            while let Some(whole) = next_line(&mut reader, &mut line, 6).unwrap() {
                seen.push((String::from_utf8(line.clone()).unwrap(), whole));
            }
            let expected = [("short", true), ("", true), ("much t", false), ("last", true)];
            assert_eq!(seen, expected.map(|(line, whole)| (line.to_owned(), whole)), "{capacity}");
        }
    }
}
