//! Recordings for tests: written from the reports of `report::fixtures`, one process each.

use std::{collections::BTreeMap, io::Write as _, path::Path};

use serde_json::Value;

use super::{
    Recording,
    line::{End, Fault, Frame, Header, Host, Line, Memory, Names, Pause, Process, ProcessEnd, Role, SCHEMA},
};
use crate::report::model::{self, Kind, Region, Report};

/// No more faults of one stack have lines: reports of random numbers have any number.
const MOST_FAULTS: u64 = 300;

/// Writes the recording and opens it.
pub(crate) fn recording(reports: &[Report], path: &Path) -> Recording {
    write(reports, path);
    Recording::open(path).unwrap()
}

/// Writes a recording: for each stack of each pause as many faults as it has, which share its time.
pub(crate) fn write(reports: &[Report], path: &Path) {
    let mut out = zstd::Encoder::new(std::fs::File::create(path).unwrap(), 1).unwrap();
    let mut put = |line: Line| {
        let mut line = serde_json::to_value(&line).unwrap();
        make_small(&mut line);
        serde_json::to_writer(&mut out, &line).unwrap();
        out.write_all(b"\n").unwrap();
    };
    put(Line::Header(Header {
        schema: SCHEMA.to_owned(),
        tool: reports[0].tool.clone(),
        host: Host {
            name: "host-1".to_owned(),
            kernel: "6.18.5".to_owned(),
            machine: "x86_64".to_owned(),
            cpus: Some(8),
            memory_bytes: Some(34_359_738_368),
        },
        started_unix_ms: reports[0].trace.started_unix_ms,
        clock: reports[0].trace.clock.clone(),
        asked: "a fixture".to_owned(),
        max_size_bytes: None,
    }));
    let (mut pauses, mut faults) = (0, 0);
    for (process, report) in (1_u32..).zip(reports) {
        put(Line::Process(Box::new(Process {
            process,
            target: report.target.clone(),
            windows: report.windows.clone(),
            covered_from_ns: report.trace.covered_from_ns,
            plan: report.trace.plan.clone(),
            unavailable: report.trace.unavailable.clone(),
        })));
        let mut stacks = BTreeMap::new();
        let mut in_time: Vec<&model::Pause> = report.pauses.iter().collect();
        in_time.sort_by_key(|pause| pause.id);
        for pause in in_time {
            for stack in &pause.stacks {
                let next = u32::try_from(stacks.len()).unwrap() + 1;
                let number = *stacks.entry(stack.frames.clone()).or_insert(next);
                for fault in faults_of(process, pause, stack, number) {
                    faults += 1;
                    put(Line::Fault(fault));
                }
            }
            pauses += 1;
            put(Line::Pause(Box::new(Pause { process, pause: pause.clone() })));
        }
        for at in 0..30_i64 {
            let mebibytes = |n: i64| u64::try_from(n).ok().map(|n| n << 20);
            put(Line::Memory(Box::new(Memory {
                process,
                at_ns: at * 2_000_000_000,
                resident_bytes: mebibytes(300 - at),
                swapped_bytes: mebibytes(at * 2),
                ..Memory::default()
            })));
        }
        for (frames, stack) in stacks {
            let frames = frames.into_iter().map(|name| Frame { name, address: None }).collect();
            put(Line::Names(Names { process, stack, frames }));
        }
        put(Line::ProcessEnd(Box::new(ProcessEnd { process, report: report.clone() })));
    }
    put(Line::End(End { trace: None, unrecognised: Vec::new(), pauses, faults }));
    out.finish().unwrap();
}

/// Reports of random numbers have any number; those of a recording are below 2^53 and can be added up.
fn make_small(value: &mut Value) {
    const LIMIT: i64 = 1 << 43;
    match value {
        Value::Object(fields) => fields.values_mut().for_each(make_small),
        Value::Array(values) => values.iter_mut().for_each(make_small),
        Value::Number(number) => {
            if let Some(large) = number.as_u64().filter(|&n| n >= LIMIT.unsigned_abs()) {
                *value = (large % LIMIT.unsigned_abs()).into();
            } else if let Some(large) = number.as_i64().filter(|&n| n <= -LIMIT) {
                *value = (large % LIMIT).into();
            }
        }
        _ => {}
    }
}

fn faults_of(process: u32, pause: &model::Pause, stack: &model::Stack, number: u32) -> Vec<Fault> {
    let kinds: Vec<Kind> = stack.by_kind.keys().copied().collect();
    let count = stack.faults.min(MOST_FAULTS);
    let begin_ns = pause.requested_ns.unwrap_or(0);
    let mut faults = Vec::new();
    for index in 0..count {
        let at = usize::try_from(index).unwrap();
        let place = pause.places.get(at % pause.places.len().max(1));
        faults.push(Fault {
            process,
            pause: pause.id,
            tid: pause.driver_tid,
            role: Role::Driver,
            kind: kinds.get(at % kinds.len().max(1)).copied().unwrap_or(Kind::Other),
            inferred: index % 5 == 4,
            major: index < pause.major,
            begin_ns: begin_ns.saturating_add(i64::try_from(index * 100_000).unwrap()),
            ns: if index == 0 { stack.ns - stack.ns / count * (count - 1) } else { stack.ns / count },
            full_ns: None,
            blocked_ns: None,
            reclaim_ns: None,
            address: format!("{:#x}", 0x7f3a_5c00_0000_u64 + (index * 7_919 % 4_096) * 4_096 + 0x40),
            region: place.map_or(Region::Unknown, |place| place.region),
            what: place.map_or_else(|| "in no known mapping".to_owned(), |place| place.what.clone()),
            place_inferred: index % 7 == 0,
            stack: number,
        });
    }
    faults
}
