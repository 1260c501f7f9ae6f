//! The file: lines in zstd frames, compressed and written by a thread of its own.
//!
//! A flush ends a frame, so that what was flushed can be read whatever happens later. When the disk is slower than the
//! trace, the trace waits for it, with the kernel's ring buffer between the two: what is dropped there is counted.

use std::{
    fs::File,
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread::JoinHandle,
};

use serde::Serialize;

use crate::recording::limit::Limited;

/// Lines are handed to the thread in pieces of about this many bytes; so many may wait.
const PIECE_BYTES: usize = 64 << 10;
const PIECES: usize = 8;
/// A frame is ended after so many bytes of lines.
const FRAME_BYTES: usize = 1 << 20;
/// A frame is no longer than this, so a larger window would be memory for nothing.
const WINDOW_LOG: u32 = FRAME_BYTES.ilog2();
/// zstd's own default: half the size of the next faster ones on lines of faults.
const LEVEL: i32 = 3;

/// A recording's file.
#[derive(Debug)]
pub(super) struct RecordingFile {
    path: PathBuf,
    piece: Vec<u8>,
    to: Option<SyncSender<Piece>>,
    thread: Option<JoinHandle<io::Result<u64>>>,
    failed: Option<String>,
}

struct Piece {
    lines: Vec<u8>,
    flush: bool,
}

impl RecordingFile {
    /// Begins the file, which must be open for writing and empty. `most_bytes`: what it must not exceed.
    ///
    /// # Errors
    /// When no thread can be started, or the file's size can't be limited.
    pub(super) fn begin(path: &Path, file: File, most_bytes: Option<u64>) -> io::Result<Self> {
        let (to, from) = sync_channel(PIECES);
        let builder = std::thread::Builder::new().name("recording".to_owned());
        let thread = if let Some(most_bytes) = most_bytes {
            let limited = Limited::begin(path, file, most_bytes)?;
            builder.spawn(move || write_limited(limited, &from))
        } else {
            builder.spawn(move || write(file, &from))
        }?;
        Ok(Self {
            path: path.to_owned(),
            piece: Vec::with_capacity(PIECE_BYTES + PIECE_BYTES / 4),
            to: Some(to),
            thread: Some(thread),
            failed: None,
        })
    }

    /// Adds a line.
    pub(super) fn line(&mut self, line: &impl Serialize) {
        let before = self.piece.len();
        if let Err(error) = serde_json::to_writer(&mut self.piece, line) {
            self.piece.truncate(before);
            self.failed.get_or_insert_with(|| error.to_string());
            return;
        }
        self.piece.push(b'\n');
        if self.piece.len() >= PIECE_BYTES {
            self.send(false);
        }
    }

    /// Has everything written that was added so far.
    pub(super) fn flush(&mut self) {
        self.send(true);
    }

    fn send(&mut self, flush: bool) {
        let lines = std::mem::replace(&mut self.piece, Vec::with_capacity(PIECE_BYTES + PIECE_BYTES / 4));
        // A thread that has given up says why when it is joined.
        let gone = self.to.as_ref().is_some_and(|to| to.send(Piece { lines, flush }).is_err());
        if gone {
            self.join();
        }
    }

    fn join(&mut self) -> Option<u64> {
        self.to = None;
        match self.thread.take()?.join() {
            Ok(Ok(bytes)) => Some(bytes),
            Ok(Err(error)) => {
                self.failed = Some(error.to_string());
                None
            }
            Err(_) => {
                self.failed = Some("its thread has failed".to_owned());
                None
            }
        }
    }

    /// What went wrong, if anything did: the file ends before.
    pub(super) fn failed(&self) -> Option<String> {
        self.failed.as_ref().map(|why| {
            format!(
                "{} could not be written to its end ({why}): it holds what came before; free some space, or record \
                 elsewhere with --output",
                self.path.display()
            )
        })
    }

    /// Writes what is left. Gives back the file's size in bytes.
    pub(super) fn finish(&mut self) -> Option<u64> {
        self.flush();
        self.join()
    }
}

impl Drop for RecordingFile {
    fn drop(&mut self) {
        if self.thread.is_some() {
            self.finish();
        }
    }
}

/// Compresses and writes what comes, until nobody can send any more. Gives back how many bytes were written.
fn write(file: File, pieces: &Receiver<Piece>) -> io::Result<u64> {
    let mut written = Counted { file, bytes: 0 };
    let mut ended = false;
    while !ended {
        let mut frame = zstd::Encoder::new(&mut written, LEVEL)?;
        frame.include_checksum(true)?;
        frame.window_log(WINDOW_LOG)?;
        let mut bytes = 0;
        // Nothing is written before there is something to write: no frame is empty.
        while bytes < FRAME_BYTES {
            let Ok(piece) = pieces.recv() else {
                ended = true;
                break;
            };
            frame.write_all(&piece.lines)?;
            bytes += piece.lines.len();
            if piece.flush && bytes > 0 {
                break;
            }
        }
        if bytes > 0 {
            frame.finish()?.file.flush()?;
        }
    }
    Ok(written.bytes)
}

/// The same into a file that must not exceed a size.
fn write_limited(mut file: Limited, pieces: &Receiver<Piece>) -> io::Result<u64> {
    while let Ok(piece) = pieces.recv() {
        file.lines(&piece.lines)?;
        if piece.flush {
            file.flush()?;
        }
    }
    file.flush()?;
    Ok(file.bytes())
}

struct Counted {
    file: File,
    bytes: u64,
}

impl io::Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
