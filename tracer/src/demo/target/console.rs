//! Standard input and output, unbuffered, so that they can be used inside a pause without touching new memory.

use std::{hint::black_box, io};

use anyhow::{Context as _, Result};

/// Writes all of the text to standard output.
pub(super) fn say(text: &str) -> Result<()> {
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        // SAFETY: the buffer is valid for reads of its length.
        let written = unsafe { libc::write(libc::STDOUT_FILENO, rest.as_ptr().cast(), rest.len()) };
        match usize::try_from(written) {
            Ok(written) => rest = &rest[written.min(rest.len())..],
            Err(_) if interrupted() => {}
            Err(_) => return Err(io::Error::last_os_error()).context("could not write to standard output"),
        }
    }
    Ok(())
}

/// Waits for the end of a line on standard input, or for its end. What the line says does not matter.
pub(super) fn wait_for_line() -> Result<()> {
    let mut byte = 0_u8;
    loop {
        // SAFETY: the buffer is one byte, valid for writes.
        let got = unsafe { libc::read(libc::STDIN_FILENO, (&raw mut byte).cast(), 1) };
        match got {
            0 => return Ok(()),
            1 if byte == b'\n' => return Ok(()),
            1 => {}
            _ if interrupted() => {}
            _ => return Err(io::Error::last_os_error()).context("could not read standard input"),
        }
    }
}

/// What is said inside a pause that is held open.
pub(super) static HOLDING: &str = "holding\n";

/// Runs through the code of both without any effect, and touches their own code and what is said: where these lie is the
/// linker's affair.
pub(super) fn rehearse() {
    let mut byte = 0_u8;
    for place in [say as *const u8, wait_for_line as *const u8, HOLDING.as_ptr()] {
        // SAFETY: code and text of this program, which can be read.
        black_box(unsafe { place.read_volatile() });
    }
    // SAFETY: nothing is read or written: the length is zero.
    unsafe {
        libc::read(libc::STDIN_FILENO, (&raw mut byte).cast(), 0);
        libc::write(libc::STDOUT_FILENO, (&raw const byte).cast(), 0);
    }
}

fn interrupted() -> bool {
    io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
}
