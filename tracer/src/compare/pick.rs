//! Which process of each recording is compared.

use std::{collections::BTreeSet, path::Path};

use crate::recording::{Recorded, Recording};

/// No process, or too many.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum PickError {
    /// A recording without processes.
    #[error("{file} holds no process: record again with `pauselens record --pid PID -o FILE`")]
    Nothing {
        /// The recording.
        file: String,
    },
    /// What `--process` says is not there.
    #[error("{file} holds no process {named:?}, but {held}; name one of these with --process")]
    NotThere {
        /// The recording.
        file: String,
        /// What was asked for.
        named: String,
        /// What is there.
        held: String,
    },
    /// Several programs.
    #[error(
        "{file} holds several programs ({held}), and {common} in every recording: say which is meant, with \
         --process PROGRAM (its path, its file's name, or a process id)"
    )]
    Several {
        /// The recording.
        file: String,
        /// What is there.
        held: String,
        /// How many of them are in all recordings, in words.
        common: String,
    },
}

/// The numbers of the processes of each recording that are compared: those that were named, or else those that run the
/// one program that all recordings have.
///
/// # Errors
/// When that is not clear.
pub(super) fn pick(recordings: &[&Recording], named: Option<&str>) -> Result<Vec<Vec<u32>>, PickError> {
    let numbers = |recording: &Recording, wanted: &dyn Fn(&Recorded) -> bool| -> Vec<u32> {
        recording.processes.iter().filter(|it| wanted(it)).map(|it| it.process.process).collect()
    };
    let file = |recording: &Recording| recording.path.display().to_string();
    let everywhere = in_all(recordings);
    let mut picked = Vec::with_capacity(recordings.len());
    for &recording in recordings {
        if recording.processes.is_empty() {
            return Err(PickError::Nothing { file: file(recording) });
        }
        let found = match named {
            Some(named) => {
                let found = numbers(recording, &|it| is(it, named));
                if found.is_empty() {
                    let (file, named) = (file(recording), named.to_owned());
                    return Err(PickError::NotThere { file, named, held: held(recording) });
                }
                found
            }
            None if programs(recording).len() == 1 => numbers(recording, &|_| true),
            None => match everywhere.iter().collect::<Vec<_>>().as_slice() {
                [only] => numbers(recording, &|it| it.process.target.exe == **only),
                several => {
                    let common = match several.len() {
                        0 => "none of them is".to_owned(),
                        n => format!("{n} of them are"),
                    };
                    return Err(PickError::Several { file: file(recording), held: held(recording), common });
                }
            },
        };
        picked.push(found);
    }
    Ok(picked)
}

fn programs(recording: &Recording) -> BTreeSet<String> {
    recording.processes.iter().map(|it| it.process.target.exe.clone()).collect()
}

fn in_all(recordings: &[&Recording]) -> BTreeSet<String> {
    let mut sets = recordings.iter().map(|recording| programs(recording));
    let Some(first) = sets.next() else { return BTreeSet::new() };
    sets.fold(first, |common, next| common.intersection(&next).cloned().collect())
}

fn is(recorded: &Recorded, named: &str) -> bool {
    let target = &recorded.process.target;
    let name = Path::new(&target.exe).file_name().map(|name| name.to_string_lossy());
    target.exe == named || name.is_some_and(|name| name == named) || target.pid.to_string() == named
}

fn held(recording: &Recording) -> String {
    const MOST: usize = 5;
    let all = &recording.processes;
    let told: Vec<String> = all
        .iter()
        .take(MOST)
        .map(|it| format!("{} (pid {})", it.process.target.exe, it.process.target.pid))
        .collect();
    let more = if all.len() > MOST { format!(" and {} more", all.len() - MOST) } else { String::new() };
    told.join(", ") + &more
}
