//! The kernel side's tables: what is put there before the gate opens, and what is left in them at the end.

use std::collections::BTreeMap;

use aya::{
    Ebpf, Pod,
    maps::{HashMap, Map, MapError, PerCpuArray},
};
use bytemuck::Zeroable as _;
use tracer_common::{
    loss::Loss,
    pause::{ProcessTotals, WindowRecord},
    stack::StackRecord,
    thread::{ThreadState, WorkerRecord, Workers},
};

use crate::pause::Losses;

fn map<'a>(ebpf: &'a Ebpf, name: &str) -> Result<&'a Map, MapError> {
    ebpf.map(name).ok_or_else(|| MapError::InvalidName { name: name.to_owned() })
}

fn insert<V: Pod>(ebpf: &mut Ebpf, name: &str, key: u32, value: V) -> Result<(), MapError> {
    let map = ebpf.map_mut(name).ok_or_else(|| MapError::InvalidName { name: name.to_owned() })?;
    HashMap::<_, u32, V>::try_from(map)?.insert(key, value, 0)
}

/// Makes the process's places and opens the gate.
pub(super) fn open_gate(ebpf: &mut Ebpf, pid: u32) -> Result<(), MapError> {
    insert(ebpf, "WINDOWS", pid, WindowRecord::zeroed())?;
    insert(ebpf, "PROCESSES", pid, ProcessTotals::zeroed())?;
    insert(ebpf, "REQUEST_SCRATCH", pid, StackRecord::zeroed())?;
    insert(ebpf, "TARGETS", pid, 1_u32)
}

/// Says which threads are workers.
pub(super) fn set_workers(ebpf: &mut Ebpf, pid: u32, workers: Workers) -> Result<(), MapError> {
    for task in workers.tids.iter().filter(|task| **task != 0) {
        insert(ebpf, "WORKER_SUMS", *task, WorkerRecord::zeroed())?;
    }
    insert(ebpf, "PROCESS_WORKERS", pid, workers)
}

/// Closes the gate: from here on every program returns at once.
pub(super) fn close_gate(ebpf: &mut Ebpf, pid: u32) -> Result<(), MapError> {
    let map = ebpf.map_mut("TARGETS").ok_or_else(|| MapError::InvalidName { name: "TARGETS".to_owned() })?;
    HashMap::<_, u32, u32>::try_from(map)?.remove(&pid)
}

/// The window that is open, or was the last one.
pub(super) fn window(ebpf: &Ebpf, pid: u32) -> Result<WindowRecord, MapError> {
    HashMap::<_, u32, WindowRecord>::try_from(map(ebpf, "WINDOWS")?)?.get(&pid, 0)
}

/// What the process's windows add up to.
pub(super) fn totals(ebpf: &Ebpf, pid: u32) -> Result<ProcessTotals, MapError> {
    HashMap::<_, u32, ProcessTotals>::try_from(map(ebpf, "PROCESSES")?)?.get(&pid, 0)
}

/// The threads that are in the table, by their ids in the tracer's pid namespace.
pub(super) fn threads(ebpf: &Ebpf) -> Result<BTreeMap<u32, ThreadState>, MapError> {
    Ok(HashMap::<_, u64, ThreadState>::try_from(map(ebpf, "THREADS")?)?
        .iter()
        .filter_map(Result::ok)
        // What an ended one had counted is its process's.
        .filter(|(_, state)| state.ended == 0)
        .map(|(_, state)| (state.tid, state))
        .collect())
}

/// What was dropped so far.
pub(super) fn losses(ebpf: &Ebpf) -> Result<Losses, MapError> {
    let array = PerCpuArray::<_, u64>::try_from(map(ebpf, "LOSSES")?)?;
    let counters: Result<Vec<u64>, MapError> =
        Loss::ALL.iter().map(|loss| Ok(array.get(&(*loss as u32), 0)?.iter().sum())).collect();
    Ok(Losses::from_counters(&counters?))
}
