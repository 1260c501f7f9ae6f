//! The colours of a flame graph: strong ones for the kinds of faults, pale ones for functions.

use inferno::flamegraph::color::{Color, PaletteMap};

use crate::report::{folded, model::Kind, samples::DETAILS_DROPPED};

/// Adds the colours of a folded stack's frames.
pub(super) fn add(map: &mut PaletteMap, stack: &str) {
    for frame in stack.split(';').filter(|frame| !frame.is_empty()) {
        if map.get(frame).is_none() {
            map.insert(frame, pale(frame));
        }
    }
    if map.get("").is_none() {
        map.insert("", Color::new(0xe0, 0xe0, 0xe0));
        map.insert(DETAILS_DROPPED, Color::new(0xb0, 0xb0, 0xb0));
        map.insert(folded::kind(None, false), Color::new(0xb0, 0xb0, 0xb0));
    }
    // The frames of kinds are few: they are put over whatever is there.
    for kind in Kind::ALL {
        for inferred in [false, true] {
            map.insert(folded::kind(Some(kind), inferred), of(kind));
        }
    }
}

/// Black text can be read on all of them. Read from a swap device: warm. Files: blue. New memory: green.
fn of(kind: Kind) -> Color {
    let (r, g, b) = match kind {
        Kind::SwapIn => (0xe3, 0x4a, 0x3c),
        Kind::SwapCache => (0xf4, 0x8c, 0x42),
        Kind::FileRead => (0x5b, 0x93, 0xd3),
        Kind::FileMap => (0x9e, 0xc9, 0xe8),
        Kind::FirstTouch => (0x7f, 0xbf, 0x3f),
        Kind::CopyOnWrite => (0x3f, 0xb8, 0x93),
        Kind::NumaHint => (0x9a, 0x94, 0xd6),
        Kind::HugePage => (0x5a, 0xa0, 0x5a),
        Kind::Userfault => (0xe0, 0x7a, 0xb8),
        Kind::SharedMemory => (0x4f, 0xbd, 0xcc),
        Kind::Signal => (0xc8, 0x9b, 0x3c),
        Kind::Kernel => (0xb0, 0x8f, 0xb0),
        Kind::Other => (0xa0, 0xa0, 0xa0),
    };
    Color::new(r, g, b)
}

/// A pale colour that the name always has.
fn pale(name: &str) -> Color {
    let hash =
        name.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    let [a, b, c, _] = hash.to_le_bytes();
    Color::new(0xe8 + a % 0x14, 0xd8 + b % 0x1c, 0xb8 + c % 0x24)
}
