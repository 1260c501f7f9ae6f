//! What usually helps, for which runtime.

use crate::report::model::Report;

/// One piece of advice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Remedy {
    /// The runtime's name that it is for; `None` for all.
    pub(super) only: Option<&'static str>,
    pub(super) text: &'static str,
}

/// Advice for any runtime.
pub(super) const fn for_all(text: &'static str) -> Remedy {
    Remedy { only: None, text }
}

/// Advice for Go.
pub(super) const fn for_go(text: &'static str) -> Remedy {
    Remedy { only: Some("go"), text }
}

/// Those that apply to the report's target.
pub(super) fn applying(remedies: &[Remedy], report: &Report) -> Vec<String> {
    remedies
        .iter()
        .filter(|remedy| remedy.only.is_none_or(|name| name == report.target.runtime.name))
        .map(|remedy| remedy.text.to_owned())
        .collect()
}
