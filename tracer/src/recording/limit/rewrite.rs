//! A recording's file that never exceeds a size.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io::{self, BufRead as _, BufReader, ErrorKind, Read as _, Write as _},
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, fchown},
    path::{Path, PathBuf},
};

use super::{
    attempts::{Attempt, Attempts, Full, LARGEST_PERCENT},
    levels::{Keeps, Levels},
    out::{FRAME_BYTES, Frame, Frames, Out},
    sieve::Sieve,
    thinning::Thinning,
};

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
    /// What is not in the file yet.
    out: Out,
    /// Faults that take as much have turned out to be too many.
    too_large_bytes: u64,
    rewrites: u64,
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
        let largest_bytes = most_bytes / 100 * LARGEST_PERCENT;
        Ok(Self {
            path,
            file,
            most_bytes,
            bytes: 0,
            line_bytes: 0,
            sieve: Sieve::new(Keeps { levels: Levels::default(), one: None, largest_bytes }),
            out: Out::new()?,
            too_large_bytes: u64::MAX,
            rewrites: 0,
        })
    }

    /// Adds lines.
    ///
    /// # Errors
    /// When they can't be written, or the limit is too small for what must be kept.
    pub fn lines(&mut self, lines: &[u8]) -> io::Result<()> {
        for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            self.sieve.line(line, &mut self.out)?;
            if self.out.is_due() {
                self.write()?;
            }
        }
        Ok(())
    }

    /// Writes what was added so far.
    ///
    /// # Errors
    /// As for [`Limited::lines`].
    pub fn flush(&mut self) -> io::Result<()> {
        self.sieve.flush(&mut self.out);
        self.write()
    }

    /// The size of the file in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// From this length on pauses keep the lines of their faults, unless those are too many; 0 as long as all do. The worst
    /// one can be shorter, when it is the only one.
    #[must_use]
    pub fn whole_from_ns(&self) -> u64 {
        self.sieve.keeps.levels.with_faults_ns
    }

    /// How often the file was written anew, also when that has turned out to be too large.
    #[must_use]
    pub fn rewrites(&self) -> u64 {
        self.rewrites
    }

    fn write(&mut self) -> io::Result<()> {
        let frames = self.out.take()?;
        let bytes: u64 = frames.iter().map(|frame| frame.bytes.len() as u64).sum();
        if self.bytes + bytes > self.most_bytes {
            return self.shrink(&frames);
        }
        for frame in frames {
            self.file.write_all(&frame.bytes)?;
            self.bytes += frame.bytes.len() as u64;
            self.line_bytes += frame.line_bytes;
        }
        Ok(())
    }

    /// Makes room, and writes these frames.
    fn shrink(&mut self, frames: &[Frame]) -> io::Result<()> {
        let survey = self.sieve.survey.clone();
        let mut full = Full {
            most_bytes: self.most_bytes,
            bytes: self.bytes + frames.iter().map(|frame| frame.bytes.len() as u64).sum::<u64>(),
            line_bytes: self.line_bytes + frames.iter().map(|frame| frame.line_bytes).sum::<u64>(),
            fixed_lines: survey.fixed_bytes(),
            open_lines: self.sieve.open_bytes(),
        };
        let memory = survey.memory_bytes.min(full.in_lines(self.most_bytes) * MEMORY_PERCENT / 100);
        full.fixed_lines += memory;
        let mut attempts = Attempts::new(&survey, full, self.sieve.keeps, self.too_large_bytes);
        while let Some(Attempt { keeps, drops_open, most_bytes }) = attempts.next() {
            let sieve = self.sieve.again(keeps, self.thinning(memory), drops_open);
            if self.rewrite(sieve, frames, most_bytes)? {
                self.too_large_bytes = attempts.too_large_bytes();
                return Ok(());
            }
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

    /// Sends the file, and frames that would follow, through the sieve into a file that takes its place. Whether that has
    /// no more than `most` bytes; otherwise all stays as it is.
    fn rewrite(&mut self, mut sieve: Sieve, frames: &[Frame], most: u64) -> io::Result<bool> {
        self.rewrites += 1;
        let metadata = self.file.metadata()?;
        let mut new = Replacement::create(&self.path, &metadata)?;
        let out = &mut self.out;
        out.clear();
        let file = File::open(&self.path)?.chain(Frames { frames, read: 0 });
        let mut from = BufReader::with_capacity(FRAME_BYTES >> 2, zstd::Decoder::new(file)?);
        let mut line = Vec::new();
        while from.read_until(b'\n', &mut line)? > 0 {
            sieve.line(line.strip_suffix(b"\n").unwrap_or(&line), out)?;
            line.clear();
            if out.is_due() && !new.write(out, most)? {
                return Ok(false);
            }
        }
        sieve.flush(out);
        if !new.write(out, most)? {
            return Ok(false);
        }
        sieve.goes_on();
        self.line_bytes = new.line_bytes;
        (self.file, self.bytes) = new.take_place_of(&self.path)?;
        self.sieve = sieve;
        Ok(true)
    }
}

/// A file that will take the recording's place; removed when it does not.
struct Replacement {
    path: PathBuf,
    file: File,
    bytes: u64,
    line_bytes: u64,
    is_in_place: bool,
}

impl Replacement {
    fn create(of: &Path, metadata: &fs::Metadata) -> io::Result<Self> {
        let path = replacement(of);
        remove(&path)?;
        // Not through a link that somebody else has put there, nor readable by others meanwhile.
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        let new = Self { path, file, bytes: 0, line_bytes: 0, is_in_place: false };
        // Another owner is kept where that is allowed.
        let _ = fchown(&new.file, Some(metadata.uid()), Some(metadata.gid()));
        new.file.set_permissions(metadata.permissions())?;
        Ok(new)
    }

    /// Whether it has no more than `most` bytes with this.
    fn write(&mut self, out: &mut Out, most: u64) -> io::Result<bool> {
        for frame in out.take()? {
            self.bytes += frame.bytes.len() as u64;
            self.line_bytes += frame.line_bytes;
            if self.bytes > most {
                return Ok(false);
            }
            self.file.write_all(&frame.bytes)?;
        }
        Ok(true)
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
