//! Where things lie: the checkout, the cache that tasks fill, the tracer's release build.

use std::{
    env,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};

/// The workspace's root folder.
pub(crate) fn workspace() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// The folder for everything that tasks fetch or build besides cargo's target folder. Shared by all checkouts.
pub(crate) fn cache() -> Result<PathBuf> {
    // The XDG rules: a relative or empty value counts as unset.
    let base = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let base = match base {
        Some(base) => base,
        None => env::home_dir().context("neither XDG_CACHE_HOME nor HOME names a folder")?.join(".cache"),
    };
    Ok(base.join("pauselens"))
}

/// The folder of profile folders that this program runs from: cargo's target folder, or that of a triple that cargo was
/// told to use.
pub(crate) fn target() -> Result<PathBuf> {
    let this = env::current_exe().context("this program's own path is unknown")?;
    let profiles = this.parent().and_then(Path::parent).context("this program was not started by cargo")?;
    Ok(profiles.to_owned())
}

/// The tracer as `cargo build --release` leaves it: beside the profile folder that this program runs from.
pub(crate) fn release_tracer() -> Result<PathBuf> {
    Ok(target()?.join("release").join("pauselens"))
}
