//! The demo target's own account of its pauses against what pauselens saw.

use std::collections::BTreeMap;

use anyhow::Context as _;

use super::target::stats::{PauseStats, Stats};
use crate::report::model::{Pause, Report};

/// In the target's account: swap-ins and swap-cache hits together.
const SWAP: &str = "swap";

/// What the comparison came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// For people.
    pub text: String,
    /// Every count of every pause is the same.
    pub agrees: bool,
}

/// Compares pause by pause.
///
/// # Errors
/// When the account is not the target's JSON line.
pub fn compare(report: &Report, account: &str) -> anyhow::Result<Comparison> {
    let line = account.lines().rev().find(|line| line.starts_with('{')).unwrap_or_default();
    let stats: Stats = serde_json::from_str(line).context("the demo target's account can't be read")?;
    let mut pauses: Vec<&Pause> = report.pauses.iter().collect();
    pauses.sort_by_key(|pause| pause.id);

    // Where the kernel batches its counters only the sum of a pause's faults can be held against the account.
    let kinds_exact = report.trace.plan.iter().any(|step| step.need == "fault kind" && step.used);

    let mut totals: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let mut differing = Vec::new();
    for (number, expected) in stats.pauses.iter().enumerate() {
        let counted = pauses.get(number).map(|pause| counts(pause)).unwrap_or_default();
        let expected = expected_counts(expected);
        let differ = if kinds_exact { counted != expected } else { sum(&counted) != sum(&expected) };
        if differ {
            differing.push(format!("  pause {}: made {expected:?}, saw {counted:?}\n", number + 1));
        }
        for (kind, count) in expected {
            totals.entry(kind).or_default().0 += count;
        }
        for (kind, count) in counted {
            totals.entry(kind).or_default().1 += count;
        }
    }
    let agrees = differing.is_empty() && pauses.len() as u64 == stats.total_pauses;
    let mut text = String::from("\nThe demo target's own account against the trace:\n");
    text.push_str(&row("", "made", "seen"));
    text.push_str(&row("pauses", &stats.total_pauses.to_string(), &pauses.len().to_string()));
    for (kind, (made, seen)) in &totals {
        text.push_str(&row(kind, &made.to_string(), &seen.to_string()));
    }
    for reason in &stats.left_out {
        text.push_str(&format!("  left out: {reason}\n"));
    }
    text.push_str(match (agrees, kinds_exact) {
        (true, true) => "Every count of every pause is the same.\n",
        (true, false) => {
            "Every pause has as many faults; the kinds are inferred on this kernel (before Linux 6.2).\n"
        }
        (false, _) => "THEY DIFFER:\n",
    });
    differing.iter().take(10).for_each(|line| text.push_str(line));
    Ok(Comparison { text, agrees })
}

fn sum(counts: &BTreeMap<String, u64>) -> u64 {
    counts.values().sum()
}

fn row(kind: &str, made: &str, seen: &str) -> String {
    format!("  {kind:<16} {made:>8} {seen:>8}\n")
}

/// What the trace saw, in the account's words.
fn counts(pause: &Pause) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for (kind, total) in &pause.by_kind {
        let word = match kind.word() {
            "swap_in" | "swap_cache" => SWAP,
            word => word,
        };
        *counts.entry(word.to_owned()).or_default() += total.count;
    }
    counts
}

/// What the target made. The page in which the kernel steps probed instructions is the tracer's own doing: it appears
/// as one more fault, of the kind that the kernel gives it.
fn expected_counts(pause: &PauseStats) -> BTreeMap<String, u64> {
    let mut expected: BTreeMap<String, u64> = pause
        .expected
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(kind, count)| (kind.clone(), *count))
        .collect();
    if let Some(pages) = pause.probe_page_faults.filter(|pages| *pages > 0) {
        *expected.entry("other".to_owned()).or_default() += pages;
    }
    expected
}
