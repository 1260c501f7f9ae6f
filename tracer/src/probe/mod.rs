//! Probes: what the host allows (facts), what will be done (a pure plan), and doing it.

mod attach;
mod attach_error;
mod event_format;
mod host;
mod load;
mod perf_event;
mod plan;
mod process;
mod software;
mod tracefs;
mod verify;

pub use attach::{Attached, Detaching, attach_host};
pub use attach_error::AttachError;
pub use event_format::EventFormat;
pub use host::{Facts, PidNamespace, TRACEPOINTS, gather, optional_tracepoints};
pub use load::{LoadError, Loaded, Sizes, load, load_for_newcomers, load_programs};
pub use perf_event::{open_software, probe_software};
pub use plan::{FaultBegin, Plan, PlanError, Skipped, SoftwareEvent, Source, Step, Stopped, plan, plan_host};
pub use process::{ProcessProbes, attach_process};
pub use tracefs::{Tracefs, TracefsError, TracefsOrigin};
pub use verify::{VerifyError, verify_sites};
