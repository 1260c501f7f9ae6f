//! Makes everything of a recording that can be made of one.

use std::{io, path::Path};

use tracer::{
    recording::Recording,
    report::{
        pictures::{self, Listed, Picture, Wish},
        samples::By,
        text::Style,
    },
};

/// Reads the bytes and makes pictures of them: the report always, and two of the others, which the input chooses by its
/// length, since all of them take long. Errors are fine; panics, endless loops and memory without bound are not.
pub fn use_all(bytes: &[u8]) {
    let Ok(recording) = Recording::of_bytes(bytes, Path::new("fuzzed.jsonl.zst")) else { return };
    let choice = bytes.len();
    let chosen = [Picture::ALL[choice % Picture::ALL.len()], Picture::ALL[choice / 8 % Picture::ALL.len()]];
    for picture in [Picture::Text, Picture::Json].into_iter().chain(chosen) {
        let style = Style { verbose: choice % 2 == 0, ..Style::default() };
        let listed = if choice % 3 == 0 { Listed::Longest(3) } else { Listed::AsRecorded };
        let by = if choice % 5 == 0 { By::Count } else { By::Time };
        let _ = pictures::write(&recording, &Wish { picture, style, listed, by }, &mut io::sink());
    }
    let _ = recording.all_problems();
}
