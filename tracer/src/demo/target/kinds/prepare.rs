//! From a kind and a number to pages that are ready to be touched.

use anyhow::{Context as _, Result};

use super::{
    super::options::Options, Kind, Work, cold_text, copy_on_write, file_pages, first_touch, huge,
    kernel_access, populate, shared_memory, signal, swap, userfault,
};

/// Prepares so many pages of the kind: everything is done here but the touching.
pub(in super::super) fn prepare(kind: Kind, pages: usize, options: &Options) -> Result<Work> {
    match kind {
        Kind::FirstTouch => first_touch::prepare_writes(pages),
        Kind::ZeroPageRead => first_touch::prepare_reads(pages),
        Kind::CowFile => copy_on_write::prepare_file(pages, &options.directory),
        Kind::CowFork => copy_on_write::prepare_fork(pages),
        Kind::CowZero => copy_on_write::prepare_zero(pages),
        Kind::FileMap => file_pages::prepare_cached(pages, &options.directory),
        Kind::FileRead => file_pages::prepare_cold(pages, &options.directory),
        Kind::ColdText => cold_text::prepare(pages),
        Kind::SharedMemory => shared_memory::prepare(pages),
        Kind::Kernel => kernel_access::prepare(pages),
        Kind::Huge => huge::prepare(pages),
        Kind::Signal => signal::prepare(pages),
        Kind::Swap => swap::prepare(pages),
        Kind::Userfault => userfault::prepare(pages, options.userfault_delay),
        Kind::Populate => populate::prepare(pages),
    }
    .with_context(|| format!("could not prepare {pages} pages for --{}", kind.name()))
}
