//! The page: its frame, style, scripts, words and data in one text.

use std::fmt::Write as _;

use anyhow::{Context as _, Result};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use sha2::{Digest as _, Sha256};

use super::{data::Data, escape, prose};
use crate::recording::Recording;

/// The frame: what stands in `{{...}}` is filled in, in this order.
const FRAME: &str = include_str!("assets/page.html");
const STYLE: &str = include_str!("assets/style.css");

/// The scripts, each with one task; those that need others come behind them.
const SCRIPTS: [&str; 15] = [
    include_str!("assets/begin.js"),
    include_str!("assets/format.js"),
    include_str!("assets/dom.js"),
    include_str!("assets/colours.js"),
    include_str!("assets/canvas.js"),
    include_str!("assets/shared.js"),
    include_str!("assets/timeline.js"),
    include_str!("assets/bars.js"),
    include_str!("assets/scatter.js"),
    include_str!("assets/histogram.js"),
    include_str!("assets/memory.js"),
    include_str!("assets/flame.js"),
    include_str!("assets/table.js"),
    include_str!("assets/pause.js"),
    include_str!("assets/main.js"),
];

/// Up to so many processes have their words on the page; the others are in the selector's data only.
const MOST_PROCESSES: usize = 50;

/// The whole page.
///
/// # Errors
/// When the data can't be put into JSON, or the frame lacks a place.
pub(super) fn render(recording: &Recording, data: &Data) -> Result<String> {
    let script = SCRIPTS.concat();
    let json = escape::json(&serde_json::to_string(data).context("the page's data can't be put into JSON")?);
    let (mut above, mut below) = (String::new(), String::new());
    for process in data.processes.iter().take(MOST_PROCESSES) {
        let Some(recorded) = recording.process(process.process) else { continue };
        let label = escape::markup(&process.title);
        for (out, part, words) in
            [(&mut above, "above", prose::above(recorded)), (&mut below, "below", prose::below(recorded))]
        {
            _ = writeln!(
                out,
                "<section class=\"process {part}\" data-process=\"{}\" aria-label=\"{label}\">\n{words}</section>",
                process.process
            );
        }
    }
    if data.processes.is_empty() {
        above.push_str("<header class=\"headline\"><h1>The recording holds no process that could be reported on.</h1></header>\n");
    }
    below.push_str(&prose::recording(recording));
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; base-uri 'none'; form-action 'none'",
        hash(&script),
        hash(STYLE)
    );
    // One after the other, so that nothing in a name is ever taken for a place to fill in.
    let mut page = String::with_capacity(
        FRAME.len() + STYLE.len() + script.len() + json.len() + above.len() + below.len(),
    );
    let mut rest = FRAME;
    let title = escape::markup(&prose::title(recording));
    for (place, text) in [
        ("{{policy}}", policy.as_str()),
        ("{{title}}", &title),
        ("{{style}}", STYLE),
        ("{{above}}", &above),
        ("{{below}}", &below),
        ("{{data}}", &json),
        ("{{script}}", &script),
    ] {
        let (before, after) =
            rest.split_once(place).with_context(|| format!("the page's frame has no {place}"))?;
        page.push_str(before);
        page.push_str(text);
        rest = after;
    }
    page.push_str(rest);
    Ok(page)
}

/// What lets this text be run or applied, and no other.
fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text.as_bytes())))
}
