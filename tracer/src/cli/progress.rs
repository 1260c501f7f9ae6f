//! What is shown on a terminal while something takes longer than a second: what it is, and how far it is where that is
//! known.

use std::{
    fs::File,
    io::{self, IsTerminal as _, Write},
    os::fd::AsFd,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{RecvTimeoutError, Sender, channel},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};

use crate::{message::stands, recording::reading as how_far};

/// What takes no longer is not shown.
const SILENT: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(100);

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// Recordings are read: it is known how far.
    Reading,
    /// Something else.
    Other(&'static str),
}

/// While this is there, and standard error is a terminal, it is shown what is done. Whoever writes to the terminal
/// meanwhile has to use [`crate::tell!`].
#[derive(Debug, Default)]
pub(super) struct Shown {
    what: Option<Arc<Mutex<What>>>,
    /// Dropped when it is over.
    over: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Shows how far recordings are read.
pub(super) fn reading() -> Shown {
    shown(What::Reading)
}

/// Shows that this is done.
pub(super) fn doing(what: &'static str) -> Shown {
    shown(What::Other(what))
}

fn shown(what: What) -> Shown {
    if !io::stderr().is_terminal() {
        return Shown::default();
    }
    let what = Arc::new(Mutex::new(what));
    let (over, is_over) = channel::<()>();
    let shared = Arc::clone(&what);
    let thread = thread::Builder::new().name("progress".to_owned()).spawn(move || {
        let goes_on = |time| is_over.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
        if !goes_on(SILENT) {
            return;
        }
        // A terminal that can't move its cursor gets none.
        let bar = ProgressBar::new(0).with_elapsed(SILENT);
        stands(Some(bar.clone()));
        loop {
            let what = *shared.lock().unwrap_or_else(PoisonError::into_inner);
            draw(&bar, what);
            if !goes_on(TICK) {
                break;
            }
        }
        stands(None);
        bar.finish_and_clear();
    });
    // Without a thread nothing is shown.
    Shown { what: Some(what), over: Some(over), thread: thread.ok() }
}

fn draw(bar: &ProgressBar, what: What) {
    let style = |template| {
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
    };
    match what {
        What::Reading => {
            bar.set_style(style("{spinner} {elapsed} {wide_msg} {bar:20} {bytes} of {total_bytes}"));
            let now = how_far();
            bar.set_length(now.of_bytes);
            bar.set_position(now.bytes.min(now.of_bytes));
            bar.set_message(match now.times {
                0 | 1 => "reading".to_owned(),
                times => format!("reading, part {times}"),
            });
        }
        What::Other(what) => {
            bar.set_style(style("{spinner} {elapsed} {wide_msg}"));
            bar.set_message(what);
        }
    }
    bar.tick();
}

impl Shown {
    /// From now on this is done.
    pub(super) fn now(&self, what: &'static str) {
        if let Some(shared) = &self.what {
            *shared.lock().unwrap_or_else(PoisonError::into_inner) = What::Other(what);
        }
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.over = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Standard output with something shown until the first byte is written: the terminal is its reader's from then on,
/// be that a person or a pager. Where it is a file, it is shown to the end.
#[derive(Debug)]
pub(super) struct UntilWritten<W> {
    out: W,
    shown: Option<Shown>,
    is_file: bool,
}

impl<W: Write + AsFd> UntilWritten<W> {
    /// Shows `shown` until something is written to `out`.
    pub(super) fn new(out: W, shown: Shown) -> Self {
        let is_file = out.as_fd().try_clone_to_owned().map(File::from).and_then(|file| file.metadata());
        let is_file = is_file.is_ok_and(|metadata| metadata.is_file());
        Self { out, shown: Some(shown), is_file }
    }
}

impl<W: Write> Write for UntilWritten<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_file {
            self.shown = None;
        }
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
