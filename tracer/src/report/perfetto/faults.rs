//! Faults as slices on the tracks of their threads.

use super::{
    before::Before,
    packets::{Given, Happening, Packets},
    tracks::{Ids, Sort, Tracks},
};
use crate::{
    recording::{
        Recorded,
        line::{Fault, Role},
    },
    report::samples::Total,
};

/// Writes a fault: the part of it inside its pause, which ends with it. Gives what of it is in the summary.
pub(super) fn add(
    fault: &Fault,
    recorded: &Recorded,
    before: &Before,
    tracks: &mut Tracks,
    ids: &mut Ids,
    packets: &mut Packets<'_>,
) -> Total {
    let signed = |ns: u64| i64::try_from(ns).unwrap_or(i64::MAX);
    let end_ns = fault.begin_ns.saturating_add(signed(fault.full_ns.unwrap_or(fault.ns)));
    let begin_ns = end_ns.saturating_sub(signed(fault.ns));
    let role = match fault.role {
        Role::Driver => "driver",
        Role::Worker => "worker",
        Role::Bystander => "bystander",
    };
    let counts = fault.role == Role::Driver && before.is_complete(fault.process, fault.pause);
    let innermost = recorded.stacks.innermost(fault.stack);
    let mut arguments = vec![
        ("pause", Given::Number(fault.pause)),
        ("role", Given::Text(role)),
        ("in_summary", Given::Flag(counts)),
        ("region", Given::Text(fault.region.word())),
        ("what", Given::Text(&fault.what)),
        ("function", Given::Text(&innermost)),
        ("major", Given::Flag(fault.major)),
    ];
    match u64::from_str_radix(fault.address.trim_start_matches("0x"), 16) {
        Ok(address) => arguments.push(("address", Given::Address(address))),
        Err(_) => arguments.push(("address", Given::Text(&fault.address))),
    }
    let inferred = match (fault.inferred, fault.place_inferred) {
        (true, true) => Some("kind, region"),
        (true, false) => Some("kind"),
        (false, true) => Some("region"),
        (false, false) => None,
    };
    arguments.extend(inferred.map(|inferred| ("inferred", Given::Text(inferred))));
    let numbers =
        [("full_ns", fault.full_ns), ("blocked_ns", fault.blocked_ns), ("reclaim_ns", fault.reclaim_ns)];
    arguments.extend(numbers.into_iter().filter_map(|(name, value)| Some((name, Given::Number(value?)))));
    if begin_ns != fault.begin_ns {
        arguments.push(("began_before_pause_ns", Given::Signed(begin_ns.saturating_sub(fault.begin_ns))));
    }
    let track = tracks.slice(Sort::Faults(fault.tid), (begin_ns, end_ns), ids, packets);
    let fault_of = Happening { track, category: "fault", name: fault.kind.word(), arguments: &arguments };
    packets.slice(begin_ns, end_ns, &fault_of);
    if counts { Total { count: 1, ns: fault.ns } } else { Total::default() }
}
