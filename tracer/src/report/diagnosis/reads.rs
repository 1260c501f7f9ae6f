//! From which devices the faults of the worst pause read, as evidence.

use crate::report::model::{DeviceReads, Kind};
use crate::report::units;

use super::basis::Basis;

/// How many devices are named.
const MOST_DEVICES: usize = 3;

/// The devices that serve this kind of fault, and those of which it is not known.
pub(super) fn evidence(basis: &Basis<'_>, kind: Kind) -> Vec<String> {
    let begins = match kind {
        Kind::SwapIn | Kind::SwapCache => "swap",
        Kind::FileRead => "file",
        _ => return Vec::new(),
    };
    let serving =
        |reads: &&DeviceReads| reads.serves.as_ref().is_none_or(|serves| serves.starts_with(begins));
    basis.worst.reads.iter().filter(serving).take(MOST_DEVICES).map(device).collect()
}

fn device(reads: &DeviceReads) -> String {
    let serves = reads.serves.as_ref().map_or_else(String::new, |serves| format!(" ({serves})"));
    let verb = reads.verb();
    let mut text = format!(
        "{verb} {}{serves}: {}, {}",
        reads.device,
        units::counted(reads.faults, "fault", "faults"),
        units::duration(reads.ns)
    );
    if let Some(requests) = reads.requests_in_words() {
        text.push_str(&format!(", {requests}"));
    }
    if reads.inferred > 0 {
        text.push_str(&format!(" ({} of them by inference)", units::count(reads.inferred)));
    }
    text
}
