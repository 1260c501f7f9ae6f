//! For tests: a swap area.

use std::{
    ffi::CString,
    fs,
    io::{self, Write as _},
    os::unix::ffi::OsStrExt as _,
    path::Path,
    process::Command,
};

use tempfile::NamedTempFile;

/// Where a swap file can be: on a disk.
const FOLDER: &str = "/var/tmp";

const MIB: usize = 128;

/// A swap area that is on: one that was there, or a file of the test's own, which is switched off and deleted when
/// this is dropped.
#[derive(Debug)]
pub(crate) struct Swap {
    own: Option<NamedTempFile>,
}

impl Swap {
    #[allow(dead_code, reason = "each test file includes this module and uses a part of it")]
    /// Finds one that is on, or makes one. The error says why there can be none here.
    pub(crate) fn on() -> Result<Self, String> {
        if is_on() { Ok(Self { own: None }) } else { Self::own() }
    }

    /// Makes one of the test's own, whatever else is on.
    pub(crate) fn own() -> Result<Self, String> {
        let file = file().map_err(|error| format!("no swap file can be made in {FOLDER}: {error}"))?;
        let made = Command::new("mkswap").arg(file.path()).output();
        match made {
            Ok(output) if output.status.success() => {}
            Ok(output) => return Err(format!("mkswap: {}", String::from_utf8_lossy(&output.stderr))),
            Err(error) => return Err(format!("mkswap: {error}")),
        }
        let path = c_path(file.path());
        // SAFETY: the path is a live C string.
        if unsafe { libc::swapon(path.as_ptr(), 0) } != 0 {
            return Err(format!("swapon {}: {}", file.path().display(), io::Error::last_os_error()));
        }
        Ok(Self { own: Some(file) })
    }
}

impl Drop for Swap {
    fn drop(&mut self) {
        let Some(file) = &self.own else { return };
        let path = c_path(file.path());
        // SAFETY: the path is a live C string.
        if unsafe { libc::swapoff(path.as_ptr()) } != 0 {
            eprintln!("swapoff {}: {}", file.path().display(), io::Error::last_os_error());
        }
    }
}

/// Whether any swap area is on.
pub(crate) fn is_on() -> bool {
    // The first line is the heading.
    fs::read_to_string("/proc/swaps").is_ok_and(|swaps| swaps.lines().count() > 1)
}

/// A file without holes, which no swap area may have, and readable by its owner only.
fn file() -> io::Result<NamedTempFile> {
    let mut file = tempfile::Builder::new().prefix("pauselens-test-swap-").tempfile_in(FOLDER)?;
    let zeros = vec![0; 1 << 20];
    for _ in 0..MIB {
        file.write_all(&zeros)?;
    }
    file.as_file().sync_all()?;
    Ok(file)
}

fn c_path(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).expect("a temporary file's path has no zero byte")
}
