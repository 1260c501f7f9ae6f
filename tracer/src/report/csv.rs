//! Pauses as comma-separated values (RFC 4180): a heading, then one line per pause, in the order of the recording.
//!
//! Times are in nanoseconds from the start of the trace; what is not known is an empty field. A text that a spreadsheet
//! would take for a formula has a `'` before it. `docs/recording.md` lists the columns.

use std::io::Write;

use super::{
    model::{Budget, Kind, Pause, State},
    text::clean,
};
use crate::recording::{Item, Recorded, Recording, Wanted};

/// Writes all pauses of the recording.
///
/// # Errors
/// When the recording can't be read any more, or `out` can't be written to.
pub fn write(recording: &Recording, out: &mut dyn Write) -> anyhow::Result<()> {
    let mut table = csv::Writer::from_writer(out);
    table.write_record(columns())?;
    let mut result = Ok(());
    recording.each(Wanted { pauses: true, faults: false }, |item| {
        if let Item::Pause(recorded, mut pause) = item
            && result.is_ok()
        {
            recorded.name(&mut pause);
            result = table.write_record(fields(recording, recorded, &pause));
        }
    })?;
    result?;
    table.flush()?;
    Ok(())
}

/// Columns before those of the budget's parts and of the kinds of fault.
const COLUMNS: [&str; 33] = [
    "host",
    "process",
    "pid",
    "exe",
    "runtime",
    "started_unix_ms",
    "id",
    "reason",
    "is_gc",
    "state",
    "requested_ns",
    "stopped_ns",
    "restarting_ns",
    "resumed_ns",
    "duration_ns",
    "stopping_ns",
    "driver_tid",
    "faults",
    "major",
    "minor",
    "in_faults_ns",
    "explained_by_faults_ns",
    "reclaim_ns",
    "waited_for_workers_ns",
    "worker_faults",
    "worker_fault_sum_ns",
    "bystander_faults",
    "bystander_fault_sum_ns",
    "fault_details_have",
    "fault_details_of",
    "longest_fault_ns",
    "longest_fault_kind",
    "first_stack",
];

/// The heading.
fn columns() -> impl Iterator<Item = String> {
    let parts = Budget::default().parts().into_iter().map(|part| format!("{}_ns", part.name));
    let kinds = Kind::ALL.into_iter();
    let of_kinds =
        kinds.flat_map(|kind| [format!("{}_faults", kind.word()), format!("{}_fault_ns", kind.word())]);
    COLUMNS.into_iter().map(str::to_owned).chain(parts).chain(of_kinds)
}

/// A pause's line.
fn fields(recording: &Recording, recorded: &Recorded, pause: &Pause) -> Vec<String> {
    let target = &recorded.process.target;
    let header = &recording.header;
    let runtime = format!("{} {}", target.runtime.name, target.runtime.version);
    let waited_ns = pause.waited_for_workers.map(|waited| waited.ns);
    let workers = pause.worker_faults.as_ref();
    let longest = pause.longest_fault.as_ref();
    // The code path with the most time in faults, outermost function first.
    let path = pause.stacks.first().map(|stack| {
        let names: Vec<&str> = stack.frames.iter().rev().map(String::as_str).collect();
        names.join(" > ")
    });
    let mut fields = vec![
        inert(&header.host.name),
        recorded.process.process.to_string(),
        target.pid.to_string(),
        inert(&target.exe),
        inert(&runtime),
        header.started_unix_ms.to_string(),
        pause.id.to_string(),
        inert(&pause.reason),
        known(pause.is_gc),
        word(&pause.state),
        known(pause.requested_ns),
        known(pause.stopped_ns),
        known(pause.restarting_ns),
        known(pause.resumed_ns),
        known(pause.duration_ns),
        known(pause.stopping_ns),
        pause.driver_tid.to_string(),
        pause.faults.to_string(),
        pause.major.to_string(),
        pause.minor.to_string(),
        pause.in_faults_ns.to_string(),
        pause.explained_by_faults_ns.to_string(),
        pause.reclaim_ns.to_string(),
        known(waited_ns),
        known(workers.map(|faults| faults.faults)),
        known(workers.map(|faults| faults.sum_ns)),
        pause.bystanders.faults.to_string(),
        pause.bystanders.sum_ns.to_string(),
        pause.fault_details.have.to_string(),
        pause.fault_details.of.to_string(),
        known(longest.map(|fault| fault.ns)),
        known(longest.map(|fault| fault.kind.word())),
        path.map(|path| inert(&path)).unwrap_or_default(),
    ];
    let budget = pause.budget.as_ref();
    let parts = Budget::default().parts().map(|_| String::new());
    fields.extend(budget.map_or(parts, |budget| budget.parts().map(|part| part.ns.to_string())));
    for kind in Kind::ALL {
        let total = pause.by_kind.get(&kind).copied().unwrap_or_default();
        fields.extend([total.count.to_string(), total.ns.to_string()]);
    }
    fields
}

/// The value, or nothing when it is not known.
fn known(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// The state's word in machine-readable output.
fn word(state: &State) -> String {
    match serde_json::to_value(state) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

/// A name that neither a terminal nor a spreadsheet acts upon.
fn inert(name: &str) -> String {
    let name = clean(name);
    // What spreadsheets take for a formula: https://owasp.org/www-community/attacks/CSV_Injection
    if name.trim_start().starts_with(['=', '+', '-', '@']) { format!("'{name}") } else { name.into_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_names_of_their_own_and_are_documented() {
        let mut names: Vec<String> = columns().collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
        let document = include_str!("../../../docs/recording.md");
        for name in COLUMNS {
            assert!(document.contains(&format!("`{name}`")), "{name}");
        }
    }

    #[test]
    fn formulas_and_control_bytes_are_inert() {
        for (name, shown) in [
            ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@sum(1)", "'@sum(1)"),
            (" =1", "' =1"),
            ("\t=1", "\\t=1"),
            ("a\x1b[2J\n", "a\\x1b[2J\\n"),
            ("main.f;<b>\"x\"", "main.f;<b>\"x\""),
        ] {
            assert_eq!(inert(name), shown);
        }
    }
}
