//! What the outermost frame of a stack tells of those that should follow.

use super::unwind::{MISSING, name_of};

/// A frame: its name, and its address if it is one of the target's.
type Frame = (String, Option<u64>);

/// The frame that stands for the callers of a Go function whose stack was just then made larger.
const STACK_GROWS: &str = "[callers not recorded: the runtime was growing this stack]";

/// Behind the C library's own first functions nobody misses a caller.
pub(super) fn leave_out_known_roots(frames: &mut Vec<Frame>) {
    const ROOTS: [&str; 7] = [
        "__libc_start_call_main",
        "__libc_start_main",
        "__libc_start_main_impl",
        "_start",
        "start_thread",
        "clone3",
        "clone",
    ];
    if let [.., (root, _), (mark, _)] = &frames[..]
        && Some(mark.as_str()) == name_of(MISSING)
        && ROOTS.contains(&root.as_str())
    {
        frames.pop();
    }
}

/// Go's `morestack` goes over to the thread's own stack (`runtime/asm_amd64.s`, `asm_arm64.s`), with a frame pointer of 0
/// (Go 1.25) or that stack's own (1.22, 1.23): a walk by frame pointers ends there or goes on in the wrong stack, and the
/// function that needed the room, and its callers, are not in it.
pub(super) fn mark_growing_stack(frames: &mut Vec<Frame>) {
    let Some(at) = frames.iter().position(|(name, _)| name == "runtime.morestack") else { return };
    // Where older versions keep the frame pointer, the walk gets to the goroutine's first frame.
    if frames.last().is_some_and(|(name, _)| name != "runtime.goexit") {
        frames.insert(at + 1, (STACK_GROWS.to_owned(), None));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(names: &[&str]) -> Vec<Frame> {
        names.iter().map(|name| ((*name).to_owned(), Some(1))).collect()
    }

    #[test]
    fn callers_behind_a_stack_that_grows_are_marked_as_missing() {
        let mut cut = named(&["runtime.copystack", "runtime.newstack", "runtime.morestack"]);
        mark_growing_stack(&mut cut);
        assert_eq!((cut.len(), cut.last()), (4, Some(&(STACK_GROWS.to_owned(), None))));
        let mut wrong =
            named(&["runtime.newstack", "runtime.morestack", "runtime.mstart1", "runtime.mstart"]);
        mark_growing_stack(&mut wrong);
        assert_eq!((wrong.len(), &*wrong[2].0), (5, STACK_GROWS));
        for whole in [&["runtime.morestack", "main.f", "runtime.goexit"][..], &["main.f"], &[]] {
            let mut frames = named(whole);
            mark_growing_stack(&mut frames);
            assert_eq!(frames, named(whole));
        }
    }
}
