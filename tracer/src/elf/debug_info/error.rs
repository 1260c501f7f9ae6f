//! Why debug information does not tell what was asked for.

/// Why debug information does not tell what was asked for.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum DebugInfoError {
    /// The file has none.
    #[error(
        "the file has no debug information (no .debug_info section): it was stripped, or built with -ldflags=-w"
    )]
    Absent,
    /// There is more of it than is read.
    #[error("the file's {section} has {bytes} bytes, and no more than {most} are read")]
    TooLarge {
        /// The section.
        section: &'static str,
        /// Its size, decompressed.
        bytes: u64,
        /// The bound.
        most: u64,
    },
    /// It can't be read.
    #[error("the file's debug information can't be read: {0}")]
    Damaged(String),
    /// It says nothing of a variable.
    #[error("the debug information holds no variable {0}")]
    NoVariable(String),
    /// It says nothing of a constant.
    #[error("the debug information holds no constant {0}")]
    NoConstant(String),
    /// It says nothing of a type.
    #[error("the debug information holds no type {0}")]
    NoType(String),
    /// A type is of another form than expected.
    #[error("the type {type_name} {what}")]
    OtherForm {
        /// The type.
        type_name: String,
        /// What it lacks, such as `has no field spans`.
        what: String,
    },
}

impl From<gimli::Error> for DebugInfoError {
    fn from(error: gimli::Error) -> Self {
        Self::Damaged(error.to_string())
    }
}
