//! What usually helps, for which runtime.

use crate::report::model::{Report, Unit};

/// One piece of advice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Remedy {
    /// The runtime's name that it is for; `None` for all.
    pub(super) only: Option<&'static str>,
    /// What windows it is for; `None` for all.
    pub(super) of: Option<Of>,
    /// `{pause}` and `{pauses}` stand for what the windows are called.
    pub(super) text: &'static str,
}

/// Which windows a piece of advice is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    /// Pauses of a runtime: advice about its collector.
    Pauses,
    /// Calls and windows of the user's.
    Others,
}

/// Advice for any runtime.
pub(super) const fn for_all(text: &'static str) -> Remedy {
    Remedy { only: None, of: None, text }
}

/// Advice for Go.
pub(super) const fn for_go(text: &'static str) -> Remedy {
    Remedy { only: Some("go"), of: None, text }
}

impl Remedy {
    /// The same, for pauses of a runtime only.
    pub(super) const fn of_pauses(self) -> Self {
        Self { of: Some(Of::Pauses), ..self }
    }

    /// The same, for calls and windows of the user's only.
    pub(super) const fn of_others(self) -> Self {
        Self { of: Some(Of::Others), ..self }
    }

    fn applies(&self, report: &Report) -> bool {
        let of = if report.windows.unit == Unit::Pause { Of::Pauses } else { Of::Others };
        self.only.is_none_or(|name| name == report.target.runtime.name) && self.of.is_none_or(|its| its == of)
    }
}

/// Advice for the JVM.
pub(super) const fn for_hotspot(text: &'static str) -> Remedy {
    Remedy { only: Some("hotspot"), of: None, text }
}

/// Those that apply to the report's target.
pub(super) fn applying(remedies: &[Remedy], report: &Report) -> Vec<String> {
    let unit = report.windows.unit;
    let named = |text: &str| text.replace("{pauses}", unit.many()).replace("{pause}", unit.one());
    remedies.iter().filter(|remedy| remedy.applies(report)).map(|remedy| named(remedy.text)).collect()
}
