//! What the windows of a trace are.

use crate::{
    report::model::{Short, Windows},
    runtime::{self, Recognised},
};

/// What the windows of a trace are; nothing of them has been seen yet.
#[must_use]
pub fn windows(recognised: &Recognised) -> Windows {
    let rules = recognised.rules;
    Windows {
        unit: rules.unit,
        of: recognised.windows_of(),
        keyed_by: rules.keyed,
        stops: runtime::stops(rules.stops).to_owned(),
        has_stopped: !recognised.sites.stopped.is_empty() || recognised.carries_stopped(),
        has_restarting: !recognised.sites.restarting.is_empty(),
        short: (rules.longer_than_ns > 0).then_some(Short {
            than_ns: rules.longer_than_ns,
            count: 0,
            ns: 0,
            faults: 0,
        }),
        discarded: 0,
        sampled: None,
    }
}
