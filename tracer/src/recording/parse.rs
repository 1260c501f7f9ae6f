//! One line: from its bytes to what it says.

use std::borrow::Cow;

use memchr::memchr;
use serde::{Deserialize, de::DeserializeOwned};

use super::{
    line::{Fault, Header, Line, Pause, SCHEMA},
    numbers,
};
use crate::report::model::{self, Tool};

/// How a line begins, as pauselens writes it; its type follows.
const BEGIN: &[u8] = br#"{"type":""#;
/// What the names of all versions of the schema begin with.
const SCHEMAS: &str = "pauselens.recording/";

/// Why a line is left out.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// It is of a type that is not known.
    Unknown,
    /// It can't be read.
    Wrong(String),
}

/// The line's type.
pub(super) fn type_of(line: &[u8]) -> Result<Cow<'_, str>, Unreadable> {
    #[derive(Deserialize)]
    struct Tag<'a> {
        #[serde(rename = "type", borrow)]
        name: Cow<'a, str>,
    }
    if let Some(rest) = line.strip_prefix(BEGIN)
        && let Some(length) = memchr(b'"', rest)
        && let Ok(name) = std::str::from_utf8(&rest[..length])
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    {
        return Ok(Cow::Borrowed(name));
    }
    let tag: Tag<'_> = serde_json::from_slice(line).map_err(|error| wrong(line, &error))?;
    Ok(tag.name)
}

/// The line, which is of this type.
pub(super) fn line(name: &str, line: &[u8]) -> Result<Line, Unreadable> {
    match name {
        // There may be a million: looked at by its fields alone.
        "fault" => return fault(line).map(Line::Fault),
        "header" => return header(line).map(Line::Header),
        _ => {}
    }
    let parsed = match name {
        "process" => of(line).map(Line::Process),
        "mapping" => of(line).map(Line::Mapping),
        "stack" => of(line).map(Line::Stack),
        "names" => of(line).map(Line::Names),
        "pause" => pause(line).map(|pause| Line::Pause(Box::new(pause))),
        "rest" => of(line).map(Line::Rest),
        "memory" => of(line).map(Line::Memory),
        "losses" => of(line).map(Line::Losses),
        "process_end" => of(line).map(Line::ProcessEnd),
        "end" => of(line).map(Line::End),
        _ => Err(Unreadable::Unknown),
    }?;
    match numbers::too_large(line) {
        None => Ok(parsed),
        Some(number) => Err(out_of_range(number)),
    }
}

fn fault(line: &[u8]) -> Result<Fault, Unreadable> {
    let fault: Fault = of(line)?;
    let lengths = [Some(fault.ns), fault.full_ns, fault.blocked_ns, fault.reclaim_ns, Some(fault.pause)];
    let all = lengths.into_iter().flatten().chain([fault.begin_ns.unsigned_abs()]);
    match all.into_iter().find(|number| *number >= numbers::LIMIT) {
        None => Ok(fault),
        Some(number) => Err(out_of_range(&number.to_string())),
    }
}

/// Read in two, since a flattened structure is read several times as slowly and may take as much more memory.
fn pause(line: &[u8]) -> Result<Pause, Unreadable> {
    #[derive(Deserialize)]
    struct Owner {
        process: u32,
    }
    let Owner { process } = of(line)?;
    Ok(Pause { process, pause: of::<model::Pause>(line)? })
}

/// The first line tells at least the schema; of a newer one, what is understood is taken.
fn header(line: &[u8]) -> Result<Header, Unreadable> {
    #[derive(Deserialize)]
    struct Least {
        schema: String,
        #[serde(default)]
        started_unix_ms: u64,
    }
    match of::<Header>(line) {
        Ok(header) if header.started_unix_ms < numbers::LIMIT => Ok(header),
        Ok(header) => Err(out_of_range(&header.started_unix_ms.to_string())),
        Err(why) => {
            let Least { schema, started_unix_ms } = of(line)?;
            if !is_newer(&schema) {
                return Err(why);
            }
            if started_unix_ms >= numbers::LIMIT {
                return Err(out_of_range(&started_unix_ms.to_string()));
            }
            Ok(Header { schema, started_unix_ms, ..unknown_header() })
        }
    }
}

/// Stands for a first line that could not be read.
pub(super) fn unknown_header() -> Header {
    let unknown = || "unknown".to_owned();
    Header {
        schema: SCHEMA.to_owned(),
        tool: Tool { name: "pauselens".to_owned(), version: unknown() },
        host: super::line::Host {
            name: unknown(),
            kernel: unknown(),
            machine: unknown(),
            ..Default::default()
        },
        started_unix_ms: 0,
        clock: "CLOCK_MONOTONIC".to_owned(),
        asked: unknown(),
        max_size_bytes: None,
    }
}

/// Whether a schema is one of recordings.
pub(super) fn is_of_recordings(schema: &str) -> bool {
    version(schema).is_some()
}

/// Whether a schema is of a later version than this pauselens knows.
pub(super) fn is_newer(schema: &str) -> bool {
    version(schema) > version(SCHEMA)
}

fn version(schema: &str) -> Option<u32> {
    schema.strip_prefix(SCHEMAS)?.parse().ok()
}

fn of<T: DeserializeOwned>(line: &[u8]) -> Result<T, Unreadable> {
    serde_json::from_slice(line).map_err(|error| wrong(line, &error))
}

fn out_of_range(number: &str) -> Unreadable {
    Unreadable::Wrong(format!("{number:.40} is out of range: numbers are below 2^53"))
}

fn wrong(line: &[u8], error: &serde_json::Error) -> Unreadable {
    let why = match std::str::from_utf8(line) {
        Err(error) => format!("its byte {} is not UTF-8", error.valid_up_to() + 1),
        Ok(_) => {
            // There is one line only, and names in it can be long.
            let text = error.to_string().replace(" at line 1 column ", ", at its byte ");
            text.chars().filter(|character| !character.is_control()).take(200).collect()
        }
    };
    Unreadable::Wrong(why)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Line, Unreadable> {
        let bytes = text.as_bytes();
        line(&type_of(bytes)?, bytes)
    }

    fn why(text: &str) -> String {
        match read(text) {
            Err(Unreadable::Wrong(why)) => why,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_type_may_stand_anywhere() {
        let mapping =
            r#"{"start":"0x1","end":"0x2","offset_bytes":0,"file":"f","type":"mapping","process":1}"#;
        assert!(matches!(read(mapping), Ok(Line::Mapping(_))));
        assert_eq!(read(r#"{"type":"weather","sun":true}"#), Err(Unreadable::Unknown));
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert_eq!(why("{}"), "missing field `type`, at its byte 2");
        assert!(why("7").contains("invalid type: integer `7`"));
        assert!(why(r#"{"type":"end","pauses":1,"faults":-1}"#).starts_with("invalid value: integer `-1`"));
        assert!(why(r#"{"type":"end","pauses":1,"faults":9007199254740992}"#).contains("out of range"));
        assert!(why(r#"{"type":"end","pauses":1,"faults":99999999999999999999}"#).contains("invalid"));
        why(&"[".repeat(100_000));
        why(&r#"{"type":"process_end","process":1,"report":"#.repeat(100_000));
        let mut bytes = br#"{"type":"end","pauses":1,"faults":1,"name":"?"}"#.to_vec();
        let last = bytes.len() - 3;
        bytes[last] = 0xff;
        let result = line("end", &bytes);
        // A field that is not known may hold what it likes.
        assert!(
            result.is_ok() || result == Err(Unreadable::Wrong(format!("its byte {} is not UTF-8", last + 1)))
        );
    }

    #[test]
    fn a_newer_header_is_read_as_far_as_it_is_understood() {
        let Ok(Line::Header(header)) =
            read(r#"{"type":"header","schema":"pauselens.recording/2","host":7,"started_unix_ms":5}"#)
        else {
            panic!()
        };
        assert!(is_newer(&header.schema) && header.started_unix_ms == 5);
        assert!(why(r#"{"type":"header","schema":"pauselens.recording/1"}"#).contains("missing field"));
        assert!(!is_of_recordings("pauselens.report/1") && is_of_recordings(SCHEMA) && !is_newer(SCHEMA));
    }
}
