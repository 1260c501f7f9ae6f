//! What can be asked of the demo target on its command line.

use std::{path::PathBuf, time::Duration};

use clap::Args;

use super::{acts::ActKind, kinds::Kind};

/// Options of the demo target. Without any that makes a pause, each round has a pause for each reason, one with
/// every kind of fault that can be had here, and an empty one. With some, each round has one pause with just those.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// First touches of anonymous pages, by writing
    #[arg(long, value_name = "PAGES", help_heading = "Faults in each pause")]
    pub first_touch: Option<usize>,
    /// First touches of anonymous pages, by reading: the zero page
    #[arg(long, value_name = "PAGES", help_heading = "Faults in each pause")]
    pub zero_page_read: Option<usize>,
    /// Writes to pages of a private file mapping that were read before
    #[arg(long, value_name = "PAGES", help_heading = "Faults in each pause")]
    pub cow_file: Option<usize>,
    /// Writes to anonymous pages shared with a child process
    #[arg(long, value_name = "PAGES", help_heading = "Faults in each pause")]
    pub cow_fork: Option<usize>,
    /// Writes to pages that showed the zero page
    #[arg(long, value_name = "PAGES", help_heading = "Faults in each pause")]
    pub cow_zero: Option<usize>,
    /// Reads of file pages that are in the page cache
    #[arg(long, value_name = "PAGES", help_heading = "Faults in each pause")]
    pub file_map: Option<usize>,
    /// Reads of file pages that must be read from the disk
    #[arg(long, value_name = "PAGES", help_heading = "Faults in each pause")]
    pub file_read: Option<usize>,
    /// Reads of pages of the program's own code that must be read from the disk
    #[arg(long, value_name = "PAGES", help_heading = "Faults in each pause")]
    pub cold_text: Option<usize>,
    /// First touches of shared memory
    #[arg(long, value_name = "PAGES", help_heading = "Faults in each pause")]
    pub shared_memory: Option<usize>,
    /// First touches of huge pages
    #[arg(long, value_name = "PAGES", help_heading = "Faults in each pause")]
    pub huge: Option<usize>,
    /// First touches made by the kernel inside read(2)
    #[arg(long, value_name = "PAGES", help_heading = "Faults in each pause")]
    pub kernel: Option<usize>,
    /// Reads of protected pages, each answered by a handler of SIGSEGV
    #[arg(long, value_name = "PAGES", help_heading = "Faults in each pause")]
    pub signal: Option<usize>,
    /// Reads of pages that were swapped out (needs a swap area)
    #[arg(long, value_name = "PAGES", help_heading = "Faults in each pause")]
    pub swap: Option<usize>,
    /// Faults answered by a userfaultfd handler after a delay
    #[arg(long, value_name = "PAGES", help_heading = "Faults in each pause")]
    pub userfault: Option<usize>,
    /// Pages populated with madvise: only the thread's own counters see them
    #[arg(long, value_name = "PAGES", help_heading = "Faults in each pause")]
    pub populate: Option<usize>,
    /// Like --first-touch, in MiB
    #[arg(long, value_name = "MIB", help_heading = "Faults in each pause")]
    pub touch_mib: Option<usize>,

    /// Wait on a futex, from which another thread wakes the driver after that time
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, help_heading = "Other doings in each pause")]
    pub futex_wait: Option<Duration>,
    /// Compute until that much of the driver's own CPU time is used
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, help_heading = "Other doings in each pause")]
    pub compute: Option<Duration>,
    /// Read that many pages of a file from the disk, with read(2), into memory that is there
    #[arg(long, value_name = "PAGES", help_heading = "Other doings in each pause")]
    pub file_io: Option<usize>,
    /// Compact the host's memory, on the driver's thread
    #[arg(long, help_heading = "Other doings in each pause")]
    pub compact: bool,

    /// How long the userfaultfd handler waits before each answer
    #[arg(long, value_name = "TIME", default_value = "10ms", value_parser = humantime::parse_duration)]
    pub userfault_delay: Duration,
    /// Another thread enters a userfaultfd fault of this length, and the stop waits for that thread
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub mutator_userfault_delay: Option<Duration>,
    /// Another thread computes when the stop is requested, and for that much of its CPU time after it; it and the driver
    /// have a CPU each
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, conflicts_with = "mutator_userfault_delay")]
    pub mutator_compute: Option<Duration>,
    /// How long the other thread has been in its fault when the stop is requested
    #[arg(long, value_name = "TIME", default_value = "10ms", value_parser = humantime::parse_duration)]
    pub mutator_lead: Duration,

    /// How many rounds of pauses
    #[arg(long, default_value_t = 5)]
    pub rounds: usize,
    /// Sleep after each pause
    #[arg(long, value_name = "TIME", default_value = "20ms", value_parser = humantime::parse_duration)]
    pub gap: Duration,
    /// After the rounds, so many empty pauses without a sleep
    #[arg(long, value_name = "PAUSES")]
    pub burst: Option<usize>,
    /// Pace of the burst (default: as fast as possible)
    #[arg(long, value_name = "RATE", requires = "burst", value_parser = clap::value_parser!(u64).range(1..))]
    pub pauses_per_second: Option<u64>,
    /// Threads that fault all the time, in and out of pauses
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    pub threads: usize,
    /// The same, by threads that count as workers of each pause
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    pub workers: usize,

    /// Wait for a line on standard input before the first pause
    #[arg(long)]
    pub wait_for_line: bool,
    /// Begin with a pause that is kept open until a line comes on standard input
    #[arg(long)]
    pub hold_open: bool,
    /// End the process in the middle of a last pause
    #[arg(long)]
    pub exit_inside: bool,
    /// Where the mapped files are made: on a disk
    #[arg(long, value_name = "FOLDER", default_value = "/var/tmp")]
    pub directory: PathBuf,
    /// Write what was done to this file too
    #[arg(long, value_name = "FILE")]
    pub stats: Option<PathBuf>,
}

impl Options {
    /// How many pages of the kind were asked for; `None` when nothing was said of it.
    pub(super) fn pages(&self, kind: Kind) -> Option<usize> {
        match kind {
            Kind::FirstTouch => self.first_touch,
            Kind::ZeroPageRead => self.zero_page_read,
            Kind::CowFile => self.cow_file,
            Kind::CowFork => self.cow_fork,
            Kind::CowZero => self.cow_zero,
            Kind::FileMap => self.file_map,
            Kind::FileRead => self.file_read,
            Kind::ColdText => self.cold_text,
            Kind::SharedMemory => self.shared_memory,
            Kind::Huge => self.huge,
            Kind::Kernel => self.kernel,
            Kind::Signal => self.signal,
            Kind::Swap => self.swap,
            Kind::Userfault => self.userfault,
            Kind::Populate => self.populate,
        }
    }

    /// What was asked for besides faults.
    pub(super) fn acts(&self) -> Vec<ActKind> {
        let all = [
            self.futex_wait.map(ActKind::FutexWait),
            self.compute.map(ActKind::Compute),
            self.file_io.map(ActKind::FileIo),
            self.compact.then_some(ActKind::Compact),
        ];
        all.into_iter().flatten().collect()
    }
}
