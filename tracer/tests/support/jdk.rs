//! For tests: builds of OpenJDK from the project's cache, a Java program that does what it is told, and the virtual
//! machine's own log of its safepoints.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use super::attached::{LIMIT, Running};

/// The version that compiles the program, for all others.
const COMPILES: &str = "17";
const SOURCE: &str = "tests/support/Pauses.java";

/// The `java` command of a version, which is fetched if need be.
///
/// # Panics
///
/// It can't be had; the message is the script's.
pub(crate) fn java(version: &str) -> PathBuf {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/fetch-jdk");
    let output = Command::new(&script).arg(version).output().unwrap();
    let (said, path) = (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success(), "scripts/fetch-jdk {version}: {said}");
    PathBuf::from(path.trim_end())
}

/// The program, compiled into a folder of its own.
#[derive(Debug)]
pub(crate) struct Program {
    folder: tempfile::TempDir,
}

impl Program {
    /// Compiles it.
    pub(crate) fn compile() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut compiler = Command::new(java(COMPILES));
        compiler.args(["-m", "jdk.compiler/com.sun.tools.javac.Main", "--release", "8", "-d"]);
        compiler.arg(folder.path()).arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(SOURCE));
        let output = compiler.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Self { folder }
    }
}

/// The library that is the virtual machine, in the JDK of that `java` command.
pub(crate) fn libjvm(java: &Path) -> PathBuf {
    let home = java.ancestors().nth(2).unwrap();
    ["lib/server/libjvm.so", "lib/amd64/server/libjvm.so", "lib/aarch64/server/libjvm.so"]
        .into_iter()
        .map(|path| home.join(path))
        .find(|path| path.is_file())
        .unwrap_or_else(|| panic!("no libjvm.so in {}", home.display()))
}

/// A command that becomes the program in a mount namespace of its own, in which one path stands in place of another.
pub(crate) fn with_in_place(of: &Path, stands: &Path, program: &Path) -> Command {
    let mut command = Command::new("unshare");
    let script = "mount --bind \"$1\" \"$2\" && shift 2 && exec \"$@\"";
    command.args(["--mount", "sh", "-c", script, "sh"]).arg(stands).arg(of).arg(program);
    command
}

/// What a tool of the JDK says of a running virtual machine. It has the virtual machine do something: not while it is traced.
#[track_caller]
pub(crate) fn jcmd(version: &str, pid: u32, command: &str) -> String {
    let mut tool = Command::new(java(version));
    tool.args(["-m", "jdk.jcmd/sun.tools.jcmd.JCmd", &pid.to_string(), command]);
    let output = tool.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A running virtual machine with the program in it.
#[derive(Debug)]
pub(crate) struct Jvm {
    running: Running,
    version: String,
    log: PathBuf,
    _folder: tempfile::TempDir,
}

/// What the program has counted since it started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    /// Collections, as the virtual machine's beans count them: not all of them are one safepoint.
    pub(crate) collections: u64,
    /// Objects that it keeps.
    pub(crate) nodes: u64,
}

impl Jvm {
    /// Starts the program with these options, after those of the log.
    pub(crate) fn start(version: &str, program: &Program, options: &[&str]) -> Self {
        Self::start_by(Command::new(java(version)), version, program, options)
    }

    /// Starts it by a command that becomes `java`, to which the arguments are added.
    pub(crate) fn start_by(mut command: Command, version: &str, program: &Program, options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        command.args(log_options(version, &log)).arg("-XX:+UnlockExperimentalVMOptions").args(options);
        command.arg("-cp");
        command.arg(program.folder.path()).arg("Pauses").env_remove("JAVA_TOOL_OPTIONS");
        let mut running = Running::start(command);
        Counted::from(&running.line());
        Self { running, version: version.to_owned(), log, _folder: folder }
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.running.pid()
    }

    /// What it has written on stderr so far.
    pub(crate) fn said(&self) -> String {
        self.running.stderr_so_far()
    }

    /// Has it done a command.
    #[track_caller]
    pub(crate) fn does(&mut self, command: &str) -> Counted {
        self.running.tell(command);
        Counted::from(&self.running.line())
    }

    /// Ends it, and gives its log.
    #[track_caller]
    pub(crate) fn ends(mut self) -> Vec<Logged> {
        self.running.no_more();
        let ended = self.running.ended_within(LIMIT);
        assert_eq!(ended.code(), 0, "{}", ended.told());
        let log = fs::read_to_string(&self.log).unwrap();
        if self.version == "11" { parse_11(&log) } else { parse(&log) }
    }
}

impl Counted {
    #[track_caller]
    fn from(line: &str) -> Self {
        let answer: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let number = |name: &str| answer[name].as_u64().unwrap();
        Self { collections: number("collections"), nodes: number("nodes") }
    }
}

/// A safepoint in the virtual machine's own words.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Logged {
    /// When the line was written, on the kernel's monotonic clock.
    pub(crate) at_ns: u64,
    /// The operation; `None` for a safepoint without one.
    pub(crate) operation: Option<String>,
    /// Until all threads had stopped.
    pub(crate) reaching_ns: u64,
    /// Until they were let go.
    pub(crate) total_ns: u64,
}

/// Options that log every safepoint, with the time of System.nanoTime(), which is the monotonic clock.
fn log_options(version: &str, log: &Path) -> Vec<String> {
    match version {
        "8" | "8-debug" => Vec::new(),
        // Nothing else on stdout, where the program answers.
        _ => vec![
            "-Xlog:disable".to_owned(),
            "-Xlog:all=warning:stderr".to_owned(),
            format!("-Xlog:safepoint=info:file={}:timenanos", log.display()),
        ],
    }
}

/// Lines such as `[123ns] Safepoint "G1CollectFull", Time since last: 1 ns, Reaching safepoint: 2 ns, Cleanup: 3 ns, At
/// safepoint: 4 ns, Total: 9 ns`, since 17. The parts between differ from version to version.
fn parse(log: &str) -> Vec<Logged> {
    let safepoints = log.lines().filter_map(|line| line.split_once("] Safepoint \"").zip(Some(line)));
    safepoints
        .map(|((stamp, rest), line)| {
            let (operation, parts) = rest.split_once('"').unwrap_or_else(|| panic!("{line}"));
            let part = |name: &str| {
                let part = parts.split(", ").find_map(|part| part.strip_prefix(name)?.strip_suffix(" ns"));
                part.and_then(|ns| ns.parse().ok()).unwrap_or_else(|| panic!("no {name} in {line}"))
            };
            Logged {
                at_ns: stamp_ns(stamp),
                operation: Some(operation.to_owned()),
                reaching_ns: part("Reaching safepoint: "),
                total_ns: part("Total: "),
            }
        })
        .collect()
}

/// Lines such as `[123ns] Entering safepoint region: G1CollectFull` and `[456ns] Total time for which application threads
/// were stopped: 0.0012345 seconds, Stopping threads took: 0.0000123 seconds`.
fn parse_11(log: &str) -> Vec<Logged> {
    let mut operation = None;
    let mut safepoints = Vec::new();
    for line in log.lines() {
        if let Some((_, name)) = line.split_once("Entering safepoint region: ") {
            operation = Some(name.to_owned()).filter(|name| name != "no vm operation");
        } else if let Some((stamp, rest)) =
            line.split_once("] Total time for which application threads were stopped: ")
        {
            let mut seconds = rest.split(' ').filter_map(|word| word.parse::<f64>().ok());
            let mut ns = || (seconds.next().unwrap_or_else(|| panic!("{line}")) * 1e9).round() as u64;
            let (total_ns, reaching_ns) = (ns(), ns());
            let operation = operation.take();
            safepoints.push(Logged { at_ns: stamp_ns(stamp), operation, reaching_ns, total_ns });
        }
    }
    safepoints
}

fn stamp_ns(stamp: &str) -> u64 {
    let digits = stamp.trim_start_matches('[').strip_suffix("ns");
    digits.and_then(|ns| ns.parse().ok()).unwrap_or_else(|| panic!("no stamp: {stamp}"))
}
