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

/// Go 1.20 and earlier: the functions that ask for a stop, and what they ask it for, in the words of later versions.
/// The first that is met on the way outwards tells. Source: the callers of `stopTheWorld`, `stopTheWorldGC` and
/// `stopTheWorldWithSema` in Go 1.19's `src/runtime`.
///
/// A walk by frame pointers lacks the function that called `systemstack` in these versions, so the callers of the
/// collector's two functions tell as well: collections are started by allocation, by `runtime.GC` and by the timer, and
/// marking is ended by its workers and by goroutines that assist.
const CALLERS: [(&str, u8); 16] = [
    ("runtime.gcStart", 2),
    ("runtime.gcMarkDone", 1),
    ("runtime.gcMarkTermination", 1),
    ("runtime.gcAssistAlloc", 1),
    ("runtime.gcBgMarkWorker", 1),
    ("runtime.mallocgc", 2),
    ("runtime.GC", 2),
    ("runtime.forcegchelper", 2),
    ("runtime/debug.WriteHeapDump", 3),
    ("runtime.goroutineProfileWithLabelsConcurrent", 4),
    ("runtime.goroutineProfileWithLabelsSync", 4),
    ("runtime.Stack", 6),
    ("runtime.ReadMemStats", 7),
    ("syscall.runtime_doAllThreadsSyscall", 8),
    ("runtime.GOMAXPROCS", 9),
    ("runtime.StartTrace", 10),
];

/// Why a version that passes no reason stopped the world: told by the functions that asked for it, innermost first.
pub(in crate::runtime) fn reason_of_callers<'a>(
    version: &GoVersion,
    functions: impl Iterator<Item = &'a str>,
) -> Reason {
    let mut seen_any = false;
    for function in functions {
        seen_any = true;
        // A closure of the function is the function: `runtime.gcStart.func1`.
        let of = |name: &str| {
            function == name || function.strip_prefix(name).is_some_and(|rest| rest.starts_with(".func"))
        };
        if let Some((_, number)) = CALLERS.iter().find(|(name, _)| of(name)) {
            return numbered(*number);
        }
    }
    let why = if seen_any { "its caller is not known" } else { "its caller was not seen" };
    Reason { name: format!("unknown (Go {} does not say, and {why})", version.release()), is_gc: None }
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

    #[test]
    fn callers_tell_where_the_version_does_not() {
        let version = version("go1.19.8");
        let of = |functions: &[&str]| reason_of_callers(&version, functions.iter().copied());
        let gc = [
            "runtime.stopTheWorldWithSema",
            "runtime.systemstack",
            "runtime.gcStart.func2",
            "runtime.gcStart",
        ];
        assert_eq!(of(&gc), numbered(2));
        let worker = ["runtime.stopTheWorldWithSema", "runtime.systemstack", "runtime.gcBgMarkWorker"];
        assert_eq!(of(&worker), numbered(1));
        let stats = ["runtime.stopTheWorld", "runtime.ReadMemStats", "main.main"];
        assert_eq!(of(&stats), numbered(7));
        assert_eq!(of(&["runtime.gcStartled", "main.main"]).is_gc, None);
        assert!(of(&[]).name.contains("not seen"));
    }

    fn version(text: &str) -> GoVersion {
        GoVersion::parse(text).unwrap()
    }

    fn registers(first: u64, second: u64) -> Option<Registers> {
        let mut registers = Registers::default();
        registers.0[..2].copy_from_slice(&[first, second]);
        Some(registers)
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
