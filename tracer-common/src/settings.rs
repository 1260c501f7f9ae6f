//! Values that the user side patches into the kernel object before it is loaded.
//!
//! Field offsets of tracepoints come from the kernel's own format files at start, so that one object runs on
//! every kernel. The names are those of the globals in `tracer-ebpf/src/settings.rs`.

/// A tracepoint field's place in the record: its byte offset, or [`UNKNOWN_OFFSET`].
pub type FieldOffset = u32;

/// The tracepoint, or the field, doesn't exist on this kernel.
pub const UNKNOWN_OFFSET: FieldOffset = u32::MAX;

/// Global names, as given to `EbpfLoader::override_global`.
pub mod names {
    /// `address` in `exceptions:page_fault_user`.
    pub const FAULT_ADDRESS: &str = "FAULT_ADDRESS";
    /// `ip` in `exceptions:page_fault_user`.
    pub const FAULT_IP: &str = "FAULT_IP";
    /// `error_code` in `exceptions:page_fault_user`.
    pub const FAULT_ERROR_CODE: &str = "FAULT_ERROR_CODE";
    /// `curr` in `kmem:rss_stat`.
    pub const RSS_CURR: &str = "RSS_CURR";
    /// `member` in `kmem:rss_stat`.
    pub const RSS_MEMBER: &str = "RSS_MEMBER";
    /// `dev` in `block:block_bio_queue`.
    pub const BIO_DEVICE: &str = "BIO_DEVICE";
    /// `nr_sector` in `block:block_bio_queue`.
    pub const BIO_SECTORS: &str = "BIO_SECTORS";
    /// `rwbs` in `block:block_bio_queue`.
    pub const BIO_FLAGS: &str = "BIO_FLAGS";
    /// `size` in `kmem:rss_stat`.
    pub const RSS_SIZE: &str = "RSS_SIZE";
    /// `sig` in `signal:signal_generate`.
    pub const SIGNAL_NUMBER: &str = "SIGNAL_NUMBER";
    /// `code` in `signal:signal_generate`.
    pub const SIGNAL_CODE: &str = "SIGNAL_CODE";
    /// `pid` in `task:task_newtask`.
    pub const TASK_PID: &str = "TASK_PID";
    /// `clone_flags` in `task:task_newtask`.
    pub const TASK_CLONE_FLAGS: &str = "TASK_CLONE_FLAGS";
    /// Bits of [`crate::lineage::tell`].
    pub const LINEAGE: &str = "LINEAGE";
    /// Device number of the tracer's pid namespace, 0 in the initial one.
    pub const PID_NAMESPACE_DEVICE: &str = "PID_NAMESPACE_DEVICE";
    /// Inode of the tracer's pid namespace, 0 in the initial one.
    pub const PID_NAMESPACE_INODE: &str = "PID_NAMESPACE_INODE";
    /// Whether `kmem:rss_stat` fires for every change (1) or in batches (0).
    pub const RSS_EXACT: &str = "RSS_EXACT";
    /// How many bytes of a stack are copied; 0: none is.
    pub const STACK_COPY_BYTES: &str = "STACK_COPY_BYTES";
    /// Whether the kernel gives a thread's registers at its entry into the kernel (1) or not (0).
    pub const TASK_REGISTERS: &str = "TASK_REGISTERS";
}
