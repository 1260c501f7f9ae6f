//! The drivers' faults as a profile for pprof: gzip-compressed protobuf.
//!
//! Each sample is a code path with two values, `faults` (count) and `fault_time` (nanoseconds, the default), and has the
//! labels `kind`, `region`, `pause_reason`; `kind_inferred` and `region_inferred` are there where these are inferences, and
//! `process` is there when the recording has several. Control characters in names are escaped.

mod code;
mod labels;
pub mod message;
mod strings;

use std::io::Write;

use flate2::{Compression, write::GzEncoder};
use prost::Message as _;

use self::{
    code::Code,
    message::{Profile, ValueType},
    strings::Strings,
};
use super::{
    missing::missing,
    samples::{OfProcess, Samples},
};
use crate::recording::{Recorded, Recording};

/// The type that tools show at first.
const DEFAULT_TYPE: &str = "fault_time";

/// Writes it. Its totals are the summary's `faults` and `in_faults_ns` of all processes.
///
/// # Errors
/// When the recording can't be read any more, or nothing can be written.
pub fn write(recording: &Recording, out: &mut dyn Write) -> anyhow::Result<()> {
    let profile = profile(recording)?;
    let mut compressed = GzEncoder::new(out, Compression::default());
    compressed.write_all(&profile.encode_to_vec())?;
    compressed.finish()?;
    Ok(())
}

fn profile(recording: &Recording) -> anyhow::Result<Profile> {
    let samples = Samples::collect(recording)?;
    let mut strings = Strings::default();
    let mut profile = Profile {
        sample_type: vec![
            value_type("faults", "count", &mut strings),
            value_type(DEFAULT_TYPE, "nanoseconds", &mut strings),
        ],
        default_sample_type: strings.of(DEFAULT_TYPE),
        time_nanos: signed(recording.header.started_unix_ms.saturating_mul(1_000_000)),
        duration_nanos: signed(duration_ns(recording)),
        comment: comments(recording, &samples).iter().map(|comment| strings.of(comment)).collect(),
        ..Profile::default()
    };
    let several = recording.processes.len() > 1;
    let mut code = Code::default();
    for (recorded, of) in recording.processes.iter().zip(&samples.processes) {
        add(recorded, of, several, &mut code, &mut strings, &mut profile.sample);
    }
    (profile.mapping, profile.location, profile.function) = code.finish();
    profile.string_table = strings.finish();
    Ok(profile)
}

fn add(
    recorded: &Recorded,
    of: &OfProcess,
    several: bool,
    code: &mut Code,
    strings: &mut Strings,
    to: &mut Vec<message::Sample>,
) {
    let mut code = code.of(recorded, strings);
    for (sample, total) in &of.samples {
        to.push(message::Sample {
            location_id: code.locations(&sample.frames(of, recorded), strings),
            value: vec![signed(total.count), signed(total.ns)],
            label: labels::labels(recorded, of, sample, several, strings),
        });
    }
}

fn value_type(name: &str, unit: &str, strings: &mut Strings) -> ValueType {
    ValueType { r#type: strings.of(name), unit: strings.of(unit) }
}

/// From the begin of the trace to the end of the last process's.
fn duration_ns(recording: &Recording) -> u64 {
    recording.processes.iter().map(|recorded| recorded.report.trace.duration_ns).max().unwrap_or_default()
}

/// Where it was made, by what, of what, and what is missing.
fn comments(recording: &Recording, samples: &Samples) -> Vec<String> {
    let header = &recording.header;
    let mut comments = vec![
        format!(
            "{} {}: page faults of the threads that ran pauses, inside complete pauses",
            header.tool.name, header.tool.version
        ),
        format!("host {}, kernel {}, {}", header.host.name, header.host.kernel, header.host.machine),
        format!("traced: {}", header.asked),
    ];
    for recorded in &recording.processes {
        let (target, summary) = (&recorded.process.target, &recorded.report.summary);
        comments.push(format!(
            "process {}: {}, {} {}; {} complete pauses, {} ns",
            target.pid,
            target.exe,
            target.runtime.name,
            target.runtime.version,
            summary.pauses,
            summary.paused_ns
        ));
    }
    comments.extend(
        missing(recording, samples.without_details()).into_iter().map(|what| format!("incomplete: {what}")),
    );
    comments
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
