//! Decodes the code of one function for 64-bit x86.

use std::collections::HashSet;

use iced_x86::{Code, Decoder, DecoderOptions, FlowControl, Instruction, OpKind};

use super::{Exits, Undecodable};
use crate::elf::ElfAddress;

/// Decodes `code`, which is loaded at `address`.
///
/// Every direct branch inside the function must lead to the begin of an instruction: if one doesn't, data or
/// an overlap was taken for code, and the places found can't be trusted.
pub(super) fn exits(address: ElfAddress, code: &[u8]) -> Result<Exits, Undecodable> {
    let end = address.0.saturating_add(code.len() as u64);
    let mut decoder = Decoder::with_ip(64, code, address.0, DecoderOptions::NONE);
    let mut instruction = Instruction::default();
    let mut begins = HashSet::new();
    let mut branches = Vec::new();
    let mut exits = Exits::default();
    while decoder.can_decode() {
        decoder.decode_out(&mut instruction);
        let at = ElfAddress(instruction.ip());
        begins.insert(at.0);
        match instruction.flow_control() {
            FlowControl::Exception if instruction.code() == Code::INVALID => {
                return Err(Undecodable { at, what: "no valid instruction" });
            }
            FlowControl::Return if is_near_return(instruction.code()) => exits.returns.push(at),
            FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch if is_direct(&instruction) => {
                let target = instruction.near_branch_target();
                if (address.0..end).contains(&target) {
                    branches.push((at, target));
                } else if instruction.flow_control() == FlowControl::UnconditionalBranch {
                    exits.tail_jumps.push((at, ElfAddress(target)));
                } else {
                    exits.jumps_out.push((at, ElfAddress(target)));
                }
            }
            _ => {}
        }
    }
    match branches.into_iter().find(|(_, target)| !begins.contains(target)) {
        Some((at, _)) => Err(Undecodable { at, what: "a jump into the middle of an instruction" }),
        None => Ok(exits),
    }
}

/// `ret` and `ret n`; the others return from interrupts and system calls.
fn is_near_return(code: Code) -> bool {
    matches!(code, Code::Retnq | Code::Retnq_imm16)
}

fn is_direct(instruction: &Instruction) -> bool {
    matches!(instruction.op0_kind(), OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: ElfAddress = ElfAddress(0x401000);

    fn returns(code: &[u8]) -> Result<Vec<u64>, Undecodable> {
        exits(START, code).map(|exits| exits.returns.into_iter().map(|at| at.0 - START.0).collect())
    }

    #[test]
    fn finds_every_kind_of_return() {
        // push rbp; ret; rep ret; bnd ret; ret 8; and 0xc3 as a constant: mov eax, 0xc3
        let code = [0x55, 0xc3, 0xf3, 0xc3, 0xf2, 0xc3, 0xc2, 8, 0, 0xb8, 0xc3, 0, 0, 0];
        assert_eq!(returns(&code), Ok(vec![1, 2, 4, 6]));
    }

    #[test]
    fn passes_over_padding() {
        assert_eq!(returns(&[0xc3, 0xcc, 0xcc, 0xcc]), Ok(vec![0]));
        assert_eq!(returns(&[0xc3, 0x66, 0x90, 0x0f, 0x1f, 0x00]), Ok(vec![0]));
    }

    #[test]
    fn refuses_what_is_no_code() {
        // push es, which 64-bit code does not have
        assert_eq!(
            returns(&[0x90, 0x06, 0xc3]),
            Err(Undecodable { at: ElfAddress(0x401001), what: "no valid instruction" })
        );
        // a call cut off after three bytes
        assert_eq!(
            returns(&[0xc3, 0xe8, 0, 0]),
            Err(Undecodable { at: ElfAddress(0x401001), what: "no valid instruction" })
        );
    }

    #[test]
    fn refuses_a_jump_into_an_instruction() {
        // jmp +1, into: mov eax, 0xc3
        let found = returns(&[0xeb, 1, 0xb8, 0xc3, 0, 0, 0]);
        assert_eq!(found, Err(Undecodable { at: START, what: "a jump into the middle of an instruction" }));
    }

    #[test]
    fn tells_jumps_out_from_jumps_inside() {
        // je +0 (to the ret); ret; jmp far forward; jmp [rax]; iretq
        let code = [0x74, 0, 0xc3, 0xe9, 0, 1, 0, 0, 0xff, 0x20, 0x48, 0xcf];
        let found = exits(START, &code).unwrap();
        assert_eq!(found.returns, [ElfAddress(0x401002)]);
        assert_eq!(found.tail_jumps, [(ElfAddress(0x401003), ElfAddress(0x401108))]);
    }
}
