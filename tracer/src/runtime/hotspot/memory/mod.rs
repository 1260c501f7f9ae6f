//! HotSpot's own structures, read from the target's memory: which addresses are the Java heap, and what some others are.
//!
//! Every libjvm gives out a table of its types' fields for tools that look at a process from outside (`gHotSpotVMStructs`;
//! JDK `src/hotspot/share/runtime/vmStructs.{hpp,cpp}`, the same form in 8 to 25): where a static field is, and how far a
//! field is from the begin of its object. So each version is read in its own layout, without debug information, and a field
//! that is gone makes one part unavailable. Memory is read where it is present (see [`crate::target::PresentMemory`]).
//!
//! | part | from | what it gives |
//! | --- | --- | --- |
//! | `heap` | `Universe::_collectedHeap`, `CollectedHeap::_reserved` | the Java heap's addresses; none with ZGC, whose heap is shared memory with a name |
//! | `card_table` | the barrier set's `CardTable` | the card table (Serial, Parallel, G1) |
//! | `code_cache` | `CodeCache::_low_bound`, `_high_bound`; 8: `CodeCache::_heap` | compiled code, and the interpreter |
//! | `class_data` | `MetaspaceObj::_shared_metaspace_base`, `_top` (17 and later) | the class data archive |
//!
//! The table names no other memory of the collectors (mark bitmaps, remembered sets) and no metaspace.

mod card_table;
mod class_data;
mod code_cache;
mod heap;
mod reader;
mod vm_structs;
mod whole;

pub(in crate::runtime) use whole::HotSpotMemory;
