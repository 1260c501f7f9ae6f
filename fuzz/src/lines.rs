//! Inputs that are the lines of a recording.

use std::io::Write as _;

use libfuzzer_sys::fuzzer_mutate;

use crate::mutate_lines;

/// The lines in one sound frame.
pub fn compressed(text: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).ok()?;
    encoder.include_checksum(true).ok()?;
    encoder.write_all(text).ok()?;
    encoder.finish().ok()
}

/// Changes the first `size` bytes of the input, most often so that its lines stay JSON. Gives back their new number.
pub fn mutate(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    if seed % 4 != 0
        && let Some(changed) = mutate_lines(&data[..size], seed)
        && changed.len() <= max_size
    {
        data[..changed.len()].copy_from_slice(&changed);
        return changed.len();
    }
    fuzzer_mutate(data, size, max_size)
}
