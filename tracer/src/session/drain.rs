//! Empties the ring buffers into the collector.

use aya::{
    Ebpf,
    maps::{MapData, MapError, RingBuf},
};
use tracer_common::{
    fault::FaultRecord,
    pause::WindowRecord,
    schedule::IntervalRecord,
    stack::{SIDE_KERNEL, StackRecord, TAG_FAULT, TAG_INTERVAL, TAG_STACK, TAG_WORKER},
    thread::WorkerRecord,
};

use super::{account::Account, throttling::Watch};
use crate::{
    pause::{Collector, KernelStack, StampDifferences, State},
    symbols::KernelNamer,
};

/// The reader's ends of both rings.
pub(super) struct Rings {
    details: RingBuf<MapData>,
    pauses: RingBuf<MapData>,
    waiting: Vec<WindowRecord>,
}

impl Rings {
    /// Takes the rings out of the loaded object.
    ///
    /// # Errors
    /// When they can't be mapped.
    pub(super) fn take(ebpf: &mut Ebpf) -> Result<Self, MapError> {
        let mut ring = |name: &str| match ebpf.take_map(name) {
            Some(map) => RingBuf::try_from(map),
            None => Err(MapError::InvalidName { name: name.to_owned() }),
        };
        Ok(Self { details: ring("DETAILS")?, pauses: ring("PAUSES")?, waiting: Vec::new() })
    }

    /// Reads everything that is there.
    ///
    /// A window's details are sent before its record. So the records are taken first and the details after them:
    /// then every record that was taken has all of its details.
    pub(super) fn drain(
        &mut self,
        collector: &mut Collector,
        account: &Account<'_>,
        stamps: &mut StampDifferences,
        kernel_names: &mut Option<KernelNamer>,
        throttling: &mut Watch,
    ) {
        while let Some(bytes) = self.pauses.next() {
            if let Ok(record) = bytemuck::try_pod_read_unaligned::<WindowRecord>(&bytes) {
                self.waiting.push(record);
            }
        }
        while let Some(bytes) = self.details.next() {
            take_detail(&bytes, collector, kernel_names);
        }
        // After the records were taken: this reading is later than what they tell.
        throttling.read();
        for record in self.waiting.drain(..) {
            let state = State::of_record(&record);
            let closed = account.of(record, state, collector.stacks(), throttling);
            stamps.add(&record, closed.stamps);
            collector.window(closed);
        }
    }
}

fn take_detail(bytes: &[u8], collector: &mut Collector, kernel_names: &mut Option<KernelNamer>) {
    let Some(Ok(tag)) = bytes.get(..4).map(bytemuck::try_pod_read_unaligned::<u32>) else { return };
    match tag {
        TAG_FAULT => {
            if let Ok(record) = bytemuck::try_pod_read_unaligned::<FaultRecord>(bytes) {
                collector.fault(&record);
            }
        }
        TAG_STACK => {
            // Sent no longer than its frames; the rest of the record is zero.
            let mut record: StackRecord = bytemuck::Zeroable::zeroed();
            let length = bytes.len().min(size_of::<StackRecord>());
            bytemuck::bytes_of_mut(&mut record)[..length].copy_from_slice(&bytes[..length]);
            if record.side == SIDE_KERNEL {
                let count = (record.frame_count as usize).min(record.frames.len());
                let frames = kernel_names.as_mut().map(|names| names.stack(&record.frames[..count]));
                collector.kernel_stack(record.stack, KernelStack::new(frames.unwrap_or_default()));
            } else {
                collector.stack(&record);
            }
        }
        TAG_WORKER => {
            if let Ok(record) = bytemuck::try_pod_read_unaligned::<WorkerRecord>(bytes) {
                collector.worker(&record);
            }
        }
        TAG_INTERVAL => {
            if let Ok(record) = bytemuck::try_pod_read_unaligned::<IntervalRecord>(bytes) {
                collector.interval(&record);
            }
        }
        _ => {}
    }
}
