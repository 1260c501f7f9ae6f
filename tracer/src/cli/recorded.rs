//! The recording of a trace: a file that was asked for, one that a picture is drawn from, or none.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use tempfile::TempPath;

use crate::{
    recording::{Recordable, Recorder, Written},
    report::{
        processes::{Unrecognised, WholeTrace},
        units,
    },
    tell,
};

/// The recording of a trace.
#[derive(Debug, Default)]
pub(super) struct Recorded {
    recorder: Option<Recorder>,
    path: PathBuf,
    /// It was not there before.
    created: bool,
    /// It is there for a picture, and goes away afterwards.
    for_picture: Option<TempPath>,
    written: Option<Written>,
}

impl Recorded {
    /// Makes the file, if one was asked for or `picture` needs one.
    ///
    /// # Errors
    /// When it can't be made, or there is something in it.
    pub(super) fn begin(path: Option<&Path>, picture: bool, what: Recordable) -> anyhow::Result<Self> {
        let (path, for_picture) = match path {
            Some(path) => {
                if let Ok(found) = path.metadata()
                    && found.is_file()
                    && found.len() > 0
                {
                    bail!(
                        "{} is there already ({}); nothing was traced. Name another file, or take it away",
                        path.display(),
                        units::bytes(found.len())
                    );
                }
                (path.to_owned(), None)
            }
            None if picture => {
                let file = tempfile::Builder::new().prefix("pauselens-").suffix(".jsonl.zst").tempfile();
                let path = file.context(
                    "no temporary file can be made; set TMPDIR to a folder that can be written to",
                )?;
                let path = path.into_temp_path();
                (path.to_path_buf(), Some(path))
            }
            None => return Ok(Self::default()),
        };
        let created = for_picture.is_none() && !path.exists();
        let recorder = Recorder::begin(&path, what).with_context(|| {
            format!(
                "{} can't be written; nothing was traced. Name a file in a directory that exists and can be written to",
                path.display()
            )
        })?;
        Ok(Self { recorder: Some(recorder), path, created, for_picture, written: None })
    }

    /// What the trace gives what comes to.
    pub(super) fn recorder(&self) -> Option<&Recorder> {
        self.recorder.as_ref()
    }

    /// The file, when it is whole.
    pub(super) fn path(&self) -> Option<&Path> {
        self.written.as_ref().map(|_| self.path.as_path())
    }

    /// The trace has ended. Whether there is no recording, or all of it is written; what is not is said.
    pub(super) fn end(&mut self, trace: Option<WholeTrace>, unrecognised: Vec<Unrecognised>) -> bool {
        let Some(recorder) = self.recorder.take() else { return true };
        let written = recorder.end(trace, unrecognised);
        match (&written.failed, &self.for_picture) {
            (Some(failed), _) => tell!("{failed}"),
            (None, None) => {
                let size =
                    written.bytes.map(|bytes| format!(", {}", units::bytes(bytes))).unwrap_or_default();
                let (pauses, faults) = (written.pauses, written.faults);
                let path = self.path.display();
                tell!("recorded {pauses} pauses and {faults} faults{size}; next: pauselens report {path}");
            }
            (None, Some(_)) => {}
        }
        let whole = written.failed.is_none();
        self.written = Some(written);
        whole
    }
}

impl Drop for Recorded {
    /// A file that a trace which never began would leave behind is taken away again; one that was there stays, which can be
    /// a device.
    fn drop(&mut self) {
        if let Some(recorder) = self.recorder.take()
            && self.created
            && !recorder.has_started()
        {
            drop(recorder);
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
