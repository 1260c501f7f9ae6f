//! A comparison as one page for browsers, which loads nothing and runs nothing.

use crate::{
    compare::{Comparison, Group, Measure, RunAbout, UnlikeValue, Verdict},
    report::units,
};

use super::{
    escape::escape,
    forest::{class, forest, name},
    format,
};

/// What the page may do: show itself.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
const STYLE: &str = include_str!("html.css");

/// The page.
#[must_use]
pub fn render(comparison: &Comparison) -> String {
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" \
         content=\"{POLICY}\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>pauselens: \
         two sides compared</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n"
    );
    let sides = &comparison.sides;
    let runs = |runs: &[RunAbout]| units::counted(runs.len() as u64, "run", "runs");
    out.push_str(&format!(
        "<h1>{} (B) compared with {} (A)</h1>\n",
        runs(&sides.b.runs),
        runs(&sides.a.runs)
    ));
    unlike(&mut out, comparison);
    verdict(&mut out, comparison);
    out.push_str(&format!("<h2>B as a multiple of A</h2>\n{}\n", forest(comparison)));
    for (group, title) in Group::TITLED {
        table(&mut out, comparison, group, title);
    }
    about(&mut out, comparison);
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

fn verdict(out: &mut String, comparison: &Comparison) {
    let headline = &comparison.headline;
    out.push_str(&format!(
        "<section class=\"verdict {}\" aria-label=\"Verdict\"><strong>{}</strong><p>{}</p></section>\n",
        class(headline.verdict),
        escape(headline.verdict.words()),
        escape(&headline.why)
    ));
    for note in &comparison.notes {
        out.push_str(&format!("<p class=\"dim\">{}</p>\n", escape(note)));
    }
}

fn unlike(out: &mut String, comparison: &Comparison) {
    if comparison.unlike.is_empty() {
        return;
    }
    let values = |values: &[UnlikeValue]| {
        let several = values.len() > 1;
        let words = values.iter().map(|value| {
            let runs = if several { format!(" ({})", value.runs) } else { String::new() };
            format!("{}{runs}", escape(&value.value))
        });
        words.collect::<Vec<_>>().join("<br>")
    };
    out.push_str(
        "<h2>What is not alike</h2>\n<div class=\"scroll\" tabindex=\"0\"><table><thead><tr><th class=\"name\">what</th>\
         <th class=\"name\">A</th><th class=\"name\">B</th><th class=\"name\">why it matters</th></tr></thead><tbody>\n",
    );
    for it in &comparison.unlike {
        out.push_str(&format!(
            "<tr><td class=\"name\">{}</td><td class=\"name\">{}</td><td class=\"name\">{}</td><td class=\"name\">{}</td></tr>\n",
            escape(&it.what),
            values(&it.a),
            values(&it.b),
            escape(&it.why)
        ));
    }
    out.push_str("</tbody></table></div>\n");
}

fn table(out: &mut String, comparison: &Comparison, group: Group, title: &str) {
    let measures: Vec<&Measure> =
        comparison.measures.iter().filter(|measure| measure.group == group).collect();
    if measures.is_empty() {
        return;
    }
    out.push_str(&format!(
        "<h2>{title}</h2>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{title}\"><table><thead><tr>\
         <th class=\"name\">measure</th><th>A, median</th><th>runs</th><th>B, median</th><th>runs</th><th>B − A</th>\
         <th>95 % interval</th><th>B / A</th><th>95 % interval</th><th>p</th><th>adjusted</th><th>B is</th></tr></thead>\
         <tbody>\n"
    ));
    let mut known: Option<&Vec<String>> = None;
    for measure in measures {
        let frames = measure.frames.as_ref().filter(|frames| known != Some(frames));
        known = measure.frames.as_ref().or(known);
        row(out, measure, frames, &comparison.window);
    }
    out.push_str("</tbody></table></div>\n");
}

fn row(out: &mut String, measure: &Measure, frames: Option<&Vec<String>>, window: &str) {
    let unit = measure.unit;
    let p = |p: Option<f64>| p.map_or_else(String::new, format::p);
    let interval = measure.difference_interval.map_or_else(String::new, |[low, high]| {
        format!("{} to {}", format::difference(unit, Some(low)), format::difference(unit, Some(high)))
    });
    let cells = [
        format::value(unit, measure.a.median),
        format::range_of(unit, &measure.a),
        format::value(unit, measure.b.median),
        format::range_of(unit, &measure.b),
        format::difference(unit, measure.difference),
        interval,
        format::ratio(measure),
        format::ratio_interval(measure),
        p(measure.p),
        p(measure.p_adjusted),
    ];
    let cells: String = cells.iter().map(|cell| format!("<td>{}</td>", escape(cell))).collect();
    let path = frames.map_or_else(String::new, |frames| {
        let frames: String =
            frames.iter().map(|frame| format!("<li class=\"mono\">{}</li>", escape(frame))).collect();
        format!("<details><summary>code path</summary><ol class=\"frames\">{frames}</ol></details>")
    });
    let verdict = match (measure.verdict, measure.alone) {
        (Verdict::NoDifferenceShown, Verdict::NoDifferenceShown) => measure.verdict.words().to_owned(),
        (Verdict::NoDifferenceShown, alone) => {
            format!("no difference shown ({} were it alone)", alone.words())
        }
        (verdict, _) => verdict.words().to_owned(),
    };
    out.push_str(&format!(
        "<tr{}><td class=\"name\">{}{path}</td>{cells}<td class=\"said {}\" title=\"{}\">{}</td></tr>\n",
        if measure.is_headline { " class=\"headline\"" } else { "" },
        escape(&name(measure, window)),
        class(measure.verdict),
        escape(&measure.why),
        escape(&verdict)
    ));
}

fn about(out: &mut String, comparison: &Comparison) {
    out.push_str(
        "<h2>Runs</h2>\n<div class=\"scroll\" tabindex=\"0\"><table><thead><tr><th class=\"name\">recording</th><th>side</th>\
         <th>watched</th><th>pauses</th><th class=\"name\">program</th><th class=\"name\">host</th>\
         <th class=\"name\">what is missing</th></tr></thead><tbody>\n",
    );
    for (name, side) in [("A", &comparison.sides.a), ("B", &comparison.sides.b)] {
        for run in &side.runs {
            out.push_str(&format!(
                "<tr><td class=\"name mono\">{}</td><td>{name}</td><td>{}</td><td>{}</td><td class=\"name\">{} {}</td>\
                 <td class=\"name\">{} {}</td><td class=\"name\">{}</td></tr>\n",
                escape(&run.file),
                units::duration(run.covered_ns),
                units::count(run.pauses),
                escape(&run.exe),
                escape(&run.runtime),
                escape(&run.host),
                escape(&run.kernel),
                if run.partial.is_empty() { "nothing".to_owned() } else { escape(&run.partial.join("; ")) }
            ));
        }
    }
    let method = &comparison.method;
    out.push_str(&format!(
        "</tbody></table></div>\n<p class=\"dim\">Seed {}, {} resamples, intervals of {:.0} %. p: how often runs put into two \
         groups at random differ as much; adjusted: for the {} measures of the verdict, or for the other {}. A verdict \
         needs an adjusted p of at most {}, an interval without 0, and a difference of at least {:.0} %. See \
         docs/compare.md. {} {}.</p>\n",
        method.seed,
        method.resamples,
        method.confidence * 100.0,
        comparison.headline.measures.len(),
        method.other_measures,
        method.largest_p,
        method.smallest_difference * 100.0,
        escape(&comparison.tool.name),
        escape(&comparison.tool.version)
    ));
}
