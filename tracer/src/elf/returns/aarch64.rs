//! Decodes the code of one function for 64-bit Arm, as far as finding its exits needs it.
//!
//! Every instruction is one aligned 32-bit word (Arm Architecture Reference Manual, "A64 instruction set
//! encoding"), so a word with the right bits is the instruction itself.

use super::{Exits, Undecodable};
use crate::elf::ElfAddress;

/// `ret Xn`, with the register's five bits masked out.
const RETURN: (u32, u32) = (0xffff_fc1f, 0xd65f_0000);
/// `retaa` and `retab`: returns with pointer authentication.
const SIGNED_RETURNS: [u32; 2] = [0xd65f_0bff, 0xd65f_0fff];
/// `b`, with its 26-bit distance masked out.
const JUMP: (u32, u32) = (0xfc00_0000, 0x1400_0000);
/// The top half of `udf`, which includes the all-zero word: never an instruction that runs.
const UNDEFINED: u32 = 0xffff_0000;

/// Looks through `code`, which is loaded at `address`.
pub(super) fn exits(address: ElfAddress, code: &[u8]) -> Result<Exits, Undecodable> {
    let (words, rest) = code.as_chunks::<4>();
    if !rest.is_empty() || !address.0.is_multiple_of(4) {
        return Err(Undecodable { at: address, what: "a begin or size that is no multiple of 4" });
    }
    let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let padding = words.iter().rev().take_while(|word| **word & UNDEFINED == 0).count();
    let end = address.0.saturating_add(code.len() as u64);
    let mut exits = Exits::default();
    for (index, word) in words[..words.len() - padding].iter().copied().enumerate() {
        let at = ElfAddress(address.0.wrapping_add(4 * index as u64));
        if word & UNDEFINED == 0 {
            return Err(Undecodable { at, what: "no valid instruction" });
        }
        if word & RETURN.0 == RETURN.1 || SIGNED_RETURNS.contains(&word) {
            exits.returns.push(at);
        } else if word & JUMP.0 == JUMP.1 && !(address.0..end).contains(&jump_target(at, word)) {
            exits.tail_jumps.push((at, ElfAddress(jump_target(at, word))));
        }
    }
    Ok(exits)
}

/// The distance is a signed number of words in the low 26 bits.
fn jump_target(at: ElfAddress, word: u32) -> u64 {
    let bytes = i64::from((word << 6).cast_signed() >> 6) * 4;
    at.0.wrapping_add_signed(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: ElfAddress = ElfAddress(0x11000);

    fn found(words: &[u32]) -> Result<Exits, Undecodable> {
        let code: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        exits(START, &code)
    }

    fn at(index: u64) -> ElfAddress {
        ElfAddress(START.0 + 4 * index)
    }

    #[test]
    fn finds_every_kind_of_return() {
        // nop; ret; ret x1; retaa; retab; br x30
        let exits =
            found(&[0xd503_201f, 0xd65f_03c0, 0xd65f_0020, 0xd65f_0bff, 0xd65f_0fff, 0xd61f_03c0]).unwrap();
        assert_eq!(exits.returns, [at(1), at(2), at(3), at(4)]);
    }

    #[test]
    fn tells_jumps_out_from_jumps_inside() {
        // b +8 (to the ret); b -8 (before the function); ret; b +4 (behind it)
        let exits = found(&[0x1400_0002, 0x17ff_fffe, 0xd65f_03c0, 0x1400_0001]).unwrap();
        assert_eq!(exits.tail_jumps.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [at(1), at(3)]);
    }

    #[test]
    fn allows_zeros_behind_the_code_only() {
        assert_eq!(found(&[0xd65f_03c0, 0, 0]).unwrap().returns, [at(0)]);
        assert_eq!(found(&[0, 0xd65f_03c0]), Err(Undecodable { at: at(0), what: "no valid instruction" }));
        assert_eq!(found(&[0, 0]).unwrap(), Exits::default());
        assert!(exits(START, &[0xc0, 0x03]).is_err());
        assert!(exits(ElfAddress(0x11002), &[0xc0, 0x03, 0x5f, 0xd6]).is_err());
    }
}
