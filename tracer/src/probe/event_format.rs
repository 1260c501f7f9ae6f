//! A tracepoint's number and the places of its fields, as the kernel's own format file gives them.

use std::collections::BTreeMap;

/// A tracepoint of this kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventFormat {
    /// The number that perf_event_open(2) wants.
    pub id: u64,
    /// Byte offset of each field in the record.
    pub offsets_bytes: BTreeMap<String, u32>,
}

impl EventFormat {
    /// Parses the contents of the `format` file. `None` when it holds no number.
    #[must_use]
    pub fn parse(format: &str) -> Option<Self> {
        let id = format.lines().find_map(|line| line.strip_prefix("ID:"))?.trim().parse().ok()?;
        let offsets_bytes = format.lines().filter_map(parse_field).collect();
        Some(Self { id, offsets_bytes })
    }

    /// The field's offset in bytes.
    #[must_use]
    pub fn offset_bytes(&self, field: &str) -> Option<u32> {
        self.offsets_bytes.get(field).copied()
    }
}

/// A line such as `field:unsigned long address; offset:8; size:8; signed:0;`, its parts separated by tabs.
fn parse_field(line: &str) -> Option<(String, u32)> {
    let rest = line.trim().strip_prefix("field:")?;
    let (declaration, rest) = rest.split_once(';')?;
    let offset = rest.split(';').find_map(|part| part.trim().strip_prefix("offset:"))?.parse().ok()?;
    let name = declaration.rsplit([' ', '*']).next()?.split('[').next()?;
    Some((name.to_owned(), offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_name() {
        let format = EventFormat::parse(
            "name: signal_generate\nID: 261\nformat:\n\
             \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
             \tfield:int sig;\toffset:8;\tsize:4;\tsigned:1;\n\
             \tfield:char comm[16];\toffset:20;\tsize:16;\tsigned:0;\n\
             \tfield:void *where;\toffset:40;\tsize:8;\tsigned:0;\n\n\
             print fmt: \"sig=%d\", REC->sig\n",
        )
        .expect("a format");
        assert_eq!(format.id, 261);
        assert_eq!(format.offset_bytes("sig"), Some(8));
        assert_eq!(format.offset_bytes("comm"), Some(20));
        assert_eq!(format.offset_bytes("where"), Some(40));
        assert_eq!(format.offset_bytes("nothing"), None);
        assert_eq!(EventFormat::parse("name: x"), None);
    }
}
