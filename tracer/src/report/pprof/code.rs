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
    /// By what they are: mapping, address, functions.
    location_of: HashMap<(u64, u64, Vec<u64>), u64>,
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
    /// The ids of a stack's places, innermost first. Functions that are inlined at a place are lines of it, the innermost
    /// first. A return address is one behind its call: the byte before it is the place.
    pub(super) fn locations(&mut self, frames: &[Frame], strings: &mut Strings) -> Vec<u64> {
        let mut locations = Vec::with_capacity(frames.len());
        let mut rest = frames;
        while let Some(first) = rest.first() {
            let (at_place, others) = rest.split_at(inlined(rest));
            let place = first.address.as_deref().and_then(address);
            let place =
                place.map(|address| if locations.is_empty() { address } else { address.saturating_sub(1) });
            locations.push(self.location(place, at_place, strings));
            rest = others;
        }
        locations
    }

    fn location(&mut self, address: Option<u64>, frames: &[Frame], strings: &mut Strings) -> u64 {
        let mapping = address.and_then(|address| self.mapping(address)).unwrap_or_default();
        let address = address.unwrap_or_default();
        let functions: Vec<u64> = frames.iter().map(|frame| self.function(strings.of(&frame.name))).collect();
        let code = &mut self.code;
        *code.location_of.entry((mapping, address, functions.clone())).or_insert_with(|| {
            let id = id(code.locations.len());
            let line = functions.into_iter().map(|function_id| LineOf { function_id }).collect();
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

/// How many of the first frames are at one place: they have its address, as inlined functions do. A function that is there
/// again has called itself: that is another place.
fn inlined(frames: &[Frame]) -> usize {
    let Some(Frame { address: Some(address), .. }) = frames.first() else { return frames.len().min(1) };
    let is_further = |at: usize| {
        let (before, frame) = (&frames[..at], &frames[at]);
        frame.address.as_ref() == Some(address) && before.iter().all(|other| other.name != frame.name)
    };
    (1..frames.len()).find(|&at| !is_further(at)).unwrap_or(frames.len())
}

/// Ids are from 1.
fn id(place: usize) -> u64 {
    place as u64 + 1
}

/// An address, which is in hexadecimal.
fn address(text: &str) -> Option<u64> {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).ok()
}
