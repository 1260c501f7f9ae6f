//! The best instruction for a probe at a function's beginning.
//!
//! A probed instruction costs the program one exception, and a second one when the kernel can't do its work in the
//! program's place and has to step it. `push` is one that it can (Linux `arch/x86/kernel/uprobes.c`,
//! `push_setup_xol_ops`), and most functions have one within their first few instructions, before any argument
//! register has changed. In Go it stands behind the check for stack space, so that it runs once where the first
//! instruction runs twice when the stack has to grow.

use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};

use super::{ElfAddress, Function, Image, Machine};

/// So many instructions are looked at.
const LOOKED_AT: usize = 6;
/// The longest instruction of x86-64.
const LONGEST_INSTRUCTION_BYTES: usize = 15;

/// Where a probe sees the function's call with all of its argument registers as they were at the first instruction.
///
/// It is the first instruction, unless a cheaper one follows.
#[must_use]
pub fn entry_site(image: &Image, function: &Function) -> ElfAddress {
    let length = usize::try_from(function.size_bytes).unwrap_or(0).min(LOOKED_AT * LONGEST_INSTRUCTION_BYTES);
    match (image.machine(), image.bytes(function.address, length)) {
        (Machine::X86_64, Some(code)) => first_push(function.address, code).unwrap_or(function.address),
        _ => function.address,
    }
}

fn first_push(address: ElfAddress, code: &[u8]) -> Option<ElfAddress> {
    let mut decoder = Decoder::with_ip(64, code, address.0, DecoderOptions::NONE);
    let mut instruction = Instruction::default();
    for _ in 0..LOOKED_AT {
        if !decoder.can_decode() {
            return None;
        }
        decoder.decode_out(&mut instruction);
        match instruction.mnemonic() {
            Mnemonic::Push if instruction.op0_kind() == OpKind::Register => {
                return Some(ElfAddress(instruction.ip()));
            }
            Mnemonic::Endbr64 | Mnemonic::Nop | Mnemonic::Cmp => {}
            // The jump to where the stack is made to grow: it comes back to the first instruction.
            Mnemonic::Jbe | Mnemonic::Jb | Mnemonic::Jle | Mnemonic::Jl => {}
            Mnemonic::Lea | Mnemonic::Mov if writes_scratch(&instruction) => {}
            _ => return None,
        }
    }
    None
}

/// R12 and R13: never arguments, neither in Go nor in C, and what Go's check for stack space computes in.
fn writes_scratch(instruction: &Instruction) -> bool {
    instruction.op0_kind() == OpKind::Register
        && matches!(instruction.op0_register(), Register::R12 | Register::R13)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offset(code: &[u8]) -> Option<u64> {
        first_push(ElfAddress(0x40_0000), code).map(|address| address.0 - 0x40_0000)
    }

    #[test]
    fn the_push_behind_go_s_stack_check_is_found() {
        // cmp 0x10(%r14),%rsp; jbe +0x100; push %rbp
        let small = [0x49, 0x3b, 0x66, 0x10, 0x0f, 0x86, 0x00, 0x01, 0x00, 0x00, 0x55];
        assert_eq!(offset(&small), Some(10));
        // lea -0x10(%rsp),%r12; cmp 0x10(%r14),%r12; jbe +0x100; push %rbp
        let large =
            [0x4c, 0x8d, 0x64, 0x24, 0xf0, 0x4d, 0x3b, 0x66, 0x10, 0x0f, 0x86, 0x00, 0x01, 0x00, 0x00, 0x55];
        assert_eq!(offset(&large), Some(15));
    }

    #[test]
    fn c_functions_have_it_at_once_or_behind_endbr64() {
        assert_eq!(offset(&[0x55, 0x48, 0x89, 0xe5]), Some(0));
        assert_eq!(offset(&[0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0x57]), Some(4));
    }

    #[test]
    fn nothing_that_changes_an_argument_is_passed_over() {
        // mov %edi,%eax; push %rbp
        assert_eq!(offset(&[0x89, 0xf8, 0x55]), None);
        // lea 0x8(%rsp),%rdi; push %rbp
        assert_eq!(offset(&[0x48, 0x8d, 0x7c, 0x24, 0x08, 0x55]), None);
        // call; push
        assert_eq!(offset(&[0xe8, 0, 0, 0, 0, 0x55]), None);
        // ret
        assert_eq!(offset(&[0xc3, 0x55]), None);
        assert_eq!(offset(&[]), None);
    }
}
