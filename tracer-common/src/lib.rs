//! Wire types that the kernel side (`tracer-ebpf`) and the user side (`tracer`) share.
//!
//! One module per topic; the same file names stand on both sides. Everything here is plain data with a fixed
//! layout, or a pure function of such data, so that the kernel side's decisions are tested in user space.
#![no_std]

pub mod fault;
pub mod lineage;
pub mod loss;
pub mod pause;
pub mod schedule;
pub mod settings;
pub mod stack;
pub mod stack_copy;
pub mod thread;

/// Declares that a type is plain data: any bytes are a valid value, and there is no implicit padding.
///
/// The size is asserted, because it is what both sides agree on.
macro_rules! wire {
    ($type:ty, $size:expr) => {
        const _: () = assert!(size_of::<$type>() == $size);
        #[cfg(feature = "user")]
        // SAFETY: a `repr(C)` struct of integers only, whose asserted size leaves no room for padding.
        unsafe impl bytemuck::Zeroable for $type {}
        #[cfg(feature = "user")]
        // SAFETY: as above; every bit pattern is valid.
        unsafe impl bytemuck::Pod for $type {}
        #[cfg(feature = "user")]
        // SAFETY: as above.
        unsafe impl aya::Pod for $type {}
    };
}
pub(crate) use wire;
