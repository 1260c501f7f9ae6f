//! The integer registers of the probed thread, per processor: see `tracer_common::pause::REGISTERS`.

use aya_ebpf::{bindings::pt_regs, helpers::bpf_probe_read_user};
use tracer_common::pause::REGISTERS;

/// A word of the thread's memory; `None` when it can't be read without a fault.
#[inline(always)]
pub fn word_at(address: u64) -> Option<u64> {
    // SAFETY: the helper checks the address.
    unsafe { bpf_probe_read_user(address as *const u64) }.ok()
}

#[cfg(bpf_target_arch = "x86_64")]
#[inline(always)]
pub fn capture(regs: &pt_regs, to: &mut [u64; REGISTERS]) {
    to[0] = regs.rax;
    to[1] = regs.rbx;
    to[2] = regs.rcx;
    to[3] = regs.rdi;
    to[4] = regs.rsi;
    to[5] = regs.rdx;
    to[6] = regs.rbp;
    to[7] = regs.rsp;
    to[8] = regs.r8;
    to[9] = regs.r9;
    to[10] = regs.r10;
    to[11] = regs.r11;
    to[12] = regs.r12;
    to[13] = regs.r13;
    to[14] = regs.r14;
    to[15] = regs.r15;
    to[16] = regs.rip;
}

/// The stack pointer.
#[cfg(bpf_target_arch = "x86_64")]
#[inline(always)]
pub fn stack_pointer(regs: &pt_regs) -> u64 {
    regs.rsp
}

/// The goroutine in Go code: where the runtime keeps it (Go's ABIInternal: R14).
#[cfg(bpf_target_arch = "x86_64")]
#[inline(always)]
pub fn goroutine(regs: &pt_regs) -> u64 {
    regs.r14
}

/// The first argument of a Go function (ABIInternal).
#[cfg(bpf_target_arch = "x86_64")]
#[inline(always)]
pub fn go_argument(regs: &pt_regs) -> u64 {
    regs.rax
}

#[cfg(bpf_target_arch = "x86_64")]
#[inline(always)]
pub fn instruction(regs: &pt_regs) -> u64 {
    regs.rip
}

/// Where the function returns to, at one of its first instructions, before it has made its frame; 0 when it can't be
/// read.
#[cfg(bpf_target_arch = "x86_64")]
#[inline(always)]
pub fn return_address(regs: &pt_regs) -> u64 {
    // SAFETY: the helper checks the address.
    unsafe { bpf_probe_read_user(regs.rsp as *const u64) }.unwrap_or(0)
}

/// The first word of what the first argument of a C function points at; 0 when it can't be read.
#[cfg(bpf_target_arch = "x86_64")]
#[inline(always)]
pub fn first_word(regs: &pt_regs) -> u64 {
    // SAFETY: the helper checks the address.
    unsafe { bpf_probe_read_user(regs.rdi as *const u64) }.unwrap_or(0)
}

/// Ring 3 is in the low two bits of the code segment selector.
#[cfg(bpf_target_arch = "x86_64")]
#[inline(always)]
pub fn in_kernel_mode(regs: &pt_regs) -> bool {
    regs.cs & 3 == 0
}

/// The registers of the current thread at its entry into the kernel, in the layout that is the same for every kernel (Linux
/// `arch/x86/include/uapi/asm/ptrace.h`).
#[cfg(bpf_target_arch = "x86_64")]
pub type UserRegisters = pt_regs;

/// What a stack is unwound from: instruction pointer, stack pointer, frame pointer, and the link register (0: there is none).
#[cfg(bpf_target_arch = "x86_64")]
#[inline(always)]
pub fn unwound_from(regs: &UserRegisters) -> [u64; 4] {
    [regs.rip, regs.rsp, regs.rbp, 0]
}

#[cfg(bpf_target_arch = "aarch64")]
#[inline(always)]
pub fn capture(regs: &aya_ebpf::bindings::user_pt_regs, to: &mut [u64; REGISTERS]) {
    for index in 0..8 {
        to[index] = regs.regs[index];
    }
    for index in 8..15 {
        to[index] = regs.regs[11 + index];
    }
    to[15] = regs.sp;
    to[16] = regs.pc;
}

/// The stack pointer.
#[cfg(bpf_target_arch = "aarch64")]
#[inline(always)]
pub fn stack_pointer(regs: &aya_ebpf::bindings::user_pt_regs) -> u64 {
    regs.sp
}

/// The first word of what the first argument of a C function points at; 0 when it can't be read.
#[cfg(bpf_target_arch = "aarch64")]
#[inline(always)]
pub fn first_word(regs: &aya_ebpf::bindings::user_pt_regs) -> u64 {
    // SAFETY: the helper checks the address.
    unsafe { bpf_probe_read_user(regs.regs[0] as *const u64) }.unwrap_or(0)
}

/// The goroutine in Go code: where the runtime keeps it (Go's ABIInternal: R28).
#[cfg(bpf_target_arch = "aarch64")]
#[inline(always)]
pub fn goroutine(regs: &aya_ebpf::bindings::user_pt_regs) -> u64 {
    regs.regs[28]
}

/// The first argument of a Go function (ABIInternal).
#[cfg(bpf_target_arch = "aarch64")]
#[inline(always)]
pub fn go_argument(regs: &aya_ebpf::bindings::user_pt_regs) -> u64 {
    regs.regs[0]
}
