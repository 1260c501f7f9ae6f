//! Any bytes as a file: frames, damage, foreign files.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| tracer_fuzz::use_all(bytes));
