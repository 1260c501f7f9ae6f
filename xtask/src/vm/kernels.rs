//! The kernels that are tried, and what is expected of each.

/// A kernel, by the Debian release that ships it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Kernel {
    /// What it is called on the command line: its series, or the release where the series moves on.
    pub(super) name: &'static str,
    /// Debian's name of the release.
    pub(super) suite: &'static str,
    pub(super) kinds: Kinds,
}

/// How pauselens gets to know a fault's kind there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kinds {
    /// `kmem:rss_stat` comes in batches (before Linux 6.2): kinds are inferred and marked, except for those that the
    /// hardware's error code or the kernel's own signal tells.
    Inferred,
    /// Seen in the kernel's counters: every count of every pause is right.
    Exact,
}

pub(super) const ALL: [Kernel; 4] = [
    Kernel { name: "5.10", suite: "bullseye", kinds: Kinds::Inferred },
    Kernel { name: "6.1", suite: "bookworm", kinds: Kinds::Inferred },
    Kernel { name: "6.12", suite: "trixie", kinds: Kinds::Exact },
    Kernel { name: "sid", suite: "sid", kinds: Kinds::Exact },
];

/// One of them, as it is typed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelName(pub(crate) &'static Kernel);

impl std::str::FromStr for KernelName {
    type Err = String;

    fn from_str(typed: &str) -> Result<Self, String> {
        let known = |kernel: &&Kernel| kernel.name == typed || kernel.suite == typed;
        ALL.iter().find(known).map(KernelName).ok_or_else(|| {
            let names: Vec<_> =
                ALL.iter().map(|kernel| format!("{} ({})", kernel.name, kernel.suite)).collect();
            format!("not among the kernels that are tried: {}", names.join(", "))
        })
    }
}
