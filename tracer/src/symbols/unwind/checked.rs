//! Marks where a walk by frame pointers has left frames out: the kernel's walk follows the frame pointer wherever it leads,
//! also where it leads past callers, or is used for something else.

use super::{
    super::{code_files::CodeFiles, modules::Modules},
    callers::{Caller, caller, is_return_address},
    marks::{MISSING, is_unwound},
};

/// The frames with their marks. What was unwound from a copy needs none; a walk ends where a frame has no frame pointer and
/// what follows can't have been found by one. `caller_known`: the innermost frame's caller was found in another way.
pub(in crate::symbols) fn checked(
    frames: &[u64],
    caller_known: bool,
    modules: &Modules,
    files: &CodeFiles,
) -> Vec<u64> {
    if is_unwound(frames) {
        return frames.to_vec();
    }
    let mut marked = Vec::with_capacity(frames.len() + 1);
    for (depth, frame) in frames.iter().enumerate() {
        let is_missing = marked.last() == Some(&MISSING);
        if is_missing && !is_return_address(*frame, modules, files) {
            break;
        }
        marked.push(*frame);
        if depth == 0 && caller_known {
            continue;
        }
        let instruction = if depth == 0 { *frame } else { frame.saturating_sub(1) };
        match caller(instruction, modules, files) {
            Caller::Described { by_frame_pointer: false, .. } => marked.push(MISSING),
            // After a gap what is found must be able to go on.
            Caller::Unknown | Caller::Unmapped if is_missing => {
                marked.pop();
                break;
            }
            _ => {}
        }
    }
    marked
}
