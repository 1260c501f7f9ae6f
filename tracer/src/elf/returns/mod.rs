//! Where a function returns, so that a probe on those instructions can take the place of a return probe.
//!
//! A return probe replaces the return address on the stack, which kills every program that moves its stacks;
//! a probe on an instruction changes nothing. But one in the middle of an instruction makes the program
//! crash, so a function is decoded whole, from its first instruction to its last, and anything odd in it is
//! an error.

mod aarch64;
mod error;
mod x86_64;

use super::{ElfAddress, Function, Image, Machine};

pub use error::ReturnSitesError;

/// Longer than any real function; above it the size is damage, and decoding would take seconds.
const LONGEST_FUNCTION_BYTES: u64 = 16 << 20;

/// The instructions with which a function is left.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Exits {
    /// The return instructions, in order of address.
    pub returns: Vec<ElfAddress>,
    /// Unconditional direct jumps to an address outside of the function, with that address: calls in tail position, and
    /// jumps to code that the compiler split off. A call that leaves this way passes none of the return instructions.
    pub tail_jumps: Vec<(ElfAddress, ElfAddress)>,
    /// Conditional ones.
    pub jumps_out: Vec<(ElfAddress, ElfAddress)>,
}

/// Finds the return instructions of `function`, in order of address.
///
/// # Errors
///
/// The function's size is unknown, its code isn't in the file, it can't be decoded from begin to end, or
/// nothing in it returns.
pub fn return_sites(image: &Image, function: &Function) -> Result<Vec<ElfAddress>, ReturnSitesError> {
    let Exits { returns, tail_jumps, jumps_out } = exits(image, function)?;
    if returns.is_empty() {
        let function = function.name.clone();
        return Err(ReturnSitesError::NoReturn { function, jumps_out: tail_jumps.len() + jumps_out.len() });
    }
    Ok(returns)
}

/// Finds all instructions with which `function` is left; there may be none (a function that never returns).
///
/// # Errors
///
/// As for [`return_sites`], except that a function without a return is not an error.
pub fn exits(image: &Image, function: &Function) -> Result<Exits, ReturnSitesError> {
    let name = || function.name.clone();
    if function.size_bytes == 0 {
        return Err(ReturnSitesError::UnknownSize { function: name(), address: function.address });
    }
    let size =
        usize::try_from(function.size_bytes).ok().filter(|_| function.size_bytes <= LONGEST_FUNCTION_BYTES);
    let code = size.filter(|_| image.is_executable(function.address));
    let code = code.and_then(|size| image.bytes(function.address, size)).ok_or_else(|| {
        ReturnSitesError::NotCode {
            function: name(),
            address: function.address,
            size_bytes: function.size_bytes,
        }
    })?;
    let decode = match image.machine() {
        Machine::X86_64 => x86_64::exits,
        Machine::Aarch64 => aarch64::exits,
    };
    decode(function.address, code).map_err(|Undecodable { at, what }| ReturnSitesError::Undecodable {
        function: name(),
        at,
        distance: at.0.wrapping_sub(function.address.0),
        what,
    })
}

/// Where decoding met something that can't be in a function's code.
#[derive(Debug, Eq, PartialEq)]
struct Undecodable {
    at: ElfAddress,
    what: &'static str,
}
