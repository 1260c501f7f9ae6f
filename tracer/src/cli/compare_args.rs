//! `pauselens compare`: what can be typed.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::report_args::Size;
use crate::{compare::Options, report::compare::Per};

pub(super) const HELP: &str = "\
Examples:
  pauselens compare before.jsonl.zst -- after.jsonl.zst      the numbers; two runs bear no verdict
  pauselens compare a1 a2 a3 a4 -- b1 b2 b3 b4               a verdict: better, worse, or no difference shown
  pauselens compare --format html -o ab.html a*.zst -- b*.zst
  pauselens compare --format flamegraph --by count --per second -o ab.svg a*.zst -- b*.zst

Exit status: 0 done, whatever the verdict; 1 a side has no recording that can be used; 2 wrong usage; 3 a recording is \
partial: it was cut off or damaged, or its trace did not see everything.";

/// `compare`.
#[derive(Args, Debug)]
pub struct CompareArgs {
    /// What is compared with: recordings, each one run
    #[arg(required = true, value_name = "A")]
    pub a: Vec<PathBuf>,
    /// What is compared: recordings, each one run
    #[arg(required = true, last = true, value_name = "B", value_parser = of_b)]
    pub b: Vec<PathBuf>,
    /// What to make of it
    #[arg(long, value_enum, default_value_t = CompareFormat::Text)]
    pub format: CompareFormat,
    /// What the sizes in flamegraph stand for
    #[arg(long, value_enum, default_value_t = Size::Time)]
    pub by: Size,
    /// What the sizes in flamegraph are divided by
    #[arg(long, value_enum, default_value_t = PerArg::Pause)]
    pub per: PerArg,
    /// Which process of recordings that hold several: its program's path or name, or its pid
    #[arg(long, value_name = "PROGRAM")]
    pub process: Option<String>,
    /// No verdict on a smaller difference than this, such as 5%
    #[arg(long, value_name = "SHARE", default_value = "5%", value_parser = difference)]
    pub smallest_difference: f64,
    /// What all random numbers come from: the same one gives the same result
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(..1 << 53))]
    pub seed: u64,
    /// Write to a file
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

impl CompareArgs {
    /// How it is to be compared.
    pub(super) fn options(&self) -> Options {
        Options {
            process: self.process.clone(),
            seed: self.seed,
            smallest_difference: self.smallest_difference,
        }
    }
}

/// What a comparison is made into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CompareFormat {
    /// For people: at most 100 columns
    Text,
    /// For programs: see docs/compare.md
    Json,
    /// One page for a browser, which needs nothing else
    Html,
    /// Differential flame graph of the faults in pauses: SVG, for browsers
    Flamegraph,
}

/// What sizes are divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PerArg {
    /// Pauses
    Pause,
    /// Seconds of watched time
    Second,
}

impl From<PerArg> for Per {
    fn from(per: PerArg) -> Self {
        match per {
            PerArg::Pause => Self::Pause,
            PerArg::Second => Self::Second,
        }
    }
}

/// Behind `--` everything is a file, also what was meant to be an option.
fn of_b(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if text.starts_with('-') && !path.exists() {
        return Err("options stand before the sides: pauselens compare [OPTIONS] A... -- B...".to_owned());
    }
    Ok(path)
}

fn difference(text: &str) -> Result<f64, String> {
    let wrong = || format!("{text:?} is no share; write for example 5% or 0.05");
    let value = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map_err(|_| wrong())? / 100.0,
        None => text.parse().map_err(|_| wrong())?,
    };
    if (0.0..=10.0).contains(&value) { Ok(value) } else { Err("a difference is from 0% to 1000%".to_owned()) }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::{Cli, Command};

    fn parsed(arguments: &[&str]) -> Result<CompareArgs, String> {
        let all = ["pauselens", "compare"].iter().chain(arguments);
        match Cli::try_parse_from(all) {
            Ok(Cli { command: Command::Compare(arguments), .. }) => Ok(arguments),
            Ok(_) => panic!("another command"),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn sides_are_told_apart() {
        let found = parsed(&["a1", "a2", "--", "b1", "b2", "b3"]).unwrap();
        assert_eq!(found.a, ["a1", "a2"].map(PathBuf::from));
        assert_eq!(found.b, ["b1", "b2", "b3"].map(PathBuf::from));
        assert_eq!((found.seed, found.smallest_difference), (1, 0.05));
        let found = parsed(&["--seed", "7", "a", "--smallest-difference", "10%", "--", "b"]).unwrap();
        assert_eq!((found.seed, found.smallest_difference), (7, 0.1));
    }

    #[test]
    fn a_missing_side_is_told() {
        for arguments in [&["a", "b"][..], &["a", "--"], &["--", "b"], &[]] {
            let error = parsed(arguments).unwrap_err();
            assert!(error.contains("<A>... -- <B>..."), "{arguments:?}: {error}");
        }
        assert!(
            parsed(&["a", "--smallest-difference", "some", "--", "b"]).unwrap_err().contains("is no share")
        );
    }
}
