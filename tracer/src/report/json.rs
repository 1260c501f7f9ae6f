//! The report as JSON: exactly the fields of the model, described in `docs/json.md`.

use serde::Serialize;
use serde_json::Value;

use super::{model::Report, processes::ProcessesReport};

/// The first integer that a JSON reader with floating-point numbers can't tell from its neighbour.
pub const INTEGER_LIMIT: u64 = 1 << 53;

/// The report of several processes, in the same way.
///
/// # Errors
///
/// As [`render`].
pub fn render_processes(report: &ProcessesReport) -> Result<String, serde_json::Error> {
    write(report)
}

/// The report as indented JSON with a line end.
///
/// Names come out as they are (JSON escapes control bytes by itself). An integer of 2^53 or more is a mistake in
/// whoever filled the report: debug builds stop there.
///
/// # Errors
///
/// Never for a [`Report`] as it is today; the serialiser's signature is passed on rather than hidden.
pub fn render(report: &Report) -> Result<String, serde_json::Error> {
    write(report)
}

fn write(report: &impl Serialize) -> Result<String, serde_json::Error> {
    if cfg!(debug_assertions) {
        let too_large = too_large(&serde_json::to_value(report)?);
        debug_assert!(too_large.is_none(), "integer of 2^53 or more at {}", too_large.unwrap_or_default());
    }
    let mut text = serde_json::to_string_pretty(report)?;
    text.push('\n');
    Ok(text)
}

/// Where the first integer of 2^53 or more stands, as a path such as `/summary/faults`.
fn too_large(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => {
            let fits = match (number.as_u64(), number.as_i64()) {
                (Some(n), _) => n < INTEGER_LIMIT,
                (None, Some(n)) => n.unsigned_abs() < INTEGER_LIMIT,
                (None, None) => true,
            };
            (!fits).then(String::new)
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .find_map(|(index, item)| too_large(item).map(|rest| format!("/{index}{rest}"))),
        Value::Object(fields) => {
            fields.iter().find_map(|(name, field)| too_large(field).map(|rest| format!("/{name}{rest}")))
        }
        Value::Null | Value::Bool(_) | Value::String(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixtures;

    #[test]
    fn reads_back_as_it_was() {
        for report in [fixtures::story(), fixtures::no_pauses(), fixtures::partial(), fixtures::hostile()] {
            let text = render(&report).unwrap();
            assert!(text.ends_with("}\n"));
            assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
        }
    }

    #[test]
    fn keeps_the_order_of_the_model_and_the_words_of_the_design() {
        let text = render(&fixtures::story()).unwrap();
        // Two blanks: the outermost object's own fields.
        let places = ["schema", "tool", "target", "trace", "exposure", "summary", "pauses", "diagnosis"]
            .map(|name| text.find(&format!("\n  \"{name}\":")).unwrap());
        assert!(places.is_sorted(), "{places:?}");
        assert!(text.contains("\"swap_in\": {"));
        assert!(text.contains("\"state\": \"complete\""));
    }

    #[test]
    fn unknown_is_null() {
        let text = render(&fixtures::partial()).unwrap();
        assert!(text.contains("\"duration_ns\": null"));
        assert!(text.contains("\"median_ns\": null"));
    }

    #[test]
    fn an_integer_that_loses_digits_elsewhere_is_found() {
        let mut report = fixtures::story();
        assert_eq!(too_large(&serde_json::to_value(&report).unwrap()), None);
        report.summary.faults = INTEGER_LIMIT - 1;
        assert_eq!(too_large(&serde_json::to_value(&report).unwrap()), None);
        report.pauses[0].by_kind.values_mut().for_each(|total| total.ns = INTEGER_LIMIT);
        let path = too_large(&serde_json::to_value(&report).unwrap());
        assert_eq!(path.as_deref(), Some("/pauses/0/by_kind/swap_in/ns"));
        report = fixtures::story();
        report.pauses[0].requested_ns = Some(i64::MIN);
        let path = too_large(&serde_json::to_value(&report).unwrap());
        assert_eq!(path.as_deref(), Some("/pauses/0/requested_ns"));
    }

    #[test]
    fn the_parts_of_the_story_add_up() {
        let report = fixtures::story();
        for pause in &report.pauses {
            let budget = pause.budget.unwrap();
            assert_eq!(Some(budget.sum_ns()), pause.duration_ns, "{}", pause.id);
            let in_faults = budget.parts().into_iter().filter(|part| part.is_in_faults());
            assert_eq!(in_faults.map(|part| part.ns).sum::<u64>(), pause.in_faults_ns, "{}", pause.id);
            if let Some(stopping) = &pause.stopping {
                assert_eq!(stopping.budget.sum_ns(), stopping.ns);
            }
        }
        assert_eq!(report.summary.budget.unwrap().sum_ns(), report.summary.paused_ns);
        let stopping = report.summary.stopping.unwrap();
        assert_eq!(stopping.budget.sum_ns(), stopping.ns);
    }

    /// The parts of the JSON are the names of [`Budget::parts`](crate::report::model::Budget::parts).
    #[test]
    fn parts_have_the_names_of_their_fields() {
        let report = fixtures::story();
        let value = serde_json::to_value(&report).unwrap();
        let budget = &report.pauses[0].budget.unwrap();
        let of = |path: &str, name: &str| value.pointer(&format!("{path}/{name}_ns")).and_then(Value::as_u64);
        for part in budget.parts() {
            assert_eq!(of("/pauses/0/budget", part.name), Some(part.ns), "{}", part.name);
        }
        assert_eq!(
            value.pointer("/pauses/0/budget").unwrap().as_object().unwrap().len(),
            budget.parts().len()
        );
        for part in report.pauses[1].stopping.as_ref().unwrap().budget.parts() {
            assert_eq!(of("/pauses/1/stopping/budget", part.name), Some(part.ns), "{}", part.name);
        }
    }

    #[test]
    fn every_field_is_documented() {
        let document = include_str!("../../../docs/json.md");
        let reports = [
            fixtures::story(),
            fixtures::partial(),
            fixtures::calls(),
            fixtures::user_windows(),
            fixtures::workers(),
        ];
        for report in reports {
            let mut names = Vec::new();
            field_names(&serde_json::to_value(&report).unwrap(), &mut names);
            assert!(names.len() > 100, "{}", names.len());
            for name in names {
                assert!(
                    document.contains(&format!("`{name}`")) || document.contains(&format!("\"{name}\"")),
                    "{name}"
                );
            }
            for diagnosis in &report.diagnosis {
                assert!(document.contains(&format!("`{}`", diagnosis.rule)), "{}", diagnosis.rule);
            }
        }
        let mut names = Vec::new();
        field_names(&serde_json::to_value(fixtures::processes()).unwrap(), &mut names);
        for name in names {
            assert!(
                document.contains(&format!("`{name}`")) || document.contains(&format!("\"{name}\"")),
                "{name}"
            );
        }
    }

    /// Names of fields, without the keys of maps that hold the target's words.
    fn field_names(value: &Value, names: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                for (name, field) in fields {
                    names.push(name.clone());
                    if name != "by_reason" && name != "dropped" {
                        field_names(field, names);
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| field_names(item, names)),
            _ => {}
        }
    }
}
