//! Copies the top of a faulting thread's user stack, with its registers, for user space to unwind: for code that has no
//! frame pointers.

use aya_ebpf::{
    bindings::BPF_RB_NO_WAKEUP,
    helpers::generated::{
        bpf_get_current_task_btf, bpf_probe_read_user, bpf_ringbuf_output, bpf_task_pt_regs,
    },
    macros::map,
    maps::{HashMap, PerCpuArray},
};
use tracer_common::{
    loss::Loss,
    stack_copy::{
        CHUNK_BYTES, CopyRanges, MOST_BYTES, MOST_CHUNKS, RANGES, StackCopy, StackCopyHead, TAG_STACK_COPY,
    },
};

use crate::{
    loss,
    registers::{UserRegisters, in_kernel_mode, unwound_from},
    settings::{STACK_COPY_BYTES, TASK_REGISTERS},
    stack::DETAILS,
    target::Ids,
};

/// One buffer per CPU. The programs that use it run with preemption off.
#[map]
static STACK_COPY_SCRATCH: PerCpuArray<StackCopy> = PerCpuArray::with_max_entries(1, 0);

/// By process: where an instruction has to be; the user side writes it.
#[map]
static STACK_COPY_RANGES: HashMap<u32, CopyRanges> = HashMap::with_max_entries(1024, 0);

/// A fault of the current thread ends, and these are the registers that it was in. For [`copy`] in the same program.
#[inline(always)]
pub fn note_registers(ids: Ids, begin_ns: u64, regs: &UserRegisters) {
    if STACK_COPY_BYTES.load() == 0 || in_kernel_mode(regs) {
        return;
    }
    let Some(copy) = STACK_COPY_SCRATCH.get_ptr_mut(0) else { return };
    // SAFETY: a live map value of this CPU.
    set(unsafe { &mut (*copy).head }, ids, begin_ns, regs);
}

#[inline(always)]
fn set(head: &mut StackCopyHead, ids: Ids, begin_ns: u64, regs: &UserRegisters) {
    let [ip, sp, bp, link] = unwound_from(regs);
    head.ip = ip;
    head.sp = sp;
    head.bp = bp;
    head.link = link;
    head.tid = ids.tid;
    head.begin_ns = begin_ns;
}

/// Copies and sends the stack of a fault, if its instruction is where that is wanted. Returns whether it was sent.
#[inline(always)]
pub fn copy(ids: Ids, begin_ns: u64) -> bool {
    let most_bytes = STACK_COPY_BYTES.load();
    if most_bytes == 0 {
        return false;
    }
    let Some(copy) = STACK_COPY_SCRATCH.get_ptr_mut(0) else { return false };
    // SAFETY: a live map value of this CPU.
    let copy = unsafe { &mut *copy };
    let noted = copy.head.begin_ns == begin_ns && copy.head.tid == ids.tid;
    if !noted && !note_registers_of_entry(&mut copy.head, ids, begin_ns) {
        return false;
    }
    if !is_wanted(ids.tgid, copy.head.ip) {
        return false;
    }
    copy.head.tag = TAG_STACK_COPY;
    copy.head.tgid = ids.tgid;
    read(copy, most_bytes as usize);
    if send(copy) {
        return true;
    }
    loss::count(Loss::StackCopyRingFull);
    false
}

/// The registers with which the thread has entered the kernel: for faults of the kernel on its behalf, and for those that
/// end in a signal. The kernel gives them since Linux 5.15.
#[inline(always)]
fn note_registers_of_entry(head: &mut StackCopyHead, ids: Ids, begin_ns: u64) -> bool {
    if TASK_REGISTERS.load() == 0 {
        return false;
    }
    // SAFETY: the helpers have no preconditions; the kernel checks every read through what they return.
    let regs = unsafe { bpf_task_pt_regs(bpf_get_current_task_btf()) } as *const UserRegisters;
    // SAFETY: as above.
    set(head, ids, begin_ns, unsafe { &*regs });
    true
}

#[inline(always)]
fn is_wanted(tgid: u32, ip: u64) -> bool {
    let Some(ranges) = STACK_COPY_RANGES.get_ptr(tgid) else { return false };
    for index in 0..RANGES {
        // SAFETY: inside a live map value.
        let (count, [from, to]) = unsafe { ((*ranges).count, (*ranges).ranges[index]) };
        if index as u64 >= count {
            return false;
        }
        if ip >= from && ip < to {
            return true;
        }
    }
    false
}

/// Reads from the stack pointer on, up to the first piece that can't be read.
#[inline(always)]
fn read(copy: &mut StackCopy, most_bytes: usize) {
    let from = copy.head.sp & !(CHUNK_BYTES as u64 - 1);
    copy.head.from = from;
    let count = &raw mut copy.head.byte_count;
    // Through memory, and not in a register: each way out of the loop would otherwise be verified to the program's end.
    // SAFETY: inside the record; volatile, so that the compiler doesn't keep it in a register all the same.
    unsafe { count.write_volatile(0) };
    let bytes = (&raw mut copy.bytes).cast::<u8>();
    for index in 0..MOST_CHUNKS {
        let offset = index * CHUNK_BYTES;
        if offset >= most_bytes {
            break;
        }
        // SAFETY: the piece is inside the buffer; the helper checks the other address.
        let status = unsafe {
            bpf_probe_read_user(
                bytes.add(offset).cast(),
                CHUNK_BYTES as u32,
                (from + offset as u64) as *const core::ffi::c_void,
            )
        };
        if status != 0 {
            break;
        }
        // SAFETY: as above.
        unsafe { count.write_volatile((offset + CHUNK_BYTES) as u32) };
    }
}

#[inline(always)]
fn send(copy: &StackCopy) -> bool {
    // SAFETY: inside the record, see `read`.
    let count = unsafe { (&raw const copy.head.byte_count).read_volatile() } as usize;
    let count = if count > MOST_BYTES { MOST_BYTES } else { count };
    // SAFETY: the length is at most the record's.
    let status = unsafe {
        bpf_ringbuf_output(
            (&raw const DETAILS).cast_mut().cast(),
            (&raw const *copy).cast_mut().cast(),
            (size_of::<StackCopyHead>() + count) as u64,
            u64::from(BPF_RB_NO_WAKEUP),
        )
    };
    status == 0
}
