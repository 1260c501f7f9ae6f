//! The kernel side's news of new processes, waited for.

use std::{future::pending, io};

use aya::{
    Ebpf,
    maps::{MapData, MapError, RingBuf},
};
use tokio::io::{Interest, unix::AsyncFd};
use tracer_common::lineage::LineageRecord;

use super::error::SessionError;

/// The reader's end; there is none when no news was asked for.
pub(super) struct News(Option<AsyncFd<RingBuf<MapData>>>);

impl News {
    /// Takes the ring out of the loaded object. `wanted`: whether anybody writes there.
    pub(super) fn take(ebpf: &mut Ebpf, wanted: bool) -> Result<Self, SessionError> {
        const NAME: &str = "LINEAGE_NEWS";
        if !wanted {
            return Ok(Self(None));
        }
        let map = ebpf.take_map(NAME).ok_or_else(|| MapError::InvalidName { name: NAME.to_owned() })?;
        let ring = RingBuf::try_from(map)?;
        // SAFETY: the ring owns its descriptor, so it stays open as long as it is registered.
        let watched = unsafe { AsyncFd::register_with_interest(ring, Interest::READABLE) };
        Ok(Self(Some(watched.map_err(|error| SessionError::Wait(error.into()))?)))
    }

    /// Waits until there are some, and reads them. May be dropped and called again.
    pub(super) async fn wait(&mut self) -> io::Result<Vec<LineageRecord>> {
        let Some(ring) = &mut self.0 else { return pending().await };
        let mut ready = ring.readable_mut().await?;
        // First, so that what comes while they are read wakes us again.
        ready.clear_ready();
        Ok(read(ready.get_inner_mut()))
    }

    /// Reads what is there.
    pub(super) fn read(&mut self) -> Vec<LineageRecord> {
        self.0.as_mut().map(|ring| read(ring.get_mut())).unwrap_or_default()
    }
}

fn read(ring: &mut RingBuf<MapData>) -> Vec<LineageRecord> {
    let mut records = Vec::new();
    while let Some(bytes) = ring.next() {
        records.extend(bytemuck::try_pod_read_unaligned::<LineageRecord>(&bytes));
    }
    records
}
