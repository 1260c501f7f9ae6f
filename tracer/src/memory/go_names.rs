//! The names that Go gives to its mappings, where the kernel keeps names (`CONFIG_ANON_VMA_NAME`).

use super::region::{Placed, Region};

/// What the runtime calls a mapping (since 1.25, `setVMAName` in Go's `src/runtime`), and what it is in our words. Other
/// names are bookkeeping under their own name.
const NAMES: [(&str, Region, &str); 15] = [
    ("heap", Region::RuntimeHeap, "heap arenas"),
    ("heap reservation", Region::RuntimeHeap, "heap arenas"),
    ("user arena chunk", Region::RuntimeHeap, "heap arenas"),
    // Parts of the heap that were given back and taken again.
    ("unused", Region::RuntimeHeap, "heap arenas"),
    ("used", Region::RuntimeHeap, "heap arenas"),
    ("heap index", Region::RuntimeMetadata, "arena index"),
    ("heap metadata", Region::RuntimeMetadata, "arena metadata"),
    ("page alloc", Region::RuntimeMetadata, "page summaries"),
    ("page summary", Region::RuntimeMetadata, "page summaries"),
    ("page alloc index", Region::RuntimeMetadata, "page bitmaps"),
    ("scavenge index", Region::RuntimeMetadata, "scavenger index"),
    ("gc bits", Region::RuntimeMetadata, "mark bits"),
    ("allspans array", Region::RuntimeMetadata, "span list"),
    ("immortal metadata", Region::RuntimeMetadata, "small permanent bookkeeping"),
    ("profiler hash buckets", Region::RuntimeMetadata, "profiler table"),
];

/// The place of a mapping with this name; `None` if it isn't one of Go's.
pub(super) fn place(mapping_name: &[u8]) -> Option<Placed> {
    let name = mapping_name.strip_prefix(b"[anon: Go: ")?.strip_suffix(b"]")?;
    let name = String::from_utf8_lossy(name);
    let known = NAMES.iter().find(|(go, ..)| *go == name);
    Some(match known {
        Some((_, region, what)) => Placed::seen(*region, *what),
        None => Placed::seen(Region::RuntimeMetadata, &*name),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_names_have_words_and_others_keep_their_own() {
        let place =
            |name: &str| place(name.as_bytes()).map(|placed| (placed.region, placed.what.to_string()));
        let metadata = |what: &str| Some((Region::RuntimeMetadata, what.to_owned()));
        assert_eq!(place("[anon: Go: heap]"), Some((Region::RuntimeHeap, "heap arenas".to_owned())));
        assert_eq!(place("[anon: Go: gc bits]"), metadata("mark bits"));
        assert_eq!(place("[anon: Go: GC span queue]"), metadata("GC span queue"));
        assert_eq!(place("[anon: other]"), None);
        assert_eq!(place("[heap]"), None);
        assert_eq!(place(""), None);
    }
}
