//! The builds of OpenJDK that the tests trace: one per way in which HotSpot's safepoints can be seen.

use anyhow::Result;

use super::fetched;

const VERSIONS: &[&str] = &["8", "8-debug", "11", "17", "21", "25"];

/// All of them are in the cache, or get fetched.
pub(super) fn ensure_all() -> Result<()> {
    fetched::ensure_all("OpenJDK", "fetch-jdk", VERSIONS)
}
