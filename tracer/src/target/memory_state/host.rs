//! The host's memory and swapping.

use std::path::Path;

use super::{
    model::System,
    pressure,
    source::{Source, kib, value},
};

/// The files that tell of it, kept open.
#[derive(Debug)]
pub struct HostMemory {
    meminfo: Option<Source>,
    vmstat: Option<Source>,
    pressure: Option<Source>,
    page_bytes: u64,
    buffer: Vec<u8>,
}

impl HostMemory {
    /// Opens the files; what one of them would tell is absent when it can't be opened.
    #[must_use]
    pub fn open() -> Self {
        let open = |path: &str| Source::open(Path::new(path));
        Self {
            meminfo: open("/proc/meminfo"),
            vmstat: open("/proc/vmstat"),
            pressure: open("/proc/pressure/memory"),
            page_bytes: rustix::param::page_size() as u64,
            buffer: Vec::new(),
        }
    }

    /// Reads them.
    #[must_use]
    pub fn read(&mut self) -> System {
        let Self { meminfo, vmstat, pressure: stalls, page_bytes, buffer } = self;
        let mut system = System::default();
        if let Some(text) =
            meminfo.as_ref().and_then(|file| file.read_until(buffer, |read| has(read, "SwapFree")))
        {
            system.available_bytes = kib(text, "MemAvailable");
            system.swap_free_bytes = kib(text, "SwapFree");
            system.swap_total_bytes = kib(text, "SwapTotal");
        }
        if let Some(text) =
            vmstat.as_ref().and_then(|file| file.read_until(buffer, |read| has(read, "pswpout")))
        {
            let bytes = |name| value(text, name)?.checked_mul(*page_bytes);
            system.swapped_in_bytes = bytes("pswpin");
            system.swapped_out_bytes = bytes("pswpout");
        }
        system.pressure = stalls.as_ref().and_then(|file| file.read(buffer)).and_then(pressure::parse);
        system
    }
}

/// Whether the whole line is there.
fn has(text: &[u8], name: &str) -> bool {
    let lines_end = text.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
    value(&text[..lines_end], name).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_cut_off_is_not_taken_for_whole() {
        assert!(!has(b"pswpin 1\npswpout 12", "pswpout"));
        assert!(has(b"pswpin 1\npswpout 123\npg", "pswpout"));
        assert!(!has(b"", "pswpout"));
    }

    #[test]
    fn this_host_is_read_and_agrees_with_sysinfo() {
        let mut host = HostMemory::open();
        let read = host.read();
        let info = rustix::system::sysinfo();
        assert_eq!(read.swap_total_bytes, Some(info.totalswap as u64 * u64::from(info.mem_unit)));
        assert!(read.available_bytes.unwrap() > 0);
        let (first, then) = (read.swapped_out_bytes.unwrap(), host.read().swapped_out_bytes.unwrap());
        assert!(first <= then);
        assert_eq!(read.pressure.is_some(), Path::new("/proc/pressure/memory").exists());
    }
}
