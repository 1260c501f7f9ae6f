//! Any text as the lines of recordings on two sides that are compared.

#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use tracer_fuzz::{compare_all, mutate};

fuzz_target!(|text: &[u8]| compare_all(text));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| { mutate(data, size, max_size, seed) });
