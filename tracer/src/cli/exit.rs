//! Exit statuses.

/// How the program ends; wrong usage ends with 2 before anything is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Everything was done.
    Done,
    /// It could not start, or its input is unusable.
    Failed,
    /// The report is there, but something is missing from it.
    Incomplete,
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Incomplete => 3,
        })
    }
}
