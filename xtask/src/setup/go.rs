//! The Go toolchains that the tests compile their targets with: one per shape that the runtime had over the years.

use anyhow::Result;

use super::fetched;

const VERSIONS: &[&str] = &["1.19.8", "1.21.13", "1.22.10", "1.23.9", "1.25.5", "1.26.6", "1.27.3"];

/// All of them are in the cache, or get fetched.
pub(super) fn ensure_all() -> Result<()> {
    fetched::ensure_all("Go", "fetch-go", VERSIONS)
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;

    /// Versions that stand in a text, as a test names one: `"1.27.3"`.
    fn named(text: &str) -> Vec<&str> {
        let quoted = text.split('"').skip(1).step_by(2);
        quoted
            .filter(|text| text.starts_with("1.") && text.matches('.').count() == 2 && is_version(text))
            .collect()
    }

    fn is_version(text: &str) -> bool {
        text.split('.').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    }

    #[test]
    fn every_version_that_a_test_compiles_with_is_fetched() {
        let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tracer/tests");
        let mut found = 0;
        for folder in [tests.clone(), tests.join("support")] {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.extension().is_some_and(|extension| extension == "rs") {
                    let text = fs::read_to_string(&path).unwrap();
                    for version in named(&text) {
                        assert!(VERSIONS.contains(&version), "{} needs Go {version}", path.display());
                        found += 1;
                    }
                }
            }
        }
        assert!(found > 10, "{found}");
    }
}
