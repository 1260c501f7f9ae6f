//! Any text as the lines in a sound frame: what is behind the decompression.

#![no_main]

use std::io::Write as _;

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use tracer_fuzz::{mutate_lines, use_all};

fuzz_target!(|text: &[u8]| {
    if let Some(bytes) = compressed(text) {
        use_all(&bytes);
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    if seed % 4 != 0
        && let Some(changed) = mutate_lines(&data[..size], seed)
        && changed.len() <= max_size
    {
        data[..changed.len()].copy_from_slice(&changed);
        return changed.len();
    }
    fuzzer_mutate(data, size, max_size)
});

fn compressed(text: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).ok()?;
    encoder.include_checksum(true).ok()?;
    encoder.write_all(text).ok()?;
    encoder.finish().ok()
}
