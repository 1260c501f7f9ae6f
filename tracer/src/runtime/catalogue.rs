//! Asks one runtime after the other whether a process holds it.

use std::sync::Arc;

use super::{MappedFiles, RecogniseError, Recognised, definitions, demo, described, go};
use crate::elf::Image;

/// Recognises the runtime in a file, by what the file holds and never by its name, and finds its pause sites.
///
/// # Errors
///
/// No known runtime; or one, but of a version that is too old or can't be read, or whose pause functions
/// can't be found, placed or decoded. Half a pair of sites is never returned.
pub fn recognise(image: &Arc<Image>) -> Result<Recognised, RecogniseError> {
    recognise_process(&MappedFiles::only(Arc::clone(image)))
}

/// Recognises the runtime of a process, in any of the files that it has mapped.
///
/// # Errors
/// As for [`recognise`].
pub fn recognise_process(files: &MappedFiles) -> Result<Recognised, RecogniseError> {
    let executable = &files.files[0];
    let own = match go::recognise(executable)? {
        Some(go) => Some(go),
        None => demo::recognise(executable)?,
    };
    if let Some(mut recognised) = own {
        recognised.files = vec![Arc::clone(executable)];
        return Ok(recognised);
    }
    let held = described::Held::of(definitions(), files);
    for definition in definitions() {
        if let Some(file) = held.file(definition) {
            return described::recognise(definition, files, Some(file));
        }
    }
    let titles: Vec<&str> = definitions().iter().map(|definition| definition.title.as_str()).collect();
    Err(RecogniseError::NoKnownRuntime {
        path: executable.shown_as().to_path_buf(),
        looked_for: format!(
            "{}; {}; the functions of {} (`pauselens runtimes` says which)",
            go::LOOKED_FOR,
            demo::LOOKED_FOR,
            titles.join(", ")
        ),
    })
}
