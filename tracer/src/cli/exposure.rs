//! `pauselens exposure`: how much of a process's memory is out, and what its next pause would cost.

use std::{sync::Arc, time::Duration};

use anyhow::Context as _;

use super::{
    args::{ExposureArgs, Global},
    exit::Exit,
    exposed::layout,
    format::Format,
    output::Output,
};
use crate::{
    elf::Image,
    exposure::{Subject, TakeOptions, take},
    memory::Layout,
    message::message,
    report::{
        described::described,
        exposure::{ExposureReport, SCHEMA, Usual, exposed, regions_read, render},
        model::{Runtime, Tool, Unavailable},
        text::render_exposure,
    },
    runtime::{MappedFiles, Recognised, recognise_process},
    target::Target,
};

/// Reading the page map may take this long: more than any process of a sane size needs.
const WITHIN: Duration = Duration::from_secs(20);

/// Looks, measures, estimates, prints.
pub(super) fn exposure(arguments: &ExposureArgs, global: Global) -> anyhow::Result<Exit> {
    let mut output = Output::open(arguments.format.into(), arguments.output.as_deref(), global)?;
    output.doing("looking at the memory");
    let target = Target::open(arguments.pid)?;
    let (build_id, recognised) = runtime_of(&target);
    let layout = recognised.as_ref().map_or(Layout::Plain, |recognised| layout(recognised.kind));
    let regions = recognised.as_ref().map_or(&[][..], |recognised| regions_read(recognised.kind));
    let options = TakeOptions { within: WITHIN, latency: None, may_probe: true, regions };
    let (found, missing) = take(Subject { target: &target, layout }, options)?;
    let kind = recognised.as_ref().map(|recognised| recognised.kind).map_err(Clone::clone);
    let (exposure, more) = exposed(found, kind, Usual::default());
    let mut unavailable: Vec<Unavailable> = missing
        .into_iter()
        .map(|missing| Unavailable { part: missing.part.to_owned(), why: missing.why })
        .collect();
    unavailable.extend(more);
    let report = ExposureReport {
        schema: SCHEMA.to_owned(),
        tool: Tool { name: "pauselens".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() },
        target: described(
            &target,
            build_id,
            recognised.map_or_else(
                |_| Runtime { name: String::new(), version: String::new() },
                |recognised| Runtime { name: recognised.name.clone(), version: recognised.version },
            ),
        ),
        exposure,
        unavailable,
    };
    let text = match arguments.format {
        Format::Json => render(&report).context("the report can't be written as JSON")?,
        Format::Text => render_exposure(&report, &output.style()),
    };
    output.put(text.as_bytes())?;
    Ok(if report.unavailable.is_empty() { Exit::Done } else { Exit::Incomplete })
}

/// The build id, and the runtime or why none was recognised. Memory can be looked at without.
fn runtime_of(target: &Target) -> (Option<String>, Result<Recognised, String>) {
    let image = target
        .open_executable()
        .map_err(|error| message(&error))
        .and_then(|file| Image::open(file, target.exe().to_owned()).map_err(|error| message(&error)));
    match image {
        Ok(image) => {
            let build_id = image.build_id().map(|id| id.iter().map(|byte| format!("{byte:02x}")).collect());
            let image = Arc::new(image);
            let recognised = MappedFiles::of(target, image)
                .map_err(|error| message(&error))
                .and_then(|files| recognise_process(&files).map_err(|error| message(&error)));
            (build_id, recognised)
        }
        Err(why) => (None, Err(why)),
    }
}
