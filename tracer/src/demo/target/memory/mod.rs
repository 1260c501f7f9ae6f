//! Memory whose faults can be counted: mappings, the pages in them that are touched, what the kernel says of a
//! page, and files to map.

mod backing_file;
pub(super) mod own_text;
mod pages;
mod region;
pub(super) mod state;

pub(super) use backing_file::BackingFile;
pub(super) use own_text::OwnText;
pub(super) use pages::Pages;
pub(super) use region::{Region, advise};
