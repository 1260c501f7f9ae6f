//! .NET: the runtime's own events of suspensions, which the program listens to, are what windows are compared with.

use std::{fs, path::Path, process::Command};

use serde_json::Value;
use tempfile::TempDir;

use crate::{
    attached::{ALL_AS_JSON, Running, as_root, attach, report_of, until},
    runtimes::{does, fetched, in_order, length, ready, refused, workload},
};

/// The program, compiled, with the settings of its runtime beside it.
fn build(version: &str, settings: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let compiler = fetched("mcs");
    // It sees no more than its own root.
    let inside = tempfile::tempdir_in(compiler.with_file_name("root/tmp")).unwrap();
    fs::write(inside.path().join("workload.cs"), workload("workload.cs")).unwrap();
    let name = Path::new("/tmp").join(inside.path().file_name().unwrap());
    let mut command = Command::new(compiler);
    command.arg("/usr/lib/mono/4.5/mcs.exe").arg(format!("-out:{}", name.join("workload.dll").display()));
    let output = command.arg(name.join("workload.cs")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fs::copy(inside.path().join("workload.dll"), folder.path().join("workload.dll")).unwrap();
    let configuration = format!(
        r#"{{"runtimeOptions":{{"tfm":"net","framework":{{"name":"Microsoft.NETCore.App","version":"{version}"}},
        "configProperties":{{{settings}}}}}}}"#
    );
    fs::write(folder.path().join("workload.runtimeconfig.json"), configuration).unwrap();
    folder
}

fn start(name: &str, folder: &TempDir) -> Running {
    let mut command = Command::new(fetched(name));
    command.arg(folder.path().join("workload.dll"));
    ready(command)
}

/// Reason and ns of each suspension since the last time, of which there must be this many: the events come a little later.
fn suspensions(dotnet: &mut Running, expected: usize) -> Vec<(u64, u64)> {
    let mut seen = Vec::new();
    until("the runtime's own events", || {
        let answer = does(dotnet, "events");
        let pair = |pair: &Value| (pair[0].as_u64().unwrap(), pair[1].as_u64().unwrap());
        seen.extend(answer["suspensions"].as_array().unwrap().iter().map(pair));
        seen.len() >= expected
    });
    seen
}

fn every_suspension_is_a_window(settings: &str, commands: &[&str]) {
    as_root();
    let folder = build("3.1.23", settings);
    let mut dotnet = start("dotnet-3.1", &folder);
    // What the start has caused: one collection. Then one more, after which nothing is on its way.
    does(&mut dotnet, "2 1");
    suspensions(&mut dotnet, 2);
    let tracer = attach(dotnet.pid(), &ALL_AS_JSON);
    let answers: Vec<Value> = commands.iter().map(|command| does(&mut dotnet, command)).collect();
    let report = in_order(report_of(tracer));
    assert_eq!(report.target.runtime.name, "dotnet");
    assert_eq!(report.target.runtime.version, "3.1.23");
    assert!(report.trace.complete, "{:?}", report.trace.incomplete);

    let own = suspensions(&mut dotnet, report.pauses.len());
    assert_eq!(own.len(), report.pauses.len(), "{own:?}");
    let mut rest = Vec::new();
    for (pause, (reason, ns)) in report.pauses.iter().zip(&own) {
        let expected = match reason {
            1 => "collection",
            6 => "background collection",
            other => panic!("a suspension for another reason: {other}"),
        };
        assert_eq!((pause.reason.as_str(), pause.is_gc), (expected, Some(true)));
        let marks =
            [pause.requested_ns, pause.stopped_ns, pause.restarting_ns, pause.resumed_ns].map(Option::unwrap);
        assert!(marks.is_sorted(), "{marks:?}");
        // Its events have times of 100 ns.
        assert!(
            *ns <= length(pause) + 10_000,
            "{ns} ns by the runtime's own events in a window of {} ns",
            length(pause)
        );
        rest.push(length(pause).saturating_sub(*ns));
    }
    // Before its first event it gets a lock, after its last it has nothing left to do.
    rest.sort_unstable();
    println!("windows are longer than the runtime's own times by {} ns in the median", rest[rest.len() / 2]);
    assert!(rest[rest.len() / 2] < 1_000_000, "{rest:?}");

    let collections: u64 = answers.iter().map(|answer| answer["counted"][0].as_u64().unwrap()).sum();
    let windows = report.summary.by_reason.get("collection").copied().unwrap_or(0);
    let background = report.summary.by_reason.get("background collection").copied().unwrap_or(0);
    if background == 0 {
        assert_eq!(windows, collections);
    } else {
        // A background collection suspends more than once, and can have a collection of the youngest inside.
        assert!(windows + background >= collections, "{windows} and {background} of {collections}");
    }
}

const COMMANDS: [&str; 4] = ["0 7", "1 3", "2 2", "churn 3"];

#[test]
fn dotnet_3_1_workstation() {
    every_suspension_is_a_window(r#""System.GC.Concurrent":false"#, &COMMANDS);
}

#[test]
fn dotnet_3_1_concurrent() {
    let commands = ["0 7", "background 3", "churn 3"];
    every_suspension_is_a_window(r#""System.GC.Concurrent":true"#, &commands);
}

/// Collections run on threads of their own then, and one of those suspends the others.
#[test]
fn dotnet_3_1_server() {
    let settings = r#""System.GC.Concurrent":false,"System.GC.Server":true"#;
    every_suspension_is_a_window(settings, &COMMANDS);
}

/// Since .NET 5 Microsoft's builds have no symbols; they are given out apart.
#[test]
fn dotnet_8_is_refused_without_its_symbols() {
    as_root();
    let folder = build("8.0.4", r#""System.GC.Concurrent":false"#);
    let dotnet = start("dotnet-8.0", &folder);
    let ended = refused(dotnet.pid());
    assert_eq!((ended.code(), ended.stdout.as_str()), (1, ""), "{}", ended.told());
    for part in ["libcoreclr.so", "SuspendEE", "RestartEE", "libcoreclr.so.dbg", "dotnet-symbol"] {
        assert!(ended.stderr.contains(part), "{part}: {}", ended.told());
    }
}
