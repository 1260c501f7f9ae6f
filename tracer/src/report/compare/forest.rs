//! A forest plot: for each measure how many times A it is on B, with its interval, on a logarithmic scale.

use crate::compare::{Comparison, Group, Measure, Unit, Verdict};

use super::{escape::escape, format};

/// Rows that are drawn at most.
const MOST_ROWS: usize = 40;
const ROW: f64 = 24.0;
const TOP: f64 = 30.0;
/// Where the scale begins and ends, in percent of the picture, which is as wide as the page lets it be.
const LEFT: f64 = 4.0;
const RIGHT: f64 = 96.0;
/// The scale reaches this far at most, whatever the ratios are.
const MOST: f64 = 1000.0;

/// The plot: names on the left, the picture on the right, row by row.
pub(super) fn forest(comparison: &Comparison) -> String {
    let rows: Vec<&Measure> = comparison
        .measures
        .iter()
        .filter(|measure| measure.ratio.is_some_and(|ratio| ratio > 0.0) && is_drawn(measure))
        .take(MOST_ROWS)
        .collect();
    if rows.is_empty() {
        return "<p>There is nothing of which B is a multiple of A.</p>".to_owned();
    }
    let scale = Scale::of(&rows);
    let height = TOP + ROW * rows.len() as f64 + 6.0;
    let mut names = String::new();
    let mut marks = String::new();
    for (index, measure) in rows.iter().enumerate() {
        let name = name(measure, &comparison.window);
        names.push_str(&format!("<li title=\"{0}\">{0}</li>", escape(&name)));
        marks.push_str(&mark(measure, &name, TOP + ROW * (index as f64 + 0.5), &scale));
    }
    format!(
        "<div class=\"forest\"><ol class=\"names\" style=\"padding-top:{TOP}px\">{names}</ol><svg role=\"img\" \
         aria-label=\"B as a multiple of A, with 95 % intervals\" width=\"100%\" height=\"{height}\">{}{marks}</svg></div>",
        scale.draw(height)
    )
}

fn is_drawn(measure: &Measure) -> bool {
    match measure.group {
        Group::Pauses | Group::Time => measure.unit != Unit::NsPerSecond,
        Group::Faults | Group::Kind | Group::Region | Group::Path => {
            matches!(measure.unit, Unit::PerPause | Unit::NsPerPause)
        }
        Group::Budget => false,
    }
}

/// The measure in words, with what it is per.
pub(super) fn name(measure: &Measure, window: &str) -> String {
    let per = format::per(measure.unit, window);
    if per.is_empty() || measure.words.ends_with(&per) {
        measure.words.clone()
    } else {
        format!("{}, {per}", measure.words)
    }
}

/// From a ratio to a place.
struct Scale {
    reach: f64,
}

impl Scale {
    /// As far as any ratio or end of an interval, to the next step, to both sides.
    fn of(rows: &[&Measure]) -> Self {
        let far = |ratio: f64| if ratio > 0.0 { ratio.max(1.0 / ratio) } else { MOST };
        let ends = rows.iter().flat_map(|measure| {
            let interval = measure.ratio_interval.unwrap_or_default();
            [measure.ratio, interval[0], interval[1]].into_iter().flatten()
        });
        let furthest = ends.map(far).fold(1.1, f64::max).min(MOST);
        let steps = [1.25, 2.0, 5.0, 10.0, 30.0, 100.0, 300.0, MOST];
        Self { reach: steps.into_iter().find(|step| furthest <= *step).unwrap_or(MOST) }
    }

    fn x(&self, ratio: f64) -> f64 {
        let part = (ratio.clamp(1.0 / self.reach, self.reach).ln() / self.reach.ln() + 1.0) / 2.0;
        LEFT + part * (RIGHT - LEFT)
    }

    fn draw(&self, height: f64) -> String {
        let middle = self.x(1.0);
        let mut out = String::new();
        for tick in [1.0 / self.reach, self.reach.sqrt().recip(), 1.0, self.reach.sqrt(), self.reach] {
            let x = self.x(tick);
            let class = if (x - middle).abs() < 0.01 { "one" } else { "tick" };
            // The outermost numbers stand inside.
            let anchor = match tick {
                tick if tick * self.reach < 1.01 => "start",
                tick if tick > self.reach * 0.99 => "end",
                _ => "middle",
            };
            let at = match anchor {
                "start" => 0.0,
                "end" => 100.0,
                _ => x,
            };
            // On a narrow screen there is no room for these.
            let between = if anchor == "middle" && class == "tick" { " class=\"between\"" } else { "" };
            out.push_str(&format!(
                "<line class=\"{class}\" x1=\"{x:.2}%\" x2=\"{x:.2}%\" y1=\"{}\" y2=\"{height}\"/><text{between} \
                 x=\"{at:.2}%\" y=\"14\" text-anchor=\"{anchor}\">{}</text>",
                TOP - 8.0,
                times(tick)
            ));
        }
        out
    }
}

/// `1/5`, `1 ×`, `5 ×`.
fn times(tick: f64) -> String {
    if (tick - 1.0).abs() < 1e-6 {
        return "1 ×".to_owned();
    }
    let number = format::number(tick.max(1.0 / tick));
    if tick < 1.0 { format!("1/{number}") } else { format!("{number} ×") }
}

fn mark(measure: &Measure, name: &str, y: f64, scale: &Scale) -> String {
    let Some(ratio) = measure.ratio else { return String::new() };
    let class = class(measure.verdict);
    let title = format!(
        "{name}: B is {} A{}; {}",
        format::ratio(measure),
        measure
            .ratio_interval
            .map_or_else(String::new, |_| format!(" [{}]", format::ratio_interval(measure))),
        measure.verdict.words()
    );
    let line = measure.ratio_interval.map_or_else(String::new, |[low, high]| {
        let (from, to) = (scale.x(low.unwrap_or(0.0)), scale.x(high.unwrap_or(f64::INFINITY)));
        format!("<line class=\"interval\" x1=\"{from:.2}%\" x2=\"{to:.2}%\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>")
    });
    let x = scale.x(ratio);
    let size = if measure.is_headline { 6.0 } else { 4.0 };
    format!(
        "<g class=\"{class}\"><title>{}</title>{line}<rect x=\"{x:.2}%\" y=\"{:.1}\" width=\"{w}\" height=\"{w}\" \
         transform=\"translate(-{size} 0)\"/></g>",
        escape(&title),
        y - size,
        w = 2.0 * size
    )
}

/// The class that colours it. Where no difference is shown the mark is hollow, and the tables have words.
pub(super) fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Worse => "worse",
        Verdict::Better => "better",
        Verdict::Mixed => "mixed",
        Verdict::Higher | Verdict::Lower => "other",
        Verdict::NoDifferenceShown => "none",
    }
}
