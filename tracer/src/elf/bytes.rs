//! Reads little-endian numbers out of bytes that may be too short. Both machines that are supported are
//! little-endian.

/// The four bytes at `at`, or `None` past the end.
pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(word.try_into().ok()?))
}

/// The eight bytes at `at`, or `None` past the end.
pub(super) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    let word = bytes.get(at..at.checked_add(8)?)?;
    Some(u64::from_le_bytes(word.try_into().ok()?))
}

/// The bytes from `at` up to the next zero byte, without it; `None` if there is no zero byte.
pub(super) fn text_at(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let rest = bytes.get(at..)?;
    Some(&rest[..rest.iter().position(|byte| *byte == 0)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stops_at_the_end() {
        let bytes = [1, 0, 0, 0, b'a', b'b', 0, b'c'];
        assert_eq!(u32_at(&bytes, 0), Some(1));
        assert_eq!(u32_at(&bytes, 5), None);
        assert_eq!(u32_at(&bytes, usize::MAX), None);
        assert_eq!(u64_at(&bytes, 0), Some(0x6300_6261_0000_0001));
        assert_eq!(u64_at(&bytes, 1), None);
        assert_eq!(text_at(&bytes, 4), Some(&b"ab"[..]));
        assert_eq!(text_at(&bytes, 7), None);
        assert_eq!(text_at(&bytes, 9), None);
    }
}
