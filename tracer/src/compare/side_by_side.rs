//! The same work on several things at the same time: reading recordings is what takes the time.

use std::{
    panic,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// What the work comes to for each thing, in their order.
pub fn side_by_side<T: Sync, R: Send>(things: &[T], work: impl Fn(usize, &T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(thing) = things.get(index) else { return done };
            done.push((index, work(index, thing)));
        }
    };
    let workers = thread::available_parallelism().map_or(1, usize::from).min(things.len());
    let mut done: Vec<(usize, R)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(worker)).collect();
        let done = workers.into_iter().map(|worker| worker.join());
        done.flat_map(|done| done.unwrap_or_else(|panicked| panic::resume_unwind(panicked))).collect()
    });
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order() {
        let things: Vec<u64> = (0..100).collect();
        let expected: Vec<u64> = things.iter().map(|thing| thing * 2).collect();
        assert_eq!(side_by_side(&things, |index, thing| index as u64 + thing), expected);
        assert!(side_by_side(&[] as &[u64], |_, thing| *thing).is_empty());
    }
}
