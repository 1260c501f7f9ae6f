//! Computing for a set amount of CPU time.

use std::hint::black_box;

use super::clock::thread_cpu_ns;

/// Computes until the thread has used so much more CPU time.
///
/// `mark` makes the callers differ: see [`super::memory::Pages::read_each`].
#[inline(always)]
pub(super) fn compute_for(cpu_ns: u64, mark: u64) {
    let end_ns = thread_cpu_ns() + cpu_ns;
    let mut number = mark;
    // Reading that clock is a system call: not too often, so that most of the time is the program's own.
    while thread_cpu_ns() < end_ns {
        number = compute_a_little(number);
    }
    black_box(number);
}

/// Some microseconds.
#[inline(always)]
pub(super) fn compute_a_little(mut number: u64) -> u64 {
    const STEPS: u32 = 5_000;
    for _ in 0..STEPS {
        number = black_box(number.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1));
    }
    number
}
