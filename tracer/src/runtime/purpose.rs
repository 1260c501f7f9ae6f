//! What a window of a described runtime is for: read from the registers at its marks, as the definition says.

use super::{
    Lookup, Reason, Registers,
    definition::{Because, Discard, Mark, ReasonAt, ReasonKind},
    registers,
    sites::{PauseSites, Site},
    windows::WordAt,
};
use crate::elf::Operand;

/// What reading such a runtime's registers depends on.
#[derive(Clone, Debug)]
pub(super) struct Described {
    pub(super) workers: Vec<String>,
    pub(super) reason: Option<ReasonAt>,
    pub(super) discard: Discard,
}

/// The registers at each mark of a window, as far as they were seen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Marks {
    /// Where it opened.
    pub requested: Option<Registers>,
    /// The word of memory that the window's rules ask for there.
    pub requested_word: Option<u64>,
    /// Where the function that opened it returns to.
    pub requested_caller: Option<u64>,
    /// Where its purpose was told, the first time.
    pub told: Option<Registers>,
    /// The first word of the object that tells it.
    pub told_word: Option<u64>,
    /// Where the restart began.
    pub restarting: Option<Registers>,
    /// Where it closed.
    pub resumed: Option<Registers>,
}

/// The word of memory that holds the reason's argument, where it is in one and the same for all sites.
pub(super) fn word_wanted(reason: &ReasonAt, sites: &[Site]) -> Option<WordAt> {
    if reason.at != Mark::Requested {
        return None;
    }
    let word = |site: &Site| match site.arguments.as_ref()?.get(reason.argument)? {
        Operand::Memory { register, offset_bytes, .. } => Some(WordAt {
            register: u32::try_from(registers::index_of(register)?).ok()?,
            offset_bytes: *offset_bytes,
        }),
        _ => None,
    };
    let first = word(sites.first()?)?;
    sites.iter().all(|site| word(site) == Some(first)).then_some(first)
}

impl Described {
    pub(super) fn is_worker(&self, thread_name: &str) -> bool {
        self.workers.iter().any(|worker| thread_name.starts_with(worker.as_str()))
    }

    /// Whether the runtime says that the window was none.
    pub(super) fn is_discarded(&self, sites: &PauseSites, marks: &Marks) -> bool {
        let result = marks.resumed.map(|registers| registers.result() as u32);
        if self.discard.result.is_some_and(|discarded| result == Some(discarded)) {
            return true;
        }
        let opened_in = marks.requested.and_then(|registers| function_hit(&sites.requested, &registers));
        marks.told.is_none()
            && opened_in.is_some_and(|function| self.discard.untold.iter().any(|untold| untold == function))
    }

    pub(super) fn reason(&self, sites: &PauseSites, marks: &Marks, lookup: &Lookup) -> Reason {
        match &self.reason {
            Some(at) => reason_at(at, sites, marks, lookup),
            None => Reason { name: "collection".to_owned(), is_gc: Some(true) },
        }
    }
}

/// What the registers at a mark say.
pub(super) fn reason_at(at: &ReasonAt, sites: &PauseSites, marks: &Marks, lookup: &Lookup) -> Reason {
    let (registers, sites, mark) = match at.at {
        Mark::Requested => (marks.requested, &sites.requested, "its begin was not seen"),
        Mark::Told => (marks.told, &sites.told, "it was not told"),
        Mark::Restarting => (marks.restarting, &sites.restarting, "its restart was not seen"),
        Mark::Resumed => (marks.resumed, &sites.resumed, "its end was not seen"),
    };
    let otherwise = || {
        at.otherwise.as_ref().map(|name| Reason { name: name.clone(), is_gc: Some(is_collection(at, name)) })
    };
    let Some(registers) = registers else {
        // Where the begin was not seen it may have been told before.
        let untold = at.at == Mark::Told && marks.requested.is_some();
        let otherwise = if untold { otherwise() } else { None };
        return otherwise.unwrap_or_else(|| Reason { name: format!("unknown ({mark})"), is_gc: None });
    };
    let has_it = |site: &Site| at.of.is_empty() || at.of.contains(&site.function);
    if let Some(otherwise) = otherwise()
        && !hit(sites, &registers).any(has_it)
    {
        return otherwise;
    }
    let word = if at.at == Mark::Requested { marks.requested_word } else { None };
    let name = match at.kind {
        ReasonKind::Place => hit_place(at, sites, &registers),
        ReasonKind::Caller => {
            let caller = marks.requested_caller.and_then(|address| lookup.function_around(address));
            caller.map(|caller| named(at, &caller).unwrap_or(caller))
        }
        ReasonKind::Class => {
            let class = marks.told_word.and_then(|table| lookup.class(table));
            class.map(|class| named(at, &class).unwrap_or(class))
        }
        _ => argument(sites, &registers, word, at.argument).map(|value| of_argument(at, value, lookup)),
    };
    let Some(mut name) = name else {
        return Reason { name: format!("unknown ({})", why_unknown(at.kind)), is_gc: None };
    };
    if let Some(rest) = at.prefix.as_ref().and_then(|prefix| name.strip_prefix(prefix.as_str())) {
        name = rest.to_owned();
    }
    if let Some(Because { argument: index, names }) = &at.because
        && let Some(value) = argument(sites, &registers, word, *index)
    {
        let number = (value as u32).cast_signed().to_string();
        name = format!("{name}: {}", names.get(&number).cloned().unwrap_or(format!("reason {number}")));
    }
    let is_gc = (!name.starts_with("unknown")).then(|| is_collection(at, &name));
    Reason { name, is_gc }
}

/// Whether a reason of that name is a collection.
fn is_collection(at: &ReasonAt, name: &str) -> bool {
    at.gc.as_ref().is_none_or(|collections| collections.iter().any(|gc| name.starts_with(gc.as_str())))
}

/// What an argument stands for.
fn of_argument(at: &ReasonAt, value: u64, lookup: &Lookup) -> String {
    match at.kind {
        ReasonKind::Number | ReasonKind::Place | ReasonKind::Caller | ReasonKind::Class => {
            let number = (value as u32).cast_signed();
            named(at, &number.to_string()).unwrap_or_else(|| format!("reason {number}"))
        }
        ReasonKind::Flags => flags(at, value as u32),
        ReasonKind::Text => {
            lookup.text(value).unwrap_or_else(|| "unknown (its text is not constant)".to_owned())
        }
        ReasonKind::Function => {
            let function = lookup.function(value);
            function
                .map(|function| named(at, &function).unwrap_or(function))
                .unwrap_or_else(|| "unknown function".to_owned())
        }
    }
}

fn why_unknown(kind: ReasonKind) -> &'static str {
    match kind {
        ReasonKind::Place => "which of the places was hit can't be told",
        ReasonKind::Caller => "its caller is in no function that is known",
        ReasonKind::Class => "its class has no name here",
        _ => "its argument is not in a register",
    }
}

/// The sites that may have been hit: they are told apart by their place in a page, since mappings begin at pages.
fn hit<'a>(sites: &'a [Site], registers: &Registers) -> impl Iterator<Item = &'a Site> {
    let in_page = |address: u64| address & 0xfff;
    let instruction = registers.instruction();
    sites.iter().filter(move |site| in_page(site.file_offset.0) == in_page(instruction))
}

/// The argument at the site that was hit. `word` is what was read of memory there.
fn argument(sites: &[Site], registers: &Registers, word: Option<u64>, argument: usize) -> Option<u64> {
    let mut values = hit(sites, registers).map(|site| match &site.arguments {
        Some(arguments) => match arguments.get(argument)? {
            Operand::Memory { size_bytes, signed, .. } => Some(registers::cut(word?, *size_bytes, *signed)),
            operand => registers.operand(operand),
        },
        None => registers.c_argument(argument),
    });
    let first = values.next()?;
    if values.all(|other| other == first) { first } else { None }
}

/// The function whose site was hit.
fn function_hit<'a>(sites: &'a [Site], registers: &Registers) -> Option<&'a str> {
    let mut functions = hit(sites, registers).map(|site| site.function.as_str());
    let first = functions.next()?;
    functions.all(|other| other == first).then_some(first)
}

/// The name of the place that was hit.
fn hit_place(at: &ReasonAt, sites: &[Site], registers: &Registers) -> Option<String> {
    function_hit(sites, registers).map(|place| named(at, place).unwrap_or_else(|| place.to_owned()))
}

fn named(at: &ReasonAt, key: &str) -> Option<String> {
    at.names.get(key).cloned()
}

fn flags(at: &ReasonAt, value: u32) -> String {
    let bits = (0..u32::BITS).map(|bit| 1_u32 << bit).filter(|bit| value & bit != 0);
    let names: Vec<String> =
        bits.map(|bit| named(at, &bit.to_string()).unwrap_or_else(|| format!("{bit:#x}"))).collect();
    if names.is_empty() { named(at, "0").unwrap_or_else(|| "none".to_owned()) } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use tracer_common::pause::REGISTERS;

    use super::*;
    use crate::elf::{ElfAddress, FileOffset, SymbolSource};
    use crate::runtime::SiteKind;

    fn site(function: &str, offset: u64, arguments: Option<Vec<Operand>>) -> Site {
        Site {
            function: function.to_owned(),
            file: 0,
            elf_address: ElfAddress(offset),
            file_offset: FileOffset(offset),
            source: SymbolSource::Symtab,
            kind: SiteKind::Entry,
            semaphore: None,
            arguments,
        }
    }

    /// At the site of that offset, in a file that is loaded anywhere.
    fn registers_at(offset: u64, second_argument: u64) -> Registers {
        let mut registers = [0; REGISTERS];
        registers[REGISTERS - 1] = 0x7f00_0000_0000 + offset;
        registers[if cfg!(target_arch = "aarch64") { 1 } else { 4 }] = second_argument;
        Registers(registers)
    }

    fn reason(kind: ReasonKind) -> ReasonAt {
        ReasonAt {
            at: Mark::Requested,
            argument: 1,
            kind,
            names: BTreeMap::new(),
            because: None,
            of: Vec::new(),
            otherwise: None,
            gc: None,
            prefix: None,
        }
    }

    fn name(at: &ReasonAt, sites: &[Site], registers: Registers, word: Option<u64>) -> String {
        let sites = PauseSites { requested: sites.to_vec(), ..PauseSites::default() };
        let marks = Marks { requested: Some(registers), requested_word: word, ..Marks::default() };
        reason_at(at, &sites, &marks, &Lookup::default()).name
    }

    #[test]
    fn the_place_that_was_hit_names_the_reason() {
        let sites = [site("full", 0x1010, None), site("step", 0x1020, None)];
        let mut at = reason(ReasonKind::Place);
        at.names.insert("full".to_owned(), "full collection".to_owned());
        assert_eq!(name(&at, &sites, registers_at(0x1010, 0), None), "full collection");
        assert_eq!(name(&at, &sites, registers_at(0x1020, 0), None), "step");
        assert!(name(&at, &sites, registers_at(0x1030, 0), None).starts_with("unknown"));
    }

    #[test]
    fn places_without_the_argument_have_a_reason_of_their_own() {
        let sites = [site("start", 0x1010, None), site("rest", 0x1020, None)];
        let mut at = reason(ReasonKind::Number);
        at.of.push("start".to_owned());
        at.otherwise = Some("rest of another".to_owned());
        at.because =
            Some(Because { argument: 1, names: BTreeMap::from([("7".to_owned(), "seven".to_owned())]) });
        assert_eq!(name(&at, &sites, registers_at(0x1010, 7), None), "reason 7: seven");
        assert_eq!(name(&at, &sites, registers_at(0x1020, 7), None), "rest of another");
    }

    #[test]
    fn an_argument_in_memory_is_what_was_read_there() {
        let operand =
            Operand::Memory { register: "rsp".to_owned(), offset_bytes: 112, size_bytes: 4, signed: true };
        let sites = [site("usdt:python:gc__start", 0x1010, Some(vec![Operand::Constant(5), operand]))];
        let at = reason(ReasonKind::Number);
        let high_bits = 0xdead_beef_0000_0002;
        assert_eq!(name(&at, &sites, registers_at(0x1010, 9), Some(high_bits)), "reason 2");
        assert_eq!(name(&at, &sites, registers_at(0x1010, 9), Some(0xffff_ffff)), "reason -1");
        assert!(name(&at, &sites, registers_at(0x1010, 9), None).starts_with("unknown"));
        if cfg!(target_arch = "x86_64") {
            assert_eq!(word_wanted(&at, &sites), Some(WordAt { register: 7, offset_bytes: 112 }));
        }
        let two =
            [sites[0].clone(), site("usdt:python:gc__start", 0x1020, Some(vec![Operand::Constant(5); 2]))];
        assert_eq!(word_wanted(&at, &two), None);
    }
}
