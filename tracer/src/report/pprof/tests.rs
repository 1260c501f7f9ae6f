//! Profiles, decoded again.

use std::io::Read as _;

use flate2::read::GzDecoder;

use super::*;
use crate::report::{fixtures, model::Report};

fn decoded(reports: &[Report]) -> Profile {
    let (_file, recording) = fixtures::recorded(reports);
    let mut out = Vec::new();
    write(&recording, &mut out).unwrap();
    let mut bytes = Vec::new();
    GzDecoder::new(out.as_slice()).read_to_end(&mut bytes).unwrap();
    Profile::decode(bytes.as_slice()).unwrap()
}

fn string(profile: &Profile, place: i64) -> &str {
    &profile.string_table[usize::try_from(place).unwrap()]
}

fn total(profile: &Profile, value: usize) -> u64 {
    profile.sample.iter().map(|sample| u64::try_from(sample.value[value]).unwrap()).sum()
}

fn label<'a>(profile: &'a Profile, sample: &message::Sample, key: &str) -> Vec<&'a str> {
    let of_key = sample.label.iter().filter(|label| string(profile, label.key) == key);
    of_key.map(|label| string(profile, label.str)).collect()
}

/// Everything that is named by an id or a place is there.
fn expect_valid(profile: &Profile) {
    assert_eq!(profile.string_table[0], "");
    for sample in &profile.sample {
        assert_eq!(sample.value.len(), profile.sample_type.len());
        assert!(!sample.location_id.is_empty());
        for id in &sample.location_id {
            let location = &profile.location[usize::try_from(*id).unwrap() - 1];
            assert_eq!(location.id, *id);
            assert!(location.line[0].function_id as usize <= profile.function.len());
            if location.mapping_id > 0 {
                let mapping = &profile.mapping[usize::try_from(location.mapping_id).unwrap() - 1];
                assert!((mapping.memory_start..mapping.memory_limit).contains(&location.address));
            }
        }
    }
}

#[test]
fn samples_have_values_labels_and_places() {
    let report = fixtures::story();
    let profile = decoded(std::slice::from_ref(&report));
    expect_valid(&profile);
    assert_eq!(
        (total(&profile, 0), total(&profile, 1)),
        (report.summary.faults, report.summary.in_faults_ns)
    );
    assert_eq!(string(&profile, profile.default_sample_type), "fault_time");
    assert_eq!((profile.time_nanos, profile.duration_nanos), (1_767_225_600_000_000_000, 60_000_000_000));
    let most = profile.sample.iter().max_by_key(|sample| sample.value[1]).unwrap();
    assert_eq!(label(&profile, most, "kind"), ["swap_in"]);
    assert_eq!(label(&profile, most, "region"), ["runtime_metadata"]);
    assert_eq!(label(&profile, most, "pause_reason"), ["GC sweep termination"]);
    assert_eq!(label(&profile, most, "region_inferred"), ["yes"]);
    assert_eq!(label(&profile, most, "kind_inferred"), [] as [&str; 0]);
    assert_eq!(label(&profile, most, "process"), [] as [&str; 0]);
    assert_eq!(profile.mapping.len(), 1);
    assert_eq!(string(&profile, profile.mapping[0].filename), "/srv/api/bin/api");
    assert_eq!(string(&profile, profile.mapping[0].build_id), "5f3a9c");
    let comments: Vec<_> = profile.comment.iter().map(|comment| string(&profile, *comment)).collect();
    assert!(comments.contains(&"host host-1, kernel 6.18.5, "), "{comments:?}");
}

#[test]
fn return_addresses_are_put_into_their_calls() {
    let (_file, recording) = fixtures::recorded(&[fixtures::story()]);
    let addresses = |stack| {
        let frames = recording.processes[0].stacks.frames(stack);
        let parse = |text: &String| u64::from_str_radix(&text[2..], 16).unwrap();
        frames.iter().map(|frame| parse(frame.address.as_ref().unwrap())).collect::<Vec<_>>()
    };
    let profile = profile(&recording).unwrap();
    let expected = addresses(1);
    let ids = &profile.sample[0].location_id;
    let found: Vec<_> =
        ids.iter().map(|id| profile.location[usize::try_from(*id).unwrap() - 1].address).collect();
    assert_eq!(found[0], expected[0]);
    assert!(found.len() > 1);
    for (found, expected) in found.iter().zip(&expected).skip(1) {
        assert_eq!(*found, expected - 1);
    }
}

#[test]
fn several_processes_are_told_apart() {
    let mut other = fixtures::story();
    other.target.pid = 4300;
    let profile = decoded(&[fixtures::story(), other]);
    expect_valid(&profile);
    let mut processes: Vec<_> =
        profile.sample.iter().flat_map(|sample| label(&profile, sample, "process")).collect();
    processes.sort_unstable();
    processes.dedup();
    assert_eq!(processes, ["4242 /srv/api/bin/api", "4300 /srv/api/bin/api"]);
    assert_eq!(profile.mapping.len(), 2);
}

#[test]
fn what_is_missing_is_a_sample_and_a_comment() {
    let mut report = fixtures::story();
    report.pauses[0].stacks.truncate(1);
    let profile = decoded(std::slice::from_ref(&report));
    expect_valid(&profile);
    assert_eq!(total(&profile, 1), report.summary.in_faults_ns);
    assert!(profile.string_table.iter().any(|string| string == "[details dropped]"));
    let expected = "incomplete: 11 faults (1.89 ms) without details: [details dropped]";
    assert!(profile.string_table.iter().any(|string| string == expected));
}

#[test]
fn hostile_names_are_inert() {
    let report = fixtures::hostile();
    let profile = decoded(std::slice::from_ref(&report));
    expect_valid(&profile);
    assert_eq!(total(&profile, 1), report.summary.in_faults_ns);
    assert!(profile.string_table.iter().all(|string| !string.contains(char::is_control)));
    assert!(profile.string_table.iter().any(|string| string.contains(r"\x1b[2J\x1b]0;owned\x07")));
}

#[test]
fn without_faults_it_is_a_profile_without_samples() {
    let profile = decoded(&[fixtures::no_pauses()]);
    expect_valid(&profile);
    assert!(profile.sample.is_empty());
    assert_eq!(profile.sample_type.len(), 2);
}

#[test]
fn inlined_functions_are_lines_of_one_place_and_recursion_is_not() {
    let (_file, recording) = fixtures::recorded(&[fixtures::story()]);
    let (mut code, mut strings) = (Code::default(), Strings::default());
    let frame = |name: &str, address: Option<&str>| crate::recording::line::Frame {
        name: name.to_owned(),
        address: address.map(str::to_owned),
    };
    let frames = [
        frame("inlined", Some("0x400100")),
        frame("outer", Some("0x400100")),
        frame("again", Some("0x400200")),
        frame("again", Some("0x400200")),
        frame("[cut]", None),
        frame("[cut]", None),
    ];
    let ids = code.of(&recording.processes[0], &mut strings).locations(&frames, &mut strings);
    let (_, locations, functions) = code.finish();
    let strings = strings.finish();
    let name = |line: &message::LineOf| {
        let function = functions[usize::try_from(line.function_id).unwrap() - 1];
        strings[usize::try_from(function.name).unwrap()].clone()
    };
    let told: Vec<(u64, Vec<String>)> = ids
        .iter()
        .map(|id| &locations[usize::try_from(*id).unwrap() - 1])
        .map(|location| (location.address, location.line.iter().map(name).collect()))
        .collect();
    let expected: [(u64, &[&str]); 5] = [
        (0x40_0100, &["inlined", "outer"]),
        (0x40_01ff, &["again"]),
        (0x40_01ff, &["again"]),
        (0, &["[cut]"]),
        (0, &["[cut]"]),
    ];
    assert_eq!(told.len(), expected.len());
    for ((address, names), (expected, functions)) in told.iter().zip(expected) {
        assert_eq!(
            (*address, names.iter().map(String::as_str).collect::<Vec<_>>()),
            (expected, functions.to_vec())
        );
    }
}
