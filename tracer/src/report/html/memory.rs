//! The state of memory over time.

use serde::Serialize;

use crate::recording::line::{self, Memory};

/// At most so many samples; then every second one, third one, ..., and those at the end of pauses, as far as they fit.
const MOST: usize = 3_000;

/// Samples by column; what is not known is null.
#[derive(Debug, Default, Serialize)]
pub(super) struct Samples {
    /// How many there are in the recording.
    pub(super) of: usize,
    /// When.
    at_ns: Vec<i64>,
    /// The pause at whose end it was.
    at_end_of: Vec<Option<u64>>,
    resident_bytes: Vec<Option<u64>>,
    swapped_bytes: Vec<Option<u64>>,
    cgroup_used_bytes: Vec<Option<u64>>,
    cgroup_swapped_bytes: Vec<Option<u64>>,
    cgroup_high_bytes: Vec<Option<u64>>,
    cgroup_max_bytes: Vec<Option<u64>>,
    available_bytes: Vec<Option<u64>>,
    swap_free_bytes: Vec<Option<u64>>,
    /// Bytes per second that the host read from swap since the sample before.
    swap_in_rate: Vec<Option<u64>>,
    /// The same for what it wrote.
    swap_out_rate: Vec<Option<u64>>,
    /// Share of the last 10 s in which a task of the cgroup stalled on memory, in percent; the host's without a cgroup.
    pressure_percent: Vec<Option<f64>>,
    /// The cgroup's path.
    cgroup: Option<String>,
}

impl Samples {
    /// Those of one process.
    pub(super) fn of(process: u32, memory: &[Memory]) -> Self {
        let own: Vec<&Memory> = memory.iter().filter(|sample| sample.process == process).collect();
        let step = own.len().div_ceil(MOST).max(1);
        let mut samples = Self { of: own.len(), ..Self::default() };
        let mut before: Option<&Memory> = None;
        for (index, sample) in own.iter().enumerate() {
            if index % step != 0 && index + 1 != own.len() {
                continue;
            }
            samples.push(sample, before);
            before = Some(sample);
        }
        samples.cgroup =
            own.iter().find_map(|sample| sample.cgroup.as_ref()).map(|cgroup| cgroup.path.clone());
        samples
    }

    fn push(&mut self, sample: &Memory, before: Option<&Memory>) {
        let (cgroup, system) = (sample.cgroup.as_ref(), sample.system.as_ref());
        self.at_ns.push(sample.at_ns);
        self.at_end_of.push(sample.at_end_of);
        self.resident_bytes.push(sample.resident_bytes);
        self.swapped_bytes.push(sample.swapped_bytes);
        self.cgroup_used_bytes.push(cgroup.and_then(|cgroup| cgroup.used_bytes));
        self.cgroup_swapped_bytes.push(cgroup.and_then(|cgroup| cgroup.swapped_bytes));
        self.cgroup_high_bytes.push(cgroup.and_then(|cgroup| cgroup.high_bytes));
        self.cgroup_max_bytes.push(cgroup.and_then(|cgroup| cgroup.max_bytes));
        self.available_bytes.push(system.and_then(|system| system.available_bytes));
        self.swap_free_bytes.push(system.and_then(|system| system.swap_free_bytes));
        self.swap_in_rate.push(rate(sample, before, |system| system.swapped_in_bytes));
        self.swap_out_rate.push(rate(sample, before, |system| system.swapped_out_bytes));
        let pressure = cgroup
            .and_then(|cgroup| cgroup.pressure.as_ref())
            .or_else(|| system.and_then(|system| system.pressure.as_ref()));
        self.pressure_percent.push(pressure.map(|pressure| pressure.some.avg10_percent));
    }
}

fn rate(sample: &Memory, before: Option<&Memory>, of: impl Fn(&line::System) -> Option<u64>) -> Option<u64> {
    let before = before?;
    let grown = of(sample.system.as_ref()?)?.checked_sub(of(before.system.as_ref()?)?)?;
    let ns = u128::try_from(i128::from(sample.at_ns) - i128::from(before.at_ns)).ok().filter(|&ns| ns > 0)?;
    u64::try_from(u128::from(grown) * 1_000_000_000 / ns).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(at_ns: i64, swapped_in_bytes: Option<u64>) -> Memory {
        let system = Some(line::System { swapped_in_bytes, ..line::System::default() });
        Memory { process: 1, at_ns, system, ..Memory::default() }
    }

    #[test]
    fn rates_need_two_known_samples() {
        let memory = [sample(0, Some(10)), sample(500_000_000, Some(20)), sample(600_000_000, None)];
        let samples = Samples::of(1, &memory);
        assert_eq!(samples.swap_in_rate, [None, Some(20), None]);
        assert_eq!(samples.resident_bytes, [None; 3]);
        assert_eq!(Samples::of(2, &memory).of, 0);
    }

    #[test]
    fn many_samples_are_thinned_and_the_last_one_stays() {
        let memory: Vec<Memory> = (0..10_000).map(|at| sample(at, None)).collect();
        let samples = Samples::of(1, &memory);
        assert!(samples.at_ns.len() <= MOST + 1);
        assert_eq!((samples.of, samples.at_ns.last()), (10_000, Some(&9_999)));
    }
}
