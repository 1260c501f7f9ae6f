//! A flame graph of the drivers' faults, as an SVG that needs nothing else: browsers zoom and search in it.
//!
//! Each frame is as wide as the time, or the number, of the faults under it; the last one is their kind, in a colour of
//! its own. Functions are pale, so that the kinds stand out.

mod colours;
mod nothing;

use std::io::Write;

use inferno::flamegraph::{
    Options, TextTruncateDirection,
    color::{BackgroundColor, Color, PaletteMap},
    from_lines,
};

use super::{
    folded, inert,
    missing::missing,
    samples::{By, Samples, Total},
    units,
};
use crate::recording::Recording;

/// Longer names of executables are shortened in the title.
const EXE: usize = 60;
/// The subtitle is one line.
const SUBTITLE: usize = 170;

/// Writes it. Its root is the summary's `in_faults_ns`, or `faults`, of all processes.
///
/// # Errors
/// When the recording can't be read any more, or nothing can be written.
pub fn write(recording: &Recording, by: By, out: &mut dyn Write) -> anyhow::Result<()> {
    let samples = Samples::collect(recording)?;
    let stacks = folded::stacks(recording, &samples, by);
    let (title, subtitle) = (title(recording, by), subtitle(recording, &samples));
    if stacks.is_empty() {
        return nothing::write(&title, &subtitle, out);
    }
    let mut colours = PaletteMap::default();
    stacks.keys().for_each(|stack| colours::add(&mut colours, stack));
    let lines: Vec<String> = stacks.iter().map(|(stack, number)| format!("{stack} {number}")).collect();
    let mut options = Options::default();
    options.title = title;
    options.subtitle = Some(subtitle);
    options.count_name = unit(by).to_owned();
    options.bgcolors = Some(BackgroundColor::Flat(Color::new(0xfa, 0xfa, 0xfa)));
    options.palette_map = Some(&mut colours);
    options.text_truncate_direction = TextTruncateDirection::Right;
    from_lines(&mut options, lines.iter().map(String::as_str), out)?;
    Ok(())
}

fn unit(by: By) -> &'static str {
    match by {
        By::Time => "ns",
        By::Count => "faults",
    }
}

fn title(recording: &Recording, by: By) -> String {
    let what = match by {
        By::Time => "Time in page faults inside pauses (ns)",
        By::Count => "Page faults inside pauses (how many)",
    };
    match recording.processes.as_slice() {
        [recorded] => {
            let target = &recorded.process.target;
            format!("{what}: {}, process {}", inert::short(&target.exe, EXE), target.pid)
        }
        more => format!("{what}: {} processes", more.len()),
    }
}

/// Totals, where, and what is missing.
fn subtitle(recording: &Recording, samples: &Samples) -> String {
    let Total { count, ns } = samples.total();
    let pauses: u64 = recording.processes.iter().map(|recorded| recorded.report.summary.pauses).sum();
    let mut words = format!(
        "{}, {} in {}",
        units::counted(count, "fault", "faults"),
        units::duration(ns),
        units::counted(pauses, "complete pause", "complete pauses"),
    );
    if !recording.header.host.name.is_empty() {
        words.push_str(&format!(" on {}", inert::short(&recording.header.host.name, EXE)));
    }
    for what in missing(recording, samples.without_details()) {
        words.push_str("; incomplete: ");
        words.push_str(&what);
    }
    inert::short(&words, SUBTITLE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{fixtures, model::Report};

    fn svg(reports: &[Report], by: By) -> String {
        let (_file, recording) = fixtures::recorded(reports);
        let mut out = Vec::new();
        write(&recording, by, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn parse(svg: &str) -> roxmltree::Document<'_> {
        let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
        roxmltree::Document::parse_with_options(svg, options).unwrap()
    }

    fn texts(svg: &roxmltree::Document<'_>, tag: &str) -> Vec<String> {
        let nodes = svg.descendants().filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", tag)));
        nodes.filter_map(|node| node.text().map(str::to_owned)).collect()
    }

    #[test]
    fn the_root_is_the_total() {
        let reports = [fixtures::story(), fixtures::story()];
        let total: u64 = reports.iter().map(|report| report.summary.in_faults_ns).sum();
        let faults: u64 = reports.iter().map(|report| report.summary.faults).sum();
        for (by, total) in
            [(By::Time, format!("{} ns", units::count(total))), (By::Count, format!("{faults} faults"))]
        {
            let svg = svg(&reports, by);
            let svg = parse(&svg);
            let titles = texts(&svg, "title");
            let root: Vec<_> = titles.iter().filter(|title| title.starts_with("all (")).collect();
            assert_eq!(root, [&format!("all ({total}, 100%)")]);
        }
    }

    #[test]
    fn title_and_subtitle_say_what_it_is_and_what_is_missing() {
        let mut report = fixtures::story();
        report.pauses[0].stacks.truncate(1);
        let svg = svg(&[report], By::Time);
        let svg = parse(&svg);
        let texts = texts(&svg, "text");
        assert_eq!(texts[0], "Time in page faults inside pauses (ns): /srv/api/bin/api, process 4242");
        let missing = "incomplete: 11 faults (1.89 ms) without details: [details dropped]";
        assert_eq!(texts[1], format!("237 faults, 39.1 ms in 1,204 complete pauses on host-1; {missing}"));
        let titles = self::texts(&svg, "title");
        assert!(
            titles.iter().any(|title| title.starts_with("[details dropped] (1,893,000 ns")),
            "{titles:?}"
        );
    }

    #[test]
    fn the_same_recording_makes_the_same_picture() {
        let reports = [fixtures::story()];
        assert_eq!(svg(&reports, By::Time), svg(&reports, By::Time));
    }

    #[test]
    fn hostile_names_are_inert() {
        let svg = svg(&[fixtures::hostile()], By::Time);
        assert!(!svg.contains(|c: char| c.is_control() && c != '\n'), "control characters");
        let svg = parse(&svg);
        let titles = texts(&svg, "title");
        assert!(
            titles.iter().any(|title| title.contains(r"\x1b[2J") && title.contains("<a b>")),
            "{titles:?}"
        );
        let known =
            ["svg", "defs", "linearGradient", "stop", "style", "script", "rect", "text", "g", "title"];
        for node in svg.descendants().filter(roxmltree::Node::is_element) {
            assert!(known.contains(&node.tag_name().name()), "{node:?}");
        }
    }

    #[test]
    fn without_faults_it_says_so() {
        let svg = svg(&[fixtures::no_pauses()], By::Time);
        let svg = parse(&svg);
        assert!(texts(&svg, "text").iter().any(|text| text == "no faults in complete pauses"));
    }
}
