//! The kernel side's diagnostics, passed on to our own log.

use aya::Ebpf;
use aya_log::EbpfLogger;
use log::Log;

/// Reads what the programs log; nothing, when they were loaded with the log off.
pub(super) struct KernelLog {
    logger: Option<EbpfLogger<&'static dyn Log>>,
}

impl KernelLog {
    /// Opens the log if its level is not 0. Diagnostics that can't be read are no reason not to trace.
    pub(super) fn open(ebpf: &mut Ebpf, level: u8) -> Self {
        let logger = if level == 0 { None } else { Some(EbpfLogger::init(ebpf)) };
        Self {
            logger: logger.and_then(|opened| {
                opened.inspect_err(|error| log::warn!("the kernel side's log can't be read: {error}")).ok()
            }),
        }
    }

    /// Passes on what has been logged since.
    pub(super) fn flush(&mut self) {
        if let Some(logger) = &mut self.logger {
            logger.flush();
        }
    }
}
