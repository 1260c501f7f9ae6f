//! One pause: the calls of the pause functions, the touches and other doings between them, and what is measured around them.

use anyhow::Result;

use super::{
    acts::Act,
    clock::{now_ns, thread_cpu_ns},
    console,
    counters::{Faults, Switches, probe_page_mapped},
    kinds::Work,
    rehearsal,
    stats::ActStats,
    world,
};

/// What happens between the two halves of a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Midway {
    Nothing,
    WaitForLine,
    EndProcess,
}

/// A pause whose pages are prepared.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pause<'a> {
    pub(super) reason: u32,
    pub(super) before: &'a [Work],
    /// What is done besides, with the options' names.
    pub(super) acts: &'a [(&'static str, Box<dyn Act>)],
    pub(super) midway: Midway,
    pub(super) after: &'a [Work],
}

/// What was measured around a pause and in it.
#[derive(Clone, Debug, Default)]
pub(super) struct Measured {
    pub(super) stop_called_ns: u64,
    pub(super) stopping_ns: u64,
    pub(super) duration_ns: u64,
    /// Of the whole pause.
    pub(super) faults: Faults,
    /// Of each of its works, in their order.
    pub(super) by_work: Vec<Faults>,
    /// Of each of its acts, in their order.
    pub(super) by_act: Vec<ActStats>,
    pub(super) cpu_ns: u64,
    pub(super) switches: Switches,
    pub(super) probe_page_faults: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Performance {
    Rehearsal,
    Real,
}

impl Pause<'_> {
    /// Runs through all of the pause's code without pausing, so that none of it faults in the pause itself.
    /// `measured` is where the measurements will be put: its memory must be there too.
    ///
    /// It comes after all preparations: a fork among them made the stack and the data copy-on-write again.
    pub(super) fn rehearse(&self, measured: &mut Measured) -> Result<()> {
        measured.by_work = vec![Faults::default(); self.before.len() + self.after.len()];
        measured.by_act = vec![ActStats::default(); self.acts.len()];
        rehearsal::bring_in();
        self.perform(Performance::Rehearsal, measured)?;
        self.settle()
    }

    /// Makes the pause.
    pub(super) fn make(&self, measured: &mut Measured) -> Result<()> {
        let mapped_before = probe_page_mapped();
        // What was just done, and whatever was done since the rehearsal, can have needed code of its own.
        self.settle()?;
        self.perform(Performance::Real, measured)?;
        measured.probe_page_faults = u64::from(!mapped_before && probe_page_mapped());
        Ok(())
    }

    fn settle(&self) -> Result<()> {
        self.before.iter().chain(self.after).try_for_each(Work::settle)
    }

    #[inline(never)]
    fn perform(&self, performance: Performance, measured: &mut Measured) -> Result<()> {
        let real = performance == Performance::Real;
        let (by_before, by_after) = measured.by_work.split_at_mut(self.before.len());
        let (faults_before, switches_before) = (Faults::of_this_thread(), Switches::of_this_thread());
        let begin_cpu_ns = thread_cpu_ns();
        let begin_ns = now_ns();
        if real {
            world::pauselens_demo_stop_world(self.reason);
        }
        let stopped_ns = now_ns();
        go_through(self.before, performance, by_before);
        act_out(self.acts, performance, &mut measured.by_act);
        // An error is kept until the world runs again.
        let midway = if real { self.midway() } else { Ok(()) };
        go_through(self.after, performance, by_after);
        if real {
            world::pauselens_demo_start_world();
        }
        let end_ns = now_ns();
        measured.cpu_ns = thread_cpu_ns() - begin_cpu_ns;
        measured.faults = Faults::of_this_thread().since(faults_before);
        measured.switches = Switches::of_this_thread().since(switches_before);
        measured.stop_called_ns = begin_ns;
        measured.stopping_ns = stopped_ns - begin_ns;
        measured.duration_ns = end_ns - begin_ns;
        midway
    }

    fn midway(&self) -> Result<()> {
        match self.midway {
            Midway::Nothing => Ok(()),
            Midway::WaitForLine => {
                console::say(console::HOLDING)?;
                console::wait_for_line()
            }
            // SAFETY: nothing is left to be done: what there is to say has been said.
            Midway::EndProcess => unsafe { libc::_exit(0) },
        }
    }
}

fn go_through(works: &[Work], performance: Performance, by_work: &mut [Faults]) {
    for (work, faults) in works.iter().zip(by_work) {
        let before = Faults::of_this_thread();
        match performance {
            Performance::Rehearsal => work.rehearse(),
            Performance::Real => work.perform(),
        }
        *faults = Faults::of_this_thread().since(before);
    }
}

fn act_out(acts: &[(&str, Box<dyn Act>)], performance: Performance, by_act: &mut [ActStats]) {
    for ((_, act), stats) in acts.iter().zip(by_act) {
        let (begin_ns, begin_cpu_ns) = (now_ns(), thread_cpu_ns());
        match performance {
            Performance::Rehearsal => act.rehearse(),
            Performance::Real => act.perform(),
        }
        stats.cpu_ns = thread_cpu_ns() - begin_cpu_ns;
        stats.elapsed_ns = now_ns() - begin_ns;
    }
}
