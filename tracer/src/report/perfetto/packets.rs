//! Packets on their way to the file: strings are interned, packets are put together and compressed as they come.

use std::{collections::HashMap, io::Write};

use flate2::{Compression, write::ZlibEncoder};
use prost::Message as _;

use super::message::{
    COUNTER, Clock, ClockSnapshot, Data, DebugAnnotation, Defaults, INSTANT, InternedData, InternedName,
    MONOTONIC, NEEDS_STATE, REALTIME, SLICE_BEGIN, SLICE_END, STATE_CLEARED, Trace, TracePacket,
    TrackDescriptor, TrackEvent, Value,
};
use crate::report::inert::inert;

/// Packets are compressed together from this size on; Perfetto wants less than 512 KiB in one.
const TOGETHER_BYTES: usize = 128 << 10;
/// So many values of arguments are interned: they stay in memory. Others are written as they are.
const INTERNED_VALUES: usize = 50_000;
/// There is one sequence of packets.
const SEQUENCE: u32 = 1;

/// The name and the value of an argument.
pub(super) type Argument<'a> = (&'a str, Given<'a>);

/// The value of an argument as it is given.
#[derive(Clone, Copy, Debug)]
pub(super) enum Given<'a> {
    Number(u64),
    Signed(i64),
    Flag(bool),
    Address(u64),
    /// Control characters in it are escaped.
    Text(&'a str),
}

/// Something that happens on a track.
#[derive(Clone, Copy, Debug)]
pub(super) struct Happening<'a> {
    pub(super) track: u64,
    pub(super) category: &'static str,
    /// Control characters in it are escaped.
    pub(super) name: &'a str,
    pub(super) arguments: &'a [Argument<'a>],
}

/// Writes packets.
pub(super) struct Packets<'a> {
    out: &'a mut dyn Write,
    /// Packets, encoded, that are not written yet.
    together: Vec<u8>,
    /// Added to all times, so that none is negative.
    offset_ns: i64,
    categories: Interned,
    names: Interned,
    argument_names: Interned,
    values: Interned,
    /// What has been interned for the next packet.
    new: InternedData,
    begun: bool,
    failed: Option<anyhow::Error>,
}

/// Strings of one sort that have numbers.
#[derive(Debug, Default)]
struct Interned(HashMap<String, u64>);

impl Interned {
    /// The number of a string; a new one is added to the list.
    fn number(&mut self, string: &str, new: &mut Vec<InternedName>) -> u64 {
        if let Some(&number) = self.0.get(string) {
            return number;
        }
        let number = self.0.len() as u64 + 1;
        self.0.insert(string.to_owned(), number);
        new.push(InternedName { iid: Some(number), name: Some(inert(string, &[]).into_owned()) });
        number
    }
}

impl<'a> Packets<'a> {
    /// Begins with the clocks: the trace's time is monotonic, from the trace's start (or from the first thing that is in
    /// it, when that is earlier).
    pub(super) fn new(out: &'a mut dyn Write, started_unix_ms: u64, earliest_ns: i64) -> Self {
        let offset_ns = earliest_ns.min(0).saturating_neg();
        let mut packets = Self {
            out,
            together: Vec::new(),
            offset_ns,
            categories: Interned::default(),
            names: Interned::default(),
            argument_names: Interned::default(),
            values: Interned::default(),
            new: InternedData::default(),
            begun: false,
            failed: None,
        };
        let clock = |clock_id, timestamp| Clock { clock_id: Some(clock_id), timestamp: Some(timestamp) };
        let clocks = vec![
            clock(MONOTONIC, packets.time(0)),
            clock(REALTIME, started_unix_ms.saturating_mul(1_000_000)),
        ];
        let snapshot = ClockSnapshot { clocks, primary_trace_clock: Some(MONOTONIC) };
        packets.add(None, Data::Clocks(snapshot));
        packets
    }

    pub(super) fn track(&mut self, track: TrackDescriptor) {
        self.add(None, Data::Track(track));
    }

    /// A slice from one moment to another. On one track slices must come in the order of time, or inside the last one.
    pub(super) fn slice(&mut self, begin_ns: i64, end_ns: i64, of: &Happening<'_>) {
        self.begin(begin_ns, of);
        self.end(end_ns, of.track);
    }

    pub(super) fn begin(&mut self, at_ns: i64, of: &Happening<'_>) {
        self.event(at_ns, SLICE_BEGIN, of);
    }

    pub(super) fn end(&mut self, at_ns: i64, track: u64) {
        let event = TrackEvent { r#type: Some(SLICE_END), track_uuid: Some(track), ..TrackEvent::default() };
        self.add(Some(at_ns), Data::Event(event));
    }

    pub(super) fn instant(&mut self, at_ns: i64, of: &Happening<'_>) {
        self.event(at_ns, INSTANT, of);
    }

    pub(super) fn counter(&mut self, at_ns: i64, track: u64, value: u64) {
        let event = TrackEvent {
            r#type: Some(COUNTER),
            track_uuid: Some(track),
            counter_value: Some(i64::try_from(value).unwrap_or(i64::MAX)),
            ..TrackEvent::default()
        };
        self.add(Some(at_ns), Data::Event(event));
    }

    /// A counter that is a share in percent.
    pub(super) fn share(&mut self, at_ns: i64, track: u64, percent: f64) {
        let event = TrackEvent {
            r#type: Some(COUNTER),
            track_uuid: Some(track),
            double_counter_value: Some(percent),
            ..TrackEvent::default()
        };
        self.add(Some(at_ns), Data::Event(event));
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// When this or something before could not be written.
    pub(super) fn finish(mut self) -> anyhow::Result<()> {
        self.write();
        self.failed.map_or(Ok(()), Err)
    }

    fn event(&mut self, at_ns: i64, r#type: i32, of: &Happening<'_>) {
        let event = TrackEvent {
            category_iids: vec![self.categories.number(of.category, &mut self.new.event_categories)],
            debug_annotations: of.arguments.iter().map(|argument| self.argument(argument)).collect(),
            r#type: Some(r#type),
            name_iid: Some(self.names.number(of.name, &mut self.new.event_names)),
            track_uuid: Some(of.track),
            ..TrackEvent::default()
        };
        self.add(Some(at_ns), Data::Event(event));
    }

    fn argument(&mut self, (name, given): &Argument<'_>) -> DebugAnnotation {
        let name_iid = self.argument_names.number(name, &mut self.new.debug_annotation_names);
        let value = match *given {
            Given::Number(number) => Value::Number(number),
            Given::Signed(number) => Value::Signed(number),
            Given::Flag(flag) => Value::Flag(flag),
            Given::Address(address) => Value::Address(address),
            Given::Text(text)
                if self.values.0.len() < INTERNED_VALUES || self.values.0.contains_key(text) =>
            {
                Value::Interned(self.values.number(text, &mut self.new.debug_annotation_string_values))
            }
            Given::Text(text) => Value::Text(inert(text, &[]).into_owned()),
        };
        DebugAnnotation { name_iid: Some(name_iid), value: Some(value) }
    }

    fn time(&self, at_ns: i64) -> u64 {
        u64::try_from(at_ns.saturating_add(self.offset_ns)).unwrap_or_default()
    }

    fn add(&mut self, at_ns: Option<i64>, data: Data) {
        let new = std::mem::take(&mut self.new);
        let flags = if self.begun { NEEDS_STATE } else { STATE_CLEARED | NEEDS_STATE };
        let packet = TracePacket {
            timestamp: at_ns.map(|at_ns| self.time(at_ns)),
            trusted_packet_sequence_id: Some(SEQUENCE),
            interned_data: (new != InternedData::default()).then_some(new),
            sequence_flags: Some(flags),
            trace_packet_defaults: (!self.begun).then_some(Defaults { timestamp_clock_id: Some(MONOTONIC) }),
            data: Some(data),
        };
        self.begun = true;
        // Encoded traces, one after the other, are one trace.
        if let Err(error) = (Trace { packet: vec![packet] }).encode(&mut self.together) {
            self.failed.get_or_insert(error.into());
        }
        if self.together.len() >= TOGETHER_BYTES {
            self.write();
        }
    }

    /// After a failure nothing more is written: a file with a hole would say something else.
    fn write(&mut self) {
        let together = std::mem::take(&mut self.together);
        if self.failed.is_some() || together.is_empty() {
            return;
        }
        let mut compressed = ZlibEncoder::new(Vec::new(), Compression::default());
        let written = compressed.write_all(&together).and_then(|()| compressed.finish()).and_then(|bytes| {
            let packet = TracePacket { data: Some(Data::Compressed(bytes)), ..TracePacket::default() };
            self.out.write_all(&Trace { packet: vec![packet] }.encode_to_vec())
        });
        self.failed = written.err().map(Into::into);
    }
}
