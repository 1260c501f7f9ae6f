//! What is in a file's zstd frames, one after the other.
//!
//! A frame as the recorder writes it is given only when it has been decoded to its end and its checksum is right, so that
//! nothing that was changed on the way comes out. A frame that can't be decoded is left out, and the next one is looked for
//! by the number that each begins with (RFC 8878, 3.1.1). Memory is bounded whatever the file says of itself.

use std::{
    io::{self, Read as _, SeekFrom},
    ops::Range,
};

use memchr::memmem;
use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation as _, OutBuffer};

use super::source::Bytes;

/// What a frame begins with (RFC 8878, 3.1.1).
pub(super) const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// What a frame that is to be skipped begins with, but for the low half of its first byte (RFC 8878, 3.1.2).
const SKIPPABLE: [u8; 4] = [0x50, 0x2a, 0x4d, 0x18];
/// The bit of the byte after the magic number that says that the content has a checksum.
const HAS_CHECKSUM: u8 = 1 << 2;

/// Kept of the file's begin, to tell what it is.
const FIRST_BYTES: usize = 64;
/// Read from the file at once.
const READ_BYTES: usize = 256 << 10;
/// Decoded at once.
const CHUNK_BYTES: usize = 128 << 10;
/// A frame is decoded to its end before it is given, if it holds no more. The recorder closes frames at 1 MiB.
const CHECKED_BYTES: usize = 8 << 20;
/// The binary logarithm of the largest window, in bytes, that a frame may ask for: what `zstd -19` asks for.
const WINDOW_LOG_MAX: u32 = 23;

/// Decodes a file.
pub(super) struct Frames {
    from: Box<dyn Bytes>,
    first: Vec<u8>,
    is_plain: bool,
    decoder: Decoder<'static>,
    chunk: Vec<u8>,
    /// Bytes of the file; those from `at` on are yet to be used.
    read: Vec<u8>,
    at: usize,
    /// Where in the file `read` begins.
    read_from: u64,
    /// What the frame that is being decoded holds, as far as it has not been given.
    held: Vec<u8>,
    frame: Frame,
    is_in_frame: bool,
    is_checked: bool,
}

/// A frame of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Frame {
    /// Its number, from 1.
    pub(super) number: u64,
    /// Where in the file it begins.
    pub(super) from: u64,
}

/// What comes next.
#[derive(Debug)]
pub(super) enum Piece {
    /// Decoded bytes.
    Bytes,
    /// These bytes of the file could not be decoded. What follows does not go on from what was before.
    Gap(Range<u64>, String),
    /// The file ends inside this frame; what could be decoded of it was given along.
    CutOff(Frame),
    /// The file has ended.
    End,
}

impl Frames {
    /// Decodes from the first byte on.
    ///
    /// # Errors
    /// When the file can't be read, or no decoder can be made.
    pub(super) fn new(from: Box<dyn Bytes>) -> io::Result<Self> {
        let mut decoder = Decoder::new()?;
        decoder.set_parameter(DParameter::WindowLogMax(WINDOW_LOG_MAX))?;
        let mut frames = Self {
            from,
            first: Vec::new(),
            is_plain: false,
            decoder,
            chunk: vec![0; CHUNK_BYTES],
            read: Vec::new(),
            at: 0,
            read_from: 0,
            held: Vec::new(),
            frame: Frame::default(),
            is_in_frame: false,
            is_checked: true,
        };
        frames.fill(READ_BYTES)?;
        let first = frames.unread().iter().find(|byte| !byte.is_ascii_whitespace());
        frames.is_plain = !is_frame(frames.unread()) && first == Some(&b'{');
        frames.is_checked = !frames.is_plain;
        frames.first = frames.read[..frames.read.len().min(FIRST_BYTES)].to_vec();
        Ok(frames)
    }

    /// The file's first bytes, before anything was decoded.
    pub(super) fn first_bytes(&self) -> &[u8] {
        &self.first
    }

    /// Whether the file holds the lines as they are, without compression.
    pub(super) fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Whether everything that has been given so far is what was once written, by its checksums.
    pub(super) fn is_checked(&self) -> bool {
        self.is_checked
    }

    /// The frame that the last piece is of.
    pub(super) fn frame(&self) -> Frame {
        self.frame
    }

    /// The next piece; its decoded bytes are in `out`, and nothing else.
    ///
    /// # Errors
    /// When the file can't be read any more.
    pub(super) fn next(&mut self, out: &mut Vec<u8>) -> io::Result<Piece> {
        out.clear();
        if self.is_plain {
            self.fill(1)?;
            out.extend_from_slice(self.unread());
            self.at = self.read.len();
            return Ok(if out.is_empty() { Piece::End } else { Piece::Bytes });
        }
        loop {
            if !self.is_in_frame {
                self.fill(MAGIC.len() + 1)?;
                if self.unread().is_empty() {
                    return Ok(Piece::End);
                }
                if !is_frame(self.unread()) {
                    let from = self.position();
                    self.find_frame()?;
                    self.is_checked = false;
                    return Ok(Piece::Gap(from..self.position(), "no zstd frame begins there".to_owned()));
                }
                self.begin_frame()?;
            }
            if let Some(piece) = self.decode(out)? {
                return Ok(piece);
            }
        }
    }

    fn begin_frame(&mut self) -> io::Result<()> {
        self.frame = Frame { number: self.frame.number + 1, from: self.position() };
        self.is_in_frame = true;
        self.held.clear();
        self.is_checked &= self.unread().get(MAGIC.len()).is_none_or(|byte| byte & HAS_CHECKSUM != 0);
        self.decoder.reinit()
    }

    /// Decodes a bit more of the frame; `None` when there is nothing to give yet.
    fn decode(&mut self, out: &mut Vec<u8>) -> io::Result<Option<Piece>> {
        self.fill(1)?;
        if self.unread().is_empty() {
            self.is_in_frame = false;
            self.is_checked = false;
            std::mem::swap(out, &mut self.held);
            return Ok(Some(Piece::CutOff(self.frame)));
        }
        let mut input = InBuffer::around(&self.read[self.at..]);
        let mut output = OutBuffer::around(&mut self.chunk[..]);
        let result = self.decoder.run(&mut input, &mut output);
        let (used, made) = (input.pos(), output.pos());
        match result {
            Ok(wanted) if wanted == 0 || used > 0 || made > 0 => {
                self.at += used;
                self.held.extend_from_slice(&self.chunk[..made]);
                if wanted == 0 {
                    self.is_in_frame = false;
                } else if self.held.len() < CHECKED_BYTES {
                    return Ok(None);
                } else {
                    self.is_checked = false;
                }
                std::mem::swap(out, &mut self.held);
                Ok((!out.is_empty()).then_some(Piece::Bytes))
            }
            Ok(_) => self.give_up("it does not go on".to_owned()).map(Some),
            Err(error) => self.give_up(error.to_string().to_lowercase()).map(Some),
        }
    }

    /// Leaves the frame out and looks for the next one.
    fn give_up(&mut self, why: String) -> io::Result<Piece> {
        self.is_in_frame = false;
        self.is_checked = false;
        self.held.clear();
        let from = self.frame.from;
        self.go_to(from + 1)?;
        self.find_frame()?;
        Ok(Piece::Gap(from..self.position(), why))
    }

    /// Goes to the next magic number, or the end.
    fn find_frame(&mut self) -> io::Result<()> {
        loop {
            self.fill(MAGIC.len())?;
            if let Some(at) = memmem::find(self.unread(), &MAGIC) {
                self.at += at;
                return Ok(());
            }
            // The last bytes may be the begin of one.
            let keep = if self.unread().len() < MAGIC.len() { 0 } else { MAGIC.len() - 1 };
            self.at = self.read.len() - keep;
            if keep == 0 {
                return Ok(());
            }
        }
    }

    /// Where in the file the next unused byte is.
    fn position(&self) -> u64 {
        self.read_from + self.at as u64
    }

    fn go_to(&mut self, position: u64) -> io::Result<()> {
        match position.checked_sub(self.read_from).and_then(|at| usize::try_from(at).ok()) {
            Some(at) if at <= self.read.len() => self.at = at,
            _ => {
                self.from.seek(SeekFrom::Start(position))?;
                (self.read_from, self.at) = (position, 0);
                self.read.clear();
            }
        }
        Ok(())
    }

    fn unread(&self) -> &[u8] {
        &self.read[self.at..]
    }

    /// Has at least so many bytes unused, unless the file has no more.
    fn fill(&mut self, least: usize) -> io::Result<()> {
        if self.unread().len() >= least {
            return Ok(());
        }
        self.read.drain(..self.at);
        self.read_from += self.at as u64;
        self.at = 0;
        while self.read.len() < least {
            let missing = READ_BYTES.max(least) - self.read.len();
            if self.from.by_ref().take(missing as u64).read_to_end(&mut self.read)? == 0 {
                break;
            }
        }
        Ok(())
    }
}

/// Whether a frame begins there, one that is to be skipped too.
pub(super) fn is_frame(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
        || (bytes.len() >= SKIPPABLE.len()
            && bytes[0] & 0xf0 == SKIPPABLE[0]
            && bytes[1..4] == SKIPPABLE[1..])
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::recording::source::Source;

    fn frame(text: &str) -> Vec<u8> {
        let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
        encoder.include_checksum(true).unwrap();
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    /// Everything that comes out, gaps as `<from..to>`, an unfinished frame as `<cut NUMBER>`.
    fn read(bytes: &[u8]) -> (String, bool) {
        let mut frames = Frames::new(Source::Bytes(bytes.into()).open().unwrap()).unwrap();
        let (mut all, mut out) = (String::new(), Vec::new());
        loop {
            let piece = frames.next(&mut out).unwrap();
            all.push_str(std::str::from_utf8(&out).unwrap());
            match piece {
                Piece::Bytes => {}
                Piece::Gap(bytes, _) => all.push_str(&format!("<{}..{}>", bytes.start, bytes.end)),
                Piece::CutOff(frame) => all.push_str(&format!("<cut {}>", frame.number)),
                Piece::End => return (all, frames.is_checked()),
            }
        }
    }

    #[test]
    fn frames_are_read_one_after_the_other() {
        let bytes = [frame("one "), frame("two "), frame("three")].concat();
        assert_eq!(read(&bytes), ("one two three".to_owned(), true));
        assert_eq!(read(b"{\"plain\""), ("{\"plain\"".to_owned(), false));
        assert_eq!(read(b""), (String::new(), true));
    }

    #[test]
    fn a_changed_byte_costs_its_frame_and_no_other() {
        let (one, three) = (frame("one "), frame("three"));
        let text: String = (0..2000).map(|number| format!("{number} ")).collect();
        let two = frame(&text);
        let gap = format!("one <{}..{}>three", one.len(), one.len() + two.len());
        for at in 0..two.len() {
            // The content's length is not needed to decode it; its bits that are none change nothing.
            let mut changed = two.clone();
            changed[at] ^= 0x55;
            let bytes = [&one[..], &changed, &three].concat();
            let (all, checked) = read(&bytes);
            let same = all == format!("one {text}three");
            assert!(all == gap && !checked || same, "{at}: {all:.100}");
        }
    }

    #[test]
    fn a_frame_that_was_cut_off_gives_its_whole_blocks() {
        // Bytes that can't be compressed: blocks of 128 KiB, as they are.
        let mut state = 1_u32;
        let mut byte = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from(b' ' + (state >> 25) as u8 % 90)
        };
        let text: String = (0..300_000).map(|_| byte()).collect();
        let bytes = [frame("one "), frame(&text)].concat();
        let (all, checked) = read(&bytes[..bytes.len() * 9 / 10]);
        let rest = all.strip_prefix("one ").and_then(|all| all.strip_suffix("<cut 2>")).unwrap();
        assert!(rest.len() > 200_000 && text.starts_with(rest) && !checked);
    }

    #[test]
    fn what_is_between_frames_is_skipped() {
        let one = frame("one ");
        let bytes = [&one[..], &[0; 4096], &frame("two")].concat();
        assert_eq!(read(&bytes).0, format!("one <{}..{}>two", one.len(), one.len() + 4096));
        let bytes = [&one[..], &[0; 4096]].concat();
        assert_eq!(read(&bytes).0, format!("one <{}..{}>", one.len(), one.len() + 4096));
    }

    #[test]
    fn a_large_window_is_refused() {
        let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
        encoder.long_distance_matching(true).unwrap();
        encoder.window_log(27).unwrap();
        for _ in 0..200 {
            encoder.write_all(&[b'x'; 100_000]).unwrap();
        }
        let bytes = encoder.finish().unwrap();
        assert_eq!(read(&bytes).0, format!("<0..{}>", bytes.len()));
    }

    #[test]
    fn a_large_frame_is_given_in_pieces() {
        let text = "0123456789".repeat(2_000_000);
        let bytes = frame(&text);
        let mut frames = Frames::new(Source::Bytes(bytes.into()).open().unwrap()).unwrap();
        let (mut out, mut total) = (Vec::new(), 0);
        while let Piece::Bytes = frames.next(&mut out).unwrap() {
            assert!(out.len() <= CHECKED_BYTES + CHUNK_BYTES);
            total += out.len();
        }
        assert_eq!((total, frames.is_checked()), (text.len(), false));
    }
}
