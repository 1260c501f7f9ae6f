//! Stacks that are unwound from copies while the trace runs: which faults have theirs copied, and what comes of the copies.

use std::collections::HashMap;

use tracer_common::{
    fault::{FaultRecord, seen},
    stack::hash_step,
    stack_copy::{CopyRanges, RANGES, StackCopyHead},
};

use crate::symbols::{Module, Modules, Unwinder, Unwound};

/// How user stacks at faults are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unwind {
    /// By frame pointers, in the kernel.
    #[default]
    FramePointers,
    /// From a copy of the stack, at every fault.
    Copies,
    /// From a copy where the faulting instruction is in a file without frame pointers, and by frame pointers elsewhere.
    CopiesWhereNeeded,
}

/// Takes copies in the order in which the ring gives them.
#[derive(Debug)]
pub(super) struct Unwinding {
    mode: Unwind,
    unwinder: Unwinder,
    /// By thread: the begin of the fault of its last copy, and the stack's identity.
    copied: HashMap<u32, (u64, u64)>,
    ranges: CopyRanges,
    /// How many modules the ranges were made of.
    looked_at: usize,
    /// Modules without frame pointers that are beyond what the kernel side can keep.
    left_out: usize,
}

impl Unwinding {
    pub(super) fn new(mode: Unwind) -> Self {
        Self {
            mode,
            unwinder: Unwinder::default(),
            copied: HashMap::new(),
            ranges: CopyRanges { count: 0, ranges: [[0; 2]; RANGES] },
            looked_at: 0,
            left_out: 0,
        }
    }

    /// Where faults have their stacks copied, if that has changed since the last time.
    pub(super) fn ranges(&mut self, modules: &Modules) -> Option<CopyRanges> {
        let first = self.looked_at == 0;
        if modules.all().len() == self.looked_at {
            return None;
        }
        let new = &modules.all()[self.looked_at..];
        self.looked_at = modules.all().len();
        match self.mode {
            Unwind::FramePointers => return None,
            Unwind::Copies if first => self.add([0, u64::MAX]),
            Unwind::Copies => return None,
            Unwind::CopiesWhereNeeded => {
                let lacking: Vec<[u64; 2]> = new
                    .iter()
                    .filter(|module| self.unwinder.lacks_frame_pointers(module))
                    .map(|module: &Module| [module.start, module.end])
                    .collect();
                lacking.into_iter().for_each(|range| self.add(range));
            }
        }
        Some(self.ranges)
    }

    fn add(&mut self, range: [u64; 2]) {
        let place = usize::try_from(self.ranges.count).ok().and_then(|at| self.ranges.ranges.get_mut(at));
        match place {
            Some(place) => {
                *place = range;
                self.ranges.count += 1;
            }
            None => self.left_out += 1,
        }
    }

    /// Unwinds a copy.
    pub(super) fn unwind(&mut self, head: &StackCopyHead, bytes: &[u8], modules: &Modules) -> Unwound {
        let count = (head.byte_count as usize).min(bytes.len());
        self.unwinder.unwind(head, &bytes[..count], modules)
    }

    /// Names the stack as the kernel side names stacks, so that equal ones are one, and keeps it for its fault.
    pub(super) fn name(&mut self, head: &StackCopyHead, unwound: &Unwound) -> u64 {
        let begin = u64::from(head.tgid) | 1 << 63;
        let stack = unwound.frames.iter().fold(begin, |hash, frame| hash_step(hash, *frame)).max(1);
        self.copied.insert(head.tid, (head.begin_ns, stack));
        stack
    }

    /// What there is to be told. `task_registers`: the kernel gives the registers of threads in system calls.
    pub(super) fn notes(&self, task_registers: bool) -> Vec<String> {
        let mut notes = Vec::new();
        if self.mode != Unwind::FramePointers && !task_registers {
            notes.push(
                "this kernel does not give the registers of a thread that is in a system call (Linux 5.15 and later do): \
                 stacks of faults of kind kernel, and of those that ended in a signal, are as far as frame pointers tell"
                    .to_owned(),
            );
        }
        if self.left_out > 0 {
            notes.push(format!(
                "{} mappings without frame pointers more than can be watched: stacks of faults in them are as far as frame \
                 pointers tell; --unwind dwarf copies all",
                self.left_out
            ));
        }
        notes
    }

    /// The fault with the stack that was unwound for it.
    pub(super) fn fault(&mut self, mut record: FaultRecord) -> FaultRecord {
        if record.seen & seen::STACK_COPIED != 0
            && let Some((begin_ns, stack)) = self.copied.remove(&record.tid)
            && begin_ns == record.begin_ns
        {
            record.stack = stack;
            // That was said of the kernel's walk.
            record.seen &= !seen::STACK_CUT;
        }
        record
    }
}
