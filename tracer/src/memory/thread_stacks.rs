//! Stacks of threads: the kernel names the first thread's alone, so the others are found by their stack pointers.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use crate::target::{Backing, Mapping, stack_pointers};

/// Stack pointers are read no more often than this, of no more threads than that.
const INTERVAL: Duration = Duration::from_secs(1);
const MOST_THREADS: usize = 1024;
/// A larger mapping is no single thread's stack.
const MOST_BYTES: u64 = 1 << 30;

/// Which mappings are stacks.
#[derive(Debug, Default)]
pub(super) struct ThreadStacks {
    /// First addresses of mappings in which a stack pointer was seen. A stack stays one while it is mapped.
    starts: BTreeSet<u64>,
    /// Stack pointers as they were last read.
    pointers: Vec<u64>,
    asked: Option<Instant>,
}

impl ThreadStacks {
    /// Whether this is the stack of a thread: private memory above an inaccessible guard, with a thread's stack pointer in
    /// it, now or when it was last looked for.
    pub(super) fn hold(&mut self, pid: u32, mapping: &Mapping, before: Option<&Mapping>) -> bool {
        let guard = before.is_some_and(is_guard);
        if !guard || mapping.backing != Backing::Anonymous || mapping.end - mapping.start > MOST_BYTES {
            return false;
        }
        if self.starts.contains(&mapping.start) {
            return true;
        }
        if self.asked.is_none_or(|at| at.elapsed() >= INTERVAL) {
            self.asked = Some(Instant::now());
            self.pointers = stack_pointers(pid, MOST_THREADS);
        }
        let points_there = self.pointers.iter().any(|pointer| mapping.contains(*pointer));
        points_there && self.starts.insert(mapping.start)
    }
}

fn is_guard(mapping: &Mapping) -> bool {
    mapping.backing == Backing::Anonymous && !mapping.readable && !mapping.writable && !mapping.executable
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::read_maps;

    #[test]
    fn a_thread_of_our_own_has_its_stack_found() {
        let (send, receive) = std::sync::mpsc::channel();
        let (done, wait) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            let local = 0_u8;
            send.send(std::ptr::from_ref(&local) as u64).expect("the test is there");
            let _ = wait.recv();
        });
        let local = receive.recv().expect("an address");
        let held = |address: u64| {
            let maps = read_maps(std::process::id()).expect("our own map");
            let index = maps.iter().position(|mapping| mapping.contains(address)).expect("it is mapped");
            let before = Some(&maps[index - 1]).filter(|before| before.end == maps[index].start);
            ThreadStacks::default().hold(std::process::id(), &maps[index], before)
        };
        // It may take a moment until it sleeps.
        let found = (0..1000).any(|_| {
            std::thread::sleep(Duration::from_millis(1));
            held(local)
        });
        let other = Box::new([0_u8; 64]);
        assert!(!held(std::ptr::from_ref(&*other) as u64 & !0xfff), "the heap is no stack");
        drop(done);
        thread.join().expect("ended");
        assert!(found, "{local:#x} is in no stack");
    }
}
