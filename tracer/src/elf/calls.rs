//! Whether an address is one that a call returns to: what is found on a stack can be anything.

use super::{ElfAddress, Image, Machine};

/// The longest instruction of x86-64 that calls, without needless prefixes: `call *disp32(base, index, scale)` with a REX
/// prefix and `notrack`.
const LONGEST_CALL: usize = 9;

/// Whether the instruction before the address is a call; `None` if the file does not hold its code.
#[must_use]
pub fn follows_call(image: &Image, address: ElfAddress) -> Option<bool> {
    image.bytes(address, 1).filter(|_| image.is_executable(address))?;
    let before = |length: usize| image.bytes(ElfAddress(address.0.checked_sub(length as u64)?), length);
    Some(match image.machine() {
        Machine::X86_64 => (2..=LONGEST_CALL).any(|length| before(length).is_some_and(is_x86_call)),
        Machine::Aarch64 => before(4).is_some_and(is_arm_call),
    })
}

/// Whether the bytes are one instruction that calls.
fn is_x86_call(bytes: &[u8]) -> bool {
    use iced_x86::{Decoder, DecoderOptions, FlowControl};
    let mut decoder = Decoder::new(64, bytes, DecoderOptions::NONE);
    let instruction = decoder.decode();
    instruction.len() == bytes.len()
        && matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall)
}

/// `bl` and `blr`, also with pointer authentication (Arm ARM, C6.2).
fn is_arm_call(bytes: &[u8]) -> bool {
    let Some(word) = bytes.first_chunk().map(|bytes| u32::from_le_bytes(*bytes)) else { return false };
    word >> 26 == 0b10_0101 || word & 0xfeff_f000 == 0xd63f_0000
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf::{
        find_functions,
        test_files::{compile, open},
    };

    #[test]
    fn only_addresses_behind_calls_are_return_addresses() {
        let source = "
            __attribute__((noinline, used)) void inner(void) { __asm__ volatile(\"\"); }
            __attribute__((noinline, used)) int outer(void (*f)(void), void (**g)(void)) {
                inner(); f(); g[3](); return 1;
            }
            int main(int argc, char **argv) { (void)argv; return argc > 9 ? outer(inner, 0) : 0; }";
        let folder = tempfile::tempdir().unwrap();
        let image = open(&compile(folder.path(), source, &["-O1", "-fno-pie", "-no-pie"]));
        let outer = find_functions(&image, &["outer"]).remove(0);
        let code = image.bytes(outer.address, usize::try_from(outer.size_bytes).unwrap()).unwrap();
        let behind: Vec<u64> = (1..outer.size_bytes)
            .filter(|offset| follows_call(&image, ElfAddress(outer.address.0 + offset)) == Some(true))
            .collect();
        // What the decoder sees when it goes through the function from its begin.
        let decoder = iced_x86::Decoder::with_ip(64, code, 0, iced_x86::DecoderOptions::NONE);
        let calls: Vec<u64> = decoder
            .into_iter()
            .filter(|instruction| {
                use iced_x86::FlowControl::{Call, IndirectCall};
                matches!(instruction.flow_control(), Call | IndirectCall)
            })
            .map(|instruction| instruction.next_ip())
            .collect();
        assert_eq!((calls.len(), &behind), (3, &calls));
        assert_eq!(follows_call(&image, ElfAddress(0)), None);
        assert_eq!(follows_call(&image, ElfAddress(u64::MAX)), None);
    }

    #[test]
    fn arm_calls() {
        // bl +4; blr x8; b +4; br x8; ret.
        let words = [0x9400_0001_u32, 0xd63f_0100, 0x1400_0001, 0xd61f_0100, 0xd65f_03c0];
        let calls: Vec<bool> = words.iter().map(|word| is_arm_call(&word.to_le_bytes())).collect();
        assert_eq!(calls, [true, true, false, false, false]);
    }
}
