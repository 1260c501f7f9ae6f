//! Whether a file of names is the target's: anybody may write to `/tmp`.

use std::{
    fs::{self, File},
    os::{fd::OwnedFd, unix::fs::MetadataExt as _},
};

use rustix::{
    fs::{Mode, OFlags, openat},
    io::Errno,
    time::{ClockId, clock_gettime},
};

use crate::target::parse_stat;

/// Times of files are coarser than clocks, and a wall clock is set now and then.
const CLOCK_SLACK_S: i64 = 2;

/// What is known of the target, to compare a file's owner and age with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trust {
    /// The user ids that the process has or had, as this host counts them.
    pub(super) users: Vec<u32>,
    /// When it started, in seconds since 1970; `None` when that is not known.
    pub(super) started_unix_s: Option<i64>,
}

/// There is no file to be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// There is none at all.
    Absent,
    /// There is one, but it is not used: why.
    NotTrusted(String),
}

impl Trust {
    /// What `/proc` says of the process; `None` when it is gone.
    pub(super) fn of(pid: u32) -> Option<Self> {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let ids = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
        let users = ids.split_ascii_whitespace().filter_map(|id| id.parse().ok()).collect();
        Some(Self { users, started_unix_s: started_unix_s(pid) })
    }

    /// Opens the file of that name in a folder, if it can be trusted.
    pub(super) fn open(&self, folder: &OwnedFd, name: &str, most_bytes: u64) -> Result<File, Refusal> {
        // Not through a link, and a pipe must not hold us up.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = match openat(folder, name, flags, Mode::empty()) {
            Ok(descriptor) => File::from(descriptor),
            Err(Errno::NOENT | Errno::NOTDIR) => return Err(Refusal::Absent),
            Err(Errno::LOOP) => return refused("it is a symbolic link"),
            Err(errno) => return refused(format!("it can't be opened ({errno})")),
        };
        self.check(&file, most_bytes).map(|()| file)
    }

    /// Whether an opened file can be trusted.
    pub(super) fn check(&self, file: &File, most_bytes: u64) -> Result<(), Refusal> {
        let metadata = match file.metadata() {
            Ok(metadata) => metadata,
            Err(error) => return refused(format!("it can't be examined ({error})")),
        };
        if !metadata.is_file() {
            return refused("it is no regular file");
        }
        let owner = metadata.uid();
        if owner != 0 && !self.users.contains(&owner) {
            let users: Vec<String> = self.users.iter().map(u32::to_string).collect();
            return refused(format!(
                "it belongs to user id {owner}, and the target runs as {}",
                users.first().map_or("an unknown one", String::as_str)
            ));
        }
        if metadata.len() > most_bytes {
            return refused(format!(
                "it has {} bytes, and no more than {most_bytes} are read",
                metadata.len()
            ));
        }
        // An earlier process with the same id has left it behind.
        if self.started_unix_s.is_some_and(|started| metadata.mtime() + CLOCK_SLACK_S < started) {
            return refused("it was last written before the target started: it is another process's");
        }
        Ok(())
    }
}

fn refused<T>(why: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::NotTrusted(why.into()))
}

/// When the process started, on the wall clock.
fn started_unix_s(pid: u32) -> Option<i64> {
    let line = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let ticks = i64::try_from(parse_stat(&line)?.start_ticks).ok()?;
    let per_second =
        i64::try_from(rustix::param::clock_ticks_per_second()).ok().filter(|ticks| *ticks > 0)?;
    let age_s = clock_gettime(ClockId::Boottime).tv_sec - ticks / per_second;
    Some(clock_gettime(ClockId::Realtime).tv_sec - age_s)
}

#[cfg(test)]
mod tests {
    use std::{
        os::unix::fs::{chown, symlink},
        path::Path,
        process::Command,
        time::{Duration, SystemTime},
    };

    use rustix::fs::open;

    use super::*;

    fn our_own() -> Trust {
        Trust::of(std::process::id()).expect("we live")
    }

    fn opened(trust: &Trust, folder: &Path, name: &str) -> Result<File, Refusal> {
        let folder = open(folder, OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).unwrap();
        trust.open(&folder, name, 100)
    }

    fn why(trust: &Trust, folder: &Path, name: &str) -> String {
        match opened(trust, folder, name) {
            Err(Refusal::NotTrusted(why)) => why,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn our_own_regular_file_is_trusted_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let (path, trust) = (folder.path().join("map"), our_own());
        assert_eq!(opened(&trust, folder.path(), "map").unwrap_err(), Refusal::Absent);
        fs::write(&path, "1000 10 name\n").unwrap();
        assert!(opened(&trust, folder.path(), "map").is_ok());
        symlink(&path, folder.path().join("link")).unwrap();
        assert_eq!(why(&trust, folder.path(), "link"), "it is a symbolic link");
        let status = Command::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap();
        assert!(status.success());
        assert_eq!(why(&trust, folder.path(), "pipe"), "it is no regular file");
        fs::create_dir(folder.path().join("folder")).unwrap();
        assert_eq!(why(&trust, folder.path(), "folder"), "it is no regular file");
        fs::write(folder.path().join("large"), [b'x'; 101]).unwrap();
        assert!(why(&trust, folder.path(), "large").starts_with("it has 101 bytes"));
    }

    #[test]
    fn somebody_else_s_is_not_trusted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("map");
        fs::write(&path, "1000 10 name\n").unwrap();
        let owner = fs::metadata(&path).unwrap().uid();
        // A target that runs as another user than the file's owner; root's files are trusted by all.
        let other = Trust { users: vec![owner + 1], ..our_own() };
        if owner == 0 {
            assert!(opened(&other, folder.path(), "map").is_ok());
            chown(&path, Some(owner + 2), None).unwrap();
        }
        assert!(why(&other, folder.path(), "map").contains("belongs to user id"));
    }

    #[test]
    fn what_an_earlier_process_left_behind_is_not_trusted() {
        let folder = tempfile::tempdir().unwrap();
        let (path, trust) = (folder.path().join("map"), our_own());
        fs::write(&path, "1000 10 name\n").unwrap();
        let started =
            SystemTime::UNIX_EPOCH + Duration::from_secs(trust.started_unix_s.unwrap().unsigned_abs());
        let since = SystemTime::now().duration_since(started).unwrap_or_default();
        assert!(since < Duration::from_secs(24 * 3600), "a test runs no day: {since:?}");
        File::options()
            .append(true)
            .open(&path)
            .unwrap()
            .set_modified(started - Duration::from_secs(60))
            .unwrap();
        assert!(why(&trust, folder.path(), "map").contains("before the target started"));
    }
}
