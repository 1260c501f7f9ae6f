//! Names in place of references to stacks, in a pause that was recorded before they were known.

use std::collections::BTreeMap;

use super::model::{KernelPath, Pause, Stack};

impl Pause {
    /// Puts names in the place of every reference, and adds up what has the same names then.
    pub fn resolve(&mut self, names: &dyn Fn(&[String]) -> Vec<String>) {
        if let Some(frames) = &mut self.requested_by {
            *frames = names(frames);
        }
        for frames in self.blocked.iter_mut().map(|blocked| &mut blocked.frames) {
            *frames = names(frames);
        }
        let threads = self.stopping.iter_mut().flat_map(|stopping| &mut stopping.threads);
        for frames in threads.map(|thread| &mut thread.frames) {
            *frames = names(frames);
        }
        for frames in self.stopping_faults.iter_mut().map(|fault| &mut fault.frames) {
            *frames = names(frames);
        }
        resolve_stacks(&mut self.stacks, names);
        if let Some(faults) = &mut self.worker_faults {
            resolve_stacks(&mut faults.stacks, names);
        }
    }
}

/// Stacks that have the same names are one code path.
fn resolve_stacks(stacks: &mut Vec<Stack>, names: &dyn Fn(&[String]) -> Vec<String>) {
    let mut resolved: BTreeMap<Vec<String>, Stack> = BTreeMap::new();
    for mut stack in stacks.drain(..) {
        stack.frames = names(&stack.frames);
        match resolved.get_mut(&stack.frames) {
            Some(known) => add(known, stack),
            None => drop(resolved.insert(stack.frames.clone(), stack)),
        }
    }
    stacks.extend(resolved.into_values());
    stacks.sort_by_key(|stack| std::cmp::Reverse(stack.ns));
}

fn add(to: &mut Stack, stack: Stack) {
    to.faults = to.faults.saturating_add(stack.faults);
    to.ns = to.ns.saturating_add(stack.ns);
    for (kind, total) in stack.by_kind {
        let sum = to.by_kind.entry(kind).or_default();
        sum.count = sum.count.saturating_add(total.count);
        sum.ns = sum.ns.saturating_add(total.ns);
        sum.inferred = sum.inferred.saturating_add(total.inferred);
    }
    for path in stack.kernel {
        match to.kernel.iter_mut().find(|known| known.on == path.on && known.frames == path.frames) {
            Some(known) => {
                known.faults = known.faults.saturating_add(path.faults);
                known.ns = known.ns.saturating_add(path.ns);
            }
            None => to.kernel.push(path),
        }
    }
    to.kernel.sort_by_key(|path: &KernelPath| (std::cmp::Reverse(path.ns), path.frames.clone()));
}
