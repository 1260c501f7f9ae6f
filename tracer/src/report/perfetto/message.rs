//! The messages of Perfetto's protobuf schema (`protos/perfetto/trace/`) that are written here, each with only the fields
//! that are used.

/// A file: its packets.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Trace {
    /// In any order: readers sort them.
    #[prost(message, repeated, tag = "1")]
    pub packet: Vec<TracePacket>,
}

/// One packet.
#[derive(Clone, PartialEq, prost::Message)]
pub struct TracePacket {
    /// When.
    #[prost(uint64, optional, tag = "8")]
    pub timestamp: Option<u64>,
    /// Which packets share what is interned.
    #[prost(uint32, optional, tag = "10")]
    pub trusted_packet_sequence_id: Option<u32>,
    /// Strings that have numbers from here on.
    #[prost(message, optional, tag = "12")]
    pub interned_data: Option<InternedData>,
    /// [`STATE_CLEARED`] or [`NEEDS_STATE`].
    #[prost(uint32, optional, tag = "13")]
    pub sequence_flags: Option<u32>,
    /// What packets of the sequence have that don't say otherwise.
    #[prost(message, optional, tag = "59")]
    pub trace_packet_defaults: Option<Defaults>,
    /// Its content.
    #[prost(oneof = "Data", tags = "6, 11, 50, 60")]
    pub data: Option<Data>,
}

/// The sequence begins: nothing is interned yet.
pub const STATE_CLEARED: u32 = 1;
/// It needs what was interned before.
pub const NEEDS_STATE: u32 = 2;

/// The content of a packet.
#[derive(Clone, PartialEq, prost::Oneof)]
pub enum Data {
    /// Clocks, read at one moment.
    #[prost(message, tag = "6")]
    Clocks(ClockSnapshot),
    /// Something that happened.
    #[prost(message, tag = "11")]
    Event(TrackEvent),
    /// Other packets, as a [`Trace`] compressed by zlib.
    #[prost(bytes, tag = "50")]
    Compressed(Vec<u8>),
    /// A track.
    #[prost(message, tag = "60")]
    Track(TrackDescriptor),
}

/// What packets have that don't say otherwise.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub struct Defaults {
    /// The clock of their time.
    #[prost(uint32, optional, tag = "58")]
    pub timestamp_clock_id: Option<u32>,
}

/// Clocks, read at one moment.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ClockSnapshot {
    /// They.
    #[prost(message, repeated, tag = "1")]
    pub clocks: Vec<Clock>,
    /// The one that the trace's time is shown in.
    #[prost(uint32, optional, tag = "2")]
    pub primary_trace_clock: Option<u32>,
}

/// A clock's reading.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub struct Clock {
    /// [`REALTIME`] or [`MONOTONIC`].
    #[prost(uint32, optional, tag = "1")]
    pub clock_id: Option<u32>,
    /// In ns.
    #[prost(uint64, optional, tag = "2")]
    pub timestamp: Option<u64>,
}

/// `CLOCK_REALTIME`.
pub const REALTIME: u32 = 1;
/// `CLOCK_MONOTONIC`.
pub const MONOTONIC: u32 = 3;

/// Strings that have numbers.
#[derive(Clone, PartialEq, prost::Message)]
pub struct InternedData {
    /// Categories of events.
    #[prost(message, repeated, tag = "1")]
    pub event_categories: Vec<InternedName>,
    /// Names of events.
    #[prost(message, repeated, tag = "2")]
    pub event_names: Vec<InternedName>,
    /// Names of arguments.
    #[prost(message, repeated, tag = "3")]
    pub debug_annotation_names: Vec<InternedName>,
    /// Values of arguments.
    #[prost(message, repeated, tag = "29")]
    pub debug_annotation_string_values: Vec<InternedName>,
}

/// A string that has a number. (Perfetto has a message for each use; on the wire they are the same.)
#[derive(Clone, PartialEq, prost::Message)]
pub struct InternedName {
    /// From 1.
    #[prost(uint64, optional, tag = "1")]
    pub iid: Option<u64>,
    /// The string.
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
}

/// A track.
#[derive(Clone, PartialEq, prost::Message)]
pub struct TrackDescriptor {
    /// Its id.
    #[prost(uint64, optional, tag = "1")]
    pub uuid: Option<u64>,
    /// Its name.
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
    /// It is a process's.
    #[prost(message, optional, tag = "3")]
    pub process: Option<ProcessDescriptor>,
    /// It is a thread's.
    #[prost(message, optional, tag = "4")]
    pub thread: Option<ThreadDescriptor>,
    /// The track that it is under.
    #[prost(uint64, optional, tag = "5")]
    pub parent_uuid: Option<u64>,
    /// It is a counter.
    #[prost(message, optional, tag = "8")]
    pub counter: Option<CounterDescriptor>,
}

/// A process.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ProcessDescriptor {
    /// Its id.
    #[prost(int32, optional, tag = "1")]
    pub pid: Option<i32>,
    /// Its name.
    #[prost(string, optional, tag = "6")]
    pub process_name: Option<String>,
}

/// A thread.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ThreadDescriptor {
    /// Its process.
    #[prost(int32, optional, tag = "1")]
    pub pid: Option<i32>,
    /// Its id.
    #[prost(int64, optional, tag = "2")]
    pub tid: Option<i64>,
    /// Its name.
    #[prost(string, optional, tag = "5")]
    pub thread_name: Option<String>,
}

/// A counter.
#[derive(Clone, PartialEq, prost::Message)]
pub struct CounterDescriptor {
    /// Its unit: [`UNIT_TIME_NS`], [`UNIT_COUNT`], [`UNIT_BYTES`].
    #[prost(int32, optional, tag = "3")]
    pub unit: Option<i32>,
    /// Another unit.
    #[prost(string, optional, tag = "6")]
    pub unit_name: Option<String>,
}

/// Nanoseconds.
pub const UNIT_TIME_NS: i32 = 1;
/// A number of things.
pub const UNIT_COUNT: i32 = 2;
/// Bytes.
pub const UNIT_BYTES: i32 = 3;

/// Something that happened on a track.
#[derive(Clone, PartialEq, prost::Message)]
pub struct TrackEvent {
    /// Interned categories. (Perfetto's schema has lists of numbers one by one.)
    #[prost(uint64, repeated, packed = "false", tag = "3")]
    pub category_iids: Vec<u64>,
    /// Arguments.
    #[prost(message, repeated, tag = "4")]
    pub debug_annotations: Vec<DebugAnnotation>,
    /// [`SLICE_BEGIN`], [`SLICE_END`], [`INSTANT`], [`COUNTER`].
    #[prost(int32, optional, tag = "9")]
    pub r#type: Option<i32>,
    /// Interned name.
    #[prost(uint64, optional, tag = "10")]
    pub name_iid: Option<u64>,
    /// The track.
    #[prost(uint64, optional, tag = "11")]
    pub track_uuid: Option<u64>,
    /// Name, when it is not interned.
    #[prost(string, optional, tag = "23")]
    pub name: Option<String>,
    /// The counter's value.
    #[prost(int64, optional, tag = "30")]
    pub counter_value: Option<i64>,
    /// The same, when it is no whole number.
    #[prost(double, optional, tag = "44")]
    pub double_counter_value: Option<f64>,
}

/// A slice begins.
pub const SLICE_BEGIN: i32 = 1;
/// The last slice that has begun ends.
pub const SLICE_END: i32 = 2;
/// A moment.
pub const INSTANT: i32 = 3;
/// A counter has a new value.
pub const COUNTER: i32 = 4;

/// An argument.
#[derive(Clone, PartialEq, prost::Message)]
pub struct DebugAnnotation {
    /// Interned name.
    #[prost(uint64, optional, tag = "1")]
    pub name_iid: Option<u64>,
    /// Its value.
    #[prost(oneof = "Value", tags = "2, 3, 4, 6, 7, 17")]
    pub value: Option<Value>,
}

/// The value of an argument.
#[derive(Clone, PartialEq, prost::Oneof)]
pub enum Value {
    /// Yes or no.
    #[prost(bool, tag = "2")]
    Flag(bool),
    /// A number.
    #[prost(uint64, tag = "3")]
    Number(u64),
    /// A number that can be negative.
    #[prost(int64, tag = "4")]
    Signed(i64),
    /// A string.
    #[prost(string, tag = "6")]
    Text(String),
    /// An address.
    #[prost(uint64, tag = "7")]
    Address(u64),
    /// An interned string.
    #[prost(uint64, tag = "17")]
    Interned(u64),
}
