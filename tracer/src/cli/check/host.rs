//! The host: rights, kernel, tracefs, tracepoints, settings that stand in the way.

use std::{fs, path::Path};

use super::finding::{Finding, Verdict};
use crate::probe::{Facts, TRACEPOINTS, Tracefs, TracefsOrigin};

/// Capabilities that a trace uses: number (linux/capability.h), name, for what.
const CAPABILITIES: [(u32, &str, &str); 4] = [
    (21, "CAP_SYS_ADMIN", "mounting a private tracefs, opening the target's map_files"),
    (19, "CAP_SYS_PTRACE", "reading the target's /proc entries"),
    (38, "CAP_PERFMON", "perf events and tracing programs"),
    (39, "CAP_BPF", "loading programs and making maps"),
];

pub(super) fn rights() -> Vec<Finding> {
    let user = rustix::process::geteuid();
    let effective = fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|status| {
            let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"))?;
            u64::from_str_radix(line.trim(), 16).ok()
        })
        .unwrap_or(0);
    let mut findings = vec![Finding::good("user id", user.as_raw().to_string())];
    for (number, name, purpose) in CAPABILITIES {
        findings.push(if effective & (1 << number) != 0 {
            Finding::good(name, "effective")
        } else {
            Finding::new(name, Verdict::Missing, "not effective", purpose)
                .remedy("run pauselens as root (sudo)")
        });
    }
    findings
}

pub(super) fn kernel() -> Vec<Finding> {
    let uname = rustix::system::uname();
    let release = uname.release().to_string_lossy();
    let machine = uname.machine().to_string_lossy();
    let type_information = if Path::new("/sys/kernel/btf/vmlinux").exists() {
        Finding::good(
            "BTF (/sys/kernel/btf/vmlinux)",
            "present, not needed: no kernel structure is read by layout",
        )
    } else {
        Finding::new(
            "BTF (/sys/kernel/btf/vmlinux)",
            Verdict::Unknown,
            "absent",
            "not needed: no kernel structure is read by layout",
        )
    };
    vec![
        Finding::good("kernel", format!("{release} on {machine}")),
        type_information,
        setting("kernel.perf_event_paranoid", "limits users without CAP_PERFMON only"),
        setting("kernel.unprivileged_bpf_disabled", "limits users without CAP_BPF only"),
        setting("kernel.yama.ptrace_scope", "limits users without CAP_SYS_PTRACE only"),
        lockdown(),
        swap(),
    ]
}

fn setting(name: &str, means: &str) -> Finding {
    match fs::read_to_string(format!("/proc/sys/{}", name.replace('.', "/"))) {
        Ok(value) => Finding::new(name, Verdict::Good, value.trim(), means),
        Err(error) => Finding::new(name, Verdict::Unknown, error.to_string(), means),
    }
}

fn lockdown() -> Finding {
    match fs::read_to_string("/sys/kernel/security/lockdown") {
        Ok(modes) if modes.contains("[confidentiality]") => {
            Finding::new("lockdown", Verdict::Missing, modes.trim(), "tracing programs can't read memory")
                .remedy("boot with lockdown=integrity or lockdown=none")
        }
        Ok(modes) => Finding::good("lockdown", modes.trim()),
        Err(error) => Finding::new(
            "lockdown",
            Verdict::Unknown,
            format!("/sys/kernel/security/lockdown: {error}"),
            "can't be read; the tests of the probes below show whether it is in the way",
        ),
    }
}

fn swap() -> Finding {
    let areas = fs::read_to_string("/proc/swaps").map_or(0, |text| text.lines().count().saturating_sub(1));
    let found = if areas == 0 { "none in use".to_owned() } else { format!("{areas} in use") };
    Finding::new("swap areas", Verdict::Good, found, "swap-ins can only be seen where there is swap")
}

pub(super) fn tracefs(tracefs: &Tracefs) -> Finding {
    match tracefs.origin() {
        TracefsOrigin::Mounted(place) => Finding::good("tracefs", format!("mounted at {place}")),
        TracefsOrigin::Private => {
            Finding::good("tracefs", "not mounted; a private instance works, which nobody else sees")
        }
    }
}

pub(super) fn tracepoints(facts: &Facts) -> Vec<Finding> {
    let mut findings: Vec<Finding> = TRACEPOINTS
        .iter()
        .map(|event| match facts.tracepoints.get(*event) {
            Some(format) => Finding::good(&format!("tracepoint {event}"), format!("number {}", format.id)),
            None => Finding::new(
                &format!("tracepoint {event}"),
                Verdict::Less,
                "not in this kernel",
                "the plan below says what is used instead",
            ),
        })
        .collect();
    findings.push(if facts.counters_exact {
        Finding::good("kmem:rss_stat", "fires for every change (Linux 6.2 and later): kinds are exact")
    } else {
        Finding::new(
            "kmem:rss_stat",
            Verdict::Less,
            format!("batched by {}", facts.kernel_release),
            "kinds are inferred from the mapping and the major flag, and marked",
        )
        .remedy("Linux 6.2 or later")
    });
    let namespace = match facts.pid_namespace {
        None => "the initial one".to_owned(),
        Some(namespace) => format!("a child (inode {}): ids are translated in the kernel", namespace.inode),
    };
    findings.push(Finding::good("pid namespace", namespace));
    findings
}
