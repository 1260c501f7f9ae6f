//! What is to be told of files of names.

use super::{jitdump::DumpRecords, perf_map::MapLines};

/// Notes in the order in which they come up, and whether any file named anything at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::symbols) struct Notes {
    lines: Vec<String>,
    /// A file was there and used.
    pub(super) used: bool,
}

impl Notes {
    /// A file was not used.
    pub(super) fn refused(&mut self, path: &str, why: &str) {
        self.lines.push(format!("{path} was not used to name generated code: {why}"));
    }

    /// A perf map was read.
    pub(super) fn map(&mut self, path: &str, read: MapLines) {
        self.used = true;
        if read.malformed > 0 {
            let what = if read.malformed == 1 { "line is not" } else { "lines are not" };
            self.lines.push(format!(
                "{path}: {} {what} of the form START SIZE NAME and named nothing; {} did",
                read.malformed, read.functions
            ));
        }
    }

    /// A jitdump file was read.
    pub(super) fn dump(&mut self, path: &str, read: DumpRecords) {
        self.used |= read.functions > 0;
        if let Some(damage) = read.damage {
            self.lines
                .push(format!("{path}: {damage}; the {} functions before that were used", read.functions));
        }
    }

    /// Whether any file was used.
    pub(in crate::symbols) fn any_used(&self) -> bool {
        self.used
    }

    /// All of them.
    pub(in crate::symbols) fn into_lines(self) -> Vec<String> {
        self.lines
    }
}
