//! Separate debug files: the symbols of a file that was stripped, where distributions and debuggers keep them.
//!
//! A file names its debug file in two ways (GDB's manual, "Debugging Information in Separate Files"): by its build id,
//! `/usr/lib/debug/.build-id/ab/cdef….debug`, and by the section `.gnu_debuglink`, a file name and a checksum: next to the
//! file, in `.debug/` beside it, or under `/usr/lib/debug` followed by the file's own folder. Each place is looked at in
//! the target's root first, and then on the host. A file is used only if its build id, or without one its checksum, is right.

use std::{
    ffi::{OsStr, OsString},
    fmt,
    fs::File,
    io::{self, Read as _},
    os::{
        fd::OwnedFd,
        unix::{ffi::OsStrExt as _, fs::MetadataExt as _},
    },
    path::{Path, PathBuf},
};

use object::{LittleEndian, read::elf::SectionHeader as _};
use rustix::fs::{Mode, OFlags, ResolveFlags, open, openat2};

use super::Image;

/// Where distributions put debug files.
const DEBUG_ROOT: &str = "/usr/lib/debug";
/// A build id that is shorter is no identity.
const SHORTEST_BUILD_ID: usize = 8;
/// A file without a build id is read as a whole for its checksum: no more of it than this.
const MOST_CHECKED_BYTES: u64 = 2 << 30;
/// The kernel's mark of a file that has no name any more.
const DELETED: &[u8] = b" (deleted)";

/// A debug file that belongs to the file it was looked for.
#[derive(Debug)]
pub struct DebugFile {
    /// Its tables. Their addresses are those of the stripped file; it has no code, so the file offsets of places must come from
    /// the stripped file.
    pub image: Image,
    /// Its path, in the root that it was found in.
    pub path: PathBuf,
    /// Whether that is the host's root, and not the target's.
    pub on_host: bool,
}

/// A place that was looked at in vain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// The path.
    pub path: PathBuf,
    /// Whether on the host, or in the target's root.
    pub on_host: bool,
    /// Why the file there is not the one.
    pub why: String,
}

/// No debug file was found.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
pub struct NoDebugFile {
    /// Everywhere that was looked. Empty: the file names none, neither by a build id nor by a debug link.
    pub tried: Vec<Tried>,
}

impl fmt::Display for NoDebugFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.tried.is_empty() {
            return f
                .write_str("it names no separate debug file: it has neither a build id nor a debug link");
        }
        f.write_str("no separate debug file: ")?;
        for (index, tried) in self.tried.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            let place = if tried.on_host { "" } else { " (in the target's root)" };
            write!(f, "{separator}{}{place}: {}", tried.path.display(), tried.why)?;
        }
        Ok(())
    }
}

/// Finds the separate debug file of `image`. `root_of_target` is a folder that stands for the target's root, such as
/// `/proc/PID/root`; links in it are followed within it. The file's own folder is that of [`Image::shown_as`].
///
/// # Errors
/// There is none, or none that is this file's: with everything that was tried.
pub fn find_debug_file(image: &Image, root_of_target: &Path) -> Result<DebugFile, NoDebugFile> {
    let candidates = candidates(image);
    let mut nothing = NoDebugFile::default();
    let same_root = is_same(root_of_target, Path::new("/")) && has_our_mounts(root_of_target);
    let roots = [(root_of_target, false), (Path::new("/"), true)];
    for (root, on_host) in roots.into_iter().filter(|(_, on_host)| *on_host || !same_root) {
        let directory = open(root, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
        for path in &candidates {
            let opened = match &directory {
                Ok(directory) => open_inside(directory, path).map_err(|error| words(&error)),
                Err(errno) => Err(format!("the root can't be opened ({errno})")),
            };
            match opened.and_then(|file| verified(image, file, path)) {
                Ok(found) => return Ok(DebugFile { image: found, path: path.clone(), on_host }),
                Err(why) => nothing.tried.push(Tried { path: path.clone(), on_host, why }),
            }
        }
    }
    Err(nothing)
}

fn words(error: &io::Error) -> String {
    if error.kind() == io::ErrorKind::NotFound { "there is none".to_owned() } else { error.to_string() }
}

fn is_same(one: &Path, other: &Path) -> bool {
    let of = |path: &Path| path.metadata().ok().map(|metadata| (metadata.dev(), metadata.ino()));
    of(one).is_some_and(|id| Some(id) == of(other))
}

/// Whether what is mounted below that root of a process is what is mounted here: a mount namespace of its own can have other
/// things below the same root. A root that is no process's is a folder here.
fn has_our_mounts(root_of_target: &Path) -> bool {
    let theirs = root_of_target.parent().and_then(|process| process.join("ns/mnt").read_link().ok());
    theirs.is_none() || theirs == Path::new("/proc/self/ns/mnt").read_link().ok()
}

/// Opens a regular file; nothing in the path leads out of the root.
fn open_inside(root: &OwnedFd, path: &Path) -> io::Result<File> {
    let path = path.strip_prefix("/").unwrap_or(path);
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let inside = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
    let file = File::from(openat2(root, path, flags, Mode::empty(), inside)?);
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is no regular file")) }
}

/// All paths that may lead to the file, the surest first.
fn candidates(image: &Image) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    if let Some(id) = image.build_id().filter(|id| id.len() >= SHORTEST_BUILD_ID) {
        let hex: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
        paths.push(PathBuf::from(format!("{DEBUG_ROOT}/.build-id/{}/{}.debug", &hex[..2], &hex[2..])));
    }
    let own = own_path(image.shown_as());
    if let (Some((name, _)), Some(folder)) =
        (debug_link(image), own.parent().filter(|path| path.is_absolute()))
    {
        paths.push(folder.join(&name));
        paths.push(folder.join(".debug").join(&name));
        let below = folder.strip_prefix("/").unwrap_or(folder);
        paths.push(Path::new(DEBUG_ROOT).join(below).join(&name));
    }
    // A file that names itself has nothing to add.
    paths.retain(|path| *path != own);
    paths
}

fn own_path(shown_as: &Path) -> PathBuf {
    let bytes = shown_as.as_os_str().as_bytes();
    PathBuf::from(OsStr::from_bytes(bytes.strip_suffix(DELETED).unwrap_or(bytes)))
}

/// `.gnu_debuglink`: a file name ended by a zero byte, padding to four bytes, and the CRC-32 of the debug file.
fn debug_link(image: &Image) -> Option<(OsString, u32)> {
    let sections = image.sections()?;
    let (_, section) = sections.section_by_name(LittleEndian, b".gnu_debuglink")?;
    let bytes = section.data(LittleEndian, image.file_bytes()).ok()?;
    let length = bytes.iter().position(|byte| *byte == 0)?;
    let name = &bytes[..length];
    let checksum = bytes.get((length + 1).next_multiple_of(4)..)?.first_chunk::<4>()?;
    // Only a name: what else is there would lead elsewhere.
    let plain = !name.is_empty() && !name.contains(&b'/') && name != b".." && name != b".";
    plain.then(|| (OsStr::from_bytes(name).to_owned(), u32::from_le_bytes(*checksum)))
}

/// The file as an image, if it is the debug file of `image`.
fn verified(image: &Image, file: File, path: &Path) -> Result<Image, String> {
    let wanted = image.build_id().filter(|id| id.len() >= SHORTEST_BUILD_ID);
    let checksum = debug_link(image).map(|(_, checksum)| checksum);
    let debug = Image::open_debug(file, path.to_owned()).map_err(|error| error.to_string())?;
    match (wanted, debug.build_id(), checksum) {
        (Some(wanted), Some(found), _) if wanted == found => {}
        (Some(_), Some(_), _) => return Err("it has another build id: it is of another build".to_owned()),
        (_, _, Some(wanted)) => {
            let found = checksum_of(debug.file()).map_err(|error| format!("its checksum: {error}"))?;
            if found != wanted {
                return Err(format!("its checksum is {found:08x}, and {wanted:08x} is needed"));
            }
        }
        _ => return Err("it has no build id to know it by".to_owned()),
    }
    if debug.has_symbols() { Ok(debug) } else { Err("it has no symbol table".to_owned()) }
}

fn checksum_of(file: &File) -> io::Result<u32> {
    let bytes = file.metadata()?.len();
    if bytes > MOST_CHECKED_BYTES {
        return Err(io::Error::other(format!("{bytes} bytes are more than is read ({MOST_CHECKED_BYTES})")));
    }
    let mut hasher = crc32fast::Hasher::new();
    let mut buffer = vec![0; 1 << 20];
    let mut reader = file.take(MOST_CHECKED_BYTES);
    loop {
        match reader.read(&mut buffer)? {
            0 => return Ok(hasher.finalize()),
            read => hasher.update(&buffer[..read]),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::elf::{
        SymbolSource, find_functions,
        test_files::{compile, open},
    };

    const SOURCE: &str = "
        static __attribute__((noinline)) int hidden(int x) { __asm__ volatile(\"\"); return 2 * x; }
        int main(int argc, char **argv) { (void)argv; return hidden(argc); }";

    fn run(tool: &str, arguments: &[&OsStr]) {
        let output = Command::new(tool).args(arguments).output().unwrap();
        assert!(output.status.success(), "{tool} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// A stripped program `root/program` and its debug file `root/NAME`, linked by a debug link.
    fn split(root: &Path, name: &str, arguments: &[&str]) -> (PathBuf, PathBuf) {
        let program = compile(root, SOURCE, arguments);
        let debug = root.join(name);
        std::fs::create_dir_all(debug.parent().unwrap()).unwrap();
        run("objcopy", &["--only-keep-debug".as_ref(), program.as_ref(), debug.as_ref()]);
        run("strip", &[program.as_ref()]);
        let mut link = OsString::from("--add-gnu-debuglink=");
        link.push(&debug);
        run("objcopy", &[&link, program.as_ref()]);
        (program, debug)
    }

    /// The program as the target names it: its root is the folder.
    fn seen_in(root: &Path, program: &Path) -> Image {
        let inside = Path::new("/").join(program.strip_prefix(root).unwrap());
        Image::open(File::open(program).unwrap(), inside).unwrap()
    }

    #[test]
    fn next_to_the_file_and_beside_it_and_below_the_debug_root() {
        for name in ["program.debug", ".debug/program.debug", "usr/lib/debug/program.debug"] {
            let root = tempfile::tempdir().unwrap();
            let (program, _) = split(root.path(), name, &["-O1"]);
            let image = seen_in(root.path(), &program);
            assert_eq!(find_functions(&image, &["hidden"]), [], "it is stripped");
            let found = find_debug_file(&image, root.path()).unwrap();
            assert_eq!((found.path, found.on_host), (Path::new("/").join(name), false));
            let hidden = find_functions(&found.image, &["hidden"]).remove(0);
            assert_eq!(hidden.source, SymbolSource::Symtab);
            assert!(image.is_executable(hidden.address), "its addresses are the stripped file's");
            assert!(image.bytes(hidden.address, 1).is_some());
        }
    }

    #[test]
    fn by_build_id_through_a_link_that_stays_in_the_root() {
        let root = tempfile::tempdir().unwrap();
        let (program, debug) = split(root.path(), "elsewhere/file.debug", &["-O1"]);
        let image = seen_in(root.path(), &program);
        let hex: String = image.build_id().unwrap().iter().map(|byte| format!("{byte:02x}")).collect();
        let folder = root.path().join("usr/lib/debug/.build-id").join(&hex[..2]);
        std::fs::create_dir_all(&folder).unwrap();
        let link = folder.join(format!("{}.debug", &hex[2..]));
        // Absolute: in the target's own view.
        std::os::unix::fs::symlink("/elsewhere/file.debug", &link).unwrap();
        let found = find_debug_file(&image, root.path()).unwrap();
        assert_eq!(found.path, Path::new("/").join(link.strip_prefix(root.path()).unwrap()));
        // Out of the root it leads nowhere, even if there is such a file.
        std::fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink(
            Path::new("../../../../../..").join(debug.strip_prefix("/").unwrap()),
            &link,
        )
        .unwrap();
        let tried = find_debug_file(&image, root.path()).unwrap_err().tried;
        assert_eq!((tried[0].on_host, tried[0].why.as_str()), (false, "there is none"), "{tried:?}");
    }

    #[test]
    fn a_file_of_another_build_is_not_used() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (program, debug) = split(one.path(), "program.debug", &["-O1"]);
        let (_, wrong) = split(other.path(), "program.debug", &["-O0"]);
        std::fs::copy(wrong, debug).unwrap();
        let error = find_debug_file(&seen_in(one.path(), &program), one.path()).unwrap_err();
        assert!(error.to_string().contains("another build"), "{error}");
        assert!(error.tried.iter().any(|tried| tried.on_host), "the host was asked too: {error}");
    }

    #[test]
    fn without_a_build_id_the_checksum_decides() {
        let root = tempfile::tempdir().unwrap();
        let (program, debug) = split(root.path(), "program.debug", &["-O1", "-Wl,--build-id=none"]);
        let image = seen_in(root.path(), &program);
        assert_eq!(image.build_id(), None);
        assert!(find_debug_file(&image, root.path()).is_ok());
        let mut bytes = std::fs::read(&debug).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(&debug, bytes).unwrap();
        let error = find_debug_file(&image, root.path()).unwrap_err().to_string();
        assert!(error.contains("its checksum is"), "{error}");
    }

    #[test]
    fn damaged_and_odd_files_are_passed_over() {
        let root = tempfile::tempdir().unwrap();
        let (program, debug) = split(root.path(), "program.debug", &["-O1"]);
        let image = seen_in(root.path(), &program);
        let whole = std::fs::read(&debug).unwrap();
        for length in [0, 3, 40, whole.len() / 2, whole.len() - 10] {
            std::fs::write(&debug, &whole[..length]).unwrap();
            let error = find_debug_file(&image, root.path()).unwrap_err();
            assert!(!error.tried.is_empty(), "{error}");
        }
        std::fs::remove_file(&debug).unwrap();
        run("mkfifo", &[debug.as_ref()]);
        let error = find_debug_file(&image, root.path()).unwrap_err().to_string();
        assert!(error.contains("no regular file"), "{error}");
        let plain = open(&compile(root.path(), SOURCE, &["-Wl,--build-id=none"]));
        assert_eq!(find_debug_file(&plain, root.path()).unwrap_err(), NoDebugFile::default());
    }
}
