//! The registers that the kernel side captures at a probe, read as a function's arguments or by name.

use tracer_common::pause::REGISTERS;

use crate::elf::Operand;

/// Names of the captured registers, in order, on the machine that this program runs on; the last is the instruction
/// pointer.
const NAMES: [&str; REGISTERS] = if cfg!(target_arch = "aarch64") {
    [
        "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x19", "x20", "x21", "x22", "x23", "x24", "x25",
        "sp", "pc",
    ]
} else {
    [
        "rax", "rbx", "rcx", "rdi", "rsi", "rdx", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13",
        "r14", "r15", "rip",
    ]
};

/// The registers at one mark; see [`REGISTERS`] for their order.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Registers(pub [u64; REGISTERS]);

impl Registers {
    /// The `n`-th integer argument of a Go function (from 0) at its entry, by Go's internal calling convention
    /// (`internal/abi`, `abi-internal.md`); `None` if it isn't in a captured register.
    pub fn go_argument(&self, n: usize) -> Option<u64> {
        let captured: &[usize] = if cfg!(target_arch = "aarch64") {
            &[0, 1, 2, 3, 4, 5, 6, 7]
        } else {
            &[0, 1, 2, 3, 4, 8, 9, 10, 11]
        };
        self.0.get(*captured.get(n)?).copied()
    }

    /// The `n`-th integer argument of a C function (from 0) at its entry, by the System V calling convention of the
    /// processor; `None` if it isn't in a captured register.
    pub fn c_argument(&self, n: usize) -> Option<u64> {
        let captured: &[usize] =
            if cfg!(target_arch = "aarch64") { &[0, 1, 2, 3, 4, 5, 6, 7] } else { &[3, 4, 5, 2, 8, 9] };
        self.0.get(*captured.get(n)?).copied()
    }

    /// What a C function returned, at its return instruction.
    #[must_use]
    pub fn result(&self) -> u64 {
        self.0[0]
    }

    /// The probed instruction, as a runtime address.
    #[must_use]
    pub fn instruction(&self) -> u64 {
        self.0[REGISTERS - 1]
    }

    /// The value of a tracepoint's argument, cut to its size and extended by its sign; `None` if it is in memory, or
    /// in a register that is not captured.
    #[must_use]
    pub fn operand(&self, operand: &Operand) -> Option<u64> {
        match operand {
            Operand::Constant(value) => Some(value.cast_unsigned()),
            Operand::Register { name, size_bytes, signed } => {
                let (index, from_bit) = place(name)?;
                Some(cut(self.0[index] >> from_bit, *size_bytes, *signed))
            }
            Operand::Memory { .. } | Operand::Elsewhere(_) => None,
        }
    }
}

/// The low bytes of a word, extended by their sign.
pub(super) fn cut(word: u64, size_bytes: u8, signed: bool) -> u64 {
    let unused = 64 - 8 * u32::from(size_bytes.clamp(1, 8));
    let high = word << unused;
    if signed { (high.cast_signed() >> unused).cast_unsigned() } else { high >> unused }
}

/// Where a whole register is captured; `None` if it isn't.
pub(super) fn index_of(name: &str) -> Option<usize> {
    NAMES.iter().position(|known| *known == name)
}

/// Where a register, or a part of one, is captured, and from which bit on.
fn place(name: &str) -> Option<(usize, u32)> {
    if let Some(index) = NAMES.iter().position(|known| *known == name) {
        return Some((index, 0));
    }
    let position = |known: String| NAMES.iter().position(|name| *name == known);
    if cfg!(target_arch = "aarch64") {
        return Some((position(format!("x{}", name.strip_prefix('w')?))?, 0));
    }
    // r8d, r8w, r8b
    if name.starts_with('r') {
        return Some((position(name.trim_end_matches(['d', 'w', 'b']).to_owned())?, 0));
    }
    // eax and esi, ax and si
    for whole in [name.strip_prefix('e').unwrap_or(name), name] {
        if let Some(index) = position(format!("r{whole}")) {
            return Some((index, 0));
        }
    }
    // ah, al, sil
    if let Some(letter) = name.strip_suffix('h') {
        return Some((position(format!("r{letter}x"))?, 8));
    }
    let short = name.strip_suffix('l')?;
    let index = position(format!("r{short}x")).or_else(|| position(format!("r{short}")))?;
    Some((index, 0))
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    fn registers() -> Registers {
        Registers(std::array::from_fn(|index| 0xffff_ff00_0000_0010 + index as u64))
    }

    #[test]
    fn each_calling_convention_has_its_order() {
        let low = |value: Option<u64>| value.map(|value| value & 0xff);
        let go: Vec<_> = (0..10).map(|n| low(registers().go_argument(n))).collect();
        let expected = [0x10, 0x11, 0x12, 0x13, 0x14, 0x18, 0x19, 0x1a, 0x1b];
        assert_eq!(go[..9], expected.map(Some));
        assert_eq!(go[9], None);
        let c: Vec<_> = (0..7).map(|n| low(registers().c_argument(n))).collect();
        assert_eq!(c, [Some(0x13), Some(0x14), Some(0x15), Some(0x12), Some(0x18), Some(0x19), None]);
    }

    #[test]
    fn operands_are_cut_and_extended() {
        let value = |name: &str, size_bytes, signed| {
            registers().operand(&Operand::Register { name: name.to_owned(), size_bytes, signed })
        };
        assert_eq!(value("r12", 8, false), Some(0xffff_ff00_0000_001c));
        assert_eq!(value("eax", 4, true), Some(0x10));
        assert_eq!(value("r9d", 4, false), Some(0x19));
        assert_eq!(value("sil", 1, true), Some(0x14));
        assert_eq!(value("al", 1, false), Some(0x10));
        assert_eq!(value("ax", 2, false), Some(0x10));
        assert_eq!(value("ah", 1, false), Some(0));
        assert_eq!(value("xmm0", 8, false), None);
        let negative = Registers([u64::from(u32::MAX); REGISTERS]);
        let four = Operand::Register { name: "ebx".to_owned(), size_bytes: 4, signed: true };
        assert_eq!(negative.operand(&four), Some(u64::MAX));
        assert_eq!(registers().operand(&Operand::Constant(-1)), Some(u64::MAX));
        assert_eq!(registers().operand(&Operand::Elsewhere("8@8(%rax,%rbx)".to_owned())), None);
    }
}
