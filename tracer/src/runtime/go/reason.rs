//! Why Go stopped the world.

use super::GoVersion;
use crate::runtime::{Reason, Registers};

/// `stwReason` by number, the same in Go 1.21 to 1.27. Source: Go's `src/runtime/proc.go`. The last five are
/// used by the runtime's own tests only.
const NAMES: [&str; 17] = [
    "unknown",
    "GC mark termination",
    "GC sweep termination",
    "write heap dump",
    "goroutine profile",
    "goroutine profile cleanup",
    "all goroutines stack trace",
    "read mem stats",
    "AllThreadsSyscall",
    "GOMAXPROCS",
    "start trace",
    "stop trace",
    "CountPagesInUse (test)",
    "ReadMetricsSlow (test)",
    "ReadMemStatsSlow (test)",
    "PageCachePagesLeaked (test)",
    "ResetDebugLog (test)",
];

/// The numbers of the two pauses of a collection (`stwReason.isGC`, Go 1.22 and later).
const OF_GC: [u8; 2] = [1, 2];

/// Go 1.21 and later: the reason is the first argument of `stopTheWorldWithSema`. Go 1.22 and later: it is
/// passed on to `startTheWorldWithSema`, as the first field of the second argument.
pub(in crate::runtime) fn reason(
    version: &GoVersion,
    at_requested: Option<Registers>,
    at_restarting: Option<Registers>,
) -> Reason {
    if !version.is_at_least(21) {
        return Reason { name: format!("unknown (Go {} does not say)", version.release()), is_gc: None };
    }
    let requested = at_requested.and_then(|registers| registers.go_argument(0));
    let restarting =
        at_restarting.filter(|_| version.is_at_least(22)).and_then(|registers| registers.go_argument(1));
    match requested.or(restarting) {
        Some(register) => numbered(register.to_le_bytes()[0]),
        None => Reason { name: "unknown (the pause's begin was not seen)".into(), is_gc: None },
    }
}

/// The type is one byte wide; the register's other bytes are undefined.
fn numbered(number: u8) -> Reason {
    match NAMES.get(usize::from(number)) {
        // Number 0 is what a caller gives that doesn't say.
        Some(name) => Reason { name: (*name).into(), is_gc: (number != 0).then(|| OF_GC.contains(&number)) },
        None => Reason { name: format!("unknown reason {number}"), is_gc: None },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> GoVersion {
        GoVersion::parse(text).unwrap()
    }

    fn registers(first: u64, second: u64) -> Option<Registers> {
        Some(Registers([first, second, 0, 0, 0, 0]))
    }

    fn shown(
        version: &GoVersion,
        requested: Option<Registers>,
        restarting: Option<Registers>,
    ) -> (String, Option<bool>) {
        let reason = reason(version, requested, restarting);
        (reason.name, reason.is_gc)
    }

    #[test]
    fn names_the_reason_of_either_end() {
        let go = version("go1.27.3");
        let sweep = ("GC sweep termination".to_owned(), Some(true));
        assert_eq!(shown(&go, registers(2, 99), None), sweep);
        assert_eq!(shown(&go, None, registers(99, 2)), sweep);
        assert_eq!(shown(&go, registers(2, 0), registers(0, 2)), sweep);
        assert_eq!(shown(&go, registers(7, 0), None), ("read mem stats".into(), Some(false)));
    }

    #[test]
    fn looks_at_the_low_byte_only() {
        assert_eq!(shown(&version("go1.21.0"), registers(0xffff_ff01, 0), None).0, "GC mark termination");
    }

    #[test]
    fn keeps_an_unknown_number() {
        assert_eq!(shown(&version("go1.30"), registers(42, 0), None), ("unknown reason 42".into(), None));
        assert_eq!(shown(&version("go1.27"), registers(0, 0), None), ("unknown".into(), None));
    }

    #[test]
    fn says_when_the_version_does_not_say() {
        let said = ("unknown (Go 1.20 does not say)".to_owned(), None);
        assert_eq!(shown(&version("go1.20.14"), registers(2, 2), registers(2, 2)), said);
        let unseen = ("unknown (the pause's begin was not seen)".to_owned(), None);
        assert_eq!(shown(&version("go1.21.13"), None, registers(2, 2)), unseen);
        assert_eq!(shown(&version("go1.22.10"), None, None), unseen);
    }
}
