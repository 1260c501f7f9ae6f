//! The threads of a process.

use std::{fs, io, path::PathBuf};

/// The ids of the process's threads at this moment, in the tracer's pid namespace.
///
/// # Errors
/// When `/proc/PID/task` can't be read: the process is gone, or is not ours to look at.
pub fn thread_ids(pid: u32) -> io::Result<Vec<u32>> {
    let mut ids = Vec::new();
    for entry in fs::read_dir(format!("/proc/{pid}/task"))? {
        // An entry that vanishes while it is listed is a thread that ended.
        if let Some(id) = entry.ok().and_then(|entry| entry.file_name().to_str()?.parse().ok()) {
            ids.push(id);
        }
    }
    Ok(ids)
}

/// The thread's name, `None` when it can't be read.
#[must_use]
pub fn thread_name(pid: u32, tid: u32) -> Option<String> {
    let path: PathBuf = ["/proc", &pid.to_string(), "task", &tid.to_string(), "comm"].iter().collect();
    let name = fs::read(path).ok()?;
    Some(String::from_utf8_lossy(&name).trim_end_matches('\n').to_owned())
}

/// Where the stacks of the process's threads end now, as far as the kernel tells: the stack pointers of threads that
/// sleep, of the first `most` threads. Nobody is stopped for it (Linux `fs/proc/base.c`, `proc_pid_syscall`).
#[must_use]
pub fn stack_pointers(pid: u32, most: usize) -> Vec<u64> {
    let threads = thread_ids(pid).unwrap_or_default();
    let lines = threads
        .iter()
        .take(most)
        .filter_map(|tid| fs::read_to_string(format!("/proc/{pid}/task/{tid}/syscall")).ok());
    lines.filter_map(|line| parse_stack_pointer(&line)).collect()
}

/// `running`, or numbers of which the last two are the stack pointer and the instruction's address.
fn parse_stack_pointer(line: &str) -> Option<u64> {
    let pointer = line.split_ascii_whitespace().rev().nth(1)?;
    u64::from_str_radix(pointer.strip_prefix("0x")?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_without_a_stack_pointer_has_none() {
        let blocked = "202 0x5581d8 0x80 0x0 0x0 0x0 0x0 0x7ffd4e30 0x46b8a3\n";
        let table = [
            ("running\n", None),
            (blocked, Some(0x7ffd_4e30)),
            ("-1 0x7ffd4e30 0x46b8a3", Some(0x7ffd_4e30)),
            ("", None),
        ];
        for (line, pointer) in table {
            assert_eq!(parse_stack_pointer(line), pointer, "{line}");
        }
    }

    #[test]
    fn a_sleeping_thread_s_stack_is_found() {
        let (send, receive) = std::sync::mpsc::channel();
        let (done, wait) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            let local = 0_u8;
            send.send(std::ptr::from_ref(&local) as u64).expect("the test is there");
            let _ = wait.recv();
        });
        let local = receive.recv().expect("an address");
        // It may take a moment until it sleeps.
        let found = (0..1000).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(1));
            let pointers = stack_pointers(std::process::id(), usize::MAX);
            pointers.iter().any(|pointer| local.abs_diff(*pointer) < 16 << 10)
        });
        drop(done);
        thread.join().expect("ended");
        assert!(found, "no stack pointer near {local:#x}");
    }
}
