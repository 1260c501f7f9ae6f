//! Go's own clock readings, which it passes to the function that restarts the world.

use super::GoVersion;
use crate::runtime::{Registers, RuntimeStamps};

/// The arguments of `startTheWorldWithSema(now int64, w worldStop)`, Go 1.22 and later, field by field.
/// Source: Go's `src/runtime/proc.go`.
const NOW: usize = 0;
/// `worldStop.start` in Go 1.22, `worldStop.startedStopping` since 1.23.
const STARTED_STOPPING: usize = 2;
/// `worldStop.finishedStopping`, Go 1.23 and later.
const FINISHED_STOPPING: usize = 3;
/// The minor version of Go that passed it first.
const STOPPED_SINCE: u32 = 23;

/// Whether the reading of when the world had stopped is passed.
pub(in crate::runtime) fn carries_stopped(version: &GoVersion) -> bool {
    version.is_at_least(STOPPED_SINCE)
}

/// Reads the clock readings. Go reads `CLOCK_MONOTONIC` and keeps it unchanged; "now" is zero where the
/// callee is to read the clock itself.
pub(in crate::runtime) fn stamps(version: &GoVersion, at_restarting: Registers) -> RuntimeStamps {
    let argument = |n: usize, since_minor: u32| {
        let known = version.is_at_least(since_minor);
        at_restarting.go_argument(n).filter(|stamp| known && *stamp != 0)
    };
    RuntimeStamps {
        requested_ns: argument(STARTED_STOPPING, 22),
        stopped_ns: argument(FINISHED_STOPPING, STOPPED_SINCE),
        now_ns: argument(NOW, 22),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registers(first: [u64; 6]) -> Registers {
        let mut registers = Registers::default();
        registers.0[..6].copy_from_slice(&first);
        registers
    }

    #[test]
    fn each_version_passes_more() {
        let registers = registers([100, 2, 50, 70, 20, 0]);
        let of = |text: &str| stamps(&GoVersion::parse(text).unwrap(), registers);
        assert_eq!(of("go1.21.13"), RuntimeStamps::default());
        let in_1_22 = RuntimeStamps { requested_ns: Some(50), stopped_ns: None, now_ns: Some(100) };
        assert_eq!(of("go1.22.10"), in_1_22);
        assert_eq!(of("go1.23.0"), RuntimeStamps { stopped_ns: Some(70), ..in_1_22 });
    }

    #[test]
    fn zero_is_no_reading() {
        let version = GoVersion::parse("go1.27.3").unwrap();
        let stamps = stamps(&version, registers([0, 1, 50, 70, 20, 0]));
        assert_eq!(stamps, RuntimeStamps { requested_ns: Some(50), stopped_ns: Some(70), now_ns: None });
    }
}
