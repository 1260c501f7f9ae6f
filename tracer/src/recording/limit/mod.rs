//! Recordings that must not grow beyond a size: the worst pauses are kept in full, the rest as totals.
//!
//! Lines go through a [`sieve`] before they are written. It takes away what the [`levels`] don't let through: first the
//! faults of the shorter pauses, then their stacks and places, then their lines, which are added up. Faults are
//! [`waiting`] until their pause has ended and its length is known, so the file has all of a pause's faults or none.
//!
//! When the file has reached its limit, [`choose`] finds levels with which half of it is enough, from the sizes that
//! [`survey`] has added up, and [`rewrite`] sends the whole file through a new sieve, into another file that takes its
//! place. At any moment one of the two is whole. Where half the file would have no pause's faults at all, the worst one
//! alone may take nearly all of it: [`attempts`] says what is tried, and in which order.

mod adding;
mod attempts;
mod choose;
mod fields;
mod lengths;
mod levels;
mod open;
mod out;
mod rewrite;
mod sieve;
mod slim;
mod stacks;
mod survey;
#[cfg(test)]
mod tests;
mod thinning;
mod waiting;

pub use rewrite::Limited;
