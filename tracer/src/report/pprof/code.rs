//! The profile's mappings, places and functions.

use std::collections::HashMap;

use super::{
    message::{Function, LineOf, Location, Mapping},
    strings::Strings,
};
use crate::recording::{Recorded, line::Frame};

/// All code so far.
#[derive(Debug, Default)]
pub(super) struct Code {
    mappings: Vec<Mapping>,
    locations: Vec<Location>,
    functions: Vec<Function>,
    /// By what they are: mapping, address, function.
    location_of: HashMap<(u64, u64, u64), u64>,
    function_of: HashMap<i64, u64>,
}

/// One process's code: its addresses are its own.
#[derive(Debug)]
pub(super) struct OfProcess<'a> {
    code: &'a mut Code,
    /// Its mappings are from here on.
    from: usize,
}

impl Code {
    /// Adds a process's mappings: the first one of all has to be the program's.
    pub(super) fn of(&mut self, recorded: &Recorded, strings: &mut Strings) -> OfProcess<'_> {
        let from = self.mappings.len();
        let is_program = |file: &str| file == recorded.process.target.exe;
        let (mut mappings, others): (Vec<_>, Vec<_>) =
            recorded.mappings.iter().partition(|mapping| is_program(&mapping.file));
        mappings.extend(others);
        for mapping in mappings {
            let (Some(memory_start), Some(memory_limit)) = (address(&mapping.start), address(&mapping.end))
            else {
                continue;
            };
            self.mappings.push(Mapping {
                id: id(self.mappings.len()),
                memory_start,
                memory_limit,
                file_offset: mapping.offset_bytes,
                filename: strings.of(&mapping.file),
                build_id: mapping.build_id.as_deref().map_or(0, |build_id| strings.of(build_id)),
                has_functions: true,
            });
        }
        OfProcess { code: self, from }
    }

    pub(super) fn finish(self) -> (Vec<Mapping>, Vec<Location>, Vec<Function>) {
        (self.mappings, self.locations, self.functions)
    }
}

impl OfProcess<'_> {
    /// The ids of a stack's places, innermost first. A return address is one behind its call: the byte before it is the
    /// place. The frames of the innermost address, several where functions are inlined, are where they are.
    pub(super) fn locations(&mut self, frames: &[Frame], strings: &mut Strings) -> Vec<u64> {
        let innermost = frames.first().and_then(|frame| frame.address.as_deref());
        let mut is_innermost = innermost.is_some();
        let mut locations = Vec::with_capacity(frames.len());
        for frame in frames {
            is_innermost &= frame.address.as_deref() == innermost;
            let place = frame.address.as_deref().and_then(address);
            let place = place.map(|address| if is_innermost { address } else { address.saturating_sub(1) });
            locations.push(self.location(place, &frame.name, strings));
        }
        locations
    }

    fn location(&mut self, address: Option<u64>, name: &str, strings: &mut Strings) -> u64 {
        let mapping = address.and_then(|address| self.mapping(address)).unwrap_or_default();
        let address = address.unwrap_or_default();
        let function = self.function(strings.of(name));
        let code = &mut self.code;
        *code.location_of.entry((mapping, address, function)).or_insert_with(|| {
            let id = id(code.locations.len());
            let line = vec![LineOf { function_id: function }];
            code.locations.push(Location { id, mapping_id: mapping, address, line });
            id
        })
    }

    /// The mapping that holds an address: the last one, where others were there before.
    fn mapping(&self, address: u64) -> Option<u64> {
        let mut mappings = self.code.mappings[self.from..].iter().rev();
        mappings
            .find(|mapping| (mapping.memory_start..mapping.memory_limit).contains(&address))
            .map(|found| found.id)
    }

    fn function(&mut self, name: i64) -> u64 {
        let code = &mut self.code;
        *code.function_of.entry(name).or_insert_with(|| {
            let id = id(code.functions.len());
            code.functions.push(Function { id, name, system_name: name });
            id
        })
    }
}

/// Ids are from 1.
fn id(place: usize) -> u64 {
    place as u64 + 1
}

/// An address, which is in hexadecimal.
fn address(text: &str) -> Option<u64> {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).ok()
}
