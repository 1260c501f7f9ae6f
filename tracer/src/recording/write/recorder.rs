//! A recording while it is made.

use std::{
    cell::RefCell,
    fs::{self, OpenOptions},
    io,
    path::{Path, PathBuf},
    rc::Rc,
    time::{Duration, Instant},
};

use super::{
    file::RecordingFile,
    memory::MemorySampler,
    process::ProcessRecorder,
    state::{Recordable, Recording, since},
};
use crate::{
    pause::Losses,
    recording::line::{self, Line},
    report::{
        described::Devices,
        model::Tool,
        processes::{Unrecognised, WholeTrace},
    },
};

/// What was written is flushed this often.
const FLUSH_INTERVAL: Duration = Duration::from_secs(1);

/// A recording while it is made. Copies are of the same one.
#[derive(Clone, Debug)]
pub struct Recorder(Rc<RefCell<Recording>>);

/// What has been written.
#[derive(Clone, Debug)]
pub struct Written {
    /// Size of the file in bytes; `None` when it could not be written to its end.
    pub bytes: Option<u64>,
    /// How many pauses.
    pub pauses: u64,
    /// How many faults.
    pub faults: u64,
    /// What went wrong, if anything did.
    pub failed: Option<String>,
}

impl Recorder {
    /// Makes the file, or takes the one that is there, which must be empty.
    ///
    /// # Errors
    /// When it can't be made.
    pub fn begin(path: &Path, what: Recordable) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
        Ok(Self(Rc::new(RefCell::new(Recording {
            file: RecordingFile::begin(path, file, what.max_size_bytes)?,
            devices: Devices::of_this_host(),
            zero_ns: 0,
            pauses: 0,
            faults: 0,
            memory: None,
            what,
            started: false,
            processes: 0,
            flushed: Instant::now(),
            losses: Losses::default(),
        }))))
    }

    /// The trace begins: `CLOCK_MONOTONIC` in ns, and milliseconds since 1970.
    pub fn start(&self, zero_ns: u64, zero_unix_ms: u64) {
        let mut recording = self.0.borrow_mut();
        recording.zero_ns = zero_ns;
        recording.started = true;
        let Recordable { memory_interval, worst, .. } = recording.what;
        recording.memory =
            (!memory_interval.is_zero()).then(|| MemorySampler::new(memory_interval, worst, zero_ns));
        let header = Line::Header(line::Header {
            schema: line::SCHEMA.to_owned(),
            tool: Tool { name: "pauselens".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() },
            host: host(),
            started_unix_ms: zero_unix_ms,
            clock: "CLOCK_MONOTONIC".to_owned(),
            asked: recording.what.asked.clone(),
            max_size_bytes: recording.what.max_size_bytes,
        });
        recording.file.line(&header);
        recording.file.flush();
    }

    /// One more process is traced.
    #[must_use]
    pub fn process(&self, pid: u32, schedule_seen: bool, line: line::Process) -> ProcessRecorder {
        let number = {
            let mut recording = self.0.borrow_mut();
            recording.processes += 1;
            let number = recording.processes;
            recording.file.line(&Line::Process(Box::new(line::Process { process: number, ..line })));
            if let Some(memory) = &mut recording.memory {
                memory.add(number, pid);
            }
            number
        };
        ProcessRecorder::new(Rc::clone(&self.0), number, pid, schedule_seen)
    }

    /// Whether the trace has begun.
    #[must_use]
    pub fn has_started(&self) -> bool {
        self.0.borrow().started
    }

    /// The zero of all times, `CLOCK_MONOTONIC` in ns.
    #[must_use]
    pub fn zero_ns(&self) -> u64 {
        self.0.borrow().zero_ns
    }

    /// What has been dropped so far; `now_ns` by `CLOCK_MONOTONIC`. To be called a few times a second: what is due is flushed.
    pub fn look_after(&self, losses: &Losses, now_ns: u64) {
        let mut recording = self.0.borrow_mut();
        let Recording { memory, file, .. } = &mut *recording;
        if let Some(memory) = memory {
            memory.due(|state| file.line(&Line::Memory(Box::new(state))));
        }
        if recording.losses != *losses {
            recording.losses = losses.clone();
            let dropped = losses.by_name().iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
            let at_ns = since(recording.zero_ns, now_ns);
            recording.file.line(&Line::Losses(line::Losses { at_ns, dropped }));
        }
        if recording.flushed.elapsed() >= FLUSH_INTERVAL {
            recording.flushed = Instant::now();
            recording.file.flush();
        }
    }

    /// The trace has ended, and so have all its processes.
    #[must_use]
    pub fn end(&self, trace: Option<WholeTrace>, unrecognised: Vec<Unrecognised>) -> Written {
        let mut recording = self.0.borrow_mut();
        let (pauses, faults) = (recording.pauses, recording.faults);
        recording.file.line(&Line::End(line::End { trace, unrecognised, pauses, faults }));
        let bytes = recording.file.finish();
        Written { bytes, pauses, faults, failed: recording.file.failed() }
    }
}

fn host() -> line::Host {
    let uname = rustix::system::uname();
    let word = |text: &std::ffi::CStr| text.to_string_lossy().into_owned();
    let memory_bytes = fs::read_to_string(PathBuf::from("/proc/meminfo")).ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        kib.checked_mul(1024)
    });
    line::Host {
        name: word(uname.nodename()),
        kernel: word(uname.release()),
        machine: word(uname.machine()),
        cpus: std::thread::available_parallelism().ok().map(|count| count.get() as u64),
        memory_bytes,
    }
}
