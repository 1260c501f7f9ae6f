//! For tests: a swap area.

use std::{
    ffi::CString,
    fs,
    io::{self, Write as _},
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::NamedTempFile;

/// Where a swap file can be: on a disk.
const FOLDER: &str = "/var/tmp";

const MIB: usize = 128;

/// Other processes of this machine use the area as well. It takes no memory that is not used.
const ZRAM_BYTES: u64 = 1 << 30;

/// Linux `SWAP_FLAG_PREFER`, with the highest priority there is: used before all others.
const BEFORE_ALL_OTHERS: i32 = 0x8000 | 0x7fff;

/// A swap area that is on: one that was there, or one of the test's own, which is switched off and removed when this is
/// dropped.
#[derive(Debug)]
pub(crate) struct Swap {
    own: Option<Own>,
}

/// Switched off when dropped; what it stands on goes after that.
#[derive(Debug)]
struct Own {
    path: PathBuf,
    _stands_on: StandsOn,
}

#[derive(Debug)]
#[allow(dead_code, reason = "kept for being dropped")]
enum StandsOn {
    File(NamedTempFile),
    Zram(Zram),
}

#[allow(dead_code, reason = "each test file includes this module and uses a part of it")]
impl Swap {
    /// Finds one that is on, or makes one. The error says why there can be none here.
    pub(crate) fn on() -> Result<Self, String> {
        if is_on() { Ok(Self { own: None }) } else { Self::own() }
    }

    /// Makes one of the test's own, whatever else is on.
    pub(crate) fn own() -> Result<Self, String> {
        Self::file(Path::new(FOLDER), 0)
    }

    /// A file of the test's own, which is used before all other areas.
    pub(crate) fn own_file() -> Result<Self, String> {
        Self::own_file_in(Path::new(FOLDER))
    }

    /// The same in another folder.
    pub(crate) fn own_file_in(folder: &Path) -> Result<Self, String> {
        Self::file(folder, BEFORE_ALL_OTHERS)
    }

    /// A compressed RAM disk of the test's own, which is used before all other areas.
    pub(crate) fn own_zram() -> Result<Self, String> {
        let zram = Zram::add()?;
        let path = zram.device();
        Self::switch_on(path, StandsOn::Zram(zram), BEFORE_ALL_OTHERS)
    }

    fn file(folder: &Path, flags: i32) -> Result<Self, String> {
        let file = file(folder)
            .map_err(|error| format!("no swap file can be made in {}: {error}", folder.display()))?;
        let path = file.path().to_owned();
        Self::switch_on(path, StandsOn::File(file), flags)
    }

    fn switch_on(path: PathBuf, stands_on: StandsOn, flags: i32) -> Result<Self, String> {
        let made = Command::new("mkswap").arg(&path).output();
        match made {
            Ok(output) if output.status.success() => {}
            Ok(output) => return Err(format!("mkswap: {}", String::from_utf8_lossy(&output.stderr))),
            Err(error) => return Err(format!("mkswap: {error}")),
        }
        let area = c_path(&path);
        // SAFETY: the path is a live C string.
        if unsafe { libc::swapon(area.as_ptr(), flags) } != 0 {
            return Err(format!("swapon {}: {}", path.display(), io::Error::last_os_error()));
        }
        Ok(Self { own: Some(Own { path, _stands_on: stands_on }) })
    }

    /// Where the test's own one is.
    pub(crate) fn path(&self) -> &Path {
        &self.own.as_ref().expect("it is the test's own").path
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let path = c_path(&self.path);
        // SAFETY: the path is a live C string.
        if unsafe { libc::swapoff(path.as_ptr()) } != 0 {
            eprintln!("swapoff {}: {}", self.path.display(), io::Error::last_os_error());
        }
    }
}

/// Whether any swap area is on.
#[allow(dead_code, reason = "each test file includes this module and uses a part of it")]
pub(crate) fn is_on() -> bool {
    // The first line is the heading.
    fs::read_to_string("/proc/swaps").is_ok_and(|swaps| swaps.lines().count() > 1)
}

/// Whether the kernel has compressed RAM disks.
#[allow(dead_code, reason = "each test file includes this module and uses a part of it")]
pub(crate) fn kernel_has_zram() -> bool {
    Path::new(CONTROL).exists()
}

const CONTROL: &str = "/sys/class/zram-control";

/// A compressed RAM disk, removed when this is dropped.
#[derive(Debug)]
struct Zram {
    number: u32,
}

impl Zram {
    fn add() -> Result<Self, String> {
        let added = fs::read_to_string(Path::new(CONTROL).join("hot_add"));
        let added = added.map_err(|error| format!("{CONTROL}/hot_add: {error}"))?;
        let number =
            added.trim().parse().map_err(|error| format!("{CONTROL}/hot_add: {added:?}: {error}"))?;
        let zram = Self { number };
        let size = format!("/sys/block/zram{number}/disksize");
        fs::write(&size, ZRAM_BYTES.to_string()).map_err(|error| format!("{size}: {error}"))?;
        Ok(zram)
    }

    fn device(&self) -> PathBuf {
        format!("/dev/zram{}", self.number).into()
    }
}

impl Drop for Zram {
    fn drop(&mut self) {
        let removed = fs::write(Path::new(CONTROL).join("hot_remove"), self.number.to_string());
        if let Err(error) = removed {
            eprintln!("zram{} can't be removed: {error}", self.number);
        }
    }
}

/// A file without holes, which no swap area may have, and readable by its owner only.
fn file(folder: &Path) -> io::Result<NamedTempFile> {
    let mut file = tempfile::Builder::new().prefix("pauselens-test-swap-").tempfile_in(folder)?;
    let zeros = vec![0; 1 << 20];
    for _ in 0..MIB {
        file.write_all(&zeros)?;
    }
    file.as_file().sync_all()?;
    Ok(file)
}

fn c_path(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).expect("a swap area's path has no zero byte")
}
