//! The kernel side's tables: what is put there before the gate opens, and what is left in them at the end.

use std::collections::BTreeMap;

use aya::{
    Ebpf, Pod,
    maps::{HashMap, Map, MapError, PerCpuArray},
};
use bytemuck::Zeroable as _;
use tracer_common::{
    loss::Loss,
    pause::{ProcessTotals, TargetSettings, WindowKey, WindowRecord, keyed, state, windows},
    stack::StackRecord,
    stack_copy::CopyRanges,
    thread::{ThreadState, WorkerRecord, Workers},
};

use crate::pause::Losses;

fn map<'a>(ebpf: &'a Ebpf, name: &str) -> Result<&'a Map, MapError> {
    ebpf.map(name).ok_or_else(|| MapError::InvalidName { name: name.to_owned() })
}

fn insert<K: Pod, V: Pod>(ebpf: &mut Ebpf, name: &str, key: K, value: V) -> Result<(), MapError> {
    let map = ebpf.map_mut(name).ok_or_else(|| MapError::InvalidName { name: name.to_owned() })?;
    HashMap::<_, K, V>::try_from(map)?.insert(key, value, 0)
}

/// Makes the process's places and opens the gate.
pub(super) fn open_gate(ebpf: &mut Ebpf, pid: u32, settings: TargetSettings) -> Result<(), MapError> {
    insert(ebpf, "PROCESSES", pid, ProcessTotals::zeroed())?;
    if settings.keyed == keyed::PROCESS {
        let key = WindowKey { tgid: pid, ..WindowKey::default() };
        insert(ebpf, "WINDOWS", key, WindowRecord::zeroed())?;
        insert(ebpf, "REQUEST_SCRATCH", u64::from(pid), StackRecord::zeroed())?;
    }
    insert(ebpf, "TARGETS", pid, settings)
}

/// Whether they are to be told of.
pub(super) fn is_followed(ebpf: &Ebpf, pid: u32) -> bool {
    let followed = map(ebpf, "FOLLOWED").and_then(HashMap::<_, u32, u32>::try_from);
    followed.is_ok_and(|followed| followed.get(&pid, 0).is_ok())
}

/// Takes out what the tables hold of a process that is not traced any more: the room is for others. `stacks`: those that
/// were sent of it, which would not be sent again for a process of the same id.
pub(super) fn forget<'a>(ebpf: &mut Ebpf, pid: u32, workers: Workers, stacks: impl Iterator<Item = &'a u64>) {
    // What is not there needs no taking out.
    let _ = remove::<WindowRecord>(ebpf, "WINDOWS", window_keys(ebpf, pid));
    let _ = remove::<ProcessTotals>(ebpf, "PROCESSES", [pid]);
    let _ = remove::<StackRecord>(ebpf, "REQUEST_SCRATCH", [u64::from(pid)]);
    let _ = remove::<Workers>(ebpf, "PROCESS_WORKERS", [pid]);
    let _ = remove::<CopyRanges>(ebpf, "STACK_COPY_RANGES", [pid]);
    forget_workers(ebpf, workers.tids.into_iter().filter(|tid| *tid != 0));
    let _ = remove::<u32>(ebpf, "STACKS_SENT", stacks.copied());
    // A thread that replaces its program stays the same to the kernel, but has other counters, and mostly another id.
    let threads = task_names(ebpf, pid);
    let _ = remove::<ThreadState>(ebpf, "THREADS", threads);
}

/// The names by which the table of threads knows those of a process, also those that have ended.
fn task_names(ebpf: &Ebpf, pid: u32) -> Vec<u64> {
    let threads = map(ebpf, "THREADS").and_then(HashMap::<_, u64, ThreadState>::try_from);
    let all = threads.iter().flat_map(|threads| threads.iter().filter_map(Result::ok));
    all.filter(|(_, state)| state.tgid == pid).map(|(task, _)| task).collect()
}

fn window_keys(ebpf: &Ebpf, pid: u32) -> Vec<WindowKey> {
    let windows = map(ebpf, "WINDOWS").and_then(HashMap::<_, WindowKey, WindowRecord>::try_from);
    let keys =
        windows.into_iter().flat_map(|windows| windows.keys().filter_map(Result::ok).collect::<Vec<_>>());
    keys.filter(|key| key.tgid == pid).collect()
}

fn remove<V: Pod>(
    ebpf: &mut Ebpf,
    name: &str,
    keys: impl IntoIterator<Item = impl Pod>,
) -> Result<(), MapError> {
    let map = ebpf.map_mut(name).ok_or_else(|| MapError::InvalidName { name: name.to_owned() })?;
    let mut map = HashMap::<_, _, V>::try_from(map)?;
    for key in keys {
        let _ = map.remove(&key);
    }
    Ok(())
}

/// Says that the children and the programs of a process are to be told of, although it is no target (yet).
pub(super) fn follow(ebpf: &mut Ebpf, pid: u32) -> Result<(), MapError> {
    insert(ebpf, "FOLLOWED", pid, 1_u32)
}

/// `BPF_NOEXIST`: don't replace what is there.
const ONLY_NEW: u64 = 1;

/// Says which threads are workers. Returns how many of them found no place for what they do.
pub(super) fn set_workers(ebpf: &mut Ebpf, pid: u32, workers: Workers) -> Result<usize, MapError> {
    // First the list and then the places: what a worker did is never summed up without being sent.
    insert(ebpf, "PROCESS_WORKERS", pid, workers)?;
    let name = "WORKER_SUMS";
    let map = ebpf.map_mut(name).ok_or_else(|| MapError::InvalidName { name: name.to_owned() })?;
    let mut sums = HashMap::<_, u32, WorkerRecord>::try_from(map)?;
    let mut without_place = 0;
    for tid in workers.tids.iter().filter(|tid| **tid != 0) {
        // Only where there is none: a window can be open, and what is summed up of it must stay.
        if sums.insert(tid, WorkerRecord::zeroed(), ONLY_NEW).is_err() && sums.get(tid, 0).is_err() {
            without_place += 1;
        }
    }
    Ok(without_place)
}

/// Gives up the places of threads that are no workers any more.
pub(super) fn forget_workers(ebpf: &mut Ebpf, tids: impl Iterator<Item = u32>) {
    let _ = remove::<WorkerRecord>(ebpf, "WORKER_SUMS", tids);
}

/// Says where faults have their stacks copied.
pub(super) fn set_copy_ranges(ebpf: &mut Ebpf, pid: u32, ranges: CopyRanges) -> Result<(), MapError> {
    insert(ebpf, "STACK_COPY_RANGES", pid, ranges)
}

/// Says whether the probes of windows do anything; the gate stays open.
pub(super) fn set_resting(ebpf: &mut Ebpf, pid: u32, resting: bool) -> Result<(), MapError> {
    let mut settings = HashMap::<_, u32, TargetSettings>::try_from(map(ebpf, "TARGETS")?)?.get(&pid, 0)?;
    settings.flags =
        if resting { settings.flags | windows::RESTING } else { settings.flags & !windows::RESTING };
    insert(ebpf, "TARGETS", pid, settings)
}

/// Closes the gate: from here on every program returns at once.
pub(super) fn close_gate(ebpf: &mut Ebpf, pid: u32) -> Result<(), MapError> {
    let map = ebpf.map_mut("TARGETS").ok_or_else(|| MapError::InvalidName { name: "TARGETS".to_owned() })?;
    HashMap::<_, u32, TargetSettings>::try_from(map)?.remove(&pid)
}

/// The windows of a process that are open.
pub(super) fn open_windows(ebpf: &Ebpf, pid: u32) -> Result<Vec<WindowRecord>, MapError> {
    let windows = HashMap::<_, WindowKey, WindowRecord>::try_from(map(ebpf, "WINDOWS")?)?;
    let of_process = windows.iter().filter_map(Result::ok).filter(|(key, _)| key.tgid == pid);
    Ok(of_process.map(|(_, window)| window).filter(|window| window.state != state::CLOSED).collect())
}

/// Forgets the windows that were open when their probes were taken away.
pub(super) fn close_windows(ebpf: &mut Ebpf, pid: u32) -> Result<(), MapError> {
    let keys = window_keys(ebpf, pid);
    let of_process = WindowKey { tgid: pid, ..WindowKey::default() };
    let has_place = keys.contains(&of_process);
    remove::<WindowRecord>(ebpf, "WINDOWS", keys)?;
    if has_place {
        insert(ebpf, "WINDOWS", of_process, WindowRecord::zeroed())?;
    }
    let mut totals = totals(ebpf, pid)?;
    if totals.open == 0 {
        // What a thread that ends adds meanwhile is not written over.
        return Ok(());
    }
    totals.open = 0;
    insert(ebpf, "PROCESSES", pid, totals)
}

/// What the process's windows add up to.
pub(super) fn totals(ebpf: &Ebpf, pid: u32) -> Result<ProcessTotals, MapError> {
    HashMap::<_, u32, ProcessTotals>::try_from(map(ebpf, "PROCESSES")?)?.get(&pid, 0)
}

/// The process's threads that are in the table, by their ids in the tracer's pid namespace.
pub(super) fn threads(ebpf: &Ebpf, pid: u32) -> Result<BTreeMap<u32, ThreadState>, MapError> {
    Ok(HashMap::<_, u64, ThreadState>::try_from(map(ebpf, "THREADS")?)?
        .iter()
        .filter_map(Result::ok)
        // What an ended one had counted is its process's.
        .filter(|(_, state)| state.ended == 0 && state.tgid == pid)
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
