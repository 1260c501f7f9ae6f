//! A recording as one page of HTML that needs nothing else: no network, no server, no other file.
//!
//! What there can be much of is added up here; the page's scripts only draw. Data stands in one block of JSON, with every
//! character escaped that could end it; names are put on the page as text and never as markup.

mod address_axis;
mod collect;
mod data;
mod details;
mod escape;
mod fault;
mod flame;
mod histogram;
mod memory;
mod names;
mod page;
mod parts;
mod prose;
mod scatter;
#[cfg(test)]
mod tests;
mod timeline;
mod write;

pub use data::SCHEMA;
pub use write::write;
