//! Traces, decoded again. What trace_processor makes of them is tested as root, on real recordings.

use std::io::Read as _;

use flate2::read::ZlibDecoder;
use prost::Message as _;

use super::{
    message::{Data, InternedName, SLICE_BEGIN, SLICE_END, Trace, TracePacket, TrackEvent, Value},
    *,
};
use crate::report::{fixtures, model::Report};

/// A slice, as readers put it together.
#[derive(Debug)]
struct Slice {
    name: String,
    category: String,
    begin: u64,
    end: u64,
    track: u64,
    arguments: HashMap<String, Value>,
}

fn packets(recording: &Recording) -> Vec<TracePacket> {
    let mut out = Vec::new();
    write(recording, &mut out).unwrap();
    let mut packets = Vec::new();
    for packet in Trace::decode(out.as_slice()).unwrap().packet {
        let Some(Data::Compressed(bytes)) = packet.data else { panic!("all are compressed: {packet:?}") };
        assert!(bytes.len() < 512 << 10);
        let mut whole = Vec::new();
        ZlibDecoder::new(bytes.as_slice()).read_to_end(&mut whole).unwrap();
        packets.extend(Trace::decode(whole.as_slice()).unwrap().packet);
    }
    packets
}

#[derive(Default)]
struct Names([HashMap<u64, String>; 4]);

impl Names {
    fn learn(&mut self, packet: &TracePacket) {
        let Some(data) = packet.interned_data.clone() else { return };
        let lists = [
            data.event_categories,
            data.event_names,
            data.debug_annotation_names,
            data.debug_annotation_string_values,
        ];
        for (names, list) in self.0.iter_mut().zip(lists) {
            for InternedName { iid, name } in list {
                assert!(names.insert(iid.unwrap(), name.unwrap()).is_none(), "a number has one string");
            }
        }
    }

    fn begun(&self, event: &TrackEvent, begin: u64) -> Slice {
        let [categories, names, argument_names, values] = &self.0;
        let value = |value: &Value| match value {
            Value::Interned(iid) => Value::Text(values[iid].clone()),
            value => value.clone(),
        };
        let arguments = event.debug_annotations.iter();
        Slice {
            name: names[&event.name_iid.unwrap()].clone(),
            category: categories[&event.category_iids[0]].clone(),
            begin,
            end: 0,
            track: event.track_uuid.unwrap(),
            arguments: arguments
                .map(|argument| {
                    let name = argument_names[&argument.name_iid.unwrap()].clone();
                    (name, value(argument.value.as_ref().unwrap()))
                })
                .collect(),
        }
    }
}

/// Reads slices as Perfetto does: sorted by time, an end ends the last one that has begun on its track.
fn slices(packets: &[TracePacket]) -> Vec<Slice> {
    let mut names = Names::default();
    let mut events = Vec::new();
    for packet in packets {
        names.learn(packet);
        if let Some(Data::Event(event)) = &packet.data {
            events.push((packet.timestamp.unwrap(), event));
        }
    }
    events.sort_by_key(|(at, _)| *at);
    let mut open: HashMap<u64, Vec<Slice>> = HashMap::new();
    let mut slices = Vec::new();
    for (at, event) in events {
        let on_track = open.entry(event.track_uuid.unwrap()).or_default();
        match event.r#type.unwrap() {
            SLICE_BEGIN => on_track.push(names.begun(event, at)),
            SLICE_END => slices.push(Slice { end: at, ..on_track.pop().expect("one has begun") }),
            message::INSTANT => slices.push(Slice { end: at, ..names.begun(event, at) }),
            _ => {}
        }
    }
    assert!(open.values().all(Vec::is_empty), "all have ended");
    slices
}

fn of_category<'a>(slices: &'a [Slice], category: &str) -> Vec<&'a Slice> {
    slices.iter().filter(|slice| slice.category == category).collect()
}

fn sum(slices: &[&Slice]) -> u64 {
    slices.iter().map(|slice| slice.end - slice.begin).sum()
}

fn read(reports: &[Report]) -> (Vec<TracePacket>, Vec<Slice>) {
    let (_file, recording) = fixtures::recorded(reports);
    let packets = packets(&recording);
    let slices = slices(&packets);
    (packets, slices)
}

#[test]
fn slices_add_up_to_the_summary() {
    let report = fixtures::story();
    let (packets, slices) = read(std::slice::from_ref(&report));
    let pauses = of_category(&slices, "pause");
    let listed: u64 = report.pauses.iter().map(|pause| pause.duration_ns.unwrap()).sum();
    assert_eq!((pauses.len(), sum(&pauses)), (report.pauses.len(), listed));
    let faults = of_category(&slices, "fault");
    assert_eq!((faults.len() as u64, sum(&faults)), (report.summary.faults, report.summary.in_faults_ns));
    assert_eq!(sum(&of_category(&slices, "phase")), listed);
    let budgets: u64 = report.pauses.iter().map(|pause| pause.budget.unwrap().sum_ns()).sum();
    assert_eq!(sum(&of_category(&slices, "budget")), budgets);
    let worst = pauses.iter().find(|slice| slice.arguments["pause"] == Value::Number(812)).unwrap();
    assert_eq!((worst.name.as_str(), worst.begin), ("GC sweep termination", 12_345_678_000));
    assert_eq!(worst.arguments["by_kind_swap_in_ns"], Value::Number(39_013_000));
    assert_eq!(worst.arguments["budget_fault_blocked_io_ns"], Value::Number(33_240_000));
    let phases = of_category(&slices, "phase")
        .into_iter()
        .filter(|slice| slice.track == worst.track && slice.begin >= worst.begin && slice.end <= worst.end);
    assert_eq!(
        phases.map(|phase| phase.name.as_str()).collect::<Vec<_>>(),
        ["stopping", "stopped", "restarting"]
    );
    let fault = faults.iter().find(|slice| slice.name == "swap_in").unwrap();
    assert_eq!(fault.arguments["function"], Value::Text("runtime.(*spanSet).push".to_owned()));
    assert_eq!(fault.arguments["address"], Value::Address(0x7f00_0000_0000));
    assert_eq!(fault.arguments["inferred"], Value::Text("region".to_owned()));
    assert_eq!(fault.arguments["in_summary"], Value::Flag(true));
    let Some(Data::Clocks(clocks)) = &packets[0].data else { panic!("clocks come first") };
    assert_eq!(clocks.primary_trace_clock, Some(message::MONOTONIC));
}

#[test]
fn counters_have_their_last_values() {
    let report = fixtures::story();
    let (packets, _) = read(std::slice::from_ref(&report));
    let mut names = HashMap::new();
    let mut values: HashMap<String, Vec<(u64, i64)>> = HashMap::new();
    for packet in &packets {
        match &packet.data {
            Some(Data::Track(track)) => {
                drop(names.insert(track.uuid, track.name.clone().unwrap_or_default()))
            }
            Some(Data::Event(event)) if event.r#type == Some(message::COUNTER) => {
                let name = names[&event.track_uuid].clone();
                values
                    .entry(name)
                    .or_default()
                    .push((packet.timestamp.unwrap(), event.counter_value.unwrap()));
            }
            _ => {}
        }
    }
    let last = |name: &str| values[name].iter().map(|(_, value)| *value).max().unwrap();
    assert_eq!(last("faults in pauses so far"), i64::try_from(report.summary.faults).unwrap());
    assert_eq!(last("time in faults in pauses so far"), i64::try_from(report.summary.in_faults_ns).unwrap());
    assert_eq!(last("resident memory"), 10 << 20);
    assert_eq!(last("swapped memory"), 3 << 20);
    assert_eq!(last("cgroup memory used"), 20 << 20);
    assert!(values.values().all(|values| values.len() == report.pauses.len()));
}

#[test]
fn what_has_no_details_is_told_at_the_end() {
    let mut report = fixtures::story();
    report.pauses[0].stacks.truncate(1);
    let (_, slices) = read(&[report]);
    let dropped = slices.iter().find(|slice| slice.name == DETAILS_DROPPED).unwrap();
    assert_eq!(dropped.arguments["faults"], Value::Number(11));
    assert_eq!(dropped.arguments["in_faults_ns"], Value::Number(1_893_000));
}

#[test]
fn pauses_that_were_not_seen_whole_are_moments() {
    let report = fixtures::partial();
    let (_, slices) = read(std::slice::from_ref(&report));
    assert!(of_category(&slices, "pause").is_empty());
    let known = |pause: &&crate::report::model::Pause| {
        pause.requested_ns.or(pause.stopped_ns).or(pause.resumed_ns).is_some()
    };
    let expected = report.pauses.iter().filter(known).count();
    let moments =
        of_category(&slices, "incomplete").into_iter().filter(|slice| slice.arguments.contains_key("state"));
    assert_eq!(moments.count(), expected);
}

#[test]
fn hostile_names_are_inert() {
    let report = fixtures::hostile();
    let (packets, slices) = read(std::slice::from_ref(&report));
    assert_eq!(sum(&of_category(&slices, "fault")), report.summary.in_faults_ns);
    for slice in &slices {
        assert!(!slice.name.contains(char::is_control));
        let texts = slice.arguments.values().filter_map(|value| match value {
            Value::Text(text) => Some(text),
            _ => None,
        });
        assert!(texts.into_iter().all(|text| !text.contains(char::is_control)));
    }
    assert!(slices.iter().any(|slice| slice.name.starts_with(r"\x1b[2J\x1b]0;owned\x07")));
    for packet in &packets {
        if let Some(Data::Track(track)) = &packet.data {
            let process = track.process.as_ref().and_then(|process| process.process_name.as_deref());
            let thread = track.thread.as_ref().and_then(|thread| thread.thread_name.as_deref());
            assert!(!process.unwrap_or_default().contains(char::is_control));
            assert!(!thread.unwrap_or_default().contains(char::is_control));
        }
    }
}

#[test]
fn what_the_host_counts_becomes_a_rate_from_the_first_reading_on() {
    use crate::recording::{
        Line,
        line::{Cgroup, Memory, Pressure, Stalls, System},
    };
    let mut recorder = fixtures::Recorder::new();
    recorder.process(1, &fixtures::no_pauses());
    for (at_ns, swapped_in_bytes, stalled_ns) in [(1_000_000, 100, 7), (501_000_000, 4_196, 125_000_007)] {
        let pressure = Pressure { some: Stalls { avg10_percent: 0.0, total_ns: stalled_ns }, full: None };
        recorder.line(Line::Memory(Box::new(Memory {
            process: 1,
            at_ns,
            cgroup: Some(Cgroup { pressure: Some(pressure), ..Cgroup::default() }),
            system: Some(System { swapped_in_bytes: Some(swapped_in_bytes), ..System::default() }),
            ..Memory::default()
        })));
    }
    let (_file, recording) = recorder.finish();
    let packets = packets(&recording);
    let mut names = HashMap::new();
    let mut found = Vec::new();
    for packet in &packets {
        match &packet.data {
            Some(Data::Track(track)) => {
                drop(names.insert(track.uuid, (track.name.clone(), track.counter.clone())));
            }
            Some(Data::Event(event)) if event.r#type == Some(message::COUNTER) => {
                let (name, counter) = names[&event.track_uuid].clone();
                let value = event.counter_value.map(|value| value as f64).or(event.double_counter_value);
                found.push((
                    packet.timestamp.unwrap(),
                    name.unwrap(),
                    value.unwrap(),
                    counter.unwrap().unit_name.unwrap(),
                ));
            }
            _ => {}
        }
    }
    assert_eq!(
        found,
        [
            (1_000_000, "cgroup stalled on memory".to_owned(), 25.0, "%".to_owned()),
            (1_000_000, "host reads from swap".to_owned(), 8_192.0, "B/s".to_owned()),
        ],
        "what was not read has no counter"
    );
}
