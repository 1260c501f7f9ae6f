//! A place in a process's code, as a user or a runtime's definition writes it.
//!
//! ```text
//! SYMBOL                   a function, at its entry
//! SYMBOL*                  every function whose name begins so
//! return:SYMBOL            its return instructions, and the jumps with which it ends in a call of another function
//! usdt:PROVIDER:NAME       a user-space tracepoint
//! FILE:SYMBOL, FILE:usdt:PROVIDER:NAME      only in that file, by its path or its name
//! FILE+0xOFFSET            an offset in a file, in bytes
//! PLACE?                   need not be there (definitions only)
//! ```

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, de::Error as _};

/// A place.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Place {
    /// The file that it must be in: its path as the process sees it, or the path's last part.
    pub file: Option<String>,
    /// What is there.
    pub what: What,
    /// Whether its return instructions are meant instead of its entry.
    pub returns: bool,
    /// Whether it may be missing.
    pub optional: bool,
}

/// What is at a place.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum What {
    /// A function of this name.
    Function(String),
    /// Functions whose names begin so.
    FunctionsBeginning(String),
    /// A user-space tracepoint.
    Usdt {
        /// Who provides it.
        provider: String,
        /// Its name.
        name: String,
    },
    /// An offset in the file, in bytes.
    Offset(u64),
}

/// Not a place.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "{text:?} is no place: {why}. Write SYMBOL, SYMBOL*, return:SYMBOL, usdt:PROVIDER:NAME, FILE:SYMBOL or \
     FILE+0xOFFSET; `nm -C FILE` lists symbols, `readelf -n FILE` tracepoints"
)]
pub struct PlaceError {
    text: String,
    why: &'static str,
}

impl FromStr for Place {
    type Err = PlaceError;

    fn from_str(text: &str) -> Result<Self, PlaceError> {
        let wrong = |why| PlaceError { text: text.to_owned(), why };
        let (rest, optional) = match text.trim().strip_suffix('?') {
            Some(rest) => (rest, true),
            None => (text.trim(), false),
        };
        let (rest, returns) = match rest.strip_prefix("return:") {
            Some(rest) => (rest, true),
            None => (rest, false),
        };
        if rest.is_empty() {
            return Err(wrong("it is empty"));
        }
        let (file, rest) = file_and_rest(rest);
        let what = what(rest).map_err(wrong)?;
        if returns && !matches!(what, What::Function(_) | What::FunctionsBeginning(_)) {
            return Err(wrong("only functions return"));
        }
        if matches!(what, What::Offset(_)) && file.is_none() {
            return Err(wrong("an offset needs its file"));
        }
        Ok(Self { file, what, returns, optional })
    }
}

/// `FILE:REST` and `FILE+0xOFFSET`, where the colon is not one of a pair as in C++ names.
fn file_and_rest(text: &str) -> (Option<String>, &str) {
    if let Some(at) = text.rfind("+0x")
        && at > 0
    {
        return (Some(text[..at].to_owned()), &text[at..]);
    }
    let bytes = text.as_bytes();
    let single = (0..bytes.len()).find(|at| {
        bytes[*at] == b':'
            && bytes.get(at + 1) != Some(&b':')
            && at.checked_sub(1).is_none_or(|before| bytes[before] != b':')
    });
    match single {
        Some(at) if !text[..at].is_empty() && &text[..at] != "usdt" => {
            (Some(text[..at].to_owned()), &text[at + 1..])
        }
        _ => (None, text),
    }
}

fn what(text: &str) -> Result<What, &'static str> {
    if let Some(digits) = text.strip_prefix("+0x") {
        let offset = u64::from_str_radix(digits, 16);
        return offset.map(What::Offset).map_err(|_| "the offset is no hexadecimal number");
    }
    if let Some(rest) = text.strip_prefix("usdt:") {
        return match rest.split_once(':') {
            Some((provider, name)) if !provider.is_empty() && !name.is_empty() => {
                Ok(What::Usdt { provider: provider.to_owned(), name: name.to_owned() })
            }
            _ => Err("a tracepoint is written usdt:PROVIDER:NAME"),
        };
    }
    match text.strip_suffix('*') {
        Some("") => Err("it names every function"),
        Some(beginning) => Ok(What::FunctionsBeginning(beginning.to_owned())),
        None if text.is_empty() => Err("it names no function"),
        None => Ok(What::Function(text.to_owned())),
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.returns {
            f.write_str("return:")?;
        }
        match (&self.file, &self.what) {
            (Some(file), What::Offset(_)) => f.write_str(file)?,
            (Some(file), _) => write!(f, "{file}:")?,
            (None, _) => {}
        }
        match &self.what {
            What::Function(name) => f.write_str(name),
            What::FunctionsBeginning(name) => write!(f, "{name}*"),
            What::Usdt { provider, name } => write!(f, "usdt:{provider}:{name}"),
            What::Offset(offset) => write!(f, "+{offset:#x}"),
        }
    }
}

impl<'de> Deserialize<'de> for Place {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read_and_written_back() {
        for text in [
            "gc_start",
            "gc_collect_main*",
            "return:gc_start",
            "return:libruby.so.3.1:gc_start",
            "usdt:hs_private:safepoint__begin",
            "libjvm.so:usdt:hotspot:vmops__begin",
            "/opt/app/bin/service:main.(*G[go.shape.int_0]).Touch",
            "main.(*Server).handle request",
            "v8::internal::Heap::CollectGarbage",
            "libv8.so:v8::internal::Heap::CollectGarbage",
            "service+0x1f40",
        ] {
            let place: Place = text.parse().unwrap();
            assert_eq!(place.to_string(), text);
        }
        let place: Place = "libv8.so:v8::internal::Heap::CollectGarbage?".parse().unwrap();
        assert_eq!(place.file.as_deref(), Some("libv8.so"));
        assert_eq!(place.what, What::Function("v8::internal::Heap::CollectGarbage".to_owned()));
        assert!(place.optional && !place.returns);
    }

    #[test]
    fn what_is_no_place_says_why() {
        for (text, why) in [
            ("", "empty"),
            ("*", "every function"),
            ("usdt:hotspot", "PROVIDER:NAME"),
            ("+0x40", "needs its file"),
            ("service+0xzz", "hexadecimal"),
            ("return:usdt:a:b", "only functions return"),
            ("libc.so.6:", "names no function"),
        ] {
            let error = text.parse::<Place>().unwrap_err().to_string();
            assert!(error.contains(why) && error.contains("nm -C"), "{text}: {error}");
        }
    }
}
