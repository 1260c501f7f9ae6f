//! A run of pages that are touched one after the other, each once.

use std::hint::black_box;

/// Pages at an even distance in a [`super::Region`], and the order in which they are touched.
///
/// The region's first page is the spare one, for the rehearsal; the others belong to the pause.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Pages {
    first: *mut u8,
    stride_bytes: usize,
    count: usize,
    step: usize,
}

impl Pages {
    /// The caller's region must be as large as `count` times the stride.
    pub(in super::super) fn new(first: *mut u8, stride_bytes: usize, count: usize) -> Self {
        Self { first, stride_bytes, count, step: 1 }
    }

    /// The same pages, touched in an order that jumps about, so that read-ahead does not guess it.
    pub(in super::super) fn scattered(mut self) -> Self {
        // Near the golden section, and with no divisor in common with the count: every page comes once.
        self.step = (self.count * 618 / 1000..).find(|step| coprime(*step, self.count)).unwrap_or(1);
        self
    }

    pub(in super::super) fn count(&self) -> usize {
        self.count
    }

    pub(in super::super) fn first(&self) -> *mut u8 {
        self.first
    }

    /// From the first page's begin to the last one's end (to the next one's begin, with a stride).
    pub(in super::super) fn span_bytes(&self) -> usize {
        self.count * self.stride_bytes
    }

    pub(in super::super) fn addresses(self) -> impl Iterator<Item = *mut u8> {
        (0..self.count).map(move |index| {
            let page = if self.step == 1 { index } else { index * self.step % self.count };
            self.first.wrapping_add(page * self.stride_bytes)
        })
    }

    /// Reads one byte of each page.
    ///
    /// `mark` makes the callers differ: the compiler folds functions with equal bodies into one, and stacks would
    /// show the wrong name.
    #[inline(always)]
    pub(in super::super) fn read_each(self, mark: u8) {
        let mut sum = mark;
        for address in self.addresses() {
            // SAFETY: the address is inside the region, which is readable or whose handler makes it so.
            sum ^= unsafe { address.read_volatile() };
        }
        black_box(sum);
    }

    /// Writes one byte of each page.
    #[inline(always)]
    pub(in super::super) fn write_each(self, mark: u8) {
        for address in self.addresses() {
            // SAFETY: the address is inside the region, which is writable and used by nobody else.
            unsafe { address.write_volatile(mark) };
        }
    }
}

fn coprime(a: usize, b: usize) -> bool {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a == 1
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, ptr};

    use super::*;

    #[test]
    fn a_scattered_order_has_every_page_once() {
        for count in [1, 2, 3, 10, 64, 67, 1000] {
            let pages = Pages::new(ptr::null_mut(), 4096, count).scattered();
            let seen: BTreeSet<_> = pages.addresses().map(|address| address as usize / 4096).collect();
            assert_eq!(seen, (0..count).collect(), "{count}");
        }
    }
}
