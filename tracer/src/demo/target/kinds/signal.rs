//! Protected pages: each read ends in SIGSEGV, whose handler makes that one page readable.

use std::{
    io,
    mem::MaybeUninit,
    ptr,
    sync::atomic::{AtomicUsize, Ordering},
};

use anyhow::{Context as _, Result};

use super::{
    super::memory::{Pages, Region},
    Kind, Work,
};

/// The range that the handler answers for. One pause at a time has such pages.
static START: AtomicUsize = AtomicUsize::new(0);
static END: AtomicUsize = AtomicUsize::new(0);
static PAGE_BYTES: AtomicUsize = AtomicUsize::new(0);

pub(super) fn prepare(pages: usize) -> Result<Work> {
    let region = Region::anonymous(pages)?;
    // The pages are there, so that reading one after the handler has returned is no second fault.
    region.all().write_each(0x5a);
    region.protect(libc::PROT_NONE)?;
    let all = region.all();
    START.store(all.first() as usize, Ordering::Release);
    END.store(all.first() as usize + all.span_bytes(), Ordering::Release);
    PAGE_BYTES.store(rustix::param::page_size(), Ordering::Release);
    let handler = Handler::install()?;
    Ok(Work::new(Kind::Signal, region, move |pages| {
        // It is in place as long as this closure lives.
        let _ = &handler;
        demo_read_protected_pages(pages);
    }))
}

#[inline(never)]
fn demo_read_protected_pages(pages: Pages) {
    pages.read_each(9);
}

/// The handler of SIGSEGV; what was there before comes back when it is dropped.
struct Handler {
    before: libc::sigaction,
}

impl Handler {
    fn install() -> Result<Self> {
        let mut before = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: both structures are valid, all-zero bytes are a valid value of theirs, and `answer` does only what a
        // signal handler may do.
        unsafe {
            let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
            action.sa_sigaction = answer as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO;
            if libc::sigaction(libc::SIGSEGV, &raw const action, before.as_mut_ptr()) != 0 {
                return Err(io::Error::last_os_error()).context("could not set a handler of SIGSEGV");
            }
            Ok(Self { before: before.assume_init() })
        }
    }
}

impl Drop for Handler {
    fn drop(&mut self) {
        START.store(0, Ordering::Release);
        END.store(0, Ordering::Release);
        // SAFETY: it is the action that was in place before.
        unsafe { libc::sigaction(libc::SIGSEGV, &raw const self.before, ptr::null_mut()) };
    }
}

extern "C" fn answer(_signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid `siginfo_t`, and for SIGSEGV it holds an address.
    let address = unsafe { (*info).si_addr() } as usize;
    let page_bytes = PAGE_BYTES.load(Ordering::Acquire);
    if (START.load(Ordering::Acquire)..END.load(Ordering::Acquire)).contains(&address) {
        let page = address & !(page_bytes - 1);
        // SAFETY: the page is in the region of `prepare`. `mprotect` is a bare system call, fit for a handler.
        if unsafe { libc::mprotect(page as *mut libc::c_void, page_bytes, libc::PROT_READ) } == 0 {
            return;
        }
    }
    // Not ours: the access is repeated and ends the process, as it would have without this handler.
    // SAFETY: `signal` is fit for a handler.
    unsafe { libc::signal(libc::SIGSEGV, libc::SIG_DFL) };
}
