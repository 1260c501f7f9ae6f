//! For tests: what each picture of a recording adds up to, read with the tools that people open it with.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use flate2::read::GzDecoder;
use prost::Message as _;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;
use tempfile::TempDir;
use tracer::report::pprof::message::Profile;

use super::{go, pauselens::binary};

/// Nothing here takes longer, also on a busy machine.
const LIMIT: Duration = Duration::from_secs(120);
/// The toolchain whose pprof is used: one that comes with it built.
const GO: &str = "1.23.9";

/// What faults of complete pauses add up to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    /// How many.
    pub(crate) faults: u64,
    /// Their time.
    pub(crate) ns: u64,
}

/// A recording's pictures, in a folder that goes away.
#[derive(Debug)]
pub(crate) struct Pictures {
    recording: PathBuf,
    folder: TempDir,
}

impl Pictures {
    pub(crate) fn of(recording: &Path) -> Self {
        Self { recording: recording.to_owned(), folder: tempfile::tempdir().unwrap() }
    }

    /// Has it written; gives the file.
    #[track_caller]
    pub(crate) fn file(&self, format: &str, by: &str) -> PathBuf {
        let file = self.folder.path().join(format!("{format}-{by}"));
        if !file.exists() {
            let mut command = Command::new(binary());
            command
                .arg("report")
                .arg(&self.recording)
                .args(["--format", format, "--by", by, "--output"])
                .arg(&file);
            let output = output(&mut command);
            // 3: the trace did not see everything, which may be what is tested.
            let written = matches!(output.status.code(), Some(0 | 3));
            assert!(written, "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        }
        file
    }

    #[track_caller]
    pub(crate) fn text(&self, format: &str, by: &str) -> String {
        fs::read_to_string(self.file(format, by)).unwrap()
    }

    /// The summary of the JSON report.
    pub(crate) fn json(&self) -> Value {
        let mut report: Value = serde_json::from_str(&self.text("json", "time")).unwrap();
        report["summary"].take()
    }

    pub(crate) fn folded(&self) -> Sums {
        let sum = |by| {
            let numbers = self.text("folded", by);
            let numbers =
                numbers.lines().map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap());
            numbers.sum()
        };
        Sums { faults: sum("count"), ns: sum("time") }
    }

    /// The roots of both flame graphs, as their own words tell them.
    pub(crate) fn flame_graphs(&self) -> Sums {
        Sums { faults: self.root("count", "faults"), ns: self.root("time", "ns") }
    }

    fn root(&self, by: &str, unit: &str) -> u64 {
        let text = self.text("flamegraph", by);
        let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
        let svg = roxmltree::Document::parse_with_options(&text, options).unwrap();
        let titles = svg.descendants().filter(|node| node.tag_name().name() == "title");
        let roots: Vec<&str> =
            titles.filter_map(|node| node.text()).filter(|title| title.starts_with("all (")).collect();
        let [root] = roots.as_slice() else { panic!("one root: {roots:?}") };
        let number = root.strip_prefix("all (").unwrap().strip_suffix(&format!(" {unit}, 100%)")).unwrap();
        number.replace(',', "").parse().unwrap()
    }

    /// The profile, decoded here.
    pub(crate) fn profile(&self) -> Profile {
        let mut bytes = Vec::new();
        GzDecoder::new(fs::File::open(self.file("pprof", "time")).unwrap()).read_to_end(&mut bytes).unwrap();
        Profile::decode(bytes.as_slice()).unwrap()
    }

    /// What `go tool pprof` prints.
    #[track_caller]
    pub(crate) fn pprof(&self, options: &[&str]) -> String {
        let mut command = self.pprof_command();
        command.args(options).arg(self.file("pprof", "time"));
        let output = output(&mut command);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
        text
    }

    /// The sums of the samples that `go tool pprof -raw` lists: lines such as `217 37120000: 1 2 3`.
    pub(crate) fn pprof_raw(&self) -> Sums {
        let text = self.pprof(&["-raw"]);
        let samples = text.split("\nSamples:\n").nth(1).unwrap().split("\nLocations\n").next().unwrap();
        let mut sums = Sums::default();
        for line in samples.lines() {
            let Some((numbers, places)) = line.split_once(':') else { continue };
            let numbers: Option<Vec<u64>> =
                numbers.split_whitespace().map(|number| number.parse().ok()).collect();
            let is_sample = places.split_whitespace().all(|place| place.parse::<u64>().is_ok());
            if let (Some([faults, ns]), true) = (numbers.as_deref(), is_sample) {
                sums.faults += faults;
                sums.ns += ns;
            }
        }
        sums
    }

    /// A page of `go tool pprof -http`.
    pub(crate) fn pprof_page(&self, path: &str) -> String {
        // Between this and its use another program could take the port: then pprof ends, and this fails.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = self.pprof_command();
        command
            .args([format!("-http=127.0.0.1:{port}"), "-no_browser".to_owned()])
            .arg(self.file("pprof", "time"));
        // `go tool` starts the tool as a child of its own.
        command.process_group(0);
        let mut server = Server(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        let deadline = Instant::now() + LIMIT;
        loop {
            if let Some(page) = get(port, path) {
                return page;
            }
            assert_eq!(server.0.try_wait().unwrap(), None, "pprof has ended");
            assert!(Instant::now() < deadline, "pprof does not answer");
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn pprof_command(&self) -> Command {
        let go = go::toolchain(GO);
        let mut command = Command::new(&go);
        command.args(["tool", "pprof"]).env("GOROOT", go.ancestors().nth(2).unwrap());
        command
            .env("GOTOOLCHAIN", "local")
            .env("HOME", self.folder.path())
            .env("PPROF_TMPDIR", self.folder.path());
        command.env("GOCACHE", self.folder.path().join("cache")).env_remove("PPROF_BINARY_PATH");
        command.stdin(Stdio::null());
        command
    }

    /// The rows that trace_processor gives for each query.
    #[track_caller]
    pub(crate) fn perfetto(&self, queries: &[&str]) -> Vec<Vec<Vec<Value>>> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/trace_processor.js");
        let mut command = Command::new(fetched("fetch-scripting", &["node-24"]));
        command
            .arg(script)
            .arg(fetched("fetch-trace-processor", &[]))
            .arg(self.file("perfetto", "time"))
            .args(queries);
        let output = output(&mut command);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The data in the HTML page.
    pub(crate) fn html(&self) -> Value {
        let page = self.text("html", "time");
        let (_, rest) = page.split_once(r#"id="data">"#).unwrap();
        serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
    }
}

/// Killed when this is dropped, with what it has started: it is a process group of its own.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = kill_process_group(Pid::from_child(&self.0), Signal::KILL);
        let _ = self.0.wait();
    }
}

/// A page, if there is one by now.
fn get(port: u16, path: &str) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(LIMIT)).ok()?;
    write!(stream, "GET {path} HTTP/1.0\r\nHost: localhost:{port}\r\n\r\n").ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).ok()?;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    assert!(answer.starts_with("HTTP/1.0 200"), "{path}: {}", &answer[..answer.len().min(500)]);
    Some(answer)
}

/// What a script of the project brings into the cache.
fn fetched(script: &str, arguments: &[&str]) -> PathBuf {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts").join(script);
    let output = Command::new(&script).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}: {}", script.display(), String::from_utf8_lossy(&output.stderr));
    PathBuf::from(String::from_utf8_lossy(&output.stdout).trim_end())
}

/// Runs it to its end, which has to come in time.
#[track_caller]
fn output(command: &mut Command) -> Output {
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (stdout, stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let read = |mut from: Box<dyn std::io::Read + Send>| {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            from.read_to_end(&mut bytes).map(|_| bytes).unwrap_or_default()
        })
    };
    let (stdout, stderr) = (read(Box::new(stdout)), read(Box::new(stderr)));
    let mut server = Server(child);
    let deadline = Instant::now() + LIMIT;
    let status = loop {
        if let Some(status) = server.0.try_wait().unwrap() {
            break status;
        }
        assert!(Instant::now() < deadline, "it runs for longer than {LIMIT:?}: {command:?}");
        thread::sleep(Duration::from_millis(10));
    };
    Output { status, stdout: stdout.join().unwrap(), stderr: stderr.join().unwrap() }
}
