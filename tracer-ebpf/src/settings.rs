//! Values that the user side patches in before the object is loaded: see `tracer_common::settings`.

use aya_ebpf::Global;
use tracer_common::settings::{FieldOffset, UNKNOWN_OFFSET};

#[unsafe(no_mangle)]
pub static FAULT_ADDRESS: Global<FieldOffset> = Global::new(UNKNOWN_OFFSET);
#[unsafe(no_mangle)]
pub static FAULT_IP: Global<FieldOffset> = Global::new(UNKNOWN_OFFSET);
#[unsafe(no_mangle)]
pub static FAULT_ERROR_CODE: Global<FieldOffset> = Global::new(UNKNOWN_OFFSET);
#[unsafe(no_mangle)]
pub static RSS_CURR: Global<FieldOffset> = Global::new(UNKNOWN_OFFSET);
#[unsafe(no_mangle)]
pub static RSS_MEMBER: Global<FieldOffset> = Global::new(UNKNOWN_OFFSET);
#[unsafe(no_mangle)]
pub static BIO_DEVICE: Global<FieldOffset> = Global::new(UNKNOWN_OFFSET);
#[unsafe(no_mangle)]
pub static BIO_SECTORS: Global<FieldOffset> = Global::new(UNKNOWN_OFFSET);
#[unsafe(no_mangle)]
pub static BIO_FLAGS: Global<FieldOffset> = Global::new(UNKNOWN_OFFSET);
#[unsafe(no_mangle)]
pub static RSS_SIZE: Global<FieldOffset> = Global::new(UNKNOWN_OFFSET);
#[unsafe(no_mangle)]
pub static SIGNAL_NUMBER: Global<FieldOffset> = Global::new(UNKNOWN_OFFSET);
#[unsafe(no_mangle)]
pub static SIGNAL_CODE: Global<FieldOffset> = Global::new(UNKNOWN_OFFSET);
#[unsafe(no_mangle)]
pub static TASK_PID: Global<FieldOffset> = Global::new(UNKNOWN_OFFSET);
#[unsafe(no_mangle)]
pub static TASK_CLONE_FLAGS: Global<FieldOffset> = Global::new(UNKNOWN_OFFSET);
#[unsafe(no_mangle)]
pub static LINEAGE: Global<u32> = Global::new(0);
#[unsafe(no_mangle)]
pub static PID_NAMESPACE_DEVICE: Global<u64> = Global::new(0);
#[unsafe(no_mangle)]
pub static PID_NAMESPACE_INODE: Global<u64> = Global::new(0);
#[unsafe(no_mangle)]
pub static RSS_EXACT: Global<u32> = Global::new(0);
#[unsafe(no_mangle)]
pub static STACK_COPY_BYTES: Global<u32> = Global::new(0);
#[unsafe(no_mangle)]
pub static TASK_REGISTERS: Global<u32> = Global::new(0);
