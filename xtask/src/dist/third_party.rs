//! What of others is in the program.

use anyhow::{Context as _, Result, bail};

use crate::{
    commands::{self, TRACER},
    setup::Toolchain,
};

/// A table of the libraries, with their licences, as their authors name them.
pub(super) fn list(toolchain: &Toolchain) -> Result<String> {
    let mut tree = commands::cargo(toolchain)?;
    tree.args(["tree", "--package", TRACER, "--edges", "normal", "--prefix", "none", "--no-dedupe"]);
    tree.args(["--format", "{p}|{l}|{r}"]);
    let told = tree.output().context("cargo could not be started")?;
    if !told.status.success() {
        bail!("cargo tree has failed: {}", String::from_utf8_lossy(&told.stderr));
    }
    let told = String::from_utf8(told.stdout).context("cargo tree has not written text")?;
    let mut rows: Vec<String> = told.lines().filter_map(row).collect();
    rows.sort_unstable();
    rows.dedup();
    Ok(format!(
        "# Libraries in pauselens\n\nTheir licences, and where their sources are. The C library (glibc, LGPL 2.1 or later) is linked \
         in too.\n\n| library | licence | sources |\n| --- | --- | --- |\n{}\n",
        rows.join("\n")
    ))
}

/// Packages of this workspace are told with their folder.
fn row(line: &str) -> Option<String> {
    let fields: Vec<&str> = line.split('|').collect();
    let [package, licence, sources] = fields[..] else { return None };
    if package.contains('(') && !package.contains("(proc-macro)") {
        return None;
    }
    let licence = if licence.is_empty() { "see its sources" } else { licence };
    Some(format!("| {package} | {licence} | {sources} |"))
}

#[cfg(test)]
mod tests {
    use super::row;

    #[test]
    fn own_packages_are_no_libraries() {
        assert_eq!(
            row("anyhow v1.0.1|MIT OR Apache-2.0|https://x").unwrap(),
            "| anyhow v1.0.1 | MIT OR Apache-2.0 | https://x |"
        );
        assert_eq!(row("tracer v0.1.0 (/work/tracer)|MIT|"), None);
        assert!(row("serde_derive v1.0.1 (proc-macro)|MIT|").is_some());
    }
}
