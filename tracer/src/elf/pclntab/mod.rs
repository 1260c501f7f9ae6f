//! Go's function table (`pclntab`): the names and places of all Go functions, which no stripping removes.
//!
//! Read here in the layout of Go 1.18 and later, from Go's `runtime/symtab.go` (`pcHeader`, `moduledata`) and
//! `cmd/link/internal/ld/pcln.go`; Go 1.18 to 1.27 differ in the magic number and in where the text base
//! stands.
//!
//! | Go | magic number | text base in the header | section in a position-independent program |
//! | --- | --- | --- | --- |
//! | 1.18, 1.19 | `0xfffffff0` | yes; zero under external linking, with a relocation | `.data.rel.ro.gopclntab`, or inside `.data.rel.ro` |
//! | 1.20 to 1.25 | `0xfffffff1` | the same | the same |
//! | 1.26, 1.27 | `0xfffffff1` | always zero, without one | `.gopclntab` |

mod error;
mod functions;
mod header;
mod locate;
mod text_base;

pub use error::PclntabError;
pub use functions::GoFunctions;
pub(super) use locate::locate;
