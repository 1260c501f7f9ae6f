//! A small file of the kernel's that is read again and again.

use std::{
    fs::File,
    io,
    os::unix::fs::FileExt as _,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
};

/// So many are kept open at once, in the whole program; further ones are opened each time that they are read, which
/// takes twice as long.
const MOST_OPEN: usize = 128;
/// The kernel hands out a page at most at a time.
const STEP_BYTES: usize = 4096;
/// No file that is read here is larger.
const MOST_BYTES: usize = 1 << 16;

static OPEN: AtomicUsize = AtomicUsize::new(0);

/// The file.
#[derive(Debug)]
pub(super) struct Source {
    path: PathBuf,
    held: Option<Held>,
}

/// An open file that is counted.
#[derive(Debug)]
struct Held(File);

impl Drop for Held {
    fn drop(&mut self) {
        OPEN.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Source {
    /// Opens it; `None` when there is none, or it can't be opened.
    pub(super) fn open(path: &Path) -> Option<Self> {
        let file = File::open(path).ok()?;
        let is_room = OPEN.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |open| {
            (open < MOST_OPEN).then_some(open + 1)
        });
        let held = is_room.is_ok().then(|| Held(file));
        Some(Self { path: path.to_owned(), held })
    }

    /// Reads it from its begin, into `into`, until `enough` says that what is there will do. `None` when it can't be
    /// read any more: what it told of is gone.
    pub(super) fn read_until<'a>(
        &self,
        into: &'a mut Vec<u8>,
        enough: impl Fn(&[u8]) -> bool,
    ) -> Option<&'a [u8]> {
        let opened;
        let file = match &self.held {
            Some(held) => &held.0,
            None => {
                opened = File::open(&self.path).ok()?;
                &opened
            }
        };
        let mut have = 0;
        while have < MOST_BYTES {
            if into.len() < have + STEP_BYTES {
                into.resize(have + STEP_BYTES, 0);
            }
            match file.read_at(&mut into[have..], have as u64) {
                Ok(0) => break,
                Ok(read) => have += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
            if enough(&into[..have]) {
                break;
            }
        }
        Some(&into[..have])
    }

    /// Reads all of it.
    pub(super) fn read<'a>(&self, into: &'a mut Vec<u8>) -> Option<&'a [u8]> {
        self.read_until(into, |_| false)
    }

    /// The one number that it holds; `None` also for `max`, which is none.
    pub(super) fn number(&self, into: &mut Vec<u8>) -> Option<u64> {
        // One line, which comes at once.
        let line = self.read_until(into, |read| read.ends_with(b"\n"))?;
        std::str::from_utf8(line).ok()?.trim().parse().ok()
    }
}

/// The number behind `name` at the begin of a line, as `/proc` has it: `VmRSS:  123 kB`, `pswpin 123`.
pub(super) fn value(text: &[u8], name: &str) -> Option<u64> {
    let line = text.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(name.as_bytes()))?;
    let line = std::str::from_utf8(line).ok()?;
    // The name is a whole word.
    if !line.starts_with([' ', '\t', ':']) {
        return None;
    }
    line.trim_start_matches(':').split_whitespace().next()?.parse().ok()
}

/// The same in bytes, of a line that has KiB.
pub(super) fn kib(text: &[u8], name: &str) -> Option<u64> {
    value(text, name)?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn values_are_found_by_their_whole_name() {
        let text = b"Name:\tVmRSS: 1\nVmRSSx:\t2 kB\nVmSwap:\t     0 kB\nodd \xff\npswpin 7\nVmSize:\n";
        assert_eq!(kib(text, "VmSwap"), Some(0));
        assert_eq!(kib(text, "VmRSS"), None);
        assert_eq!(value(text, "pswpin"), Some(7));
        assert_eq!((kib(text, "VmSize"), kib(text, "odd"), kib(text, "VmHWM")), (None, None, None));
    }

    #[test]
    fn a_file_is_read_anew_each_time_whether_it_stays_open_or_not() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let mut held = Source::open(file.path()).unwrap();
        let mut buffer = Vec::new();
        assert_eq!(held.number(&mut buffer), None);
        file.write_all(b"12\n").unwrap();
        assert_eq!(held.number(&mut buffer), Some(12));
        held.held = None;
        assert_eq!(held.number(&mut buffer), Some(12));
        file.write_all(&[b'x'; 10_000]).unwrap();
        assert_eq!(held.read(&mut buffer).unwrap().len(), 10_003);
        let path = file.path().to_owned();
        drop(file);
        assert_eq!(held.read(&mut buffer), None);
        assert!(Source::open(&path).is_none());
    }
}
