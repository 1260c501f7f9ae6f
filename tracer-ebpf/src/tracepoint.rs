//! Programs on tracepoints. aya's own attribute returns 0 to the kernel, whatever the function says.

/// What a program on a tracepoint returns: 0 would hide the event from every other perf user on the host (Linux
/// `perf_trace_run_bpf_submit` goes on only when all programs agree).
pub const PASS_ON: u32 = 1;

/// Makes the function a program that runs on a tracepoint, under the function's name.
macro_rules! tracepoint {
    ($name:ident) => {
        const _: () = {
            #[unsafe(no_mangle)]
            #[unsafe(link_section = "tracepoint")]
            fn $name(context: *mut core::ffi::c_void) -> u32 {
                self::$name(aya_ebpf::programs::TracePointContext::new(context));
                $crate::tracepoint::PASS_ON
            }
        };
    };
}
pub(crate) use tracepoint;
