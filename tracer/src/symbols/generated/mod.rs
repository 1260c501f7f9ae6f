//! Names of generated code: what a runtime writes down of the functions that it makes while it runs.
//!
//! Two forms are known: the perf map, a text file, and the jitdump file (Linux `tools/perf/Documentation/`,
//! `jit-interface.txt` and `jitdump-specification.txt`). Both are the target's own words, so only a file that is the target's is
//! trusted. They grow and are rewritten while the target runs: what is there at the end of the trace counts.

mod at;
mod hints;
mod jitdump;
mod name_files;
mod notes;
mod perf_map;
mod trust;
mod wanted;

pub(super) use hints::{hint, lacks_frame_pointers};
pub(super) use name_files::NameFiles;
pub(super) use notes::Notes;
pub(super) use wanted::Wanted;
