//! Why Go's function table can't be read.

use crate::elf::ElfAddress;

/// Why [`GoFunctions::read`](super::GoFunctions::read) found no usable table.
#[derive(Debug, thiserror::Error)]
pub enum PclntabError {
    /// No table in the file: it holds no Go code, or Go code that another compiler made.
    #[error(
        "no Go function table: looked for sections .gopclntab and .data.rel.ro.gopclntab and for its header \
         in read-only data. `readelf -SW FILE` lists the sections"
    )]
    NotFound,
    /// The table's layout is not known.
    #[error(
        "the Go function table at {address} has magic number {found:#x}; 0xfffffff0 (Go 1.18, 1.19) and \
         0xfffffff1 (Go 1.20 and later) can be read. `go version FILE` shows the version; rebuild the \
         program with a supported one"
    )]
    UnknownMagic {
        /// Where the table is.
        address: ElfAddress,
        /// Its first four bytes.
        found: u32,
    },
    /// The table contradicts itself or the file.
    #[error(
        "the Go function table at {address} is damaged: {what}. Compare the file with the original \
         (`sha256sum FILE`) or rebuild it"
    )]
    Damaged {
        /// Where the table is.
        address: ElfAddress,
        /// What is wrong, with the value found.
        what: String,
    },
    /// The addresses in the table count from a base that isn't known.
    #[error(
        "the Go function table at {address} counts from a text base that its header does not hold, and no \
         module data that points to the table was found. A program built without -linkshared and not as a \
         plugin has both; rebuild it that way, or keep its symbols (no -s)"
    )]
    NoTextBase {
        /// Where the table is.
        address: ElfAddress,
    },
}
