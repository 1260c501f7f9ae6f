//! What a script of `scripts/` brings into the cache, version by version.

use std::process::{Command, Stdio};

use anyhow::Result;

use crate::{missing::Missing, paths};

/// All of them are in the cache, or get fetched. The script says what it does, and is silent if it has nothing to do.
pub(super) fn ensure_all(name: &str, script: &str, versions: &[&str]) -> Result<()> {
    let path = paths::workspace().join("scripts").join(script);
    for version in versions {
        let status = Command::new(&path).arg(version).stdin(Stdio::null()).stdout(Stdio::null()).status();
        let found = match status {
            Ok(status) if status.success() => continue,
            Ok(status) => format!("the script's message above, and its {status}"),
            Err(error) => error.to_string(),
        };
        return Err(Missing {
            piece: format!("{name} {version}, which the tests need"),
            found,
            next: format!("scripts/{script} {version}"),
        }
        .into());
    }
    Ok(())
}
