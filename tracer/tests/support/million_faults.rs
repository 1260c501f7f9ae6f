//! A recording as large as they get: a million faults. It is made of lines, since a trace of so many takes minutes.

use std::{collections::BTreeMap, fmt::Display, fs, io::Write as _, path::Path, process::Command};

use serde_json::{Value, json};
use tracer::report::model::{Ended, Report};

/// 10,000 pauses of 100 faults each.
pub(crate) fn write_a_million(path: &Path, pauselens: &Path) {
    const PAUSES: u64 = 10_000;
    const EACH: u64 = 100;
    let mut to = zstd::Encoder::new(fs::File::create(path).unwrap(), 1).unwrap();
    let tool = json!({"name": "pauselens", "version": "0.1.0"});
    let windows = serde_json::to_value(tracer::report::model::Windows::default()).unwrap();
    let target = json!({"pid": 4242, "exe": "/srv/api", "pid_in_namespace": null, "container": null, "unit": null,
        "build_id": null, "runtime": {"name": "go", "version": "1.27.3"}});
    let mut put = |line: &dyn Display| writeln!(to, "{line}").unwrap();
    put(
        &json!({"type": "header", "schema": "pauselens.recording/1", "tool": tool, "host": {"name": "h", "kernel": "6.18",
        "machine": "x86_64"}, "started_unix_ms": 1_767_225_600_000_u64, "clock": "CLOCK_MONOTONIC", "asked": "process 4242"}),
    );
    put(
        &json!({"type": "process", "process": 1, "target": target, "windows": windows, "covered_from_ns": 0, "plan": [],
        "unavailable": []}),
    );
    for stack in 1..=50 {
        put(
            &json!({"type": "stack", "process": 1, "stack": stack, "addresses": [format!("{:#x}", 0x40_0000 + stack * 64)]}),
        );
    }
    let mut random = 88_172_645_463_325_252_u64;
    let mut next = move || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    let kinds = ["swap_in", "first_touch", "file_map", "swap_cache"];
    for id in 1..=PAUSES {
        let at = id * 1_000_000;
        let (mut ns, mut by_stack, mut by_kind) = (0, BTreeMap::new(), BTreeMap::new());
        for fault in 0..EACH {
            let long = 500 + next() % 8_000 * if next() % 1_000 == 0 { 100 } else { 1 };
            let (kind, stack) = (kinds[usize::try_from(next() % 4).unwrap()], 1 + next() % 50);
            let page =
                if next() % 2 == 0 { 0xc0_0000_0000 } else { 0x7f3a_5c00_0000_u64 } + next() % 65_536 * 4_096;
            let begin_ns = at + fault * 7_000;
            put(&format!(
                r#"{{"type":"fault","process":1,"pause":{id},"tid":4250,"role":"driver","kind":"{kind}","begin_ns":{begin_ns},"ns":{long},"address":"{page:#x}","region":"runtime_heap","what":"heap arenas","stack":{stack}}}"#
            ));
            ns += long;
            let of_stack: &mut (u64, u64, &str) = by_stack.entry(stack).or_insert((0, 0, kind));
            of_stack.0 += 1;
            of_stack.1 += long;
            let of_kind: &mut (u64, u64) = by_kind.entry(kind).or_default();
            of_kind.0 += 1;
            of_kind.1 += long;
        }
        let stacks: Vec<Value> = by_stack
            .iter()
            .map(|(stack, (count, ns, kind))| {
                json!({"frames": [format!("@{stack}")], "faults": count, "ns": ns, "kernel": [],
                    "by_kind": {(*kind): {"count": count, "ns": ns, "inferred": 0}}})
            })
            .collect();
        let kinds: serde_json::Map<String, Value> = by_kind
            .iter()
            .map(|(kind, (count, ns))| ((*kind).to_owned(), json!({"count": count, "ns": ns, "inferred": 0})))
            .collect();
        let end = at + ns + 50_000;
        put(&json!({"type": "pause", "process": 1, "id": id, "reason": "GC mark termination", "is_gc": true,
            "state": "complete", "requested_ns": at, "stopped_ns": at + 12_000, "restarting_ns": end - 9_000,
            "resumed_ns": end, "runtime_requested_ns": null, "runtime_stopped_ns": null, "duration_ns": end - at,
            "stopping_ns": 12_000, "driver_tid": 4250, "requested_by": null, "resumed_by_tid": null, "faults": EACH,
            "major": 0, "minor": EACH, "in_faults_ns": ns, "explained_by_faults_ns": ns, "reclaim_ns": 0, "tracing_ns": 0,
            "by_kind": kinds, "by_region": {"runtime_heap": {"count": EACH, "ns": ns, "inferred": 0}},
            "places": [{"region": "runtime_heap", "what": "heap arenas", "count": EACH, "ns": ns, "inferred": 0}],
            "budget": null, "workers": [], "blocked": [], "cpu_waits": null, "throttling": null, "reads": [],
            "fault_details": {"of": EACH, "have": EACH}, "longest_fault": null, "stacks": stacks, "stopping": null,
            "stopping_faults": [], "bystanders": {"faults": 0, "major": 0, "minor": 0, "sum_ns": 0, "by_kind": {}}}));
    }
    to.finish().unwrap();
    // What the end of a trace adds: the report, which is what the lines before add up to.
    let output = Command::new(pauselens).arg("report").arg(path).args(["--format", "json"]).output().unwrap();
    let mut report: Report = serde_json::from_slice(&output.stdout).unwrap();
    (report.trace.complete, report.trace.ended) = (true, Ended::Duration);
    report.trace.incomplete.clear();
    assert_eq!((report.summary.pauses, report.summary.faults), (PAUSES, PAUSES * EACH));
    let mut end = zstd::Encoder::new(fs::OpenOptions::new().append(true).open(path).unwrap(), 1).unwrap();
    writeln!(end, "{}", json!({"type": "process_end", "process": 1, "report": report})).unwrap();
    writeln!(
        end,
        "{}",
        json!({"type": "end", "unrecognised": [], "pauses": PAUSES, "faults": PAUSES * EACH})
    )
    .unwrap();
    end.finish().unwrap();
}
