//! From the options to the windows that are to be traced.

use anyhow::Context as _;

use super::args::{Key, WindowArgs};
use crate::{
    report::model::Unit,
    runtime::{Chosen, Definition, KeyedBy},
};

/// What the windows of these options are called.
pub(super) fn unit(arguments: &WindowArgs) -> Unit {
    if arguments.function.is_some() {
        Unit::Call
    } else if !arguments.enter.is_empty() {
        Unit::Window
    } else {
        Unit::Pause
    }
}

/// What the options choose.
///
/// # Errors
/// A definition that can't be read.
pub(super) fn chosen(arguments: &WindowArgs) -> anyhow::Result<Chosen> {
    let longer_than = arguments.longer_than.unwrap_or_default();
    let longer_than_ns = u64::try_from(longer_than.as_nanos()).unwrap_or(u64::MAX);
    if let Some(place) = &arguments.function {
        return Ok(Chosen::Function { place: place.clone(), longer_than_ns });
    }
    if !arguments.enter.is_empty() {
        return Ok(Chosen::Between {
            enter: arguments.enter.clone(),
            exit: arguments.exit.clone(),
            reason_argument: arguments.reason_arg.map(usize::from),
            key: match arguments.key {
                Key::Process => KeyedBy::Process,
                Key::Thread => KeyedBy::Thread,
            },
            longer_than_ns,
        });
    }
    if let Some(path) = &arguments.runtime_file {
        let text = std::fs::read_to_string(path).with_context(|| {
            format!(
                "{}: the definition can't be read; `pauselens runtimes --show hotspot` prints one",
                path.display()
            )
        })?;
        let definition = Definition::parse(&text, &path.display().to_string())?;
        return Ok(Chosen::Defined(Box::new(definition)));
    }
    Ok(arguments.runtime.clone().map_or(Chosen::Recognised, Chosen::Named))
}
