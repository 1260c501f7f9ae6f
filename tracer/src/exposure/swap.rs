//! The host's swap: how much, how full, and how much of what is out needs no read to come back.

use std::{
    fs,
    time::{Duration, Instant},
};

use super::model::SwapState;

/// Asking every process may take this long. A host with more of them is told without.
const WITHIN: Duration = Duration::from_millis(100);

/// Reads it from `/proc`. `None`: it can't be told.
#[must_use]
pub fn swap_state() -> Option<SwapState> {
    let meminfo = fs::read_to_string("/proc/meminfo").ok()?;
    // Without the file the kernel's own default (mm/swap.c, `swap_setup`: 3 where there are more than 16 MiB).
    let cluster = fs::read_to_string("/proc/sys/vm/page-cluster").ok();
    let cluster: u32 = cluster.and_then(|text| text.trim().parse().ok()).unwrap_or(3);
    let swap = parse(&meminfo, cluster)?;
    // Without swap there is no need to ask every process.
    let swapped_bytes = if swap.used_bytes == 0 { None } else { all_swapped_bytes() };
    Some(swapped_bytes.map_or(swap, |swapped_bytes| with_swapped(swap, swapped_bytes)))
}

/// Before it is known what all processes have swapped out.
fn parse(meminfo: &str, cluster: u32) -> Option<SwapState> {
    let bytes = |name: &str| kib(meminfo, name).map(|kib| kib * 1024);
    let total_bytes = bytes("SwapTotal:")?;
    let used_bytes = total_bytes.saturating_sub(bytes("SwapFree:")?);
    Some(SwapState {
        total_bytes,
        used_bytes,
        swapped_bytes: used_bytes,
        cached_bytes: bytes("SwapCached:")?.min(used_bytes),
        read_ahead_pages: 1 << cluster.min(10),
    })
}

/// The kernel's count of cached pages (`SwapCached`) holds those that processes have mapped again, which keep their place
/// in swap: what is used beyond all processes' swapped-out memory. They are taken off.
fn with_swapped(swap: SwapState, swapped_bytes: u64) -> SwapState {
    let swapped_bytes = swapped_bytes.min(swap.used_bytes);
    let back_bytes = swap.used_bytes - swapped_bytes;
    let cached_bytes = swap.cached_bytes.saturating_sub(back_bytes).min(swapped_bytes);
    SwapState { swapped_bytes, cached_bytes, ..swap }
}

/// The sum of `VmSwap` over all processes that can be seen. `None`: there was no time.
fn all_swapped_bytes() -> Option<u64> {
    let deadline = Instant::now() + WITHIN;
    let mut sum = 0;
    for entry in fs::read_dir("/proc").ok()?.flatten() {
        if !entry.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit) {
            continue;
        }
        if Instant::now() > deadline {
            return None;
        }
        // One that has ended meanwhile has nothing out.
        let status = fs::read_to_string(entry.path().join("status")).unwrap_or_default();
        sum += kib(&status, "VmSwap:").unwrap_or(0) * 1024;
    }
    Some(sum)
}

fn kib(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_s_lines() {
        let text = "MemTotal: 100 kB\nSwapCached:          140 kB\nSwapTotal:       1048572 kB\nSwapFree: 1048372 kB\n";
        let expected = SwapState {
            total_bytes: 1_048_572 << 10,
            used_bytes: 200 << 10,
            swapped_bytes: 200 << 10,
            cached_bytes: 140 << 10,
            read_ahead_pages: 8,
        };
        assert_eq!(parse(text, 3), Some(expected));
        assert_eq!(parse("SwapTotal: 0 kB\n", 3), None);
        assert!(swap_state().is_some());
    }

    #[test]
    fn what_is_mapped_again_is_not_out() {
        let swap = SwapState {
            total_bytes: 1000,
            used_bytes: 200,
            swapped_bytes: 200,
            cached_bytes: 140,
            read_ahead_pages: 8,
        };
        // All processes' swapped-out memory; of it, what is cached.
        for (swapped, expected) in [(200, 140), (100, 40), (60, 0), (0, 0), (500, 140)] {
            assert_eq!(with_swapped(swap, swapped).cached_bytes, expected, "{swapped}");
        }
    }
}
