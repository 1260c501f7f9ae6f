//! The machine's disk: ext4, so that there are file pages that must be read and a place for swap.

use std::{
    fs::File,
    path::PathBuf,
    process::{Command, Stdio},
};

use anyhow::{Result, bail};

use super::guest::Guest;
use crate::missing::Missing;

const SIZE_BYTES: u64 = 512 << 20;
/// Not on everyone's PATH.
const FOLDERS: &str = "/usr/sbin:/sbin";

/// A fresh disk with the guest's files; what it holds is what the machine starts from.
pub(super) fn make(guest: &Guest) -> Result<PathBuf> {
    let disk = guest.work().join("disk");
    File::create(&disk)?.set_len(SIZE_BYTES)?;
    let path = format!("{}:{FOLDERS}", std::env::var("PATH").unwrap_or_default());
    let mkfs = which::which_in("mkfs.ext4", Some(path), "/").map_err(|error| Missing {
        piece: "mkfs.ext4".to_owned(),
        found: error.to_string(),
        next: "apt-get install e2fsprogs".to_owned(),
    })?;
    let output = Command::new(mkfs)
        .args(["-q", "-F", "-d"])
        .arg(guest.files())
        .arg(&disk)
        .stdin(Stdio::null())
        .output()?;
    if !output.status.success() {
        bail!("mkfs.ext4: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    Ok(disk)
}
