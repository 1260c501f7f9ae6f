//! The integer argument registers of the probed thread, per processor: see `tracer_common::pause::REGISTERS`.

use aya_ebpf::{bindings::pt_regs, helpers::bpf_probe_read_user};
use tracer_common::pause::REGISTERS;

#[cfg(bpf_target_arch = "x86_64")]
#[inline(always)]
pub fn arguments(regs: &pt_regs) -> [u64; REGISTERS] {
    [regs.rax, regs.rbx, regs.rcx, regs.rdi, regs.rsi, regs.rdx]
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

/// Ring 3 is in the low two bits of the code segment selector.
#[cfg(bpf_target_arch = "x86_64")]
#[inline(always)]
pub fn in_kernel_mode(regs: &pt_regs) -> bool {
    regs.cs & 3 == 0
}

#[cfg(bpf_target_arch = "aarch64")]
#[inline(always)]
pub fn arguments(regs: &aya_ebpf::bindings::user_pt_regs) -> [u64; REGISTERS] {
    [regs.regs[0], regs.regs[1], regs.regs[2], regs.regs[3], regs.regs[4], regs.regs[5]]
}
