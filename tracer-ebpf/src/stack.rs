//! User stacks: walked into a scratch buffer, named by a hash of their frames, sent once.
//!
//! A stack map of the kernel's would lose a stack whenever two fall into one bucket; a 64-bit hash of the whole
//! stack does not, and the frames reach the user side while the trace runs.

use core::ffi::c_void;

use aya_ebpf::{
    bindings::{BPF_F_USER_STACK, BPF_RB_NO_WAKEUP},
    helpers::generated::{bpf_get_stack, bpf_ringbuf_output},
    macros::map,
    maps::{Array, HashMap, LruHashMap, PerCpuArray, RingBuf},
};
use tracer_common::{
    loss::Loss,
    pause::keyed,
    stack::{MAX_FRAMES, SIDE_KERNEL, SIDE_USER, StackRecord, TAG_STACK, hash_step},
};

use crate::{loss, target::Ids};

/// Faults and stacks, for the reader that polls.
#[map]
pub static DETAILS: RingBuf = RingBuf::with_byte_size(8 << 20, 0);

/// One buffer per CPU: a stack record is larger than a program's own stack.
#[map]
static STACK_SCRATCH: PerCpuArray<StackRecord> = PerCpuArray::with_max_entries(1, 0);

/// By process, where windows are: the user side makes the place before the gate opens. Otherwise by thread, made when it is
/// needed. The size can be set when the object is loaded.
#[map]
static REQUEST_SCRATCH: HashMap<u64, StackRecord> = HashMap::with_max_entries(1024, 0);

/// What a new buffer looks like. Never written.
#[map]
static NO_STACK: Array<StackRecord> = Array::with_max_entries(1, 0);

/// Stacks that have been sent. When an old one is pushed out it is merely sent again.
#[map]
static STACKS_SENT: LruHashMap<u64, u32> = LruHashMap::with_max_entries(16384, 0);

/// A stack's identity, and whether its outermost frames are missing.
#[derive(Clone, Copy)]
pub struct Walked {
    pub stack: u64,
    pub cut: bool,
}

/// Walks the current thread's user stack and makes sure that its frames have been sent.
///
/// 0 as the identity means that there is none: it could not be walked, or could not be sent.
#[inline(always)]
pub fn walk(ctx: *mut c_void, tgid: u32) -> Walked {
    match STACK_SCRATCH.get_ptr_mut(0) {
        // SAFETY: a live map value of this CPU; the programs that use it run with preemption off.
        Some(record) => walk_into(unsafe { &mut *record }, ctx, tgid),
        None => Walked { stack: 0, cut: false },
    }
}

/// The same for a probe in the program's code, which can be preempted: the buffer is the process's own, where no two
/// of its threads ask for a stop at the same time, or else the thread's.
#[inline(always)]
pub fn walk_at_request(ctx: *mut c_void, ids: Ids) -> Walked {
    let key = if ids.keyed == keyed::PROCESS { u64::from(ids.tgid) } else { ids.task };
    if ids.keyed != keyed::PROCESS
        && REQUEST_SCRATCH.get_ptr(key).is_none()
        && let Some(empty) = NO_STACK.get(0)
    {
        let _ = REQUEST_SCRATCH.insert(key, empty, 0);
    }
    match REQUEST_SCRATCH.get_ptr_mut(key) {
        // SAFETY: a live map value, see above.
        Some(record) => walk_into(unsafe { &mut *record }, ctx, ids.tgid),
        None => {
            loss::count(Loss::StackUnreadable);
            Walked { stack: 0, cut: false }
        }
    }
}

/// The kernel forgets a thread, and so do we.
#[inline(always)]
pub fn forget_thread(task: u64) {
    let _ = REQUEST_SCRATCH.remove(task);
}

/// Walks the current thread's kernel stack and makes sure that its frames have been sent. Returns its identity; 0 when
/// there is none.
#[inline(always)]
pub fn walk_kernel(ctx: *mut c_void, tgid: u32) -> u64 {
    match STACK_SCRATCH.get_ptr_mut(0) {
        // SAFETY: a live map value of this CPU; the programs that use it run with preemption off.
        Some(record) => walk_side(unsafe { &mut *record }, ctx, tgid, SIDE_KERNEL).stack,
        None => 0,
    }
}

#[inline(always)]
fn walk_into(record: &mut StackRecord, ctx: *mut c_void, tgid: u32) -> Walked {
    walk_side(record, ctx, tgid, SIDE_USER)
}

#[inline(always)]
fn walk_side(record: &mut StackRecord, ctx: *mut c_void, tgid: u32, side: u32) -> Walked {
    const NONE: Walked = Walked { stack: 0, cut: false };
    let flags = if side == SIDE_USER { u64::from(BPF_F_USER_STACK) } else { 0 };
    // SAFETY: the buffer is as long as is said.
    let walked_bytes = unsafe {
        bpf_get_stack(ctx, (&raw mut record.frames).cast(), size_of_val(&record.frames) as u32, flags)
    };
    if walked_bytes == 0 && side == SIDE_USER {
        // A thread that ends has given up its memory already: there is no stack any more.
        return NONE;
    }
    if walked_bytes < 8 {
        loss::count(Loss::StackUnreadable);
        return NONE;
    }
    let frame_count = (walked_bytes as usize) / 8;
    // Through memory, and not in a register: each way out of the loop would otherwise be verified to the program's end with
    // a count of its own.
    // SAFETY: a live reference; volatile, so that the compiler doesn't keep it in a register all the same.
    unsafe { (&raw mut record.frame_count).write_volatile(frame_count as u32) };
    // The kernel's code is at the same place for every process.
    let mut hash = if side == SIDE_USER { u64::from(tgid) | 1 << 63 } else { 1 << 62 };
    for index in 0..MAX_FRAMES {
        if index >= frame_count {
            break;
        }
        hash = hash_step(hash, record.frames[index]);
    }
    // SAFETY: as above.
    let frame_count = unsafe { (&raw const record.frame_count).read_volatile() } as usize;
    let cut = frame_count >= MAX_FRAMES;
    if cut {
        loss::count(Loss::StackTooDeep);
    }
    let stack = if hash == 0 { 1 } else { hash };
    // SAFETY: only the presence matters.
    if unsafe { STACKS_SENT.get(stack) }.is_none() {
        record.tag = TAG_STACK;
        record.stack = stack;
        record.tgid = tgid;
        record.side = side;
        if !send(record, frame_count) {
            loss::count(Loss::StackRingFull);
            return Walked { stack: 0, cut };
        }
        let _ = STACKS_SENT.insert(stack, 0, 0);
    }
    Walked { stack, cut }
}

/// Sends the header and the frames that are set.
#[inline(always)]
fn send(record: &StackRecord, frame_count: usize) -> bool {
    const HEADER_BYTES: usize = size_of::<StackRecord>() - 8 * MAX_FRAMES;
    let frames = if frame_count > MAX_FRAMES { MAX_FRAMES } else { frame_count };
    // SAFETY: the length is at most the record's.
    let status = unsafe {
        bpf_ringbuf_output(
            (&raw const DETAILS).cast_mut().cast(),
            (&raw const *record).cast_mut().cast(),
            (HEADER_BYTES + 8 * frames) as u64,
            u64::from(BPF_RB_NO_WAKEUP),
        )
    };
    status == 0
}
