//! What the runtime says of a pause: its reason and its own stamps.

use std::collections::HashMap;

use tracer_common::pause::WindowRecord;

use super::throttling::Watch;
use crate::{
    elf::{FileOffset, Image},
    pause::{Closed, State, requested_frames},
    runtime::{Lookup, Marks, Reason, Recognised, Registers},
    symbols::Modules,
};

/// Where to look it up.
pub(super) struct Account<'a> {
    pub(super) recognised: &'a Recognised,
    pub(super) image: &'a Image,
    pub(super) modules: &'a Modules,
    pub(super) lookup: &'a Lookup,
}

impl Account<'_> {
    /// A record with what the runtime says of it.
    ///
    /// When the world had stopped is taken from the runtime's stamp where no probe saw it, if it lies where it must.
    pub(super) fn of(
        &self,
        mut record: WindowRecord,
        state: State,
        stacks: &HashMap<u64, Vec<u64>>,
        throttling: &Watch,
    ) -> Closed {
        let marks = Marks {
            requested: (record.requested_ns != 0).then_some(Registers(record.at_requested)),
            requested_word: (record.has_requested_word != 0).then_some(record.requested_word),
            requested_caller: (record.requested_caller != 0).then_some(record.requested_caller),
            told: (record.told_ns != 0).then_some(Registers(record.at_told)),
            told_word: (record.told_word != 0).then_some(record.told_word),
            restarting: (record.restarting_ns != 0).then_some(Registers(record.at_restarting)),
            resumed: (record.resumed_ns != 0).then_some(Registers(record.at_resumed)),
        };
        let stamps = marks.restarting.map(|registers| self.recognised.stamps(registers)).unwrap_or_default();
        if record.stopped_ns == 0 {
            let possible = record.requested_ns..=record.restarting_ns;
            record.stopped_ns = stamps.stopped_ns.filter(|stamp| possible.contains(stamp)).unwrap_or(0);
        }
        let reason = if self.recognised.reason_needs_callers() {
            self.reason_of_callers(&record, stacks)
        } else {
            self.recognised.reason(&marks, self.lookup)
        };
        let opened = [record.requested_ns, record.stopped_ns, record.restarting_ns];
        let from_ns = opened.into_iter().find(|ns| *ns != 0).unwrap_or(record.resumed_ns);
        let throttling = throttling.around(from_ns, record.resumed_ns.max(from_ns));
        let state = if self.recognised.is_discarded(&marks) { State::Discarded } else { state };
        Closed { record, state, reason, stamps, throttling }
    }

    fn reason_of_callers(&self, record: &WindowRecord, stacks: &HashMap<u64, Vec<u64>>) -> Reason {
        let frames = requested_frames(record, stacks).unwrap_or_default();
        // The first is where the probe is; the others are return addresses: the call is before them.
        self.recognised.reason_of_callers(frames.iter().skip(1).filter_map(|address| self.name(address - 1)))
    }

    /// The name of a function of the executable.
    fn name(&self, address: u64) -> Option<&str> {
        let module = self.modules.find(address)?;
        if module.name != self.image.shown_as().as_os_str() {
            return None;
        }
        let offset = FileOffset(address - module.start + module.offset_bytes);
        let functions = self.recognised.go_functions.as_ref()?;
        functions.name_at(self.image.elf_address(offset)?).map(|(name, _)| name)
    }
}
