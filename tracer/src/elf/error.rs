//! Why a file can't be used as a place for probes.

use std::{io, path::PathBuf};

use super::Machine;

/// Why [`Image::open`](super::Image::open) refused a file.
#[derive(Debug, thiserror::Error)]
pub enum ElfError {
    /// The file could not be mapped into memory.
    #[error(
        "can't map {path} into memory: {source}. It must be a regular file that can be read; see `ls -l \
         {path}`"
    )]
    Map {
        /// The file's name, as shown to the user.
        path: PathBuf,
        /// What the kernel answered.
        source: io::Error,
    },
    /// The file does not begin with the ELF magic number.
    #[error(
        "{path} is not an ELF file: it begins with [{found}], an ELF file with [7f 45 4c 46]. \
         See what it is with `file {path}`"
    )]
    NotElf {
        /// The file's name, as shown to the user.
        path: PathBuf,
        /// The file's first bytes in hexadecimal, at most four.
        found: String,
    },
    /// The file is a 32-bit ELF file.
    #[error("{path} is a 32-bit ELF file; only 64-bit programs can be traced. See `file {path}`")]
    ThirtyTwoBit {
        /// The file's name, as shown to the user.
        path: PathBuf,
    },
    /// The file is for another machine than the one that it was opened for.
    #[error(
        "{path} is for ELF machine {found}, and {needed} (number {}) is needed here. See `readelf -h {path}`",
        .needed.elf_number()
    )]
    OtherMachine {
        /// The file's name, as shown to the user.
        path: PathBuf,
        /// The header's `e_machine`, or what else is wrong with it.
        found: String,
        /// The machine whose files can be used.
        needed: Machine,
    },
    /// The headers that say how the file is loaded are damaged, or there are none.
    #[error(
        "{path} is damaged: {what}. Compare it with the original; `readelf -hl {path}` shows its headers"
    )]
    Damaged {
        /// The file's name, as shown to the user.
        path: PathBuf,
        /// What is wrong, with the value found.
        what: String,
    },
}
