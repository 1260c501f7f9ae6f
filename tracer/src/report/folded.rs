//! Folded stacks: one line for each code path of the drivers' faults, as tools for flame graphs read them.
//!
//! `process 4242 go /srv/api;outermost;…;innermost;[swap_in] 39013000`: the process, its functions from the root to the
//! one that faulted, the kind of the faults in square brackets (`, inferred` with it where it is an inference), and after
//! the last blank the number: nanoseconds, or faults. In names, `;` and characters that act on terminals are escaped as
//! `\xHH` and `\u{HEX}`; so is a backslash that would seem to begin such an escape.

use std::{collections::BTreeMap, io::Write};

use super::{
    inert::inert,
    model::Kind,
    samples::{By, OfProcess, Sample, Samples},
};
use crate::recording::{Recorded, Recording};

/// Separates frames.
const SEPARATOR: char = ';';

/// Writes them, sorted. Their numbers add up to the summary's `in_faults_ns`, or `faults`, of all processes.
///
/// # Errors
/// When the recording can't be read any more, or nothing can be written.
pub fn write(recording: &Recording, by: By, out: &mut dyn Write) -> anyhow::Result<()> {
    let samples = Samples::collect(recording)?;
    for (stack, number) in stacks(recording, &samples, by) {
        writeln!(out, "{stack} {number}")?;
    }
    Ok(())
}

/// The stacks, and their numbers, none of which is 0.
pub(super) fn stacks(recording: &Recording, samples: &Samples, by: By) -> BTreeMap<String, u64> {
    let mut stacks = BTreeMap::new();
    for (recorded, of) in recording.processes.iter().zip(&samples.processes) {
        let process = process(recorded);
        for (sample, total) in of.samples.iter().filter(|(_, total)| total.by(by) > 0) {
            let stack = stacks.entry(folded(&process, recorded, of, sample)).or_insert(0_u64);
            *stack = stack.saturating_add(total.by(by));
        }
    }
    stacks
}

/// The first frame: what the process is.
pub(super) fn process(recorded: &Recorded) -> String {
    let target = &recorded.process.target;
    let name = format!("process {} {} {}", target.pid, target.runtime.name, target.exe);
    inert(&name, &[SEPARATOR]).into_owned()
}

fn folded(process: &str, recorded: &Recorded, of: &OfProcess, sample: &Sample) -> String {
    let mut line = process.to_owned();
    for frame in sample.frames(of, recorded).iter().rev() {
        line.push(SEPARATOR);
        line.push_str(&inert(&frame.name, &[SEPARATOR]));
    }
    line.push(SEPARATOR);
    line.push_str(&kind(sample.kind, sample.kind_inferred));
    line
}

/// The last frame: the kind of the faults.
pub(super) fn kind(kind: Option<Kind>, inferred: bool) -> String {
    let inferred = if inferred { ", inferred" } else { "" };
    format!("[{}{inferred}]", kind.map_or("kind unknown", Kind::word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{fixtures, model::Report};

    fn text(reports: &[Report], by: By) -> String {
        let (_file, recording) = fixtures::recorded(reports);
        let mut out = Vec::new();
        write(&recording, by, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn sum(text: &str) -> u64 {
        text.lines().map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()).sum()
    }

    #[test]
    fn paths_go_from_the_process_to_the_kind() {
        let report = fixtures::story();
        let text = text(std::slice::from_ref(&report), By::Time);
        let begin = "process 4242 go /srv/api/bin/api;runtime.gcStart;runtime.systemstack;";
        let expected = format!("{begin}runtime.gcStart.func2;runtime.(*spanSet).push;[swap_in] 37120000");
        assert!(text.lines().any(|line| line == expected), "{text}");
        assert!(text.contains(";[file_map, inferred] 71000"), "{text}");
        assert_eq!(sum(&text), report.summary.in_faults_ns);
    }

    #[test]
    fn numbers_add_up_over_processes() {
        let reports = [fixtures::story(), fixtures::story(), fixtures::no_pauses()];
        let faults: u64 = reports.iter().map(|report| report.summary.faults).sum();
        assert_eq!(sum(&text(&reports, By::Count)), faults);
    }

    #[test]
    fn hostile_names_make_no_frames_lines_or_control_characters() {
        let report = fixtures::hostile();
        let text = text(std::slice::from_ref(&report), By::Time);
        assert_eq!(sum(&text), report.summary.in_faults_ns);
        assert!(text.lines().all(|line| line.split(';').count() == 32 && !line.contains(char::is_control)));
        assert!(text.contains(r"\x1b[2J\x1b]0;owned".replace(';', r"\x3b").as_str()), "{text}");
    }
}
