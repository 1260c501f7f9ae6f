//! Rebuilds when the linker changes, and tells the compiler which processor's registers the programs read.

fn main() -> aya_build::Result<()> {
    aya_build::emit_bpf_target_arch_cfg()
}
