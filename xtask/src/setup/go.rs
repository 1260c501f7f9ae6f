//! The Go toolchains that the tests compile their targets with: one per shape that the runtime had over the years.

use std::process::{Command, Stdio};

use anyhow::Result;

use crate::{missing::Missing, paths};

const VERSIONS: &[&str] = &["1.21.13", "1.22.10", "1.25.5", "1.27.3"];

/// All of them are in the cache, or get fetched. The script says what it does, and is silent if it has nothing to do.
pub(super) fn ensure_all() -> Result<()> {
    let script = paths::workspace().join("scripts/fetch-go");
    for version in VERSIONS {
        let status = Command::new(&script).arg(version).stdin(Stdio::null()).stdout(Stdio::null()).status();
        let found = match status {
            Ok(status) if status.success() => continue,
            Ok(status) => format!("the script's message above, and its {status}"),
            Err(error) => error.to_string(),
        };
        return Err(Missing {
            piece: format!("Go {version}, which the tests need"),
            found,
            next: format!("scripts/fetch-go {version}"),
        }
        .into());
    }
    Ok(())
}
