//! Why a function's return instructions can't be told.

use crate::elf::ElfAddress;

/// Why [`return_sites`](super::return_sites) gave no place.
#[derive(Debug, thiserror::Error)]
pub enum ReturnSitesError {
    /// The symbol table gives no size, as for labels in assembly code.
    #[error(
        "the symbol table gives no size for {function} at {address}, and without it the end of its code \
         isn't known. Choose a function with a size: `nm -S FILE` lists them"
    )]
    UnknownSize {
        /// The function's name.
        function: String,
        /// Where it begins.
        address: ElfAddress,
    },
    /// The function's bytes aren't all in one executable segment of the file, or are too many for a function.
    #[error(
        "{function} at {address} with {size_bytes} bytes isn't inside the file's code. The file may be cut \
         off or its symbols may be those of another build: compare `readelf -lW FILE` with `nm -S FILE`"
    )]
    NotCode {
        /// The function's name.
        function: String,
        /// Where it begins.
        address: ElfAddress,
        /// Its size as the table gives it.
        size_bytes: u64,
    },
    /// The code can't be decoded from begin to end.
    #[error(
        "{function} can't be decoded: {what} at {at} ({function}+{distance:#x}). A probe in the middle of an \
         instruction would crash the program, so none is set; see `objdump -d FILE --start-address={at}`"
    )]
    Undecodable {
        /// The function's name.
        function: String,
        /// Where decoding stopped.
        at: ElfAddress,
        /// The same as a distance from the function's begin.
        distance: u64,
        /// What was found there.
        what: &'static str,
    },
    /// The function has no return instruction.
    #[error(
        "{function} has no return instruction and {jumps_out} direct jumps out of it: it never returns, or \
         returns through other functions. Choose one of those for the end of the window; see `objdump -d \
         FILE`"
    )]
    NoReturn {
        /// The function's name.
        function: String,
        /// How many jumps lead out of it.
        jumps_out: usize,
    },
}
