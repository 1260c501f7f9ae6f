//! A fault in few bytes: what pictures need of it while its pause is still to come.

use std::collections::HashMap;

use super::parts;
use crate::{
    recording::line::{Fault, Role},
    report::model::{Kind, Region},
};

/// Bytes of a page as a power of two: addresses are told by page.
const PAGE_LOG2: u32 = 12;

/// A fault.
#[derive(Clone, Copy, Debug)]
pub(super) struct Brief {
    pub(super) begin_ns: i64,
    /// Its full length.
    pub(super) ns: u64,
    pub(super) page: u64,
    pub(super) pause: u64,
    pub(super) tid: u32,
    /// The number of what it touched.
    pub(super) what: u32,
    pub(super) kind: Kind,
    pub(super) region: Region,
    pub(super) role: Role,
    pub(super) inferred: bool,
    pub(super) major: bool,
    pub(super) place_inferred: bool,
}

impl Brief {
    /// What is needed of a fault.
    pub(super) fn of(fault: &Fault, whats: &mut Whats) -> Self {
        // An address that is none stands at the lower end.
        let address = u64::from_str_radix(fault.address.trim_start_matches("0x"), 16).unwrap_or(0);
        Self {
            begin_ns: fault.begin_ns,
            ns: fault.full_ns.unwrap_or(fault.ns),
            page: address >> PAGE_LOG2,
            pause: fault.pause,
            tid: fault.tid,
            what: whats.number(&fault.what),
            kind: fault.kind,
            region: fault.region,
            role: fault.role,
            inferred: fault.inferred,
            major: fault.major,
            place_inferred: fault.place_inferred,
        }
    }

    /// Its kind's number.
    pub(super) fn kind_number(&self) -> usize {
        parts::number(self.kind)
    }
}

/// What faults touched, by number. Only what the page shows becomes a name of the page.
#[derive(Debug, Default)]
pub(super) struct Whats {
    numbers: HashMap<String, u32>,
    list: Vec<String>,
}

impl Whats {
    fn number(&mut self, what: &str) -> u32 {
        if let Some(&number) = self.numbers.get(what) {
            return number;
        }
        let number = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        self.list.push(what.to_owned());
        self.numbers.insert(what.to_owned(), number);
        number
    }

    /// The words of a number.
    pub(super) fn words(&self, number: u32) -> &str {
        self.list.get(number as usize).map_or("", String::as_str)
    }
}
