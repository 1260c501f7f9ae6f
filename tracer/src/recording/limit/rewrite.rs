//! A recording's file that never exceeds a size.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io::{self, BufRead as _, BufReader, ErrorKind, Write as _},
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, fchown},
    path::{Path, PathBuf},
};

use super::{choose::choose, levels::Levels, sieve::Sieve, thinning::Thinning};

/// A frame is ended after so many bytes of lines.
const FRAME_BYTES: usize = 512 << 10;
/// zstd's own default, as where there is no limit.
const LEVEL: i32 = 3;
/// What is not fixed is brought to this share of its room, in percent, and accepted up to that one.
const AIM_PERCENT: u64 = 40;
const ACCEPTED_PERCENT: u64 = 50;
/// The sizes that lines will have in the file are estimates: it is tried again with less, so often, and then with nothing
/// but sums.
const TRIES: u32 = 5;
/// In so many of them, a pause that has not ended and has very many faults is kept; then those are left out.
const KEEPING_OPEN: u32 = 2;
/// States of memory may take this share of all lines, in percent.
const MEMORY_PERCENT: u64 = 10;
/// The name of the file that will take the recording's place ends with this.
const SUFFIX: &str = ".shrinking";

/// A recording's file while it is written. Lines are whole when they are given to it.
pub struct Limited {
    path: PathBuf,
    file: File,
    most_bytes: u64,
    bytes: u64,
    /// Of the lines in the file.
    line_bytes: u64,
    sieve: Sieve,
    /// Lines that are not in the file yet.
    pending: Vec<u8>,
    compressor: zstd::bulk::Compressor<'static>,
}

impl std::fmt::Debug for Limited {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_struct("Limited")
            .field("path", &self.path)
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}

impl Limited {
    /// `file` must be empty, and open for writing; `most_bytes`: what it must not exceed.
    ///
    /// # Errors
    /// When it is no regular file, or what was left behind in its folder can't be removed.
    pub fn begin(path: &Path, file: File, most_bytes: u64) -> io::Result<Self> {
        if !file.metadata()?.is_file() {
            return Err(io::Error::other(
                "only a regular file can be kept below a size; leave --max-size out",
            ));
        }
        // A link stays one: what it points to is replaced.
        let path = path.canonicalize()?;
        remove(&replacement(&path))?;
        Ok(Self {
            path,
            file,
            most_bytes,
            bytes: 0,
            line_bytes: 0,
            sieve: Sieve::default(),
            pending: Vec::new(),
            compressor: compressor()?,
        })
    }

    /// Adds lines.
    ///
    /// # Errors
    /// When they can't be written, or the limit is too small for what must be kept.
    pub fn lines(&mut self, lines: &[u8]) -> io::Result<()> {
        for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            self.sieve.line(line, &mut self.pending);
            if self.pending.len() >= FRAME_BYTES {
                self.frame()?;
            }
        }
        Ok(())
    }

    /// Writes what was added so far.
    ///
    /// # Errors
    /// As for [`Limited::lines`].
    pub fn flush(&mut self) -> io::Result<()> {
        self.sieve.flush(&mut self.pending);
        self.frame()
    }

    /// The size of the file in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Pauses that are longer than this have kept the lines of their faults; 0 as long as all have.
    #[must_use]
    pub fn whole_from_ns(&self) -> u64 {
        self.sieve.levels.with_faults_ns
    }

    fn frame(&mut self) -> io::Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let frame = self.compressor.compress(&self.pending)?;
        if self.bytes + frame.len() as u64 > self.most_bytes {
            return self.shrink(frame.len() as u64);
        }
        self.file.write_all(&frame)?;
        self.bytes += frame.len() as u64;
        self.line_bytes += self.pending.len() as u64;
        self.pending.clear();
        Ok(())
    }

    /// Makes room, and writes the pending lines, which would take so many bytes as they are.
    fn shrink(&mut self, pending_bytes: u64) -> io::Result<()> {
        let bytes = self.bytes + pending_bytes;
        let lines = self.line_bytes + self.pending.len() as u64;
        let in_lines = |in_file: u64| proportional(in_file, lines, bytes);
        let in_file = |in_lines: u64| proportional(in_lines, bytes, lines);
        let survey = self.sieve.survey.clone();
        let memory = survey.memory_bytes.min(in_lines(self.most_bytes) * MEMORY_PERCENT / 100);
        let fixed_lines = survey.other_bytes.saturating_sub(survey.memory_bytes) + memory;
        let fixed = in_file(fixed_lines).min(self.most_bytes);
        let room = self.most_bytes - fixed;
        let accepted = fixed + room * ACCEPTED_PERCENT / 100;
        let mut aim = room * AIM_PERCENT / 100;
        for tried in 0..=TRIES {
            let is_last = tried == TRIES;
            let levels = if is_last {
                Levels::above(survey.worst.first().map_or(0, |(ns, _)| *ns))
            } else {
                let open = if tried >= KEEPING_OPEN { 0 } else { self.sieve.open_bytes() };
                choose(&survey, in_lines(fixed + aim), fixed_lines + open)
            };
            // What is gone stays gone.
            let before = self.sieve.levels;
            let levels = Levels {
                with_faults_ns: levels.with_faults_ns.max(before.with_faults_ns),
                in_full_ns: levels.in_full_ns.max(before.in_full_ns),
                listed_ns: levels.listed_ns.max(before.listed_ns),
            };
            let sieve = self.sieve.again(levels, self.thinning(memory), tried >= KEEPING_OPEN);
            let most = if is_last { self.most_bytes } else { accepted };
            if self.rewrite(sieve, most)? {
                return Ok(());
            }
            aim = aim * 6 / 10;
        }
        Err(io::Error::new(
            ErrorKind::FileTooLarge,
            format!(
                "what must be kept of it takes more than the {} bytes that it may have; use a larger --max-size",
                self.most_bytes
            ),
        ))
    }

    /// Lets as many states of memory through as that many bytes hold.
    fn thinning(&self, bytes: u64) -> Thinning {
        let survey = &self.sieve.survey;
        let Some((from_ns, to_ns)) = self.sieve.memory_at.filter(|_| bytes < survey.memory_bytes) else {
            return Thinning::default();
        };
        // Of each process as many as before.
        let span_ns = i128::from(to_ns) - i128::from(from_ns) + 1;
        let before_ns =
            span_ns * i128::from(self.sieve.memory_processes()) / i128::from(survey.memory_lines.max(1));
        let every_ns = before_ns * i128::from(survey.memory_bytes) / i128::from(bytes.max(1));
        Thinning::one_in(i64::try_from(every_ns).unwrap_or(i64::MAX).max(1))
    }

    /// Sends the file and the pending lines through the sieve into a file that takes its place. Whether that has no more
    /// than `most` bytes; otherwise all stays as it is.
    fn rewrite(&mut self, mut sieve: Sieve, most: u64) -> io::Result<bool> {
        let metadata = self.file.metadata()?;
        let mut new = Replacement::create(&self.path, &metadata)?;
        let mut out = Vec::with_capacity(FRAME_BYTES + (FRAME_BYTES >> 2));
        let mut line_bytes = 0;
        let compressor = &mut self.compressor;
        let mut frame = |out: &mut Vec<u8>, new: &mut Replacement| -> io::Result<bool> {
            if out.is_empty() {
                return Ok(true);
            }
            let frame = compressor.compress(out)?;
            line_bytes += out.len() as u64;
            out.clear();
            new.bytes += frame.len() as u64;
            if new.bytes > most {
                return Ok(false);
            }
            new.file.write_all(&frame)?;
            Ok(true)
        };
        // Of an empty file nothing can be decoded.
        if self.bytes > 0 {
            let decoder = zstd::Decoder::new(File::open(&self.path)?)?;
            let mut from = BufReader::with_capacity(FRAME_BYTES >> 2, decoder);
            let mut line = Vec::new();
            while from.read_until(b'\n', &mut line)? > 0 {
                sieve.line(line.strip_suffix(b"\n").unwrap_or(&line), &mut out);
                line.clear();
                if out.len() >= FRAME_BYTES && !frame(&mut out, &mut new)? {
                    return Ok(false);
                }
            }
        }
        for line in self.pending.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            sieve.line(line, &mut out);
            if out.len() >= FRAME_BYTES && !frame(&mut out, &mut new)? {
                return Ok(false);
            }
        }
        sieve.flush(&mut out);
        if !frame(&mut out, &mut new)? {
            return Ok(false);
        }
        sieve.goes_on();
        (self.file, self.bytes) = new.take_place_of(&self.path)?;
        self.line_bytes = line_bytes;
        self.sieve = sieve;
        self.pending.clear();
        Ok(true)
    }
}

fn proportional(part: u64, other_whole: u64, whole: u64) -> u64 {
    u64::try_from(u128::from(part) * u128::from(other_whole) / u128::from(whole.max(1))).unwrap_or(u64::MAX)
}

fn compressor() -> io::Result<zstd::bulk::Compressor<'static>> {
    let mut compressor = zstd::bulk::Compressor::new(LEVEL)?;
    compressor.include_checksum(true)?;
    Ok(compressor)
}

/// A file that will take the recording's place; removed when it does not.
struct Replacement {
    path: PathBuf,
    file: File,
    bytes: u64,
    is_in_place: bool,
}

impl Replacement {
    fn create(of: &Path, metadata: &fs::Metadata) -> io::Result<Self> {
        let path = replacement(of);
        remove(&path)?;
        // Not through a link that somebody else has put there, nor readable by others meanwhile.
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        let new = Self { path, file, bytes: 0, is_in_place: false };
        // Another owner is kept where that is allowed.
        let _ = fchown(&new.file, Some(metadata.uid()), Some(metadata.gid()));
        new.file.set_permissions(metadata.permissions())?;
        Ok(new)
    }

    fn take_place_of(mut self, path: &Path) -> io::Result<(File, u64)> {
        // What the disk has not seen must not replace what it has.
        self.file.sync_data()?;
        fs::rename(&self.path, path)?;
        self.is_in_place = true;
        Ok((self.file.try_clone()?, self.bytes))
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if !self.is_in_place {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn replacement(of: &Path) -> PathBuf {
    let mut name = OsString::from(of);
    name.push(SUFFIX);
    PathBuf::from(name)
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
