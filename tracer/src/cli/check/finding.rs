//! One thing that was tested: what was found, what it means, what would mend it.

/// How it turned out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// As it should be.
    Good,
    /// Tracing works, with something less.
    Less,
    /// Tracing can't work.
    Missing,
    /// Can't be told, or plays no role here.
    Unknown,
}

/// One thing that was tested.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    pub(super) what: String,
    pub(super) verdict: Verdict,
    pub(super) found: String,
    pub(super) means: String,
    pub(super) remedy: Option<String>,
}

impl Finding {
    pub(super) fn new(what: &str, verdict: Verdict, found: impl Into<String>, means: &str) -> Self {
        Self { what: what.to_owned(), verdict, found: found.into(), means: means.to_owned(), remedy: None }
    }

    pub(super) fn good(what: &str, found: impl Into<String>) -> Self {
        Self::new(what, Verdict::Good, found, "")
    }

    pub(super) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// As it is printed.
    pub(super) fn text(&self) -> String {
        let mark = match self.verdict {
            Verdict::Good => "ok     ",
            Verdict::Less => "less   ",
            Verdict::Missing => "MISSING",
            Verdict::Unknown => "unknown",
        };
        let mut text = format!("{mark}  {}: {}\n", self.what, self.found);
        for (label, line) in [("means", Some(&self.means)), ("mend", self.remedy.as_ref())] {
            if let Some(line) = line.filter(|line| !line.is_empty()) {
                text.push_str(&format!("           {label}: {line}\n"));
            }
        }
        text
    }
}
