//! Empties the ring buffers: every record goes to the process that it is of.

use std::{collections::BTreeMap, sync::Arc};

use aya::{
    Ebpf,
    maps::{MapData, MapError, RingBuf},
};
use tracer_common::{
    fault::FaultRecord,
    pause::{ShortRecord, WindowRecord},
    schedule::IntervalRecord,
    stack::{SIDE_KERNEL, StackRecord, TAG_FAULT, TAG_INTERVAL, TAG_STACK, TAG_WORKER},
    stack_copy::{StackCopyHead, TAG_STACK_COPY},
    thread::WorkerRecord,
};

use super::process::Process;
use crate::{
    pause::{KernelStack, KernelStacks, State},
    symbols::KernelNamer,
};

/// With more processes than this their CPU quotas are read only when one of their pauses has ended.
const QUOTAS_READ_ALWAYS: usize = 8;

/// The reader's ends of both rings.
pub(super) struct Rings {
    details: RingBuf<MapData>,
    pauses: RingBuf<MapData>,
    waiting: Vec<WindowRecord>,
    short: Vec<ShortRecord>,
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
        Ok(Self {
            details: ring("DETAILS")?,
            pauses: ring("PAUSES")?,
            waiting: Vec::new(),
            short: Vec::new(),
        })
    }

    /// Reads everything that is there.
    ///
    /// A window's details are sent before its record. So the records are taken first and the details after them:
    /// then every record that was taken has all of its details.
    pub(super) fn drain(
        &mut self,
        processes: &mut BTreeMap<u32, Process>,
        kernel_names: &mut Option<KernelNamer>,
        kernel_stacks: &mut KernelStacks,
    ) {
        while let Some(bytes) = self.pauses.next() {
            if let Ok(record) = bytemuck::try_pod_read_unaligned::<WindowRecord>(&bytes) {
                self.waiting.push(record);
            } else if let Ok(record) = bytemuck::try_pod_read_unaligned::<ShortRecord>(&bytes) {
                self.short.push(record);
            }
        }
        while let Some(bytes) = self.details.next() {
            take_detail(&bytes, processes, kernel_names, kernel_stacks);
        }
        // After the records were taken: these readings are later than what they tell.
        let all = processes.len() <= QUOTAS_READ_ALWAYS;
        for (pid, process) in processes.iter_mut() {
            if all || self.waiting.iter().any(|record| record.tgid == *pid) {
                process.throttling.read();
            }
        }
        for record in self.waiting.drain(..) {
            if let Some(process) = processes.get_mut(&record.tgid) {
                process.window(record, State::of_record(&record));
            }
        }
        for record in self.short.drain(..) {
            if let Some(process) = processes.get_mut(&record.tgid) {
                process.short(&record);
            }
        }
        for process in processes.values_mut() {
            process.look_at_modules();
        }
    }
}

fn take_detail(
    bytes: &[u8],
    processes: &mut BTreeMap<u32, Process>,
    kernel_names: &mut Option<KernelNamer>,
    kernel_stacks: &mut KernelStacks,
) {
    let Some(Ok(tag)) = bytes.get(..4).map(bytemuck::try_pod_read_unaligned::<u32>) else { return };
    match tag {
        TAG_FAULT => {
            if let Ok(record) = bytemuck::try_pod_read_unaligned::<FaultRecord>(bytes)
                && let Some(process) = processes.get_mut(&record.tgid)
            {
                process.fault(record);
            }
        }
        TAG_STACK_COPY => {
            let Some((head, stack)) = bytes.split_at_checked(size_of::<StackCopyHead>()) else { return };
            if let Ok(head) = bytemuck::try_pod_read_unaligned::<StackCopyHead>(head)
                && let Some(process) = processes.get_mut(&head.tgid)
            {
                process.stack_copy(&head, stack);
            }
        }
        TAG_STACK => {
            // Sent no longer than its frames; the rest of the record is zero.
            let mut record: StackRecord = bytemuck::Zeroable::zeroed();
            let length = bytes.len().min(size_of::<StackRecord>());
            bytemuck::bytes_of_mut(&mut record)[..length].copy_from_slice(&bytes[..length]);
            if record.side == SIDE_KERNEL {
                // The kernel's code is the same for all: a stack is sent once, whoever was on it first.
                let count = (record.frame_count as usize).min(record.frames.len());
                let frames = kernel_names.as_mut().map(|names| names.stack(&record.frames[..count]));
                let named = Arc::new(KernelStack::new(frames.unwrap_or_default()));
                kernel_stacks.insert(record.stack, Arc::clone(&named));
                for process in processes.values_mut() {
                    process.collector.kernel_stack(record.stack, Arc::clone(&named));
                }
            } else if let Some(process) = processes.get_mut(&record.tgid) {
                process.collector.stack(&record);
            }
        }
        TAG_WORKER => {
            if let Ok(record) = bytemuck::try_pod_read_unaligned::<WorkerRecord>(bytes)
                && let Some(process) = processes.get_mut(&record.tgid)
            {
                process.collector.worker(&record);
            }
        }
        TAG_INTERVAL => {
            if let Ok(record) = bytemuck::try_pod_read_unaligned::<IntervalRecord>(bytes)
                && let Some(process) = processes.get_mut(&record.tgid)
            {
                process.collector.interval(&record);
            }
        }
        _ => {}
    }
}
