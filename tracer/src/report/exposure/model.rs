//! Exposure in reports: what `pauselens exposure` prints as JSON, and what a trace's report holds of it.

use serde::{Deserialize, Serialize};

use crate::{
    exposure::Exposure,
    memory::Region,
    report::model::{Target, Tool, Unavailable},
};

/// The schema's name and version: changed whenever a field changes its meaning or goes away.
pub const SCHEMA: &str = "pauselens.exposure/1";

/// What `pauselens exposure` prints.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct ExposureReport {
    /// [`SCHEMA`].
    pub schema: String,
    /// What made the report.
    pub tool: Tool,
    /// The process; its runtime's name is empty when none was recognised.
    pub target: Target,
    /// What was found.
    pub exposure: Exposed,
    /// Parts that can't be had here, with the reason; what belongs to them is `null`.
    pub unavailable: Vec<Unavailable>,
}

/// What a trace's report holds.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Exposures {
    /// Before the probes were put in place; `null` when it can't be had: `trace.unavailable` says why.
    pub at_start: Option<Exposed>,
    /// After the trace.
    pub at_end: Option<Exposed>,
}

/// One look at a process's memory, and what follows for its next pause.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Exposed {
    /// What was found.
    #[serde(flatten)]
    pub found: Exposure,
    /// What the longest pause of the next collection would take; `null` when that can't be told.
    pub next_pause: Option<Estimate>,
}

/// What the longest pause of the next collection would take: a range.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Estimate {
    /// At least this long.
    pub least_ns: u64,
    /// At most this long.
    pub most_ns: u64,
    /// The fewest reads of the swap device in it.
    pub least_reads: u64,
    /// The most.
    pub most_reads: u64,
    /// The regions whose pages the runtime reads with the world stopped.
    pub regions: Vec<Region>,
    /// How many of their pages are out.
    pub pages_out: u64,
    /// How many there are, in or out.
    pub pages: u64,
    /// What the range rests on, in words.
    pub basis: Vec<String>,
}

/// The report as indented JSON with a line end.
///
/// # Errors
///
/// Never for an [`ExposureReport`] as it is today; the serialiser's signature is passed on rather than hidden.
pub fn render(report: &ExposureReport) -> Result<String, serde_json::Error> {
    let mut text = serde_json::to_string_pretty(report)?;
    text.push('\n');
    Ok(text)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::{
        report::exposure::{Usual, exposed, fixtures::swapped_out},
        runtime::RuntimeKind,
    };

    fn report() -> ExposureReport {
        let (exposure, unavailable) = exposed(swapped_out(), Ok(RuntimeKind::Go), Usual::default());
        let target = crate::report::fixtures::empty().target;
        let tool = Tool { name: "pauselens".to_owned(), version: "0.1.0".to_owned() };
        ExposureReport { schema: SCHEMA.to_owned(), tool, target, exposure, unavailable }
    }

    #[test]
    fn reads_back_as_it_was() {
        let text = render(&report()).unwrap();
        assert!(text.ends_with("}\n"));
        assert_eq!(serde_json::from_str::<ExposureReport>(&text).unwrap(), report());
    }

    #[test]
    fn every_field_is_documented() {
        let document = include_str!("../../../../docs/json.md");
        let mut names = Vec::new();
        field_names(&serde_json::to_value(report()).unwrap(), &mut names);
        names.extend(["at_start", "at_end", "exposure"].map(str::to_owned));
        assert!(names.len() > 40, "{}", names.len());
        for name in names {
            assert!(document.contains(&format!("`{name}`")), "{name}");
        }
    }

    fn field_names(value: &Value, names: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                for (name, field) in fields {
                    names.push(name.clone());
                    field_names(field, names);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| field_names(item, names)),
            _ => {}
        }
    }
}
