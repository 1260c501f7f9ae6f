//! The messages of pprof's `profile.proto`, without the fields that are not used here.

/// A profile.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Profile {
    /// What the samples' values are.
    #[prost(message, repeated, tag = "1")]
    pub sample_type: Vec<ValueType>,
    /// Samples.
    #[prost(message, repeated, tag = "2")]
    pub sample: Vec<Sample>,
    /// Files mapped into memory, the program first.
    #[prost(message, repeated, tag = "3")]
    pub mapping: Vec<Mapping>,
    /// Places in the code.
    #[prost(message, repeated, tag = "4")]
    pub location: Vec<Location>,
    /// Functions.
    #[prost(message, repeated, tag = "5")]
    pub function: Vec<Function>,
    /// All strings; the first one is empty. Everything else has their places.
    #[prost(string, repeated, tag = "6")]
    pub string_table: Vec<String>,
    /// Begin, in nanoseconds since 1970-01-01 UTC.
    #[prost(int64, tag = "9")]
    pub time_nanos: i64,
    /// Length.
    #[prost(int64, tag = "10")]
    pub duration_nanos: i64,
    /// Comments.
    #[prost(int64, repeated, tag = "13")]
    pub comment: Vec<i64>,
    /// The type that is shown when none is asked for.
    #[prost(int64, tag = "14")]
    pub default_sample_type: i64,
}

/// What a value is.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub struct ValueType {
    /// Its name.
    #[prost(int64, tag = "1")]
    pub r#type: i64,
    /// Its unit.
    #[prost(int64, tag = "2")]
    pub unit: i64,
}

/// A code path and its values.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Sample {
    /// Ids of its places, innermost first.
    #[prost(uint64, repeated, tag = "1")]
    pub location_id: Vec<u64>,
    /// One for each type.
    #[prost(int64, repeated, tag = "2")]
    pub value: Vec<i64>,
    /// More of it.
    #[prost(message, repeated, tag = "3")]
    pub label: Vec<Label>,
}

/// Something about a sample.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub struct Label {
    /// Its name.
    #[prost(int64, tag = "1")]
    pub key: i64,
    /// Its value.
    #[prost(int64, tag = "2")]
    pub str: i64,
}

/// A file mapped into memory.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub struct Mapping {
    /// From 1.
    #[prost(uint64, tag = "1")]
    pub id: u64,
    /// First address.
    #[prost(uint64, tag = "2")]
    pub memory_start: u64,
    /// The address behind the last one.
    #[prost(uint64, tag = "3")]
    pub memory_limit: u64,
    /// Where in the file it begins.
    #[prost(uint64, tag = "4")]
    pub file_offset: u64,
    /// The file.
    #[prost(int64, tag = "5")]
    pub filename: i64,
    /// Its build id.
    #[prost(int64, tag = "6")]
    pub build_id: i64,
    /// Its functions are named: tools need not look for the file.
    #[prost(bool, tag = "7")]
    pub has_functions: bool,
}

/// A place in the code.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Location {
    /// From 1.
    #[prost(uint64, tag = "1")]
    pub id: u64,
    /// Its mapping; 0: none is known.
    #[prost(uint64, tag = "2")]
    pub mapping_id: u64,
    /// Its address.
    #[prost(uint64, tag = "3")]
    pub address: u64,
    /// Its function.
    #[prost(message, repeated, tag = "4")]
    pub line: Vec<LineOf>,
}

/// A line of a function.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub struct LineOf {
    /// The function.
    #[prost(uint64, tag = "1")]
    pub function_id: u64,
}

/// A function.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub struct Function {
    /// From 1.
    #[prost(uint64, tag = "1")]
    pub id: u64,
    /// Its name.
    #[prost(int64, tag = "2")]
    pub name: i64,
    /// The same, as the system has it.
    #[prost(int64, tag = "3")]
    pub system_name: i64,
}
