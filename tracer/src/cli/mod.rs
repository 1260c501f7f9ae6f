//! What was typed, and the verbs: one file each.

mod args;
mod attach;
mod check;
mod compare;
mod compare_args;
mod demo;
mod execute;
mod exit;
mod exposed;
mod exposure;
mod format;
mod generate_docs_args;
mod generated_docs;
mod observer;
mod output;
mod parsing;
mod progress;
mod recognised;
mod record;
mod recorded;
mod rendering;
mod report;
mod report_args;
mod run;
mod runtimes;
mod several;
mod tracing;
mod windows;

pub use args::{Cli, Command};
pub use execute::execute;
pub use exit::Exit;
pub use parsing::parse;
