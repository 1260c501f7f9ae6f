//! The Go runtime's own structures, read from the target's memory: which addresses are heap, and what the others are.
//!
//! Where a structure is comes from the file's debug information: addresses of variables (`runtime.mheap_`) and offsets
//! of fields by name, so each version is read in its own layout, and a name that is gone makes one part unavailable.
//! Memory is read page by page where it is present (see [`crate::target::PresentMemory`]). Sources: Go's
//! `src/runtime/{mheap,malloc,mspanset,mpagealloc,mgcscavenge,tagptr_64bit}.go`, 1.21 to 1.27.
//!
//! | part | from | what it gives |
//! | --- | --- | --- |
//! | `arenas` | `mheap_.allArenas` (1.23 and earlier; renamed by 1.25), `heapArenas`, `userArenaArenas` | the heap, in arenas of 64 MiB |
//! | | `mheap_.arenas` | the arena index and each arena's metadata |
//! | `page_alloc` | `mheap_.pages` | page summaries, page bitmaps, scavenger index |
//! | `mark_bits` | `gcBitsArenas` | chunks of mark and allocation bits |
//! | `permanent` | `persistentChunks` | small bookkeeping that is never freed, of all sorts |
//! | `span_sets` | `mheap_.central`, `spanSetBlockPool` | span sets, within the permanent chunks |
//! | `spans` | `mheap_.allspans` | the list of spans, and each span's structure within the permanent chunks |
//! | `stacks` | an arena's `spans`, each span's state | goroutine stacks and work buffers within the heap |

mod arenas;
mod layout;
mod mark_bits;
mod page_alloc;
mod permanent;
mod ranges;
mod reader;
mod span_sets;
mod spans;
mod stacks;
mod structure;
#[cfg(test)]
mod test_memory;
mod whole;

pub(in crate::runtime) use whole::GoMemory;
