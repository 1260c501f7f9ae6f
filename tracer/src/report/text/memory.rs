//! The state of memory at a pause's end.

use crate::report::{
    memory_state::{MemoryState, Since},
    model::Pause,
    units,
};

use super::clean::shorten;
use super::page::{Page, Tone};
use super::words;

/// A state that was read this much later than the pause's end is still the one at its end.
const AT_ONCE_NS: i64 = 100_000_000;

pub(super) fn write(page: &mut Page, pause: &Pause) {
    let Some(memory) = &pause.memory else { return };
    let when = match pause.resumed_ns.map(|resumed_ns| memory.at_ns.saturating_sub(resumed_ns)) {
        Some(0..AT_ONCE_NS) => "at its end".to_owned(),
        Some(ns @ i64::MIN..0) => format!("{} before its end", units::duration(ns.unsigned_abs())),
        Some(ns) => format!("{} after its end", units::duration(ns.unsigned_abs())),
        None => format!("at {} s", units::seconds(memory.at_ns)),
    };
    page.line(Tone::Plain, 2, 4, &format!("memory {when}: {}", process(memory)));
    if let Some(text) = cgroup(memory) {
        page.line(Tone::Plain, 4, 6, &text);
    }
    if let Some(text) = memory.since.as_ref().and_then(since) {
        page.line(Tone::Plain, 4, 6, &text);
    }
}

/// `1.20 GiB resident, 3.40 GiB swapped out`.
fn process(memory: &MemoryState) -> String {
    let bytes = |bytes: Option<u64>| bytes.map_or_else(|| units::UNKNOWN.to_owned(), units::bytes);
    format!("{} resident, {} swapped out", bytes(memory.resident_bytes), bytes(memory.swapped_bytes))
}

/// `cgroup /api: 1.99 of at most 2.00 GiB used`.
fn cgroup(memory: &MemoryState) -> Option<String> {
    let cgroup = memory.cgroup.as_ref()?;
    let mut text = format!(
        "cgroup {}: {} used",
        shorten(&cgroup.path, words::NAME_LENGTH),
        units::bytes(cgroup.used_bytes?)
    );
    if let Some(swapped) = cgroup.swapped_bytes {
        text.push_str(&format!(", {} in swap", units::bytes(swapped)));
    }
    for (name, limit) in [("memory.high", cgroup.high_bytes), ("memory.max", cgroup.max_bytes)] {
        if let Some(limit) = limit {
            text.push_str(&format!("; {name} {}", units::bytes(limit)));
        }
    }
    Some(text)
}

/// `in the 950 ms before: the host read 120 MiB from swap and wrote 30.0 MiB; its tasks stalled on memory 34.1 % of the time`.
fn since(since: &Since) -> Option<String> {
    let mut parts = Vec::new();
    if let Some((read, written)) = since.swapped_in_bytes.zip(since.swapped_out_bytes) {
        parts.push(format!(
            "the host read {} from swap and wrote {}",
            units::bytes(read),
            units::bytes(written)
        ));
    }
    // Those of the cgroup are nearer to the process.
    let stalled = since.cgroup_stalled_ns.map(|ns| ("the cgroup's", ns));
    if let Some((whose, ns)) = stalled.or(since.system_stalled_ns.map(|ns| ("the host's", ns))) {
        parts.push(format!(
            "some of {whose} tasks stalled on memory {} of the time",
            units::share(ns, since.ns)
        ));
    }
    (!parts.is_empty()).then(|| format!("in the {} before: {}", units::duration(since.ns), parts.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{
        fixtures,
        memory_state::{Cgroup, Pressure, Stalls, System},
        text::Style,
    };

    fn said(memory: MemoryState) -> String {
        let mut pause = fixtures::pause(1, "GC", 0, 5_000_000);
        pause.memory = Some(Box::new(memory));
        let mut page = Page::new(&Style { colour: false, width: 200, verbose: false });
        write(&mut page, &pause);
        page.into_string()
    }

    #[test]
    fn it_is_told_with_what_led_to_it() {
        let pressure = Pressure { some: Stalls { avg10_percent: 1.0, total_ns: 5 }, full: None };
        let memory = MemoryState {
            at_ns: 5_000_400,
            resident_bytes: Some(1 << 30),
            swapped_bytes: Some(3 << 30),
            cgroup: Some(Cgroup {
                path: "/api".to_owned(),
                used_bytes: Some(2_000_000_000),
                swapped_bytes: Some(3 << 30),
                max_bytes: Some(2 << 30),
                pressure: Some(pressure),
                ..Cgroup::default()
            }),
            system: Some(System::default()),
            since: Some(Since {
                ns: 950_000_000,
                swapped_in_bytes: Some(120 << 20),
                swapped_out_bytes: Some(30 << 20),
                cgroup_stalled_ns: Some(323_000_000),
                system_stalled_ns: Some(1),
            }),
        };
        assert_eq!(
            said(memory),
            "  memory at its end: 1.00 GiB resident, 3.00 GiB swapped out\n    \
             cgroup /api: 1.86 GiB used, 3.00 GiB in swap; memory.max 2.00 GiB\n    \
             in the 950 ms before: the host read 120 MiB from swap and wrote 30.0 MiB; \
             some of the cgroup's\n      tasks stalled on memory 34.0 % of the time\n"
        );
    }

    #[test]
    fn what_is_unknown_is_not_said_to_be_nothing() {
        assert_eq!(
            said(MemoryState { at_ns: 4_000_000, ..MemoryState::default() }),
            "  memory 1.00 ms before its end: — resident, — swapped out\n"
        );
    }
}
