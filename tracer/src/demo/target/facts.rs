//! Which kinds of fault, and which other doings, can be had on this machine.

use std::{fs, path::Path};

use super::{
    acts::{ActKind, COMPACTION_SWITCH},
    kinds::Kind,
    memory::state,
    options::Options,
    threads,
};

/// Why this kind can't be had here: what was found, what is needed, what to do. `None` when it can be.
pub(super) fn missing(kind: Kind, options: &Options) -> Option<String> {
    match kind {
        Kind::Swap => no_swap_area(&fs::read_to_string("/proc/swaps").unwrap_or_default()),
        Kind::FileRead => not_on_disk(&options.directory),
        Kind::FileMap | Kind::CowFile => not_a_folder(&options.directory),
        Kind::Huge => no_huge_pages(),
        Kind::Userfault => threads::open_userfaultfd().err().map(|error| format!("{error:#}")),
        _ => None,
    }
}

/// The same for what is no fault.
pub(super) fn missing_act(act: ActKind, options: &Options) -> Option<String> {
    match act {
        ActKind::FileIo(_) => not_on_disk(&options.directory),
        ActKind::Compact => (!Path::new(COMPACTION_SWITCH).exists())
            .then(|| format!("{COMPACTION_SWITCH} is not there. It needs a kernel with CONFIG_COMPACTION")),
        ActKind::FutexWait(_) | ActKind::Compute(_) => None,
    }
}

fn no_huge_pages() -> Option<String> {
    const SETTING: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
    if state::huge_page_bytes().is_none() {
        return Some("it needs a kernel with CONFIG_TRANSPARENT_HUGEPAGE".to_owned());
    }
    let setting = fs::read_to_string(SETTING).unwrap_or_default();
    setting
        .contains("[never]")
        .then(|| format!("{SETTING} says never. Switch them on: echo madvise > {SETTING}"))
}

fn no_swap_area(swaps: &str) -> Option<String> {
    // The first line is the heading.
    (swaps.lines().skip(1).all(|line| line.trim().is_empty())).then(|| {
        "no swap area is on (/proc/swaps is empty). Switch one on: fallocate -l 512M /var/tmp/swap && chmod 600 \
         /var/tmp/swap && mkswap /var/tmp/swap && swapon /var/tmp/swap"
            .to_owned()
    })
}

fn not_a_folder(directory: &Path) -> Option<String> {
    (!directory.is_dir())
        .then(|| format!("{} is not a folder. Name one with --directory", directory.display()))
}

fn not_on_disk(directory: &Path) -> Option<String> {
    const TMPFS: i64 = 0x0102_1994;
    const RAMFS: i64 = 0x8584_58f6;
    if let Some(reason) = not_a_folder(directory) {
        return Some(reason);
    }
    match rustix::fs::statfs(directory) {
        #[allow(clippy::unnecessary_cast, reason = "the field's type differs between architectures")]
        Ok(found) if [TMPFS, RAMFS].contains(&(found.f_type as i64)) => Some(format!(
            "{} is in memory, where no page is ever read from a disk. Name a folder on a disk with --directory",
            directory.display()
        )),
        Ok(_) => None,
        Err(error) => Some(format!("{}: {error}. Name another folder with --directory", directory.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADING: &str = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n";

    #[test]
    fn an_empty_list_has_no_swap_area() {
        assert!(no_swap_area("").is_some());
        assert!(no_swap_area(HEADING).is_some());
    }

    #[test]
    fn a_listed_area_counts() {
        let swaps = format!("{HEADING}/dev/zram0                              partition\t1048572\t0\t-2\n");
        assert_eq!(no_swap_area(&swaps), None);
    }
}
