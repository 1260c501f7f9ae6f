//! Pages of a mapped file: in the page cache, or on the disk only.

use std::path::Path;

use anyhow::{Result, ensure};

use super::{
    super::memory::{BackingFile, Pages, Region, state},
    Kind, Work,
};

pub(super) fn prepare_cached(pages: usize, directory: &Path) -> Result<Work> {
    let (_, region) = map(pages, directory)?;
    let cached = state::cached(region.all())?;
    ensure!(cached == pages + 1, "only {cached} of {} file pages are in the page cache", pages + 1);
    Ok(Work::new(Kind::FileMap, region, demo_read_cached_file_pages))
}

pub(super) fn prepare_cold(pages: usize, directory: &Path) -> Result<Work> {
    let (backing, region) = map(pages, directory)?;
    backing.evict(region.all())?;
    Ok(Work::new(Kind::FileRead, region, demo_read_cold_file_pages))
}

fn map(pages: usize, directory: &Path) -> Result<(BackingFile, Region)> {
    let backing = BackingFile::create(directory, pages)?;
    let region = Region::private_file(backing.file(), pages, BackingFile::stride_bytes())?;
    Ok((backing, region))
}

#[inline(never)]
fn demo_read_cached_file_pages(pages: Pages) {
    pages.read_each(6);
}

#[inline(never)]
fn demo_read_cold_file_pages(pages: Pages) {
    pages.read_each(7);
}
