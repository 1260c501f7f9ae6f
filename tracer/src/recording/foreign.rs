//! What a file is that is no recording, as far as its first bytes tell.

use super::frames::is_frame;

/// Known begins of files, and what they are.
const KNOWN: [(&[u8], &str); 8] = [
    (&[0x1f, 0x8b], "it is compressed with gzip, not zstd"),
    (b"BZh", "it is compressed with bzip2, not zstd"),
    (&[0xfd, b'7', b'z', b'X', b'Z'], "it is compressed with xz, not zstd"),
    (b"PK", "it is a ZIP archive"),
    (b"\x7fELF", "it is a program or library"),
    (b"PERFILE2", "it is a recording of perf"),
    (b"<", "it is markup"),
    (b"#!", "it is a script"),
];

/// In words. `has_lines`: lines could be read from it, and none was a recording's.
pub(super) fn describe(first: &[u8], has_lines: bool) -> String {
    if is_frame(first) {
        let what =
            if has_lines { "none of the lines in them is one of a recording" } else { "nothing is in them" };
        return format!("it has zstd frames, but {what}");
    }
    if let Some((_, what)) = KNOWN.iter().find(|(begin, _)| first.starts_with(begin)) {
        return (*what).to_owned();
    }
    let text = String::from_utf8_lossy(first);
    if text.trim_start().starts_with('{') {
        let of = if text.contains("\"pauselens.report/") || text.contains("\"pauselens.processes/") {
            "it is a report of pauselens, which is made from a recording"
        } else {
            "it is JSON, but none of its lines is one of a recording"
        };
        return of.to_owned();
    }
    let bytes: Vec<String> = first.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("it begins with the bytes {}, which is neither a zstd frame nor a line of JSON", bytes.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_apart() {
        for (first, has_lines, expected) in [
            (&b"{\n  \"schema\": \"pauselens.report/1\""[..], true, "report of pauselens"),
            (b"{\"a\":1}", true, "it is JSON"),
            (b"\x28\xb5\x2f\xfd", true, "none of the lines"),
            (b"\x28\xb5\x2f\xfd", false, "nothing is in them"),
            (b"\x1f\x8b\x08", false, "gzip"),
            (b"\x00\x01", false, "bytes 00 01,"),
        ] {
            let text = describe(first, has_lines);
            assert!(text.contains(expected), "{text}");
        }
    }
}
