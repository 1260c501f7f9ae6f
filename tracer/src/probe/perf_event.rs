//! Opening perf events and putting programs on them.
//!
//! aya opens these events too, but without `inherit_thread` and `exclude_user`, and it looks for tracepoint numbers
//! in a mounted tracefs only; programs and maps are aya's all the same.

use std::{
    ffi::CString,
    fs::{self, File},
    io,
    os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd},
};

use perf_event_open_sys::{
    bindings::{
        PERF_COUNT_SW_PAGE_FAULTS, PERF_COUNT_SW_PAGE_FAULTS_MAJ, PERF_COUNT_SW_PAGE_FAULTS_MIN,
        PERF_FLAG_FD_CLOEXEC, PERF_TYPE_SOFTWARE, PERF_TYPE_TRACEPOINT, perf_event_attr,
    },
    ioctls,
};

use super::plan::SoftwareEvent;

/// Puts a program on a tracepoint; it runs until the returned descriptor is closed.
///
/// # Errors
/// What perf_event_open(2) or the ioctl said.
pub(super) fn attach_tracepoint(id: u64, program: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let mut attributes = perf_event_attr { type_: PERF_TYPE_TRACEPOINT, config: id, ..Default::default() };
    attributes.__bindgen_anon_1.sample_period = 1;
    // The program runs on every CPU, whichever the event was opened for, and also while the event itself is off; so
    // it stays off, and nothing but the program is run.
    attributes.set_disabled(1);
    let event = open(&mut attributes, -1, 0)?;
    set_program(&event, program)?;
    Ok(event)
}

/// Puts a program on an instruction of a file, as one process executes it, and has the kernel raise the counter at
/// `semaphore_offset` in that process's memory for as long as the returned descriptor is open.
///
/// The fields are those of `/sys/bus/event_source/devices/uprobe/format/` (Linux 4.20).
///
/// # Errors
/// What perf_event_open(2) or the ioctl said; the kernel has no uprobe events.
pub(super) fn attach_uprobe_event(
    program: BorrowedFd<'_>,
    file: &File,
    offset: u64,
    semaphore_offset: u64,
    pid: u32,
) -> io::Result<OwnedFd> {
    const TYPE: &str = "/sys/bus/event_source/devices/uprobe/type";
    let number = fs::read_to_string(TYPE)?;
    let number = number.trim().parse().map_err(|_| io::Error::other(format!("{TYPE} holds {number:?}")))?;
    let path = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd())).map_err(io::Error::other)?;
    let mut attributes =
        perf_event_attr { type_: number, config: semaphore_offset << 32, ..Default::default() };
    attributes.__bindgen_anon_3.config1 = path.as_ptr() as u64;
    attributes.__bindgen_anon_4.config2 = offset;
    let event = open(&mut attributes, i32::try_from(pid).map_err(io::Error::other)?, -1)?;
    set_program(&event, program)?;
    Ok(event)
}

/// Puts a program on a software event of one thread, inherited by the threads that it creates.
///
/// # Errors
/// What perf_event_open(2) or the ioctl said; `ESRCH` when the thread is gone.
pub(super) fn attach_software(
    event: SoftwareEvent,
    tid: u32,
    program: BorrowedFd<'_>,
) -> io::Result<OwnedFd> {
    let event = open_software(event, i32::try_from(tid).map_err(io::Error::other)?)?;
    set_program(&event, program)?;
    Ok(event)
}

/// Opens a software event on a thread (0: the calling one) without a program.
///
/// # Errors
/// What perf_event_open(2) said.
pub fn open_software(event: SoftwareEvent, tid: i32) -> io::Result<OwnedFd> {
    let config = match event {
        SoftwareEvent::PageFaults | SoftwareEvent::PageFaultsKernelMode => PERF_COUNT_SW_PAGE_FAULTS,
        SoftwareEvent::PageFaultsMinor => PERF_COUNT_SW_PAGE_FAULTS_MIN,
        SoftwareEvent::PageFaultsMajor => PERF_COUNT_SW_PAGE_FAULTS_MAJ,
    };
    let mut attributes =
        perf_event_attr { type_: PERF_TYPE_SOFTWARE, config: u64::from(config), ..Default::default() };
    attributes.__bindgen_anon_1.sample_period = 1;
    attributes.set_inherit(1);
    // Threads only, not child processes: Linux 5.13 and later.
    attributes.set_inherit_thread(1);
    attributes.set_exclude_user(u64::from(event == SoftwareEvent::PageFaultsKernelMode));
    open(&mut attributes, tid, -1).or_else(|error| {
        if error.raw_os_error() != Some(libc::EINVAL) {
            return Err(error);
        }
        attributes.set_inherit_thread(0);
        open(&mut attributes, tid, -1)
    })
}

/// Whether software events can be opened at all, on the calling thread.
///
/// # Errors
/// What perf_event_open(2) said.
pub fn probe_software() -> io::Result<()> {
    open_software(SoftwareEvent::PageFaultsMajor, 0).map(drop)
}

fn open(attributes: &mut perf_event_attr, pid: i32, cpu: i32) -> io::Result<OwnedFd> {
    attributes.size = u32::try_from(size_of::<perf_event_attr>()).map_err(io::Error::other)?;
    // SAFETY: the attributes are a live, initialised struct of the size given.
    let descriptor = unsafe {
        perf_event_open_sys::perf_event_open(attributes, pid, cpu, -1, u64::from(PERF_FLAG_FD_CLOEXEC))
    };
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a descriptor that the kernel has just made, owned by nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

fn set_program(event: &OwnedFd, program: BorrowedFd<'_>) -> io::Result<()> {
    let program = u32::try_from(program.as_raw_fd()).map_err(io::Error::other)?;
    // SAFETY: both descriptors are open for the whole call.
    if unsafe { ioctls::SET_BPF(event.as_raw_fd(), program) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
