//! The instruction sets whose code can be decoded and probed.

use std::fmt;

use object::elf;

/// An instruction set, with the ELF number that names it.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Machine {
    /// 64-bit x86.
    X86_64,
    /// 64-bit Arm, little-endian.
    Aarch64,
}

impl Machine {
    /// The machine that this program was built for, and so the only one whose programs can run beside it.
    pub const HOST: Machine = if cfg!(target_arch = "aarch64") { Machine::Aarch64 } else { Machine::X86_64 };

    /// The value of an ELF header's `e_machine` for this machine.
    pub(super) fn elf_number(self) -> u16 {
        match self {
            Machine::X86_64 => elf::EM_X86_64.0,
            Machine::Aarch64 => elf::EM_AARCH64.0,
        }
    }

    /// The number of the relocation that writes "load address + addend" (psABI: `R_X86_64_RELATIVE`,
    /// `R_AARCH64_RELATIVE`).
    pub(super) fn relative_relocation(self) -> u32 {
        match self {
            Machine::X86_64 => elf::R_X86_64_RELATIVE.0,
            Machine::Aarch64 => elf::R_AARCH64_RELATIVE.0,
        }
    }

    /// The size in bytes that every instruction is a multiple of.
    pub(super) fn instruction_quantum(self) -> u8 {
        match self {
            Machine::X86_64 => 1,
            Machine::Aarch64 => 4,
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Machine::X86_64 => "x86-64",
            Machine::Aarch64 => "aarch64",
        })
    }
}
