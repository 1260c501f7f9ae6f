//! Lengths of pauses, each as precisely as 11 bits have it.

/// Bits that are kept.
const BITS: u32 = 11;

/// A length that stands for all that have the same first bits: within 0.05 % of each of them. What stands for others stands
/// for itself.
pub(super) fn rounded(ns: u64) -> u64 {
    let dropped = (u64::BITS - ns.leading_zeros()).saturating_sub(BITS);
    if dropped == 0 {
        return ns;
    }
    let low = ns >> dropped << dropped;
    // The middle, which loses nothing when it is rounded again.
    low + (1 << (dropped - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_close_keeps_the_order_and_is_done_once() {
        let mut state = 7_u64;
        let mut before = (0, 0);
        let mut all: Vec<u64> = (0..20_000)
            .map(|index| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                state >> (index % 64)
            })
            .chain([0, 1, 2047, 2048, 2049, u64::MAX])
            .collect();
        all.sort_unstable();
        for ns in all {
            let near = rounded(ns);
            assert!(near.abs_diff(ns) as f64 <= ns as f64 * 0.0005, "{ns} {near}");
            assert_eq!(rounded(near), near);
            assert!(near >= before.1 && ns >= before.0);
            before = (ns, near);
        }
    }
}
