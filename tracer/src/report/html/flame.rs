//! The code paths of faults as a tree, by count and by time.

use std::collections::HashMap;

use serde::Serialize;

use super::{names::Names, parts};
use crate::{
    recording::Stacks,
    report::model::{Kind, Pause, Summary},
};

/// Faults whose code path is not in the recording.
const DROPPED: &str = "[details dropped]";

/// What is too small to be drawn.
const SMALLER: &str = "[smaller ones]";

/// Up to so many nodes none is left out.
const MOST_NODES: usize = 8_000;

/// Beyond that, those that are less than one in so many of all, by count and by time.
const NOTABLE: u64 = 4_000;

/// Deeper frames are left out: no picture shows them.
const DEEPEST: usize = 400;

/// A node.
#[derive(Debug, Default)]
struct Node {
    name: u32,
    sums: Sums,
    children: HashMap<u32, usize>,
}

/// Takes code paths.
#[derive(Debug)]
pub(super) struct Flame {
    /// As pauses tell them: most by reference, so that each is put into the tree once.
    told: HashMap<Vec<String>, Sums>,
    nodes: Vec<Node>,
}

/// What faults add up to.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    count: u64,
    ns: u64,
    by_kind: [u64; Kind::ALL.len()],
}

impl Sums {
    fn add(&mut self, other: &Self) {
        self.count = self.count.saturating_add(other.count);
        self.ns = self.ns.saturating_add(other.ns);
        for (sum, ns) in self.by_kind.iter_mut().zip(other.by_kind) {
            *sum = sum.saturating_add(ns);
        }
    }
}

/// The tree in preorder, by column: a node's children follow it, one level deeper.
#[derive(Debug, Default, Serialize)]
pub(super) struct Tree {
    /// Names.
    name: Vec<u32>,
    /// Levels: 0 is the root, which holds all.
    depth: Vec<u32>,
    /// Faults.
    count: Vec<u64>,
    /// Their time.
    ns: Vec<u64>,
    /// The kind that most of the time is of; -1 when not known.
    kind: Vec<i32>,
}

impl Flame {
    /// An empty tree.
    pub(super) fn new() -> Self {
        Self { told: HashMap::new(), nodes: vec![Node::default()] }
    }

    /// Takes a pause's code paths.
    pub(super) fn add(&mut self, pause: &Pause) {
        for stack in &pause.stacks {
            let mut sums = Sums { count: stack.faults, ns: stack.ns, ..Sums::default() };
            for (kind, total) in &stack.by_kind {
                if let Some(ns) = sums.by_kind.get_mut(parts::number(*kind)) {
                    *ns = total.ns;
                }
            }
            match self.told.get_mut(&stack.frames) {
                Some(told) => told.add(&sums),
                None => drop(self.told.insert(stack.frames.clone(), sums)),
            }
        }
    }

    /// Puts what was told into the tree, its names in place of references.
    fn grow(&mut self, stacks: &Stacks, names: &mut Names) {
        // In an order that is always the same: so are the numbers of names then.
        let mut told: Vec<_> = std::mem::take(&mut self.told).into_iter().collect();
        told.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        for (frames, sums) in told {
            let mut at = 0;
            self.nodes[at].sums.add(&sums);
            for frame in stacks.resolve(&frames).iter().rev().take(DEEPEST) {
                at = self.child(at, names.number(frame));
                self.nodes[at].sums.add(&sums);
            }
        }
    }

    fn child(&mut self, of: usize, name: u32) -> usize {
        let next = self.nodes.len();
        let child = *self.nodes[of].children.entry(name).or_insert(next);
        if child == next {
            self.nodes.push(Node { name, ..Node::default() });
        }
        child
    }

    /// The tree. Its root is what the summary says: what the code paths lack has a name of its own.
    pub(super) fn into_tree(mut self, summary: &Summary, stacks: &Stacks, names: &mut Names) -> Tree {
        self.grow(stacks, names);
        let told = self.nodes[0].sums;
        let missing = Sums {
            count: summary.faults.saturating_sub(told.count),
            ns: summary.in_faults_ns.saturating_sub(told.ns),
            ..Sums::default()
        };
        if missing.count > 0 || missing.ns > 0 {
            let dropped = self.child(0, names.number(DROPPED));
            self.nodes[dropped].sums.add(&missing);
            self.nodes[0].sums.add(&missing);
        }
        self.nodes[0].name = names.number("all");
        let root = self.nodes[0].sums;
        let least =
            if self.nodes.len() > MOST_NODES { (root.count / NOTABLE, root.ns / NOTABLE) } else { (0, 0) };
        let (mut tree, smaller) = (Tree::default(), names.number(SMALLER));
        self.write(&mut tree, 0, 0, least, smaller);
        tree
    }

    fn write(&self, tree: &mut Tree, at: usize, depth: u32, least: (u64, u64), smaller: u32) {
        let node = &self.nodes[at];
        tree.push(node.name, depth, node.sums.count, node.sums.ns, kind_of(&node.sums));
        let mut children: Vec<usize> = node.children.values().copied().collect();
        children.sort_by_key(|&child| {
            let child = &self.nodes[child];
            (std::cmp::Reverse((child.sums.ns, child.sums.count)), child.name)
        });
        let (mut count, mut ns) = (0_u64, 0_u64);
        for child in children {
            let small = self.nodes[child].sums;
            if small.count < least.0 && small.ns < least.1 {
                (count, ns) = (count.saturating_add(small.count), ns.saturating_add(small.ns));
            } else {
                self.write(tree, child, depth + 1, least, smaller);
            }
        }
        if count > 0 || ns > 0 {
            tree.push(smaller, depth + 1, count, ns, -1);
        }
    }
}

fn kind_of(sums: &Sums) -> i32 {
    let most = sums.by_kind.iter().enumerate().max_by_key(|(_, ns)| **ns).filter(|(_, ns)| **ns > 0);
    most.and_then(|(kind, _)| i32::try_from(kind).ok()).unwrap_or(-1)
}

impl Tree {
    fn push(&mut self, name: u32, depth: u32, count: u64, ns: u64, kind: i32) {
        self.name.push(name);
        self.depth.push(depth);
        self.count.push(count);
        self.ns.push(ns);
        self.kind.push(kind);
    }

    /// Faults and their time at the root.
    #[cfg(test)]
    pub(super) fn root(&self) -> (u64, u64) {
        (self.count[0], self.ns[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixtures;

    #[test]
    fn the_root_is_the_summary_and_each_level_adds_up() {
        for report in [fixtures::story(), fixtures::incomplete(), fixtures::no_pauses()] {
            let (mut flame, mut names) = (Flame::new(), Names::default());
            report.pauses.iter().for_each(|pause| flame.add(pause));
            let tree = flame.into_tree(&report.summary, &Stacks::default(), &mut names);
            assert_eq!(tree.root(), (report.summary.faults, report.summary.in_faults_ns));
            for at in 0..tree.name.len() {
                let children = (at + 1..tree.name.len())
                    .take_while(|&child| tree.depth[child] > tree.depth[at])
                    .filter(|&child| tree.depth[child] == tree.depth[at] + 1);
                let sum: u64 = children.map(|child| tree.ns[child]).sum();
                assert!(sum <= tree.ns[at]);
            }
        }
    }

    #[test]
    fn what_is_small_is_added_up() {
        let (mut flame, mut names) = (Flame::new(), Names::default());
        let mut pause = fixtures::pause(1, "GC", 0, 1_000_000_000);
        for n in 0..20_000_u64 {
            fixtures::add_faults(&mut pause, Kind::SwapIn, 1 + u64::from(n == 7) * 90_000, 10, 0);
            if let Some(stack) = pause.stacks.last_mut() {
                stack.frames = vec![format!("f{n}"), "main".to_owned()];
            }
        }
        flame.add(&pause);
        let summary = Summary { faults: 110_000, in_faults_ns: 200_000, ..Summary::default() };
        let tree = flame.into_tree(&summary, &Stacks::default(), &mut names);
        assert_eq!(tree.root(), (110_000, 200_000));
        assert_eq!(tree.name.len(), 4);
        assert_eq!(tree.count[2..], [90_001, 19_999]);
    }
}
