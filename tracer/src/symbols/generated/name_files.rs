//! The target's files of names, opened while it lives: a container's root is gone with its last process.

use std::{
    fs::{self, File},
    io::BufReader,
    os::fd::OwnedFd,
};

use rustix::fs::{Mode, OFlags, ResolveFlags, open, openat2};

use super::{
    at::At,
    jitdump::read_jitdump,
    notes::Notes,
    perf_map::read_perf_map,
    trust::{Refusal, Trust},
    wanted::Wanted,
};

/// A perf map that is longer is not read.
pub(super) const MOST_MAP_BYTES: u64 = 256 << 20;
/// A jitdump file that is longer is not read; it holds the code itself too.
pub(super) const MOST_DUMP_BYTES: u64 = 1 << 30;

/// What was found where.
#[derive(Debug)]
struct Named {
    /// As the target names it.
    path: String,
    found: Result<File, Refusal>,
}

/// The places of files of names, and what was found there so far.
#[derive(Debug, Default)]
pub(in crate::symbols) struct NameFiles {
    pid: u32,
    /// The process as others and as it itself sees it: one id for each pid namespace, the innermost last.
    process_ids: Vec<u32>,
    trust: Option<Trust>,
    /// The target's `/tmp`.
    folder: Option<OwnedFd>,
    maps: Vec<Named>,
    dumps: Vec<Named>,
}

impl NameFiles {
    /// Finds the places. A process that has ended has none.
    pub(in crate::symbols) fn of(pid: u32) -> Self {
        let process_ids = process_ids(pid).unwrap_or_default();
        let maps = map_names(pid, &process_ids)
            .map(|name| Named { path: format!("/tmp/{name}"), found: Err(Refusal::Absent) })
            .collect();
        Self {
            pid,
            process_ids,
            trust: Trust::of(pid),
            folder: temporary_folder(pid),
            maps,
            dumps: Vec::new(),
        }
    }

    /// Opens what is there now. What was opened before and has no name any more is kept.
    pub(in crate::symbols) fn look(&mut self) {
        // A process can change its user while it runs.
        self.trust = Trust::of(self.pid).or(self.trust.take());
        let (Some(trust), Some(folder)) = (&self.trust, &self.folder) else { return };
        for map in &mut self.maps {
            let name = map.path.strip_prefix("/tmp/").unwrap_or(&map.path);
            let found = trust.open(folder, name, MOST_MAP_BYTES);
            if map.found.is_err() || found.is_ok() {
                map.found = found;
            }
        }
    }

    /// A file that the target has mapped as code, if it is a jitdump file by its name: whoever writes one maps it so, to
    /// be found.
    pub(in crate::symbols) fn mapped(&mut self, path: &str, file: Option<&File>) {
        if !is_jitdump_name(path) || self.dumps.iter().any(|dump| dump.path == path) {
            return;
        }
        let found = match (file.map(File::try_clone), &self.trust) {
            (Some(Ok(file)), Some(trust)) => trust.check(&file, MOST_DUMP_BYTES).map(|()| file),
            _ => Err(Refusal::NotTrusted("it can't be opened".to_owned())),
        };
        self.dumps.push(Named { path: path.to_owned(), found });
    }

    /// Names the addresses, as the files are now.
    pub(in crate::symbols) fn name(&self, wanted: &mut Wanted, notes: &mut Notes) {
        for map in &self.maps {
            let Some(file) = usable(map, self.trust.as_ref(), MOST_MAP_BYTES, notes) else { continue };
            match read_perf_map(&mut BufReader::new(At::begin(file, MOST_MAP_BYTES)), wanted) {
                Ok(lines) => notes.map(&map.path, lines),
                Err(error) => notes.refused(&map.path, &error.to_string()),
            }
            // The one that the target itself would write; another one can be another process's of its namespace.
            break;
        }
        for dump in &self.dumps {
            let Some(file) = usable(dump, self.trust.as_ref(), MOST_DUMP_BYTES, notes) else { continue };
            let mut reader = BufReader::new(At::begin(file, MOST_DUMP_BYTES));
            notes.dump(&dump.path, read_jitdump(&mut reader, &self.process_ids, wanted));
        }
    }
}

/// The file, unless it was refused or has grown too large since it was opened.
fn usable<'a>(
    named: &'a Named,
    trust: Option<&Trust>,
    most_bytes: u64,
    notes: &mut Notes,
) -> Option<&'a File> {
    let checked = match (&named.found, trust) {
        (Ok(file), Some(trust)) => trust.check(file, most_bytes).map(|()| file),
        (Ok(file), None) => Ok(file),
        (Err(refusal), _) => Err(refusal.clone()),
    };
    match checked {
        Ok(file) => Some(file),
        Err(Refusal::Absent) => None,
        Err(Refusal::NotTrusted(why)) => {
            notes.refused(&named.path, &why);
            None
        }
    }
}

/// `NSpid` of `/proc/PID/status`: ours first, the process's own last.
fn process_ids(pid: u32) -> Option<Vec<u32>> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let ids = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    Some(ids.split_ascii_whitespace().filter_map(|id| id.parse().ok()).collect())
}

/// The maps' names, the likeliest first: by the id that the process itself has, and by ours, which tools outside of its
/// namespace use, unless a process inside has that id.
fn map_names(pid: u32, process_ids: &[u32]) -> impl Iterator<Item = String> + use<> {
    let own = process_ids.last().copied().unwrap_or(pid);
    let taken = own != pid && fs::exists(format!("/proc/{pid}/root/proc/{pid}")).unwrap_or(false);
    let plain = (own != pid && !taken).then_some(pid);
    [Some(own), plain].into_iter().flatten().map(|id| format!("perf-{id}.map"))
}

/// The target's `/tmp`, wherever it is; a link there leads to what it leads to for the target.
fn temporary_folder(pid: u32) -> Option<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = open(format!("/proc/{pid}/root"), flags, Mode::empty()).ok()?;
    openat2(&root, "tmp", flags, Mode::empty(), ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS).ok()
}

/// `jit-PID.dump`, in any folder, perhaps removed by now.
fn is_jitdump_name(path: &str) -> bool {
    let path = path.strip_suffix(" (deleted)").unwrap_or(path);
    let name = path.rsplit('/').next().unwrap_or(path);
    let id = name.strip_prefix("jit-").and_then(|rest| rest.strip_suffix(".dump"));
    id.is_some_and(|id| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    fn inode(found: &Result<File, Refusal>) -> u64 {
        found.as_ref().unwrap().metadata().unwrap().ino()
    }

    #[test]
    fn our_own_map_is_found_and_followed_while_it_grows() {
        let pid = std::process::id();
        let path = format!("/tmp/perf-{pid}.map");
        let mut files = NameFiles::of(pid);
        assert_eq!(files.process_ids.first(), Some(&pid));
        files.look();
        assert_eq!(files.maps[0].path, path);
        fs::write(&path, "1000 10 early\n").unwrap();
        files.look();
        let first = inode(&files.maps[0].found);
        fs::write(&path, "1000 10 early\n1008 8 late\nodd\n").unwrap();
        // Gone by its name, and read all the same.
        fs::remove_file(&path).unwrap();
        files.look();
        assert_eq!(inode(&files.maps[0].found), first);
        let (mut wanted, mut notes) = (Wanted::new([0x1000, 0x100f]), Notes::default());
        files.name(&mut wanted, &mut notes);
        assert_eq!((wanted.name(0x1000), wanted.name(0x100f)), (Some("early"), Some("late")));
        let notes = notes.into_lines();
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert!(notes[0].starts_with(&format!("{path}: 1 line is not")), "{notes:?}");
    }

    #[test]
    fn a_process_that_is_gone_has_no_files() {
        let mut files = NameFiles::of(0);
        files.look();
        let (mut wanted, mut notes) = (Wanted::new([0x1000]), Notes::default());
        files.name(&mut wanted, &mut notes);
        assert_eq!((wanted.name(0x1000), notes.into_lines()), (None, Vec::new()));
    }

    #[test]
    fn jitdump_files_are_known_by_their_names() {
        for name in ["/tmp/jit-17.dump", "/home/x/.debug/jit/a/jit-1.dump (deleted)"] {
            assert!(is_jitdump_name(name), "{name}");
        }
        for name in ["/tmp/jit-.dump", "/tmp/jit-x1.dump", "/tmp/jit-1.dump2", "/tmp/perf-1.map", ""] {
            assert!(!is_jitdump_name(name), "{name}");
        }
    }
}
