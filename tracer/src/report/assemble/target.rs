//! The target in the report: who it is, and where it lives.

use crate::{
    report::model::{Container, Runtime, Target},
    target,
};

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
