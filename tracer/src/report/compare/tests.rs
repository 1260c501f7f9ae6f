//! Whole comparisons, from recordings to what is read.

use std::path::Path;

use tempfile::NamedTempFile;

use super::{Per, flame, render_html, render_json};
use crate::{
    compare::{Compared, Comparison, Error, Input, Options, PickError, Verdict, compare},
    report::{
        fixtures,
        model::{Kind, Report},
        samples::By,
        text::{Style, render_comparison},
    },
};

const OPTIONS: Options = Options { process: None, seed: 1, smallest_difference: 0.05 };

/// A minute with twelve pauses, one of them long; `fault_us` is what each of its faults took.
fn report(pid: u32, fault_us: u64) -> Report {
    let mut report = fixtures::empty();
    report.target.pid = pid;
    for id in 1..=12 {
        let faults = if id == 7 { 150 } else { 2 };
        let in_faults = faults * (fault_us + u64::from(pid) % 7) * 1_000;
        let mut pause = fixtures::pause(
            id,
            "GC mark termination",
            id as i64 * 1_000_000_000,
            40_000 + id * 500 + in_faults,
        );
        fixtures::add_faults(&mut pause, Kind::SwapIn, faults, in_faults, 0);
        report.pauses.push(pause);
    }
    fixtures::sum_up(&mut report);
    let mut lengths: Vec<_> = report.pauses.iter().filter_map(|pause| pause.duration_ns).collect();
    lengths.sort_unstable();
    report.summary.median_ns = Some(lengths[5]);
    report.summary.p90_ns = Some(lengths[10]);
    report
}

/// Sides, and the files that they are read from.
struct Files {
    files: Vec<NamedTempFile>,
}

impl Files {
    fn side(&mut self, runs: &[Vec<Report>]) -> Vec<Input> {
        let mut inputs = Vec::new();
        for run in runs {
            let (file, mut recording) = fixtures::recorded(run);
            recording.path = Path::new("/srv/runs").join(format!("{}.jsonl.zst", self.files.len() + 1));
            self.files.push(file);
            inputs.push(Input { recording });
        }
        inputs
    }
}

fn compared(a: &[Vec<Report>], b: &[Vec<Report>], options: &Options) -> Result<Compared, Error> {
    let mut files = Files { files: Vec::new() };
    let (a, b) = (files.side(a), files.side(b));
    compare(&a, &b, options)
}

fn runs(count: u32, fault_us: u64) -> Vec<Vec<Report>> {
    (0..count).map(|run| vec![report(4_000 + run, fault_us)]).collect()
}

fn worse() -> Compared {
    compared(&runs(5, 10), &runs(5, 80), &OPTIONS).unwrap()
}

/// With `UPDATE_EXPECTED=1` the files are written instead of compared, to be read before they are kept.
fn check(name: &str, comparison: &Comparison, style: &Style) {
    let text = render_comparison(comparison, style);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/report/compare/expected").join(name);
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    for line in text.lines() {
        assert!(line.chars().count() <= style.width.clamp(60, 100), "too wide: {line}");
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    assert!(text == expected, "{} differs; it is now:\n{text}", path.display());
}

const PLAIN: Style = Style { colour: false, width: 100, verbose: false };

#[test]
fn worse_as_text() {
    let compared = worse();
    assert_eq!(compared.comparison.headline.verdict, Verdict::Worse);
    check("worse.txt", &compared.comparison, &PLAIN);
    check("worse_narrow.txt", &compared.comparison, &Style { width: 60, ..PLAIN });
    check("worse_verbose.txt", &compared.comparison, &Style { verbose: true, ..PLAIN });
}

#[test]
fn one_run_on_each_side_as_text() {
    let mut other = report(4_001, 80);
    other.target.exe = "/srv/api/bin/other".to_owned();
    other.target.build_id = Some("77aa01".to_owned());
    other.trace.duration_ns *= 2;
    other.trace.complete = false;
    other.trace.incomplete = vec!["details of 12 faults were dropped".to_owned()];
    let compared = compared(&runs(1, 10), &[vec![other]], &OPTIONS).unwrap();
    assert_eq!(compared.comparison.headline.verdict, Verdict::NoDifferenceShown);
    assert!(compared.is_partial());
    let unlike: Vec<_> = compared.comparison.unlike.iter().map(|it| it.what.as_str()).collect();
    assert_eq!(unlike, ["program", "build id", "recordings", "time watched"]);
    check("one_run.txt", &compared.comparison, &PLAIN);
}

#[test]
fn the_other_way_round_it_is_better() {
    let compared = compared(&runs(5, 80), &runs(5, 10), &OPTIONS).unwrap();
    assert_eq!(compared.comparison.headline.verdict, Verdict::Better);
}

#[test]
fn a_run_counts_once() {
    let twice = vec![vec![report(4_000, 10)], vec![report(4_000, 10)]];
    let error = compared(&twice, &runs(1, 10), &OPTIONS).unwrap_err();
    assert!(matches!(error, Error::Twice { .. }), "{error}");
    // The same on both sides is a comparison with itself.
    let same = compared(&runs(4, 10), &runs(4, 10), &OPTIONS).unwrap();
    assert_eq!(same.comparison.headline.verdict, Verdict::NoDifferenceShown);
    assert!(same.comparison.measures.iter().all(|measure| measure.verdict == Verdict::NoDifferenceShown));
}

#[test]
fn of_several_processes_the_program_that_all_have_is_compared() {
    let other = |pid| {
        let mut other = report(pid, 500);
        other.target.exe = "/usr/bin/other".to_owned();
        other
    };
    let a = vec![vec![report(1, 10), other(2), report(3, 10)]];
    let b = vec![vec![report(4, 10)]];
    let found = compared(&a, &b, &OPTIONS).unwrap();
    assert_eq!(found.comparison.sides.a.runs[0].pids, [1, 3]);
    let pauses = &found.comparison.measures[0];
    assert_eq!((pauses.a.median, pauses.b.median), (Some(24.0), Some(12.0)));
    let rate = found.comparison.measures.iter().find(|measure| measure.id == "pauses_per_s").unwrap();
    assert_eq!(rate.ratio, Some(1.0), "watched time is added up as well");

    let both = vec![vec![report(4, 10), other(5)]];
    let error = compared(&a, &both, &OPTIONS).unwrap_err();
    assert!(matches!(error, Error::Pick(PickError::Several { .. })), "{error}");
    assert!(error.to_string().contains("--process"), "{error}");
    for named in ["/usr/bin/other", "other"] {
        let options = Options { process: Some(named.to_owned()), ..OPTIONS };
        let found = compared(&a, &both, &options).unwrap();
        assert_eq!(found.comparison.sides.a.runs[0].pids, [2]);
        assert_eq!(found.comparison.sides.b.runs[0].pids, [5]);
    }
    let options = Options { process: Some("nothing".to_owned()), ..OPTIONS };
    let error = compared(&a, &both, &options).unwrap_err().to_string();
    assert!(error.contains("holds no process \"nothing\", but /srv/api/bin/api (pid 1)"), "{error}");
}

#[test]
fn json_is_the_model() {
    let compared = worse();
    let json = render_json(&compared.comparison).unwrap();
    let read: Comparison = serde_json::from_str(&json).unwrap();
    assert_eq!((&read.headline, &read.sides), (&compared.comparison.headline, &compared.comparison.sides));
    // Reading a number again can change its last digit.
    for (read, given) in read.measures.iter().zip(&compared.comparison.measures) {
        let near = |one: Option<f64>, other: Option<f64>| match (one, other) {
            (Some(one), Some(other)) => (one - other).abs() <= other.abs() * 1e-12,
            (one, other) => one == other,
        };
        assert!(near(read.a.median, given.a.median) && near(read.ratio, given.ratio), "{}", given.id);
        assert_eq!((&read.id, read.verdict, &read.frames), (&given.id, given.verdict, &given.frames));
    }
    assert!(json.starts_with("{\n  \"schema\": \"pauselens.compare/1\","), "{}", &json[..60]);
}

fn hostile() -> Compared {
    compared(&[vec![fixtures::hostile()]], &[vec![fixtures::hostile()]], &OPTIONS).unwrap()
}

#[test]
fn hostile_names_are_inert() {
    let compared = hostile();
    let text = render_comparison(&compared.comparison, &Style { verbose: true, ..PLAIN });
    assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
    let html = render_html(&compared.comparison);
    assert!(!html.contains(|c: char| c.is_control() && c != '\n'));
    let known = [
        "!doctype", "html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "p", "section",
        "strong", "div", "ol", "li", "svg", "line", "text", "g", "rect", "table", "thead", "tbody", "tr",
        "th", "td", "details", "summary", "br",
    ];
    for tag in html.split('<').skip(1) {
        let name = tag
            .trim_start_matches('/')
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '!')
            .next()
            .unwrap();
        assert!(known.contains(&name), "<{name}");
    }
    let svg = flame(&compared, By::Count, Per::Second).unwrap();
    assert!(!svg.contains(|c: char| c.is_control() && c != '\n'));
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    let svg = roxmltree::Document::parse_with_options(&svg, options).unwrap();
    let known = ["svg", "defs", "linearGradient", "stop", "style", "script", "rect", "text", "g", "title"];
    for node in svg.descendants().filter(roxmltree::Node::is_element) {
        assert!(known.contains(&node.tag_name().name()), "{node:?}");
    }
}

#[test]
fn the_page_loads_nothing_and_runs_nothing() {
    let html = render_html(&worse().comparison);
    for never in ["<script", "http:", "https:", "url(", "@import", " onload", "javascript:"] {
        assert!(!html.contains(never), "{never}");
    }
    assert!(html.contains("default-src 'none'"));
    assert!(html.contains("<strong>worse</strong>"));
    assert_eq!(
        html.matches("class=\"interval\"").count(),
        html.matches("<rect").count(),
        "each has its interval"
    );
}

#[test]
fn the_flame_graph_is_of_b_and_says_per_what() {
    let compared = worse();
    let swap_ins =
        &compared.comparison.measures.iter().find(|measure| measure.id == "faults.ns_per_pause").unwrap().b;
    let mean = swap_ins.runs.iter().flatten().sum::<f64>() / 5.0;
    let svg = flame(&compared, By::Time, Per::Pause).unwrap();
    let root = svg.split("<title>all (").nth(1).unwrap().split(' ').next().unwrap().replace(',', "");
    assert!((root.parse::<f64>().unwrap() / mean - 1.0).abs() < 1e-3, "{root} against {mean}");
    assert!(svg.contains("time in faults per pause"));
    let svg = flame(&compared, By::Count, Per::Second).unwrap();
    assert!(svg.contains("faults per second of watched time"));
}

#[test]
fn without_faults_there_is_no_flame_graph() {
    let none = |pid| {
        let mut report = fixtures::no_pauses();
        report.target.pid = pid;
        vec![report]
    };
    let compared = compared(&[none(1)], &[none(2)], &OPTIONS).unwrap();
    assert!(flame(&compared, By::Time, Per::Pause).is_err());
    assert!(render_html(&compared.comparison).contains("There is nothing of which B is a multiple of A"));
    assert_eq!(compared.comparison.headline.verdict, Verdict::NoDifferenceShown);
    assert!(render_comparison(&compared.comparison, &PLAIN).contains("no difference shown"));
}
