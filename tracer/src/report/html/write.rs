//! From a recording to its page.

use std::io::Write;

use anyhow::{Context as _, Result};

use super::{collect, page};
use crate::recording::Recording;

/// Writes the page: one self-contained file.
///
/// # Errors
/// When the recording can't be read any more, or `out` can't be written to.
pub fn write(recording: &Recording, out: &mut dyn Write) -> Result<()> {
    let data = collect::collect(recording)?;
    let html = page::render(recording, &data)?;
    out.write_all(html.as_bytes()).context("the HTML page can't be written")?;
    Ok(())
}
