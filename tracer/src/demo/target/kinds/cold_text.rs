//! Pages of this program's own code that are on the disk only: paged out, and read again in the pause.

use std::{
    cell::RefCell,
    collections::BTreeSet,
    hint::black_box,
    sync::{Mutex, PoisonError},
};

use anyhow::{Context as _, Result, bail, ensure};

use super::{
    super::memory::{OwnText, Pages, advise, own_text, state},
    Kind, Work,
    work::Prepared,
};

/// Addresses of pages, highest first: the kernel reads ahead towards higher addresses, so that no read brings in a page
/// that is still to be touched.
struct ColdText {
    candidates: RefCell<Vec<*mut u8>>,
    /// Those that are touched in the pause.
    chosen: RefCell<Vec<*mut u8>>,
    pages: usize,
    text: OwnText,
}

/// Addresses of pages that turned out to be needed for something else: to page them out again would only take time.
static NEEDED: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());

pub(super) fn prepare(pages: usize) -> Result<Work> {
    let text = own_text::mapping()?;
    // Elsewhere than in executable mappings, and in those before Linux 6.16, it turns read-ahead off.
    advise(text.all(), libc::MADV_RANDOM).context("madvise(MADV_RANDOM) failed")?;
    let needed = NEEDED.lock().unwrap_or_else(PoisonError::into_inner);
    let mut candidates: Vec<*mut u8> =
        text.one_in_each_window().filter(|address| !needed.contains(&(*address as usize))).collect();
    drop(needed);
    candidates.reverse();
    let chosen = RefCell::new(Vec::with_capacity(pages));
    let cold = ColdText { candidates: RefCell::new(candidates), chosen, pages, text };
    cold.page_out()?;
    Ok(Work::of(Kind::ColdText, cold))
}

impl ColdText {
    /// Pages out the candidates, and keeps those that are out then.
    ///
    /// Left out is what else is mapped: by another process that runs the same file, or has it open to read its symbols.
    fn page_out(&self) -> Result<()> {
        let mut candidates = self.candidates.borrow_mut();
        let mut out = Vec::new();
        for address in candidates.iter().copied() {
            if page_out(&self.text, address)? {
                out.push(address);
            }
        }
        *candidates = out;
        Ok(())
    }

    /// Chooses pages for the pause. Whether all of them are out: choosing can itself need code that is not there.
    fn choose(&self) -> Result<bool> {
        let mut candidates = self.candidates.borrow_mut();
        let mut out = Vec::new();
        for address in candidates.iter().copied() {
            if state::present(one_page(address))? > 0 {
                NEEDED.lock().unwrap_or_else(PoisonError::into_inner).insert(address as usize);
            } else if page_out(&self.text, address)? {
                out.push(address);
            }
        }
        ensure!(
            out.len() >= self.pages,
            "only {} pages of the program's own code can be paged out, and are not needed by the pause itself. More can \
             be if no other process runs the same file: run a copy of it",
            out.len()
        );
        // The highest ones: there is least to be read ahead up to the end of the code.
        let mut chosen = self.chosen.borrow_mut();
        chosen.clear();
        chosen.extend(&out[..self.pages]);
        *candidates = out;
        for address in chosen.iter() {
            if !self.text.on_disk_only(*address)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Prepared for ColdText {
    fn rehearse(&self) {
        if let Some(spare) = self.candidates.borrow().first() {
            demo_read_own_cold_text(&[*spare]);
        }
    }

    /// By now the program has run through all of the pause. Pages that are mapped again are needed for that; those that were
    /// only read ahead are paged out again.
    fn settle(&self) -> Result<()> {
        const TRIES: usize = 10;
        for _ in 0..TRIES {
            if self.choose()? {
                return Ok(());
            }
        }
        bail!("pages of the program's own code come back by themselves")
    }

    fn perform(&self) {
        demo_read_own_cold_text(&self.chosen.borrow());
    }

    fn pages(&self) -> u64 {
        self.pages as u64
    }
}

fn one_page(address: *mut u8) -> Pages {
    Pages::new(address, rustix::param::page_size(), 1)
}

/// Whether the page is on the disk only, in the end.
fn page_out(text: &OwnText, address: *mut u8) -> Result<bool> {
    const TRIES: usize = 5;
    let page = one_page(address);
    for _ in 0..TRIES {
        if text.on_disk_only(address)? {
            return Ok(true);
        }
        // Only mapped pages can be paged out.
        page.read_each(17);
        // A page with a tracer's probe in it is a copy, which would go to the swap area.
        if !state::is_of_file(page)? {
            return Ok(false);
        }
        advise(page, libc::MADV_PAGEOUT)
            .context("madvise(MADV_PAGEOUT) failed: it needs Linux 5.4 or later")?;
    }
    text.on_disk_only(address)
}

#[inline(never)]
fn demo_read_own_cold_text(pages: &[*mut u8]) {
    let mut sum = 18;
    for address in pages {
        // SAFETY: the address is in the mapping of this program's own code, which can be read.
        sum ^= unsafe { address.read_volatile() };
    }
    black_box(sum);
}
