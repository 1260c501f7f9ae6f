//! What the targets do with recordings, and changes of a recording's lines that leave them JSON.

mod lines;
mod mutation;
mod sides;
mod use_all;

pub use lines::{compressed, mutate};
pub use mutation::mutate_lines;
pub use sides::compare_all;
pub use use_all::use_all;
