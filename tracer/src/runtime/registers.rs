//! The registers that the kernel side captures at the begin of a function, read as the function's arguments.

/// Six integer registers as they were at a function's first instruction.
///
/// x86-64: `rax`, `rbx`, `rcx`, `rdi`, `rsi`, `rdx`, in this order; aarch64: `x0` to `x5`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Registers(pub [u64; 6]);

impl Registers {
    /// The integer argument number `n` (from 0) of a Go function; `None` past what is captured. Small types
    /// fill the low bits only, and the rest is undefined: mask it.
    ///
    /// Source: Go's `src/cmd/compile/abi-internal.md`; amd64 passes integers in RAX, RBX, RCX, RDI, RSI, R8,
    /// …, arm64 in R0, R1, …. A struct's fields are passed one by one.
    pub fn go_argument(&self, n: usize) -> Option<u64> {
        let captured: &[usize] =
            if cfg!(target_arch = "aarch64") { &[0, 1, 2, 3, 4, 5] } else { &[0, 1, 2, 3, 4] };
        self.0.get(*captured.get(n)?).copied()
    }

    /// The integer argument number `n` (from 0) of a C function; `None` past what is captured. Small types
    /// fill the low bits only, and the rest is undefined: mask it.
    ///
    /// Source: the System V psABI for x86-64 (RDI, RSI, RDX, RCX, …) and the procedure call standard for Arm
    /// (X0, X1, …).
    pub fn c_argument(&self, n: usize) -> Option<u64> {
        let captured: &[usize] =
            if cfg!(target_arch = "aarch64") { &[0, 1, 2, 3, 4, 5] } else { &[3, 4, 5, 2] };
        self.0.get(*captured.get(n)?).copied()
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn each_calling_convention_has_its_order() {
        let [rax, rbx, rcx, rdi, rsi, rdx] = [10, 11, 12, 13, 14, 15];
        let registers = Registers([rax, rbx, rcx, rdi, rsi, rdx]);
        let go: Vec<_> = (0..6).map(|n| registers.go_argument(n)).collect();
        assert_eq!(go, [Some(rax), Some(rbx), Some(rcx), Some(rdi), Some(rsi), None]);
        let c: Vec<_> = (0..5).map(|n| registers.c_argument(n)).collect();
        assert_eq!(c, [Some(rdi), Some(rsi), Some(rdx), Some(rcx), None]);
    }
}
