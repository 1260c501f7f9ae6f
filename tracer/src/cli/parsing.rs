//! From what was typed to [`Cli`]: help and usage errors obey `--color` and `NO_COLOR` as reports do.

use std::ffi::{OsStr, OsString};

use clap::{ColorChoice, CommandFactory as _, FromArgMatches as _};

use super::args::Cli;

/// Parses; wrong usage, or a request for help, ends the program.
#[must_use]
pub fn parse() -> Cli {
    let typed: Vec<OsString> = std::env::args_os().collect();
    let matches = Cli::command().color(colour(&typed)).get_matches_from(typed);
    Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

/// What `--color` says, looked for before anything is parsed: help is printed before that is done. Without it the
/// terminal and `NO_COLOR` decide.
fn colour(typed: &[OsString]) -> ColorChoice {
    const OPTION: &str = "--color";
    let own = || typed.iter().skip(1).take_while(|argument| *argument != "--");
    let choice = |value: &OsStr| match value.to_str() {
        Some("always") => Some(ColorChoice::Always),
        Some("never") => Some(ColorChoice::Never),
        _ => None,
    };
    let after =
        own().zip(own().skip(1)).filter(|(name, _)| *name == OPTION).filter_map(|(_, value)| choice(value));
    let within = own().filter_map(|argument| {
        choice(OsStr::new(argument.to_str()?.strip_prefix(OPTION)?.strip_prefix('=')?))
    });
    after.chain(within).last().unwrap_or(ColorChoice::Auto)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_choice_is_found_before_parsing() {
        let of = |typed: &[&str]| colour(&typed.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(of(&["p", "--help"]), ColorChoice::Auto);
        assert_eq!(of(&["p", "--color", "never", "--help"]), ColorChoice::Never);
        assert_eq!(of(&["p", "report", "--color=always", "--help"]), ColorChoice::Always);
        assert_eq!(of(&["p", "--color", "auto"]), ColorChoice::Auto);
        assert_eq!(of(&["p", "run", "--", "x", "--color=always"]), ColorChoice::Auto);
        assert_eq!(of(&["p", "--color"]), ColorChoice::Auto);
    }
}
