//! A terminal for tests: util-linux's `script` runs a shell command in one of its own, and what came out is drawn.

use std::{
    env,
    io::Write as _,
    num::NonZero,
    path::Path,
    process::{Command, Stdio},
};

/// As wide as terminals are that nobody has told their size, and as high as nothing here needs.
const COLUMNS: NonZero<u16> = NonZero::new(80).expect("not zero");
const ROWS: NonZero<u16> = NonZero::new(1000).expect("not zero");

/// What a command wrote to its terminal.
#[derive(Debug)]
pub(crate) struct Terminal {
    /// As it was written.
    pub(crate) written: String,
    /// The exit status.
    pub(crate) status: i32,
}

impl Terminal {
    /// Runs a shell command line in a terminal, in which nothing of this environment says how colours are to be.
    ///
    /// # Panics
    ///
    /// `script` is not there, or did not do it.
    #[track_caller]
    pub(crate) fn of(line: &str, set: &[(&str, &str)], binary: &Path) -> Self {
        Self::typed(line, set, binary, b"")
    }

    /// The same with keys that are pressed. `$P` in the line is the binary.
    #[track_caller]
    pub(crate) fn typed(line: &str, set: &[(&str, &str)], binary: &Path, keys: &[u8]) -> Self {
        let mut command = Command::new("timeout");
        command.args(["60", "script", "--quiet", "--return", "--flush", "--command", line, "/dev/null"]);
        // Which variables have a say (`CI`, `LESS`, `LINES`, ...) is for the libraries to know: none is let through.
        command.env_clear();
        command
            .envs(["PATH", "HOME", "TMPDIR"].into_iter().filter_map(|name| Some((name, env::var_os(name)?))));
        command.env("SHELL", "/bin/sh").env("TERM", "xterm").env("P", binary).envs(set.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("coreutils' timeout is there");
        let mut to = child.stdin.take().expect("a pipe");
        // It can have ended by then.
        let _ = to.write_all(keys);
        let ended = if keys.is_empty() {
            // script gives an end of its input on to the terminal: it has to stay open.
            let ended = child.wait_with_output();
            drop(to);
            ended
        } else {
            drop(to);
            child.wait_with_output()
        };
        let ended = ended.expect("its output can be read");
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(said.is_empty(), "{line}: {said}");
        let status = ended.status.code().expect("it is not killed");
        assert_ne!(status, 124, "{line}: it has not ended");
        Self { written: String::from_utf8_lossy(&ended.stdout).into_owned(), status }
    }

    /// Whether anything but text was written: colours, or movements of the cursor.
    pub(crate) fn has_escapes(&self) -> bool {
        self.written.contains('\u{1b}')
    }

    /// What stands on the screen in the end.
    pub(crate) fn screen(&self) -> String {
        let mut terminal = vt100::Parser::new(ROWS, COLUMNS, 0);
        terminal.process(self.written.as_bytes());
        terminal.screen().contents()
    }
}
