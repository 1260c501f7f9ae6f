//! Any text as the lines in a sound frame: what is behind the decompression.

#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use tracer_fuzz::{compressed, mutate, use_all};

fuzz_target!(|text: &[u8]| {
    if let Some(bytes) = compressed(text) {
        use_all(&bytes);
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| { mutate(data, size, max_size, seed) });
