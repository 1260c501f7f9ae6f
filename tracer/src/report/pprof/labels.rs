//! What the labels of a sample say.

use super::{message::Label, strings::Strings};
use crate::{
    recording::Recorded,
    report::{
        model::Kind,
        samples::{OfProcess, Sample},
    },
};

/// What is not known has the word `unknown`.
const UNKNOWN: &str = "unknown";

/// The labels of a sample.
pub(super) fn labels(
    recorded: &Recorded,
    of: &OfProcess,
    sample: &Sample,
    several: bool,
    strings: &mut Strings,
) -> Vec<Label> {
    let mut labels = Vec::new();
    let mut add = |key: &str, value: &str| {
        // An empty value is none to pprof.
        let value = if value.is_empty() { UNKNOWN } else { value };
        labels.push(Label { key: strings.of(key), str: strings.of(value) });
    };
    add("kind", sample.kind.map_or(UNKNOWN, Kind::word));
    add("region", sample.region.word());
    add("pause_reason", of.reason(sample).unwrap_or(UNKNOWN));
    if sample.kind_inferred {
        add("kind_inferred", "yes");
    }
    if sample.region_inferred {
        add("region_inferred", "yes");
    }
    if several {
        let target = &recorded.process.target;
        add("process", &format!("{} {}", target.pid, target.exe));
    }
    labels
}
