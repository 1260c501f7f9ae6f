//! What a fault reads from block devices: the faulting thread itself hands the requests to the block layer.

use aya_ebpf::programs::TracePointContext;
use tracer_common::thread::freeing;

use crate::{
    settings::{BIO_DEVICE, BIO_FLAGS, BIO_SECTORS},
    target::traced,
    thread,
    tracepoint::tracepoint,
};

/// The block layer counts in these, whatever the device's own sectors are.
const SECTOR_BYTES: u64 = 512;

tracepoint!(request_queued);

/// `block:block_bio_queue`, which runs on the thread that asks.
#[inline(always)]
fn request_queued(ctx: TracePointContext) {
    let Some(ids) = traced() else { return };
    let Some(state) = thread::known(ids) else { return };
    // What reclaim does to devices is no reading for the fault.
    if state.begin_ns == 0 || state.freeing != freeing::NOTHING {
        return;
    }
    // SAFETY: the offsets are those of the kernel's own format file.
    let (device, sectors, operation) = unsafe {
        (
            ctx.read_at::<u32>(BIO_DEVICE.load() as usize).unwrap_or(0),
            ctx.read_at::<u32>(BIO_SECTORS.load() as usize).unwrap_or(0),
            ctx.read_at::<u8>(BIO_FLAGS.load() as usize).unwrap_or(0),
        )
    };
    // A device that is made of others (LVM, dm-crypt, md) hands the request on to one of those, which is told of as well,
    // after it: what the fault asked for is what the first one was asked for.
    if operation == b'R' && (state.device == 0 || state.device == device) {
        state.device = device;
        state.read_requests += 1;
        state.read_bytes += u64::from(sectors) * SECTOR_BYTES;
    }
}
