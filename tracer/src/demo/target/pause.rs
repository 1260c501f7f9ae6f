//! One pause: the calls of the pause functions, the touches between them, and what is measured around them.

use std::hint::black_box;

use anyhow::Result;

use super::{
    clock::now_ns,
    console,
    counters::{Faults, probe_page_mapped},
    kinds::Work,
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
    pub(super) midway: Midway,
    pub(super) after: &'a [Work],
}

/// What was measured around a pause and in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    pub(super) stop_called_ns: u64,
    pub(super) stopping_ns: u64,
    pub(super) duration_ns: u64,
    pub(super) faults: Faults,
    pub(super) probe_page_faults: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Performance {
    Rehearsal,
    Real,
}

impl Pause<'_> {
    /// Runs through all of the pause's code without pausing, so that none of it faults in the pause itself.
    ///
    /// It comes after all preparations: a fork among them made the stack and the data copy-on-write again.
    pub(super) fn rehearse(&self) -> Result<()> {
        world::rehearse();
        console::rehearse();
        touch_stack();
        self.perform(Performance::Rehearsal).map(drop)
    }

    /// Makes the pause.
    pub(super) fn make(&self) -> Result<Measured> {
        let mapped_before = probe_page_mapped();
        let mut measured = self.perform(Performance::Real)?;
        measured.probe_page_faults = u64::from(!mapped_before && probe_page_mapped());
        Ok(measured)
    }

    #[inline(never)]
    fn perform(&self, performance: Performance) -> Result<Measured> {
        let real = performance == Performance::Real;
        let faults_before = Faults::of_this_thread();
        let begin_ns = now_ns();
        if real {
            world::pauselens_demo_stop_world(self.reason);
        }
        let stopped_ns = now_ns();
        go_through(self.before, performance);
        // An error is kept until the world runs again.
        let midway = if real { self.midway() } else { Ok(()) };
        go_through(self.after, performance);
        if real {
            world::pauselens_demo_start_world();
        }
        let end_ns = now_ns();
        let faults = Faults::of_this_thread().since(faults_before);
        midway?;
        Ok(Measured {
            stop_called_ns: begin_ns,
            stopping_ns: stopped_ns - begin_ns,
            duration_ns: end_ns - begin_ns,
            faults,
            probe_page_faults: 0,
        })
    }

    fn midway(&self) -> Result<()> {
        match self.midway {
            Midway::Nothing => Ok(()),
            Midway::WaitForLine => {
                console::say("holding\n")?;
                console::wait_for_line()
            }
            // SAFETY: nothing is left to be done: what there is to say has been said.
            Midway::EndProcess => unsafe { libc::_exit(0) },
        }
    }
}

/// Writes to the stack below: the pause's frames need not be where the rehearsal's were.
#[inline(never)]
fn touch_stack() {
    let mut frames = [0_u8; 64 * 1024];
    for page in frames.chunks_mut(1024) {
        // Through a black box, as nothing else reads it.
        page[0] = black_box(1);
    }
    black_box(&mut frames);
}

fn go_through(works: &[Work], performance: Performance) {
    for work in works {
        match performance {
            Performance::Rehearsal => work.rehearse(),
            Performance::Real => work.perform(),
        }
    }
}
