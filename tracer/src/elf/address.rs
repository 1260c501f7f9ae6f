//! The three kinds of address that a probe has to do with, as types that can't be mixed up.

use std::fmt;

/// An address as the symbol table of an ELF file gives it, before the file is loaded anywhere.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ElfAddress(pub u64);

/// A distance in bytes from the start of a file: the place that the kernel wants for a uprobe.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct FileOffset(pub u64);

/// An address in a running process.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct RuntimeAddress(pub u64);

/// Both ways of writing an address give `0x…`; `{:x}` leaves the prefix out.
macro_rules! written_in_hexadecimal {
    ($($address:ty),+) => {$(
        impl fmt::Display for $address {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:#x}", self.0)
            }
        }

        impl fmt::LowerHex for $address {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::LowerHex::fmt(&self.0, f)
            }
        }
    )+};
}

written_in_hexadecimal!(ElfAddress, FileOffset, RuntimeAddress);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_written_in_hexadecimal() {
        assert_eq!(ElfAddress(0x401000).to_string(), "0x401000");
        assert_eq!(format!("{:x}", FileOffset(0x1000)), "1000");
        assert_eq!(format!("{:#x}", RuntimeAddress(0x7f00)), "0x7f00");
    }
}
