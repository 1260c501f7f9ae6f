//! The page as a whole: what it holds, how large it is, and that names in it are inert.

use serde_json::Value;

use super::write;
use crate::{
    recording::fixtures::recording,
    report::{fixtures, model::Report},
};

/// The page of these processes.
fn page(reports: &[Report]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let recording = recording(reports, &folder.path().join("run.jsonl.zst"));
    let mut out = Vec::new();
    write(&recording, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Its data.
fn data(page: &str) -> Value {
    let (_, rest) = page.split_once(r#"id="data">"#).unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn totals_are_the_summarys() {
    let reports = [fixtures::story(), fixtures::incomplete(), fixtures::workers(), fixtures::no_pauses()];
    for report in reports {
        let data = data(&page(std::slice::from_ref(&report)));
        let process = &data["processes"][0];
        assert_eq!(process["summary"], serde_json::to_value(&report.summary).unwrap());
        assert_eq!(process["flame"]["count"][0], report.summary.faults);
        assert_eq!(process["flame"]["ns"][0], report.summary.in_faults_ns);
        assert_eq!(
            process["pauses"]["of"],
            report.pauses.iter().filter(|pause| pause.duration_ns.is_some()).count()
        );
    }
}

#[test]
fn the_words_are_the_text_reports() {
    let page = page(&[fixtures::story()]);
    let finding = "97.8 % of the worst pause (39.0 of 39.9 ms) was spent reading 228 pages back from swap";
    assert!(page.contains(&format!("<h1>{finding}")), "{}", &page[..page.len().min(9_000)]);
    assert!(page.contains("pid 4242, /srv/api/bin/api, go 1.26.1"));
    assert!(page.contains("<title>pauselens: api (pid 4242), worst pause 39.9 ms</title>"));
    assert!(page.contains("median 51.0 µs"));
}

#[test]
fn nothing_is_loaded_from_anywhere() {
    let page = page(&[fixtures::story()]);
    assert!(page.contains("default-src 'none'; script-src 'sha256-"));
    for loads in [
        "http://",
        "https://",
        "@import",
        "url(",
        " src=",
        "<link",
        "fetch(",
        "XMLHttpRequest",
        "innerHTML",
        "eval(",
    ] {
        assert!(!page.contains(loads), "{loads}");
    }
}

#[test]
fn hostile_names_end_nothing() {
    let nasty = "</script><script>alert(1)</script><img src=x onerror=alert(2)>{{data}}";
    let mut report = fixtures::hostile();
    report.target.exe = nasty.to_owned();
    for pause in &mut report.pauses {
        pause.reason = nasty.to_owned();
        pause.stacks.iter_mut().for_each(|stack| stack.frames[0] = nasty.to_owned());
    }
    report.diagnosis[0].finding = nasty.to_owned();
    let page = page(&[report]);
    assert!(!page.contains("<img") && !page.contains("<script>alert"));
    assert_eq!(page.matches("<script").count(), 2, "data and script");
    assert_eq!(page.matches("</script").count(), 2);
    assert!(page.contains("&lt;/script&gt;&lt;script&gt;alert(1)"));
    let names = data(&page)["names"].clone();
    assert!(names.as_array().unwrap().iter().any(|name| name == nasty), "unharmed in the data");
    assert!(!page.contains(|c: char| c.is_control() && c != '\n'), "no control byte");
}

#[test]
fn any_report_has_a_page() {
    for seed in 0..60 {
        let page = page(&[fixtures::random(seed)]);
        assert!(page.len() < 5_000_000, "{seed}: {}", page.len());
        data(&page);
    }
}

#[test]
fn several_processes_are_in_the_order_of_their_worst_pause() {
    let page = page(&[fixtures::no_pauses(), fixtures::slow_stop(), fixtures::story()]);
    let data = data(&page);
    let numbers: Vec<u64> = data["processes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|process| process["process"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, [3, 2, 1]);
    assert_eq!(page.matches("<section class=\"process above\"").count(), 3);
}

/// Pages to look at: `PAUSELENS_PAGES=FOLDER cargo test -p tracer --lib report::html::tests::pages_to_look_at -- --ignored`.
#[test]
#[ignore = "writes pages for a person to look at"]
fn pages_to_look_at() {
    let Some(folder) = std::env::var_os("PAUSELENS_PAGES") else { panic!("PAUSELENS_PAGES names no folder") };
    let write = |name: &str, reports: &[Report]| {
        std::fs::write(std::path::Path::new(&folder).join(name), page(reports)).unwrap();
    };
    write("story.html", &[fixtures::story()]);
    write("hostile.html", &[fixtures::hostile()]);
    write("workers.html", &[fixtures::workers()]);
    write(
        "several.html",
        &[fixtures::incomplete(), fixtures::slow_stop(), fixtures::partial(), fixtures::no_pauses()],
    );
    write("random.html", &[fixtures::random(5)]);
}
