//! The one message that a failure ends with.

use std::{
    io::Write as _,
    sync::{Mutex, PoisonError},
};

use indicatif::ProgressBar;

/// The error and its causes, joined; a cause that the text before it already tells is left out.
#[must_use]
pub fn message(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let told = cause.to_string();
        if !text.contains(&told) {
            text = format!("{text}: {told}");
        }
        next = cause.source();
    }
    text
}

/// Says it on standard error. Nobody may be listening any more; the work goes on all the same.
#[macro_export]
macro_rules! tell {
    ($($what:tt)*) => {
        $crate::message::say(format_args!($($what)*))
    };
}

/// What stands on the terminal's last line for the time being.
static STANDING: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// This stands on the terminal's last line from now on: it makes way for what is told.
pub fn stands(bar: Option<ProgressBar>) {
    *STANDING.lock().unwrap_or_else(PoisonError::into_inner) = bar;
}

/// What [`tell!`] does.
pub fn say(what: std::fmt::Arguments<'_>) {
    // With `eprintln` a reader that has gone away would end the program.
    let say = || drop(writeln!(std::io::stderr().lock(), "pauselens: {what}"));
    match &*STANDING.lock().unwrap_or_else(PoisonError::into_inner) {
        Some(bar) => bar.suspend(say),
        None => say(),
    }
}

#[cfg(test)]
mod tests {
    use super::message;

    #[test]
    fn nothing_is_said_twice() {
        let of = |context: &'static str| {
            let error = anyhow::anyhow!("no such file").context(context);
            message(error.as_ref())
        };
        assert_eq!(of("x: no such file; name another"), "x: no such file; name another");
        assert_eq!(of("x can't be read"), "x can't be read: no such file");
    }
}
