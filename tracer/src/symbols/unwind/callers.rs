//! What is known of a place in code: how its function's caller is found, and whether a call returns there.

use std::sync::Arc;

use super::super::{
    code_files::{CodeFile, CodeFiles},
    modules::{Module, Modules},
};
use crate::elf::{CallerRule, ElfAddress};

/// How the caller of a function is found.
#[derive(Clone, Debug)]
pub(super) enum Caller {
    /// As the file's call frame information says; `by_frame_pointer`: by frame pointers, as it says.
    Described { module: Module, file: Arc<CodeFile>, by_frame_pointer: bool },
    /// By the frame pointer: Go code, or generated code that nothing else is known of.
    FramePointer,
    /// Nothing tells.
    Unknown,
    /// The place is in no mapping that is known.
    Unmapped,
}

/// How the caller of the function at this instruction is found.
pub(super) fn caller(address: u64, modules: &Modules, files: &CodeFiles) -> Caller {
    let Some(module) = modules.find(address) else { return Caller::Unmapped };
    let Some(file) = files.of(module) else {
        let lacking = !module.is_memory() || modules.generated_lacks_frame_pointers();
        return if lacking { Caller::Unknown } else { Caller::FramePointer };
    };
    let elf_address = module.elf_address(&file, address);
    let rule = elf_address.map_or(CallerRule::Unknown, |address| file.caller_rule(address));
    match rule {
        CallerRule::Unknown if file.holds_go => Caller::FramePointer,
        CallerRule::Unknown => Caller::Unknown,
        rule => Caller::Described {
            module: module.clone(),
            file,
            by_frame_pointer: rule == CallerRule::FramePointer,
        },
    }
}

/// Whether a call can return to this address, as far as that can be told: code comes before it, and that is a call. Of
/// generated code the code itself is not read.
pub(super) fn is_return_address(address: u64, modules: &Modules, files: &CodeFiles) -> bool {
    let Some(module) = modules.find(address) else { return false };
    let Some(file) = files.of(module) else { return module.is_memory() };
    let Some(address) = module.elf_address(&file, address) else { return false };
    file.is_behind_call(address) || returns_from_signal(&file, address)
}

/// Whether it is where a signal's handler returns to: the kernel puts that address there, and no call. The frame outside of it
/// is where the signal came, at any instruction.
pub(super) fn is_signal_return(address: u64, modules: &Modules, files: &CodeFiles) -> bool {
    let Some(module) = modules.find(address) else { return false };
    let Some(file) = files.of(module) else { return false };
    module.elf_address(&file, address).is_some_and(|address| returns_from_signal(&file, address))
}

/// `mov $15, %rax; syscall`, and on 64-bit Arm `mov x8, #139; svc #0`: the system call `rt_sigreturn`.
fn returns_from_signal(file: &CodeFile, address: ElfAddress) -> bool {
    const X86_64: &[u8] = &[0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05];
    const AARCH64: &[u8] = &[0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4];
    let code = if cfg!(target_arch = "aarch64") { AARCH64 } else { X86_64 };
    file.image.bytes(address, code.len()) == Some(code)
}
