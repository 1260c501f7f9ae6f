//! Why the demo stops its world: the first argument of `pauselens_demo_stop_world`.

/// Pages of anonymous memory are touched for the first time.
pub const FIRST_TOUCH: u32 = 0;
/// Pages are copied on write.
pub const COPY_ON_WRITE: u32 = 1;
/// Pages of mapped files are touched, cached ones and ones that must be read.
pub const FILE_PAGES: u32 = 2;
/// Several kinds in one pause.
pub const MIXED: u32 = 3;
/// Pages that were swapped out are touched.
pub const SWAPPED_OUT: u32 = 4;
/// The pause is empty, or the driver itself touches nothing in it.
pub const NOTHING: u32 = 5;

/// Every reason with its name, in the order of their numbers.
pub const NAMES: [(u32, &str); 6] = [
    (FIRST_TOUCH, "demo: first touch"),
    (COPY_ON_WRITE, "demo: copy on write"),
    (FILE_PAGES, "demo: file pages"),
    (MIXED, "demo: mixed"),
    (SWAPPED_OUT, "demo: swapped out"),
    (NOTHING, "demo: nothing"),
];

/// The reason's name; `None` for a number that the demo does not use.
#[must_use]
pub fn name(reason: u32) -> Option<&'static str> {
    NAMES.iter().find(|(number, _)| *number == reason).map(|(_, name)| *name)
}
