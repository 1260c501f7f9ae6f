//! Go's version numbers.

use std::fmt;

/// The part of a Go version that the runtime's behaviour depends on, and the whole of it as text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(in crate::runtime) struct GoVersion {
    major: u32,
    minor: u32,
    text: String,
}

impl GoVersion {
    /// Reads what a toolchain calls itself: `go1.27.3`, `go1.27rc1`, `go1.24.1 X:synctest`, `devel
    /// go1.28-1a2b3c4 …`. `None` if there is no number in it.
    pub(in crate::runtime) fn parse(text: &str) -> Option<GoVersion> {
        let (major, minor) = text.split_whitespace().find_map(numbers)?;
        Some(GoVersion { major, minor, text: text.strip_prefix("go").unwrap_or(text).to_owned() })
    }

    /// Whether this is Go 1.`minor` or later.
    pub(in crate::runtime) fn is_at_least(&self, minor: u32) -> bool {
        (self.major, self.minor) >= (1, minor)
    }

    /// The language version that it belongs to, such as "1.20".
    pub(in crate::runtime) fn release(&self) -> String {
        format!("{}.{}", self.major, self.minor)
    }
}

fn numbers(word: &str) -> Option<(u32, u32)> {
    let (major, rest) = word.strip_prefix("go")?.split_once('.')?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    Some((major.parse().ok()?, rest[..digits].parse().ok()?))
}

impl fmt::Display for GoVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_toolchains_call_themselves() {
        for (text, release, shown) in [
            ("go1.27.3", "1.27", "1.27.3"),
            ("go1.20", "1.20", "1.20"),
            ("go1.27rc1", "1.27", "1.27rc1"),
            ("go1.24.1 X:synctest", "1.24", "1.24.1 X:synctest"),
            ("devel go1.28-1a2b3c4 Thu Jan 1", "1.28", "devel go1.28-1a2b3c4 Thu Jan 1"),
            ("go1.22-20240109-RC01 cl/597041403", "1.22", "1.22-20240109-RC01 cl/597041403"),
        ] {
            let version = GoVersion::parse(text).unwrap();
            assert_eq!((version.release().as_str(), version.to_string().as_str()), (release, shown));
        }
    }

    #[test]
    fn refuses_text_without_a_number() {
        for text in ["", "devel +1a2b3c4", "unknown", "go", "go1", "go1.", "gox.y", "1.27", "go1.99999999999"]
        {
            assert_eq!(GoVersion::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn compares_by_number() {
        let version = |text| GoVersion::parse(text).unwrap();
        assert!(version("go1.18").is_at_least(18));
        assert!(!version("go1.9").is_at_least(18));
        assert!(version("go2.0").is_at_least(27));
    }
}
