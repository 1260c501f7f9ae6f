//! Pages that are there for reading only, and copied when written to: of a private file mapping, shared with a child
//! process, or the zero page.

use std::path::Path;

use anyhow::Result;

use super::{
    super::{
        memory::{BackingFile, Pages, Region},
        threads::IdleChild,
    },
    Kind, Work,
};

pub(super) fn prepare_file(pages: usize, directory: &Path) -> Result<Work> {
    let backing = BackingFile::create(directory, pages)?;
    let region = Region::private_file(backing.file(), pages, BackingFile::stride_bytes())?;
    region.all().read_each(0);
    Ok(Work::new(Kind::CowFile, region, demo_write_private_file_pages))
}

pub(super) fn prepare_fork(pages: usize) -> Result<Work> {
    let region = Region::anonymous(pages)?;
    region.advise(libc::MADV_DOFORK, "MADV_DOFORK")?;
    region.all().write_each(0x5a);
    let child = IdleChild::fork()?;
    Ok(Work::new(Kind::CowFork, region, move |pages| {
        // The child lives as long as this closure does.
        let _ = &child;
        demo_write_pages_shared_with_child(pages);
    }))
}

pub(super) fn prepare_zero(pages: usize) -> Result<Work> {
    let region = Region::anonymous(pages)?;
    region.all().read_each(0);
    Ok(Work::new(Kind::CowZero, region, demo_write_over_zero_pages))
}

#[inline(never)]
fn demo_write_private_file_pages(pages: Pages) {
    pages.write_each(3);
}

#[inline(never)]
fn demo_write_pages_shared_with_child(pages: Pages) {
    pages.write_each(4);
}

#[inline(never)]
fn demo_write_over_zero_pages(pages: Pages) {
    pages.write_each(5);
}
