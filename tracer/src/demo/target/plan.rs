//! Decides which pauses a round has: from the options and from what can be had here, without doing anything.

use anyhow::{Result, bail};

use super::{
    acts::ActKind,
    kinds::{DEFAULT_KINDS, Kind},
    options::Options,
    reasons,
};

/// One pause to be made in every round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlannedPause {
    pub(super) reason: u32,
    /// What the driver touches, in this order.
    pub(super) pages: Vec<(Kind, usize)>,
    /// What the driver does after that.
    pub(super) acts: Vec<ActKind>,
    /// Whether another thread is in a fault when the stop is requested.
    pub(super) with_mutator: bool,
    /// Whether another thread computes when the stop is requested.
    pub(super) with_computing_mutator: bool,
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// The pauses of each round.
    pub(super) pauses: Vec<PlannedPause>,
    /// What a round would have had too, and why it has not.
    pub(super) left_out: Vec<String>,
}

impl Plan {
    /// Whether any pause has faults that are answered by a handler.
    pub(super) fn answers_faults(&self) -> bool {
        let by_driver = |pause: &PlannedPause| pause.pages.iter().any(|(kind, _)| *kind == Kind::Userfault);
        self.pauses.iter().any(|pause| pause.with_mutator || by_driver(pause))
    }
}

/// Makes the plan. `missing` and `missing_act` say why a kind or an act can't be had here.
///
/// # Errors
///
/// A kind or an act that was asked for by name can't be had.
pub(super) fn plan(
    options: &Options,
    page_bytes: usize,
    missing: impl Fn(Kind) -> Option<String>,
    missing_act: impl Fn(ActKind) -> Option<String>,
) -> Result<Plan> {
    let chosen = chosen_pages(options, page_bytes);
    for (kind, _) in &chosen {
        if let Some(reason) = missing(*kind) {
            bail!("--{} can't be had here: {reason}", kind.name());
        }
    }
    let acts = options.acts();
    for act in &acts {
        if let Some(reason) = missing_act(*act) {
            bail!("--{} can't be had here: {reason}", act.name());
        }
    }
    let with_mutator = options.mutator_userfault_delay.is_some();
    if with_mutator && let Some(reason) = missing(Kind::Userfault) {
        bail!("--mutator-userfault-delay can't be had here: {reason}");
    }
    let with_computing_mutator = options.mutator_compute.is_some();
    if !chosen.is_empty() || !acts.is_empty() || with_mutator || with_computing_mutator {
        let reason = reason_of(&chosen);
        let pause = PlannedPause { reason, pages: chosen, acts, with_mutator, with_computing_mutator };
        return Ok(Plan { pauses: vec![pause], left_out: Vec::new() });
    }
    if options.burst.is_some() || options.hold_open || options.exit_inside {
        return Ok(Plan { pauses: Vec::new(), left_out: Vec::new() });
    }
    Ok(default_plan(missing))
}

fn chosen_pages(options: &Options, page_bytes: usize) -> Vec<(Kind, usize)> {
    let from_mib = options.touch_mib.unwrap_or(0) * ((1 << 20) / page_bytes);
    Kind::ALL
        .iter()
        .map(|kind| {
            let more = if *kind == Kind::FirstTouch { from_mib } else { 0 };
            (*kind, options.pages(*kind).unwrap_or(0) + more)
        })
        .filter(|(_, pages)| *pages > 0)
        .collect()
}

fn default_plan(missing: impl Fn(Kind) -> Option<String>) -> Plan {
    let mut left_out = Vec::new();
    let mut all = Vec::new();
    for (kind, pages) in DEFAULT_KINDS {
        match missing(kind) {
            Some(reason) => left_out.push(format!("{}: {reason}", kind.name())),
            None => all.push((kind, pages)),
        }
    }
    let with_pages = |reason: u32, pages: Vec<(Kind, usize)>| PlannedPause {
        reason,
        pages,
        acts: Vec::new(),
        with_mutator: false,
        with_computing_mutator: false,
    };
    let with_reason = |reason: u32| {
        with_pages(reason, all.iter().copied().filter(|(kind, _)| kind.reason() == reason).collect())
    };
    let mut pauses: Vec<_> =
        [reasons::FIRST_TOUCH, reasons::COPY_ON_WRITE, reasons::FILE_PAGES, reasons::SWAPPED_OUT]
            .into_iter()
            .map(with_reason)
            .filter(|pause| !pause.pages.is_empty())
            .collect();
    pauses.push(with_pages(reasons::MIXED, all.clone()));
    pauses.push(with_pages(reasons::NOTHING, Vec::new()));
    Plan { pauses, left_out }
}

/// The reason that all of the kinds have in common.
fn reason_of(pages: &[(Kind, usize)]) -> u32 {
    let mut own = pages.iter().map(|(kind, _)| kind.reason());
    let Some(first) = own.next() else { return reasons::NOTHING };
    if own.all(|reason| reason == first) { first } else { reasons::MIXED }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(clap::Parser)]
    struct Typed {
        #[command(flatten)]
        options: Options,
    }

    fn planned(typed: &str, missing: &[Kind]) -> Result<Plan> {
        let options = Typed::parse_from(["demo-target"].into_iter().chain(typed.split_whitespace())).options;
        let missing_kind = |kind| missing.contains(&kind).then(|| "a reason".to_owned());
        plan(&options, 4096, missing_kind, |act| {
            (act == ActKind::Compact).then(|| "no compaction".to_owned())
        })
    }

    #[test]
    fn options_become_one_pause_with_the_reason_that_they_share() {
        let table = [
            ("--first-touch 3 --zero-page-read 5", reasons::FIRST_TOUCH),
            ("--cow-file 3 --cow-zero 5 --cow-fork 7", reasons::COPY_ON_WRITE),
            ("--file-map 3 --file-read 5", reasons::FILE_PAGES),
            ("--swap 3", reasons::SWAPPED_OUT),
            ("--swap 3 --file-map 5", reasons::MIXED),
            ("--signal 3", reasons::MIXED),
            ("--mutator-userfault-delay 50ms", reasons::NOTHING),
            ("--mutator-compute 50ms", reasons::NOTHING),
            ("--cold-text 3", reasons::FILE_PAGES),
            ("--futex-wait 3ms --compute 3ms", reasons::NOTHING),
            ("--futex-wait 3ms --huge 3", reasons::FIRST_TOUCH),
        ];
        for (typed, reason) in table {
            let pauses = planned(typed, &[]).unwrap().pauses;
            assert_eq!(pauses.iter().map(|pause| pause.reason).collect::<Vec<_>>(), [reason], "{typed}");
        }
    }

    #[test]
    fn acts_come_in_a_pause_of_their_own_or_after_the_touches() {
        let plan = planned("--compute 3ms --first-touch 5 --file-io 7", &[]).unwrap();
        let acts = [ActKind::Compute(std::time::Duration::from_millis(3)), ActKind::FileIo(7)];
        assert_eq!((&plan.pauses[0].acts[..], plan.pauses.len()), (&acts[..], 1));
        assert_eq!(plan.pauses[0].pages, [(Kind::FirstTouch, 5)]);
    }

    #[test]
    fn mib_are_first_touches() {
        let plan = planned("--touch-mib 2 --first-touch 3", &[]).unwrap();
        assert_eq!(plan.pauses[0].pages, [(Kind::FirstTouch, 515)]);
    }

    #[test]
    fn the_default_leaves_out_what_is_missing_and_says_so() {
        let plan = planned("", &[Kind::Swap, Kind::Userfault]).unwrap();
        assert_eq!(plan.left_out, ["swap: a reason", "userfault: a reason"]);
        assert_eq!(plan.pauses.iter().map(|pause| pause.reason).collect::<Vec<_>>(), [0, 1, 2, 3, 5]);
        let with_all = planned("", &[]).unwrap();
        assert_eq!(with_all.pauses.iter().map(|pause| pause.reason).collect::<Vec<_>>(), [0, 1, 2, 4, 3, 5]);
    }

    #[test]
    fn what_was_asked_for_by_name_is_not_left_out() {
        let error = planned("--swap 3", &[Kind::Swap]).unwrap_err().to_string();
        assert_eq!(error, "--swap can't be had here: a reason");
        assert!(planned("--mutator-userfault-delay 50ms", &[Kind::Userfault]).is_err());
        let error = planned("--compact", &[]).unwrap_err().to_string();
        assert_eq!(error, "--compact can't be had here: no compaction");
    }

    #[test]
    fn special_pauses_alone_make_no_rounds() {
        for typed in ["--burst 10", "--hold-open", "--exit-inside"] {
            assert_eq!(planned(typed, &[]).unwrap().pauses, [], "{typed}");
        }
    }
}
