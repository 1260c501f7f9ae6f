//! `pauselens generate-docs`: what can be typed.

use std::path::PathBuf;

use clap::Args;

/// `generate-docs`.
#[derive(Args, Debug)]
pub struct GenerateDocsArgs {
    /// The folder: it gets completions/ and man/man1/
    #[arg(value_name = "FOLDER")]
    pub(super) folder: PathBuf,
    /// The date in the manual pages
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub(super) date: Option<String>,
}
