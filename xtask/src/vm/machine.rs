//! One boot: an emulated machine without network, as a neighbour that gives way to everything else on the host.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Result, bail};

use crate::missing::Missing;

const EMULATOR: &str = "qemu-system-x86_64";
/// It takes half a minute on an idle host.
const LIMIT: &str = "900";
/// What timeout(1) returns when the time is over.
const TIMED_OUT: i32 = 124;

/// What the machine wrote to its serial ports.
#[derive(Debug)]
pub(super) struct Said {
    console: String,
    pub(super) results: String,
}

impl Said {
    /// The kernel's last lines.
    pub(super) fn console_end(&self) -> impl Iterator<Item = &str> {
        const LINES: usize = 20;
        let lines: Vec<&str> = self.console.lines().collect();
        let from = lines.len().saturating_sub(LINES);
        lines.into_iter().skip(from)
    }
}

/// Everything that a boot needs is there.
pub(super) fn ensure_tools() -> Result<()> {
    for (tool, package) in [(EMULATOR, "qemu-system-x86"), ("nice", "coreutils"), ("timeout", "coreutils")] {
        which::which(tool).map_err(|error| Missing {
            piece: tool.to_owned(),
            found: error.to_string(),
            next: format!("apt-get install {package}"),
        })?;
    }
    Ok(())
}

/// Boots the kernel from the disk and waits until the machine switches itself off.
pub(super) fn boot(kernel: &Path, disk: &Path) -> Result<Said> {
    let (console, results) = (disk.with_extension("console"), disk.with_extension("results"));
    let serial = |file: &Path| format!("file:{}", file.display());
    let output = Command::new("nice")
        .args(["-n", "19", "timeout", "--foreground", "--kill-after=5", LIMIT, EMULATOR])
        // Software emulation works everywhere, in virtual machines too. Both processors take turns in one thread: side
        // by side, one can trip over code that the other is just patching (a panic in a static call at boot, QEMU 7.2).
        .args(["-machine", "q35", "-accel", "tcg,thread=single", "-cpu", "max", "-smp", "2", "-m", "1024"])
        .args(["-nodefaults", "-no-reboot", "-display", "none"])
        .arg("-kernel")
        .arg(kernel)
        .args(["-append", "root=/dev/nvme0n1 rw rootwait init=/init console=ttyS0 loglevel=4 panic=-1"])
        .args(["-device", "nvme,drive=disk,serial=disk", "-drive"])
        .arg(format!("file={},if=none,id=disk,format=raw,cache=unsafe", disk.display()))
        .args(["-serial", &serial(&console), "-serial", &serial(&results)])
        .stdin(Stdio::null())
        .output()?;
    let read = |file: &Path| String::from_utf8_lossy(&fs::read(file).unwrap_or_default()).into_owned();
    let said = Said { console: read(&console), results: read(&results) };
    if output.status.success() || output.status.code() == Some(TIMED_OUT) {
        // Where it stuck is to be seen in what it said.
        return Ok(said);
    }
    bail!("{EMULATOR}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr).trim_end())
}
