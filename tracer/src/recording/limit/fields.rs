//! Single fields of a line, without reading all of it: there may be millions.
//!
//! Only lines that pauselens itself has written are looked at in this way. A quotation mark inside a string is escaped,
//! so a quoted name with a colon behind it is a field's name.

use memchr::memmem;
use serde::Deserialize;

/// A process's number, and a pause's within it.
pub(super) type PauseKey = (u32, u64);

/// What the sieve wants to know of a line of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FaultFields {
    pub(super) process: u32,
    pub(super) pause: u64,
    pub(super) stack: u32,
}

/// And of a line of a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct PauseFields {
    pub(super) process: u32,
    pub(super) id: u64,
    pub(super) duration_ns: Option<u64>,
}

/// Of a line that belongs to a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StackFields {
    pub(super) process: u32,
    pub(super) stack: u32,
}

pub(super) fn of_fault(line: &[u8]) -> Option<FaultFields> {
    Some(FaultFields {
        process: number(line, br#""process":"#)?.try_into().ok()?,
        pause: number(line, br#""pause":"#)?,
        stack: last_number(line, br#""stack":"#)?.try_into().ok()?,
    })
}

pub(super) fn of_pause(line: &[u8]) -> Option<PauseFields> {
    serde_json::from_slice(line).ok()
}

pub(super) fn of_stack(line: &[u8]) -> Option<StackFields> {
    Some(StackFields {
        process: number(line, br#""process":"#)?.try_into().ok()?,
        stack: number(line, br#""stack":"#)?.try_into().ok()?,
    })
}

/// The stacks that a line of a pause refers to.
pub(super) fn references(line: &[u8]) -> impl Iterator<Item = u32> {
    const BEGIN: &[u8] = br#"["@"#;
    memmem::find_iter(line, BEGIN).filter_map(move |at| {
        let rest = &line[at + BEGIN.len()..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        rest[digits..].starts_with(b"\"]").then(|| parse(&rest[..digits])).flatten()?.try_into().ok()
    })
}

fn number(line: &[u8], name: &[u8]) -> Option<u64> {
    digits(&line[memmem::find(line, name)? + name.len()..])
}

fn last_number(line: &[u8], name: &[u8]) -> Option<u64> {
    digits(&line[memmem::rfind(line, name)? + name.len()..])
}

fn digits(rest: &[u8]) -> Option<u64> {
    parse(&rest[..rest.iter().take_while(|byte| byte.is_ascii_digit()).count()])
}

fn parse(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_those_of_the_line_and_not_of_a_hostile_name_in_it() {
        let hostile = r#"x\",\"stack\":9,\"pause\":8 [\"@7\"] "#;
        let line = format!(
            r#"{{"type":"fault","process":2,"pause":31,"tid":5,"what":"{hostile}","region":"library","stack":12}}"#
        );
        let fields = FaultFields { process: 2, pause: 31, stack: 12 };
        assert_eq!(of_fault(line.as_bytes()), Some(fields));
        assert_eq!(of_fault(br#"{"type":"fault","process":2}"#), None);
        assert_eq!(of_fault(br#"{"type":"fault","process":99999999999,"pause":1,"stack":1}"#), None);
        let line = format!(
            r#"{{"type":"pause","process":3,"id":4,"reason":"{hostile}","duration_ns":null,"x":{{"duration_ns":5,"id":1}},"requested_by":["@17"],"frames":["@18x"],"kernel":["@","@1"],"other":["@19"]}}"#
        );
        assert_eq!(of_pause(line.as_bytes()), Some(PauseFields { process: 3, id: 4, duration_ns: None }));
        assert_eq!(references(line.as_bytes()).collect::<Vec<_>>(), [17, 19]);
        let line = br#"{"type":"stack","process":1,"stack":6,"addresses":["0x1"]}"#;
        assert_eq!(of_stack(line), Some(StackFields { process: 1, stack: 6 }));
    }
}
