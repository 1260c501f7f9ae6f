//! Brings in what a pause needs besides its pages: its stack, its thread's own block, the code and data of the calls
//! that it makes. A fork has made all of that copy-on-write.

use std::hint::black_box;

use super::{console, world};

/// Everything that can be brought in without running through the pause itself.
pub(super) fn bring_in() {
    world::rehearse();
    console::rehearse();
    touch_stack();
    copy_thread_block();
}

/// Writes to the stack below: the pause's frames need not be where the rehearsal's were.
#[inline(never)]
fn touch_stack() {
    let mut frames = [0_u8; 64 * 1024];
    for page in frames.chunks_mut(1024) {
        // Through a black box, as nothing else reads it.
        page[0] = black_box(1);
    }
    black_box(&mut frames);
}

/// Makes the C library's block of this thread the process's own again.
///
/// The kernel writes the CPU's number into it (`rseq`) whenever the thread has been moved to another CPU. After a fork
/// that is a copy-on-write fault of the kernel's, at any time. The block can't be written to from here, but locking
/// memory copies what is shared, and unlocking it keeps the copy.
fn copy_thread_block() {
    // More than `struct pthread` of any C library.
    const BYTES: usize = 4096;
    // SAFETY: `pthread_self` is the block's address, and locking changes no contents. Should a page not be there, or no
    // memory be lockable, the call fails and there can be one fault more than expected, which is reported.
    unsafe {
        let block = libc::pthread_self() as *const libc::c_void;
        if libc::mlock(block, BYTES) == 0 {
            libc::munlock(block, BYTES);
        }
    }
}
