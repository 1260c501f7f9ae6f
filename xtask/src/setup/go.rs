//! The Go toolchains that the tests compile their targets with: one per shape that the runtime had over the years.

use anyhow::Result;

use super::fetched;

const VERSIONS: &[&str] = &["1.21.13", "1.22.10", "1.25.5", "1.27.3"];

/// All of them are in the cache, or get fetched.
pub(super) fn ensure_all() -> Result<()> {
    fetched::ensure_all("Go", "fetch-go", VERSIONS)
}
