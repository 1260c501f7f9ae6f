//! Counts what is dropped, by cause.

use aya_ebpf::{macros::map, maps::PerCpuArray};
use tracer_common::loss::Loss;

/// Indexed by [`Loss`].
#[map]
static LOSSES: PerCpuArray<u64> = PerCpuArray::with_max_entries(Loss::ALL.len() as u32, 0);

/// Counts one.
#[inline(always)]
pub fn count(loss: Loss) {
    if let Some(counter) = LOSSES.get_ptr_mut(loss as u32) {
        // SAFETY: a live per-CPU map value; programs do not preempt each other on a CPU for so short a time that
        // a count could be lost and matter.
        unsafe { *counter += 1 };
    }
}
