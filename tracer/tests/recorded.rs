//! Recordings of real traces: the same as the report, whole to the last flush after a crash, small, and made in little
//! memory.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/pauselens.rs"]
mod pauselens;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use pauselens::{Fixture, Tracer, binary, trace};
use tracer::{
    recording::{Item, Recording, Wanted, line::Role},
    report::model::{Ended, Report, Summary},
};

/// The fixture's usual work, shortened.
const WORK: [&str; 4] = ["--rounds", "8", "--gap", "5ms"];

fn report(file: &Path, options: &[&str]) -> Output {
    Command::new(binary()).arg("report").arg(file).args(options).output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A recording's file in a folder that goes away.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("run.jsonl.zst")
    }

    fn name(&self) -> String {
        self.file().to_str().unwrap().to_owned()
    }
}

#[test]
fn a_recording_tells_what_attach_printed() {
    let place = Place::new();
    let (stats, traced) = trace(&WORK, &["--record", &place.name()]);
    let printed = traced.complete();
    assert_eq!(printed.summary.pauses, stats.pauses.len() as u64);
    let read = report(&place.file(), &["--format", "json"]);
    assert_eq!(read.status.code(), Some(0), "{read:?}");
    assert_eq!(text(&read), traced.text, "the same bytes");

    let every = report(&place.file(), &["--format", "json", "--all"]);
    let every: Report = serde_json::from_slice(&every.stdout).unwrap();
    assert_eq!(every.pauses.len(), stats.pauses.len());
    for pause in &printed.pauses {
        assert_eq!(every.pauses.iter().find(|other| other.id == pause.id), Some(pause));
    }

    let recording = Recording::open(&place.file()).unwrap();
    assert_eq!(recording.problems, []);
    let (mut pauses, mut faults, mut ns) = (0, 0, 0);
    let wanted = Wanted { pauses: true, faults: true };
    let counted = recording.each(wanted, |item| match item {
        Item::Pause(..) => pauses += 1,
        Item::Fault(_, fault) if fault.role == Role::Driver => {
            faults += 1;
            ns += fault.ns;
        }
        Item::Fault(..) => {}
        #[allow(unreachable_patterns, reason = "there may be more kinds of items")]
        _ => {}
    });
    counted.unwrap();
    let summary = &printed.summary;
    assert_eq!((pauses, faults, ns), (summary.pauses, summary.faults, summary.in_faults_ns));
    assert!(!recording.memory.is_empty(), "the state of memory is read at least once");
}

#[test]
fn text_is_the_same_as_well() {
    let place = Place::new();
    let mut fixture = Fixture::start(&WORK);
    let tracer = Tracer::attach_as("text", fixture.pid, &["--record", &place.name()]);
    fixture.go();
    fixture.finish();
    let traced = tracer.finish();
    assert_eq!(text(&report(&place.file(), &[])), traced.text);
}

/// Every format of `attach` is drawn from what is recorded.
#[test]
fn pictures_straight_from_attach_are_those_of_the_recording() {
    for format in ["html", "flamegraph", "folded", "csv"] {
        let place = Place::new();
        let mut fixture = Fixture::start(&WORK);
        let tracer = Tracer::attach_as(format, fixture.pid, &["--record", &place.name()]);
        fixture.go();
        fixture.finish();
        let traced = tracer.finish();
        let read = report(&place.file(), &["--format", format]);
        assert_eq!((read.status.code(), traced.status), (Some(0), 0), "{format}: {}", traced.stderr);
        assert!(text(&read) == traced.text && !traced.text.is_empty(), "{format} differs");
    }
}

#[test]
fn a_picture_leaves_no_recording_behind() {
    let folder = tempfile::tempdir().unwrap();
    let mut fixture = Fixture::start(&WORK);
    let output = folder.path().join("faults.folded");
    let (pid, binary, temporary) = (fixture.pid.to_string(), binary(), folder.path().join("tmp"));
    fs::create_dir(&temporary).unwrap();
    let mut command = Command::new(binary);
    command
        .args(["attach", "--pid", &pid, "--format", "folded", "--duration", "1s", "--output"])
        .arg(&output);
    let tracer = thread::spawn({
        let temporary = temporary.clone();
        move || command.env("TMPDIR", temporary).output().unwrap()
    });
    fixture.go();
    fixture.finish();
    let ended = tracer.join().unwrap();
    assert!(ended.status.code().is_some_and(|code| code == 0 || code == 3), "{ended:?}");
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
}

#[test]
fn a_trace_that_is_killed_leaves_what_was_flushed() {
    let place = Place::new();
    let mut fixture = Fixture::start(&["--rounds", "200", "--gap", "20ms"]);
    let tracer = Tracer::attach(fixture.pid, &["--record", &place.name()]);
    fixture.go();
    // Until pauses are in the file.
    let deadline = Instant::now() + Duration::from_secs(60);
    let pauses = |file: &Path| {
        let mut pauses = 0;
        if let Ok(recording) = Recording::open(file) {
            let _ = recording.each(Wanted { pauses: true, faults: false }, |_| pauses += 1);
        }
        pauses
    };
    while pauses(&place.file()) == 0 {
        assert!(Instant::now() < deadline, "nothing was flushed");
        thread::sleep(Duration::from_millis(50));
    }
    tracer.kill();
    let flushed = pauses(&place.file());
    let read = report(&place.file(), &["--format", "json", "--all"]);
    let stderr = String::from_utf8_lossy(&read.stderr);
    assert_eq!(read.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("its last line is missing"), "{stderr}");
    let told: Report = serde_json::from_slice(&read.stdout).unwrap();
    assert_eq!((told.summary.pauses, told.pauses.len() as u64), (flushed, flushed));
    assert!(!told.trace.complete && told.trace.ended == Ended::RecordingCutOff);
    assert!(told.summary.faults > 0 && told.summary.in_faults_ns <= told.summary.paused_ns);
    for format in ["text", "html", "flamegraph", "folded", "pprof", "perfetto", "csv"] {
        let output = place.0.path().join(format);
        let read = report(&place.file(), &["--format", format, "--output", output.to_str().unwrap()]);
        assert_eq!(read.status.code(), Some(3), "{format}: {read:?}");
        assert!(output.metadata().unwrap().len() > 0, "{format}");
    }
    drop(fixture);
}

#[test]
fn a_disk_that_is_full_costs_the_recording_alone() {
    let folder = tempfile::tempdir().unwrap();
    let small = SmallDisk::mount(folder.path(), "64k");
    let file = folder.path().join("run.jsonl.zst");
    let mut fixture = Fixture::start(&["--touch-mib", "64", "--rounds", "4", "--gap", "0ms"]);
    let tracer = Tracer::attach(fixture.pid, &["--record", file.to_str().unwrap()]);
    fixture.go();
    let stats = fixture.finish();
    let traced = tracer.finish();
    assert_eq!(traced.status, 3, "{}", traced.stderr);
    assert!(traced.stderr.contains("could not be written to its end"), "{}", traced.stderr);
    assert!(traced.stderr.contains("No space left"), "{}", traced.stderr);
    assert_eq!(traced.report().summary.pauses, stats.pauses.len() as u64, "the report is whole");
    let read = report(&file, &[]);
    assert_eq!(read.status.code(), Some(3), "{read:?}");
    drop(small);
}

/// A file system in memory, of a small size, taken away again.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(at: &Path, size: &str) -> Self {
        let options = std::ffi::CString::new(format!("size={size}")).unwrap();
        rustix::mount::mount("tmpfs", at, "tmpfs", rustix::mount::MountFlags::empty(), &*options).unwrap();
        Self(at.to_owned())
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = rustix::mount::unmount(&self.0, rustix::mount::UnmountFlags::DETACH);
    }
}

#[test]
fn a_file_with_something_in_it_is_not_written_over() {
    let place = Place::new();
    fs::write(place.file(), "mine").unwrap();
    let fixture = Fixture::start(&["--rounds", "0"]);
    let pid = fixture.pid.to_string();
    let refused =
        Command::new(binary()).args(["record", "--pid", &pid, "--output", &place.name()]).output().unwrap();
    let stderr = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("is there already (4 B)") && stderr.contains("nothing was traced"), "{stderr}");
    assert_eq!(fs::read_to_string(place.file()).unwrap(), "mine");
    // One file can't be both.
    fs::remove_file(place.file()).unwrap();
    let both = Command::new(binary())
        .args(["attach", "--pid", &pid, "--record", &place.name(), "--output", &place.name()])
        .output()
        .unwrap();
    assert_eq!(both.status.code(), Some(1), "{both:?}");
    assert!(String::from_utf8_lossy(&both.stderr).contains("are the same file"), "{both:?}");
    assert!(!place.file().exists());
    // A file that was there stays, if nothing could be traced, also a device.
    let device = place.0.path().join("device");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &device,
        rustix::fs::FileType::CharacterDevice,
        0o600.into(),
        rustix::fs::makedev(1, 3),
    )
    .unwrap();
    let failed = Command::new(binary())
        .args(["record", "--pid", &pid, "--function", "no_such_function", "--output"])
        .arg(&device)
        .output();
    assert_eq!(failed.unwrap().status.code(), Some(1));
    assert!(device.exists());
    // Where nothing could be traced no file is left.
    let failed = Command::new(binary())
        .args(["record", "--pid", &pid, "--function", "no_such_function", "--output", &place.name()])
        .output();
    assert_eq!(failed.unwrap().status.code(), Some(1));
    assert!(!place.file().exists());
    fixture.finish();
}

#[test]
fn a_million_faults_are_small_and_quick_to_report() {
    const MOST_BYTES: u64 = 64 << 20;
    const BYTES_PER_FAULT: u64 = 25;
    const HTML_BYTES: u64 = 5 << 20;
    let place = Place::new();
    let options = ["--touch-mib", "512", "--rounds", "8", "--gap", "0ms"];
    let (_, traced) = trace(&options, &["--record", &place.name()]);
    let told = traced.report();
    let peak_bytes = told.trace.overhead.tracer_peak_bytes.unwrap();
    let faults = told.trace.fault_details.have;
    let bytes = place.file().metadata().unwrap().len();
    println!("{faults} faults: {bytes} bytes, peak {peak_bytes} bytes");
    assert!(told.summary.faults > 1_000_000 && faults > 500_000, "{faults} of {}", told.summary.faults);
    assert!(bytes <= faults * BYTES_PER_FAULT, "{bytes} bytes for {faults} faults");
    assert!(peak_bytes < MOST_BYTES, "{peak_bytes} bytes");

    let quickest = |format: &str| {
        let output = place.0.path().join(format);
        let once = || {
            let begun = Instant::now();
            let read = report(&place.file(), &["--format", format, "--output", output.to_str().unwrap()]);
            assert!(read.status.code().is_some_and(|code| code == traced.status), "{read:?}");
            begun.elapsed()
        };
        let took = (0..3).map(|_| once()).min().unwrap();
        println!("{format}: {took:?}, {} bytes", output.metadata().unwrap().len());
        (took, output.metadata().unwrap().len())
    };
    let (took, _) = quickest("text");
    assert!(took < Duration::from_secs(2), "{took:?}");
    let (took, bytes) = quickest("html");
    assert!(took < Duration::from_secs(5), "{took:?}");
    assert!(bytes < HTML_BYTES, "{bytes} bytes");
}

/// Half a million faults in a file of at most 3 MiB, which is half of what they take, and in one of 512 KiB, which has room
/// for two pauses. It is looked at all the time: it never has more, the worst pauses are whole, and all its lines add up to
/// what the trace has counted.
#[test]
fn a_recording_never_exceeds_its_size_and_its_sums_stay_whole() {
    never_exceeds(3 << 20, "3MiB");
    never_exceeds(512 << 10, "512KiB");
}

fn never_exceeds(most_bytes: u64, written: &str) {
    const PEAK_BYTES: u64 = 64 << 20;
    let place = Place::new();
    let (file, watched) = (place.file(), Arc::new(AtomicBool::new(true)));
    let watching = thread::spawn({
        let watched = Arc::clone(&watched);
        let beside = file.with_extension("zst.shrinking");
        move || {
            let bytes = |path: &Path| fs::metadata(path).map_or(0, |metadata| metadata.len());
            let (mut most, mut most_beside) = (0, 0);
            while watched.load(Ordering::Relaxed) {
                (most, most_beside) = (bytes(&file).max(most), bytes(&beside).max(most_beside));
                thread::sleep(Duration::from_millis(1));
            }
            (most, most_beside, beside.exists())
        }
    });
    // 40 pauses of 12,800 faults, and some small ones at each.
    let work = ["--touch-mib", "50", "--rounds", "40", "--gap", "20ms"];
    let (_, traced) = trace(&work, &["--record", &place.name(), "--max-size", written]);
    watched.store(false, Ordering::Relaxed);
    let (most, most_beside, is_left) = watching.join().unwrap();
    let report = traced.report();
    let recording = Recording::open(&place.file()).unwrap();
    assert_eq!(recording.problems, []);
    assert_eq!(recording.header.max_size_bytes, Some(most_bytes));
    assert!(most > most_bytes / 4 && most <= most_bytes, "{most} bytes");
    assert!(most_beside <= most_bytes && !is_left, "{most_beside} bytes");
    let summary = &report.summary;
    assert!(summary.faults > 500_000);
    let process = &recording.processes[0];
    assert_eq!(process.report.summary, *summary);

    let mut all = process.rest.summary.clone();
    let (mut listed, mut lines) = (Vec::new(), BTreeMap::<u64, u64>::new());
    let counted = recording.each(Wanted { pauses: true, faults: true }, |item| match item {
        Item::Pause(_, pause) => {
            all.add(&pause);
            listed.push((pause.duration_ns.unwrap_or(0), pause.id, pause.fault_details.have));
        }
        Item::Fault(_, fault) => *lines.entry(fault.pause).or_default() += 1,
    });
    counted.unwrap();
    let sums = |summary: &Summary| {
        let Summary { pauses, faults, major, minor, paused_ns, in_faults_ns, .. } = summary;
        [*pauses, *faults, *major, *minor, *paused_ns, *in_faults_ns, summary.explained_by_faults_ns]
    };
    assert_eq!(sums(&all), sums(summary));
    assert_eq!((&all.by_kind, &all.by_region), (&summary.by_kind, &summary.by_region));
    assert_eq!((&all.by_reason, &all.by_state), (&summary.by_reason, &summary.by_state));
    assert_eq!((all.budget, all.worst_ns), (summary.budget, summary.worst_ns));
    // The longest are whole, and there are not many of them: 12,800 faults take more than 100 KiB.
    listed.sort_unstable_by_key(|pause| std::cmp::Reverse(*pause));
    let whole =
        listed.iter().take_while(|(_, id, have)| lines.get(id).copied().unwrap_or(0) == *have).count();
    assert!(whole >= 1 && whole < summary.pauses as usize, "{whole} of {}", listed.len());
    assert_eq!(listed[0].0, summary.worst_ns.unwrap());
    println!("{written}: {most} bytes at most, {most_beside} beside; {whole} whole, {} listed", listed.len());
    let peak = report.trace.overhead.tracer_peak_bytes.unwrap();
    println!("peak of the tracer {peak} bytes; dropped {:?}", report.trace.dropped);
    assert!(peak < PEAK_BYTES, "{peak} bytes");
}

#[test]
fn several_processes_are_in_one_recording() {
    let place = Place::new();
    let mut fixtures = [Fixture::start(&WORK), Fixture::start(&WORK)];
    let other = fixtures[1].pid.to_string();
    let tracer = Tracer::attach(fixtures[0].pid, &["--pid", &other, "--record", &place.name()]);
    fixtures.iter_mut().for_each(Fixture::go);
    let made: u64 = fixtures.map(|fixture| fixture.finish().pauses.len() as u64).into_iter().sum();
    let traced = tracer.finish();
    assert_eq!(traced.status, 0, "{}", traced.stderr);
    let read = report(&place.file(), &["--format", "json"]);
    assert_eq!((read.status.code(), text(&read) == traced.text), (Some(0), true), "the same bytes");

    let recording = Recording::open(&place.file()).unwrap();
    let pauses: u64 = recording.processes.iter().map(|recorded| recorded.report.summary.pauses).sum();
    assert_eq!((recording.processes.len(), pauses), (2, made));
    // One alone.
    let one = report(&place.file(), &["--format", "json", "--process", &other]);
    assert_eq!(one.status.code(), Some(0), "{one:?}");
    let one: Report = serde_json::from_slice(&one.stdout).unwrap();
    assert_eq!(one.target.pid.to_string(), other);
}
