//! What every target does with a recording that could be read, and changes of a recording's lines that leave them JSON.

mod mutation;
mod use_all;

pub use mutation::mutate_lines;
pub use use_all::use_all;
