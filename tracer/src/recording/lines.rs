//! The lines of a recording, one after the other, whatever state the file is in.

use std::{collections::BTreeMap, ops::Range, path::Path};

use memchr::memchr;

use super::{
    error::{Problem, Problems, RecordingError},
    foreign,
    frames::{Frame, Frames, Piece},
    line::Line,
    parse::{self, Unreadable},
    source::Source,
};
use crate::report::units::count;

/// How a line with a process's report begins, as pauselens writes it.
const PROCESS_END: &[u8] = br#"{"type":"process_end","#;

/// The longest line that is read, in bytes.
const LINE_BYTES: usize = 16 << 20;
/// The longest one with a process's report.
const REPORT_BYTES: usize = 64 << 20;
/// When none of the first so many lines is one of a recording's, the file is none.
const FOREIGN_LINES: u64 = 1000;
/// Unknown types of lines that are told by name.
const UNKNOWN_TOLD: usize = 8;

/// Which lines are wanted besides those of which there are few.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Those of pauses.
    pub pauses: bool,
    /// Those of faults.
    pub faults: bool,
}

/// Reads lines.
pub struct Lines {
    frames: Frames,
    wanted: Wanted,
    piece: Vec<u8>,
    at: usize,
    /// The begin of a line that goes on in the next piece.
    begun: Vec<u8>,
    /// That line is too long.
    is_overlong: bool,
    ended: bool,
    has_header: bool,
    is_over: bool,
    last_bytes: usize,
    seen: Seen,
    unknown: BTreeMap<String, u64>,
    unknown_more: u64,
    problems: Problems,
}

/// What has been seen so far, wanted or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// Lines that are not empty.
    pub(super) lines: u64,
    /// Those that are lines of a recording.
    pub(super) recognised: u64,
    /// Those of pauses.
    pub(super) pauses: u64,
    /// Those of faults.
    pub(super) faults: u64,
}

/// Where a line's bytes are.
enum Place {
    Piece(Range<usize>),
    Begun,
}

impl Lines {
    /// Opens the file.
    ///
    /// # Errors
    /// When it can't be read, or is no recording by its first bytes.
    pub fn open(path: &Path, wanted: Wanted) -> Result<Self, RecordingError> {
        Self::of(&Source::File(path.to_owned()), path, wanted)
    }

    /// Opens the source; `path`: what it is called in messages.
    pub(super) fn of(source: &Source, path: &Path, wanted: Wanted) -> Result<Self, RecordingError> {
        let unreadable = |error| RecordingError::Unreadable { path: path.to_owned(), error };
        let frames = source.open().and_then(Frames::new).map_err(unreadable)?;
        if frames.first_bytes().is_empty() {
            return Err(RecordingError::Foreign { path: path.to_owned(), why: "it is empty".to_owned() });
        }
        Ok(Self {
            frames,
            wanted,
            piece: Vec::new(),
            at: 0,
            begun: Vec::new(),
            is_overlong: false,
            ended: false,
            has_header: false,
            is_over: false,
            last_bytes: 0,
            seen: Seen::default(),
            unknown: BTreeMap::new(),
            unknown_more: 0,
            problems: Problems::default(),
        })
    }

    /// What could not be read, when all lines have been.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = self.problems.clone();
        if !self.unknown.is_empty() {
            let mut named: Vec<String> =
                self.unknown.iter().map(|(name, lines)| format!("{} {name:?}", count(*lines))).collect();
            if self.unknown_more > 0 {
                named.push(format!("{} of other types", count(self.unknown_more)));
            }
            problems.add(format!(
                "lines of types that this pauselens does not know were left out ({}): a newer one may read them",
                named.join(", ")
            ));
        }
        problems.into_list()
    }

    /// How many bytes the last line has.
    pub(super) fn last_bytes(&self) -> usize {
        self.last_bytes
    }

    /// What has been seen so far.
    pub(super) fn seen(&self) -> Seen {
        self.seen
    }

    /// Whether everything so far is what was once written, by its checksums: then a line can be relied on that was not
    /// looked at closely.
    pub(super) fn is_checked(&self) -> bool {
        self.frames.is_checked()
    }

    /// What the file seems to be, by its first bytes.
    pub(super) fn described(&self) -> String {
        foreign::describe(self.frames.first_bytes(), self.seen.lines > 0)
    }

    fn next_place(&mut self) -> Option<Place> {
        loop {
            let rest = &self.piece[self.at..];
            if let Some(length) = memchr(b'\n', rest) {
                let line = self.at..self.at + length;
                self.at = line.end + 1;
                if std::mem::take(&mut self.is_overlong) {
                    continue;
                }
                if self.begun.is_empty() {
                    return Some(Place::Piece(line));
                }
                self.go_on(line);
                if std::mem::take(&mut self.is_overlong) {
                    continue;
                }
                return Some(Place::Begun);
            }
            self.go_on(self.at..self.piece.len());
            self.at = self.piece.len();
            if self.ended {
                // Text that was cut by hand may have no line end; a line that was cut off is none.
                return (!self.begun.is_empty()).then_some(Place::Begun);
            }
            self.next_piece();
        }
    }

    /// Keeps this part of a line that goes on from, or into, another piece.
    fn go_on(&mut self, part: Range<usize>) {
        if self.is_overlong {
            return;
        }
        let part = &self.piece[part];
        let begin = if self.begun.is_empty() { part } else { &self.begun };
        let most = if begin.starts_with(PROCESS_END) { REPORT_BYTES } else { LINE_BYTES };
        if self.begun.len() + part.len() <= most {
            self.begun.extend_from_slice(part);
            return;
        }
        self.is_overlong = true;
        self.begun = Vec::new();
        self.seen.lines += 1;
        let place = self.place();
        self.problems.add(format!("{place} is longer than {} MiB; it is left out", most >> 20));
    }

    fn next_piece(&mut self) {
        self.at = 0;
        match self.frames.next(&mut self.piece) {
            Ok(Piece::Bytes) => {}
            Ok(Piece::Gap(bytes, why)) => {
                self.begun.clear();
                self.is_overlong = false;
                self.problems.add(format!(
                    "bytes {} to {} of the file can't be decoded ({why}): the {} bytes, and the lines in them, are missing",
                    count(bytes.start),
                    count(bytes.end),
                    count(bytes.end - bytes.start)
                ));
            }
            Ok(Piece::CutOff(frame)) => {
                self.problems.add(format!(
                    "the file ends inside its frame {}, which begins at byte {}: it was cut off, or is still being written; \
                     what could not be decoded of that frame, and all that would follow, is missing",
                    count(frame.number),
                    count(frame.from)
                ));
            }
            Ok(Piece::End) => self.ended = true,
            Err(error) => {
                self.problems.add(format!("the rest of the file can't be read ({error}) and is missing"));
                self.ended = true;
            }
        }
    }

    /// Where the last line is.
    fn place(&self) -> String {
        let line = count(self.seen.lines);
        if self.frames.is_plain() {
            return format!("line {line}");
        }
        let Frame { number, from } = self.frames.frame();
        format!("line {line} (in frame {}, which begins at byte {})", count(number), count(from))
    }

    /// Reads the line; `None` when it is not wanted, or can't be read.
    fn read(&mut self, place: &Place) -> Option<Line> {
        let begun = std::mem::take(&mut self.begun);
        let piece = std::mem::take(&mut self.piece);
        let bytes = match place {
            Place::Piece(range) => &piece[range.clone()],
            Place::Begun => &begun,
        };
        let line = self.read_bytes(bytes);
        self.piece = piece;
        self.begun = begun;
        if let Place::Begun = place {
            self.begun.clear();
        }
        line
    }

    fn read_bytes(&mut self, bytes: &[u8]) -> Option<Line> {
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return None;
        }
        self.seen.lines += 1;
        self.last_bytes = bytes.len();
        match self.parse(bytes) {
            Ok(line) => line,
            Err((name, Unreadable::Unknown)) => {
                self.unknown(name);
                None
            }
            Err((_, Unreadable::Wrong(why))) => {
                let place = self.place();
                let cut = if self.ended { "the file ends inside it, or it is damaged: " } else { "" };
                self.problems.add(format!("{place} can't be read ({cut}{why}); it is left out"));
                None
            }
        }
    }

    /// The line, when it is wanted; what is wrong with it comes with its type, as far as that is known.
    fn parse(&mut self, bytes: &[u8]) -> Result<Option<Line>, (String, Unreadable)> {
        let name = parse::type_of(bytes).map_err(|why| (String::new(), why))?;
        let is_wanted = match &*name {
            "fault" => self.wanted.faults,
            "pause" => self.wanted.pauses,
            _ => true,
        };
        let line = if is_wanted {
            Some(parse::line(&name, bytes).map_err(|why| (shown(&name), why))?)
        } else {
            None
        };
        self.seen.recognised += 1;
        match &*name {
            "fault" => self.seen.faults += 1,
            "pause" => self.seen.pauses += 1,
            _ => {}
        }
        Ok(line)
    }

    fn unknown(&mut self, name: String) {
        if self.unknown.len() < UNKNOWN_TOLD || self.unknown.contains_key(&name) {
            *self.unknown.entry(name).or_default() += 1;
        } else {
            self.unknown_more += 1;
        }
    }
}

impl Iterator for Lines {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        loop {
            if self.is_over || self.seen.recognised == 0 && self.seen.lines >= FOREIGN_LINES {
                return None;
            }
            let place = self.next_place()?;
            let Some(line) = self.read(&place) else { continue };
            if let Line::Header(_) = line
                && std::mem::replace(&mut self.has_header, true)
            {
                let place = self.place();
                self.problems.add(format!(
                    "another recording begins at {place}: it is left out; each one needs a file of its own"
                ));
                self.is_over = true;
                return None;
            }
            return Some(line);
        }
    }
}

/// The name of a type that is not known, fit for a message.
fn shown(name: &str) -> String {
    const LONGEST: usize = 40;
    name.chars().filter(|character| !character.is_control()).take(LONGEST).collect()
}
