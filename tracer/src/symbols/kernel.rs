//! Names for addresses of the kernel, from kallsyms.

use std::{
    collections::HashMap,
    fs::{self, File},
    io::Read as _,
};

use blazesym::{
    MaybeDefault,
    symbolize::{
        Input, Symbolized, Symbolizer,
        source::{Kernel, Source},
    },
};

/// Functions through which every switch goes: they say nothing about why.
const OF_THE_SWITCH: [&str; 8] = [
    "__traceiter_sched_switch",
    "perf_trace_sched_switch",
    "__bpf_trace_sched_switch",
    "trace_call_bpf",
    "bpf_get_stack",
    "__schedule",
    "__cond_resched",
    "schedule",
];

/// As much of kallsyms as tells whether it shows addresses.
const HEAD_BYTES: u64 = 4096;

/// Names kernel addresses.
pub struct KernelNamer {
    symbolizer: Symbolizer,
    names: HashMap<u64, Option<String>>,
}

impl KernelNamer {
    /// Finds out whether names can be had.
    ///
    /// # Errors
    /// The reason why not, with what would help.
    pub fn new() -> Result<Self, String> {
        let mut first = String::new();
        File::open("/proc/kallsyms")
            .and_then(|file| file.take(HEAD_BYTES).read_to_string(&mut first))
            .map_err(|error| format!("/proc/kallsyms: {error}"))?;
        // With `kptr_restrict` the kernel shows every address as 0.
        let hidden =
            |line: &str| line.split(' ').next().is_none_or(|word| word.bytes().all(|byte| byte == b'0'));
        let hidden = first.lines().all(hidden);
        if hidden {
            let value = fs::read_to_string("/proc/sys/kernel/kptr_restrict").unwrap_or_default();
            return Err(format!(
                "the kernel hides its addresses (kernel.kptr_restrict is {}): `sysctl kernel.kptr_restrict=1` shows them to root",
                value.trim()
            ));
        }
        let symbolizer = Symbolizer::builder().enable_code_info(false).enable_inlined_fns(false).build();
        Ok(Self { symbolizer, names: HashMap::new() })
    }

    /// The names of a kernel stack, innermost first, from where the thread called the scheduler. An address without a
    /// name is shown as such.
    pub fn stack(&mut self, frames: &[u64]) -> Vec<String> {
        let unknown: Vec<u64> =
            frames.iter().copied().filter(|address| !self.names.contains_key(address)).collect();
        if !unknown.is_empty() {
            self.look_up(&unknown);
        }
        let names: Vec<String> = frames
            .iter()
            .map(|address| match self.names.get(address) {
                Some(Some(name)) => name.clone(),
                _ => format!("[{address:#x}]"),
            })
            .collect();
        let inside =
            names.iter().rposition(|name| OF_THE_SWITCH.contains(&name.as_str())).map_or(0, |at| at + 1);
        names[inside..].to_vec()
    }

    fn look_up(&mut self, addresses: &[u64]) {
        let mut kernel = Kernel { vmlinux: MaybeDefault::None, ..Kernel::default() };
        kernel.debug_syms = false;
        let named = self.symbolizer.symbolize(&Source::Kernel(kernel), Input::AbsAddr(addresses));
        let named = named.unwrap_or_default();
        for (index, address) in addresses.iter().enumerate() {
            let name = match named.get(index) {
                Some(Symbolized::Sym(symbol)) => Some(symbol.name.to_string()),
                _ => None,
            };
            self.names.insert(*address, name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_of_the_running_kernel_has_its_name() {
        let mut namer = match KernelNamer::new() {
            Ok(namer) => namer,
            // The reason names the setting; without root there is nothing more to see.
            Err(reason) => {
                return assert!(reason.contains("kptr_restrict") || reason.contains("kallsyms"), "{reason}");
            }
        };
        let symbols = fs::read_to_string("/proc/kallsyms").expect("it could be read a moment ago");
        let address = |name: &str| {
            let line = symbols
                .lines()
                .find(|line| line.split(' ').nth(2) == Some(name))
                .expect("every kernel has it");
            u64::from_str_radix(line.split(' ').next().unwrap_or_default(), 16).expect("an address")
        };
        let frames = [address("schedule") + 1, address("io_schedule") + 1, 0x10];
        assert_eq!(namer.stack(&frames), ["io_schedule", "[0x10]"]);
    }
}
