//! Why the demonstration stopped its world.

use crate::runtime::{Reason, Registers};

const NAMES: [&str; 6] = ["first touch", "copy on write", "file pages", "mixed", "swapped out", "nothing"];

/// The reason's number is the first C argument of the function that stops the world, an `int`.
pub(in crate::runtime) fn reason(at_requested: Option<Registers>) -> Reason {
    let number = at_requested.and_then(|registers| registers.c_argument(0));
    let name = match number.map(|register| register & u64::from(u32::MAX)) {
        None => "unknown (the pause's begin was not seen)".to_owned(),
        Some(number) => match usize::try_from(number).ok().and_then(|number| NAMES.get(number)) {
            Some(name) => format!("demo: {name}"),
            None => format!("demo: reason {number}"),
        },
    };
    Reason { name, is_gc: Some(false) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_every_number() {
        let of = |number: u64| {
            let mut registers = [9; tracer_common::pause::REGISTERS];
            registers[if cfg!(target_arch = "aarch64") { 0 } else { 3 }] = number;
            let reason = reason(Some(Registers(registers)));
            assert_eq!(reason.is_gc, Some(false));
            reason.name
        };
        assert_eq!(of(0), "demo: first touch");
        assert_eq!(of(0xffff_ffff_0000_0004), "demo: swapped out");
        assert_eq!(of(5), "demo: nothing");
        assert_eq!(of(6), "demo: reason 6");
    }

    #[test]
    fn says_when_the_begin_was_not_seen() {
        assert_eq!(reason(None).name, "unknown (the pause's begin was not seen)");
    }
}
