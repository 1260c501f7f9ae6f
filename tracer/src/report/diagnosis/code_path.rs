//! Which function a kind of fault happened under: only when most of the kind's time is there.

use std::collections::BTreeMap;

use crate::report::model::{Kind, Pause, Stack};

use super::thresholds::{MOST_PERCENT, at_least};

/// Where most of a kind's time was spent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// `under runtime.gcStart`, `in main.touch`.
    pub(super) words: String,
    /// The part of the kind's time there.
    pub(super) ns: u64,
}

/// The collector's function that most of the kind's time passed under, else the function that faulted.
///
/// The share is of the kind's whole time in the pause, not of the faults that kept their details: with many of
/// them dropped nothing is named.
pub(super) fn place(pause: &Pause, kind: Kind) -> Option<Place> {
    place_in(&pause.stacks, kind, pause.by_kind.get(&kind)?.ns)
}

/// The same of these stacks, when it is most of so much time.
pub(super) fn place_in(stacks: &[Stack], kind: Kind, whole_ns: u64) -> Option<Place> {
    let mut under: BTreeMap<&str, u64> = BTreeMap::new();
    let mut inside: BTreeMap<&str, u64> = BTreeMap::new();
    for stack in stacks {
        let ns = stack.by_kind.get(&kind).map_or(0, |total| total.ns);
        // Outermost: the last frame that is the collector's.
        let collector = stack.frames.iter().rev().find_map(|frame| collector(frame));
        if let Some(name) = collector {
            let sum = under.entry(name).or_default();
            *sum = sum.saturating_add(ns);
        }
        if let Some(name) = stack.frames.first().filter(|frame| !frame.starts_with('[')) {
            let sum = inside.entry(name).or_default();
            *sum = sum.saturating_add(ns);
        }
    }
    let most = |sums: BTreeMap<&str, u64>, word: &str| {
        let (name, ns) = sums.into_iter().max_by_key(|&(_, ns)| ns)?;
        at_least(ns, MOST_PERCENT, whole_ns).then(|| Place { words: format!("{word} {name}"), ns })
    };
    most(under, "under").or_else(|| most(inside, "in"))
}

/// Functions that put a thread to sleep on behalf of whoever called them: Go's on Linux, and glibc's.
const SLEEPERS: [&str; 26] = [
    "runtime.futex",
    "runtime.futexsleep",
    "runtime.notesleep",
    "runtime.notetsleep",
    "runtime.notetsleep_internal",
    "runtime.notetsleepg",
    "runtime.semasleep",
    "runtime.lock",
    "runtime.lock2",
    "runtime.lockWithRank",
    "runtime.mcall",
    "runtime.systemstack",
    "runtime.usleep",
    "runtime.osyield",
    "runtime.mPark",
    "runtime.stopm",
    "syscall",
    "__futex_abstimed_wait_common",
    "__futex_abstimed_wait_common64",
    "futex_wait",
    "__lll_lock_wait",
    "__lll_lock_wait_private",
    "___pthread_mutex_lock",
    "pthread_mutex_lock",
    "pthread_cond_wait",
    "___pthread_cond_wait",
];

/// The function that wanted to wait: the innermost one that is more than the waiting itself.
pub(super) fn waiting(frames: &[String]) -> Option<&str> {
    let name = frames.iter().map(String::as_str).find(|frame| !SLEEPERS.contains(frame))?;
    (!name.starts_with('[')).then_some(name)
}

/// The name when the function is the Go collector's, without the suffixes of its closures: a pause's work runs in
/// closures on the system stack, `runtime.gcStart.func2`.
fn collector(frame: &str) -> Option<&str> {
    let rest = frame.strip_prefix("runtime.")?;
    let is_collector = rest == "GC"
        || rest.strip_prefix("gc").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()));
    is_collector.then(|| frame.split_once(".func").map_or(frame, |(name, _)| name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixtures;
    use crate::report::model::KindTotal;

    fn stack(frames: &[&str], ns: u64) -> Stack {
        Stack {
            frames: frames.iter().map(|&frame| frame.to_owned()).collect(),
            faults: 1,
            ns,
            by_kind: [(Kind::SwapIn, KindTotal { count: 1, ns, inferred: 0 })].into(),
            kernel: Vec::new(),
        }
    }

    fn place_of(stacks: Vec<Stack>) -> Option<String> {
        let mut pause = fixtures::story().pauses.swap_remove(0);
        pause.by_kind = [(Kind::SwapIn, KindTotal { count: 2, ns: 100, inferred: 0 })].into();
        pause.stacks = stacks;
        place(&pause, Kind::SwapIn).map(|place| place.words)
    }

    #[test]
    fn names_the_outermost_function_of_the_collector() {
        let frames = ["runtime.markBits", "runtime.gcSweep", "runtime.gcStart.func2", "runtime.mallocgc"];
        assert_eq!(place_of(vec![stack(&frames, 60)]).as_deref(), Some("under runtime.gcStart"));
        let two = vec![stack(&["a", "runtime.gcStart"], 30), stack(&["b", "runtime.gcStart.func1"], 30)];
        assert_eq!(place_of(two).as_deref(), Some("under runtime.gcStart"));
        assert_eq!(
            place_of(vec![stack(&["x", "runtime.GC", "main.main"], 50)]).as_deref(),
            Some("under runtime.GC")
        );
    }

    #[test]
    fn else_the_function_that_faulted() {
        assert_eq!(place_of(vec![stack(&["main.touch", "main.main"], 60)]).as_deref(), Some("in main.touch"));
        assert_eq!(place_of(vec![stack(&["runtime.gcenable"], 60)]).as_deref(), Some("in runtime.gcenable"));
    }

    #[test]
    fn who_waits_is_not_the_wait_itself() {
        let waiting_in = |frames: &[&str]| {
            let frames: Vec<String> = frames.iter().map(|&frame| frame.to_owned()).collect();
            waiting(&frames).map(str::to_owned)
        };
        let go = ["runtime.futex", "runtime.futexsleep", "runtime.lock2", "runtime.(*mheap).alloc"];
        assert_eq!(waiting_in(&go).as_deref(), Some("runtime.(*mheap).alloc"));
        assert_eq!(
            waiting_in(&["syscall", "pauselens::world::stop"]).as_deref(),
            Some("pauselens::world::stop")
        );
        assert_eq!(waiting_in(&["runtime.futex", "[stack lost]"]), None);
        assert_eq!(waiting_in(&[]), None);
    }

    #[test]
    fn names_nothing_when_most_of_the_time_is_elsewhere_or_unknown() {
        assert_eq!(place_of(vec![stack(&["main.touch"], 49)]), None);
        assert_eq!(place_of(vec![stack(&["[stack lost]"], 100)]), None);
        assert_eq!(place_of(vec![stack(&[], 100)]), None);
        assert_eq!(place_of(Vec::new()), None);
    }
}
