//! Runs the demo target: sets up, waits if told to, makes the pauses, says what was done.

use std::{fs, process, thread};

use anyhow::{Context as _, Result};

use super::{
    account,
    acts::{self, Act},
    burst::burst,
    console, facts,
    kinds::{DEFAULT_KINDS, Kind, Work, prepare},
    options::Options,
    own_tid::tid,
    pause::{Measured, Midway, Pause},
    pinning::{self, Cpu},
    plan::{Plan, PlannedPause, plan},
    reasons,
    stats::Stats,
    threads::{Bystanders, ComputingMutator, Mutator, open_userfaultfd},
};

/// Runs the demo target to its end.
///
/// Standard output has `ready PID`, then `holding` inside a pause that is held open, then one line of JSON
/// ([`Stats`]).
///
/// # Errors
///
/// Something that was asked for can't be had here, or memory, files or threads could not be set up.
pub fn run(options: &Options) -> Result<()> {
    let page_bytes = rustix::param::page_size();
    let plan = plan(
        options,
        page_bytes,
        |kind| facts::missing(kind, options),
        |act| facts::missing_act(act, options),
    )?;
    // A program that answers its own page faults holds such a descriptor all the time, and a tracer can look for it.
    let _userfaults = plan.answers_faults().then(open_userfaultfd).transpose()?;
    let mutators_cpu = pin_driver(&plan)?;
    let bystanders = Bystanders::start(options.threads, options.workers)?;
    let mut stats = Stats {
        pid: process::id(),
        tid: tid(),
        page_bytes: page_bytes as u64,
        total_pauses: 0,
        exact: true,
        left_out: plan.left_out,
        pauses: Vec::new(),
        burst: None,
        bystanders: Vec::new(),
    };
    console::say(&format!("ready {}\n", process::id()))?;
    if options.wait_for_line {
        console::wait_for_line()?;
    }
    if options.hold_open {
        held_pause(options, &mut stats)?;
    }
    for round in 1..=options.rounds as u64 {
        for planned in &plan.pauses {
            planned_pause(planned, round, options, mutators_cpu, &mut stats)?;
            thread::sleep(options.gap);
        }
    }
    if let Some(count) = options.burst {
        let burst = burst(count, options.pauses_per_second);
        stats.total_pauses += burst.count;
        stats.burst = Some(burst);
    }
    if options.exit_inside {
        last_pause(options, bystanders, stats)
    } else {
        stats.bystanders = bystanders.finish();
        report(options, &stats)
    }
}

fn planned_pause(
    planned: &PlannedPause,
    round: u64,
    options: &Options,
    mutators_cpu: Option<Cpu>,
    stats: &mut Stats,
) -> Result<()> {
    let works: Vec<Work> =
        planned.pages.iter().map(|(kind, pages)| prepare(*kind, *pages, options)).collect::<Result<_>>()?;
    let acts: Vec<(&str, Box<dyn Act>)> = planned
        .acts
        .iter()
        .map(|act| Ok((act.name(), acts::prepare(*act, options)?)))
        .collect::<Result<_>>()?;
    let pause =
        Pause { reason: planned.reason, before: &works, acts: &acts, midway: Midway::Nothing, after: &[] };
    let mutator = options
        .mutator_userfault_delay
        .filter(|_| planned.with_mutator)
        .map(Mutator::prepare)
        .transpose()
        .context("could not prepare the mutator")?;
    let computing = options
        .mutator_compute
        .zip(mutators_cpu)
        .map(|(time, cpu)| ComputingMutator::prepare(time, cpu))
        .transpose()
        .context("could not prepare the mutator that computes")?;
    let mut measured = Measured::default();
    pause.rehearse(&mut measured)?;
    if let Some(mutator) = &mutator {
        mutator.enter_fault(options.mutator_lead)?;
    }
    if let Some(mutator) = &computing {
        mutator.begin()?;
    }
    pause.make(&mut measured)?;
    stats.total_pauses += 1;
    let mut account = account::expected(stats.total_pauses, round, planned.reason, works.iter());
    account::measured(&mut account, &measured, &works);
    account::with_acts(&mut account, &measured, &acts);
    if let Some(mutator) = &mutator {
        mutator.go_on()?;
        account::with_mutator(&mut account, &measured, mutator);
    }
    if let Some(mutator) = &computing {
        mutator.go_on()?;
        account::with_computing_mutator(&mut account, mutator);
    }
    acts.iter().try_for_each(|(_, act)| act.outcome())?;
    stats.exact &= account.exact == Some(true);
    stats.pauses.push(account);
    Ok(())
}

/// Gives the driver a CPU of its own if the plan has a mutator that computes, and says which one that one is to have.
fn pin_driver(plan: &Plan) -> Result<Option<Cpu>> {
    if !plan.pauses.iter().any(|pause| pause.with_computing_mutator) {
        return Ok(None);
    }
    let [first, second] = pinning::two_cpus()?;
    pinning::pin_to(first)?;
    Ok(Some(second))
}

/// A pause that is open until a line comes, with touches before and after.
fn held_pause(options: &Options, stats: &mut Stats) -> Result<()> {
    let works = [first_touches(options)?, first_touches(options)?];
    let (before, after) = works.split_at(1);
    let pause = Pause { reason: reasons::FIRST_TOUCH, before, acts: &[], midway: Midway::WaitForLine, after };
    let mut measured = Measured::default();
    pause.rehearse(&mut measured)?;
    pause.make(&mut measured)?;
    stats.total_pauses += 1;
    let mut account = account::expected(stats.total_pauses, 0, pause.reason, works.iter());
    account::measured(&mut account, &measured, &works);
    stats.exact &= account.exact == Some(true);
    stats.pauses.push(account);
    Ok(())
}

/// A pause that the process does not survive: everything is said before it.
fn last_pause(options: &Options, bystanders: Bystanders, mut stats: Stats) -> Result<()> {
    let works = [first_touches(options)?];
    let pause = Pause {
        reason: reasons::FIRST_TOUCH,
        before: &works,
        acts: &[],
        midway: Midway::EndProcess,
        after: &[],
    };
    stats.total_pauses += 1;
    let mut account = account::expected(stats.total_pauses, 0, pause.reason, works.iter());
    account.ends_process = true;
    stats.pauses.push(account);
    stats.bystanders = bystanders.finish();
    report(options, &stats)?;
    let mut measured = Measured::default();
    pause.rehearse(&mut measured)?;
    pause.make(&mut measured)
}

fn first_touches(options: &Options) -> Result<Work> {
    let default =
        DEFAULT_KINDS.iter().find(|(kind, _)| *kind == Kind::FirstTouch).map_or(1, |(_, pages)| *pages);
    prepare(Kind::FirstTouch, options.first_touch.unwrap_or(default), options)
}

fn report(options: &Options, stats: &Stats) -> Result<()> {
    for pause in stats.pauses.iter().filter(|pause| pause.exact == Some(false)) {
        eprintln!(
            "demo-target: pause {} ({}) touched {:?}, but the thread counted {} minor and {} major faults: {:?}",
            pause.number,
            pause.reason_name,
            pause.touched,
            pause.minflt.unwrap_or(0),
            pause.majflt.unwrap_or(0),
            pause.counted,
        );
    }
    let mut line = serde_json::to_string(stats).context("could not write the statistics as JSON")?;
    line.push('\n');
    if let Some(path) = &options.stats {
        fs::write(path, &line).with_context(|| format!("could not write {}", path.display()))?;
    }
    console::say(&line)
}
