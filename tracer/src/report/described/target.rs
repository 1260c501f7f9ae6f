//! The target in the report: who it is, and where it lives.

use crate::{
    elf::Image,
    report::model::{Container, Runtime, Target},
    runtime::Recognised,
    target,
};

/// The process, in the report's words.
#[must_use]
pub fn target_of(target: &target::Target, image: &Image, recognised: &Recognised) -> Target {
    let build_id = image.build_id().map(|id| id.iter().map(|byte| format!("{byte:02x}")).collect());
    let runtime = Runtime { name: recognised.name.clone(), version: recognised.version.clone() };
    described(target, build_id, runtime)
}

/// The process with what was found in its executable.
#[must_use]
pub fn described(target: &target::Target, build_id: Option<String>, runtime: Runtime) -> Target {
    let placement = target.placement();
    Target {
        pid: target.pid(),
        exe: target.exe().to_string_lossy().into_owned(),
        pid_in_namespace: target.pid_in_namespace(),
        container: placement.container.as_ref().map(|container| Container {
            runtime: container.runtime.map(str::to_owned),
            id: container.id.clone(),
            pod_uid: container.pod_uid.clone(),
        }),
        unit: placement.unit.clone(),
        build_id,
        runtime,
    }
}
