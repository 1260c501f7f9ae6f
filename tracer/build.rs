//! Compiles the kernel side for the BPF target, so that the object can be included in the binary.

use anyhow::Context as _;
use aya_build::{Package, Toolchain};

fn main() -> anyhow::Result<()> {
    // The built-in demo's pause functions must stay in the dynamic symbol table of a stripped binary.
    println!("cargo:rustc-link-arg-bins=-Wl,--export-dynamic-symbol=pauselens_demo_*");
    println!("cargo:rerun-if-changed=../tracer-common/src");
    // What the inner cargo says of its progress would come out as warnings of ours.
    // SAFETY: a build script with one thread.
    unsafe { std::env::set_var("CARGO_TERM_QUIET", "true") };
    let kernel_side = Package {
        name: "tracer-ebpf",
        root_dir: concat!(env!("CARGO_MANIFEST_DIR"), "/../tracer-ebpf"),
        no_default_features: false,
        features: &[],
    };
    aya_build::build_ebpf([kernel_side], Toolchain::default())
        .context("the kernel side did not compile; `cargo xtask setup` puts in place what it needs")
}
