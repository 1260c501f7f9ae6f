//! The integer argument registers of the probed thread, per processor: see `tracer_common::pause::REGISTERS`.

use aya_ebpf::bindings::pt_regs;
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
