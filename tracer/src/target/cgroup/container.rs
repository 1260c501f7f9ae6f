//! Which container, pod or systemd unit a process is of, told by the path of its cgroup.
//!
//! The forms are those that the engines give to their cgroups, read off `/proc/PID/cgroup` of their containers: Docker
//! (`docker-<id>.scope` with the systemd driver, `/docker/<id>` with cgroupfs), containerd's Kubernetes plug-in
//! (`cri-containerd-<id>.scope`, `…slice:cri-containerd:<id>`), CRI-O (`crio-<id>.scope`), Podman (`libpod-<id>.scope`,
//! `libpod-<id>`), nerdctl, Kubernetes' own (`kubepods[-burstable|-besteffort]-pod<uid>.slice`,
//! `/kubepods/<class>/pod<uid>/<id>`), LXC (`/lxc/<name>`, `lxc.payload.<name>`), systemd-nspawn.

use std::fs;

/// What the cgroup's path tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// The innermost container.
    pub container: Option<Container>,
    /// The systemd service, inside the container if there is one.
    pub unit: Option<String>,
}

/// A container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Container {
    /// What runs it: `docker`, `containerd`, `cri-o`, `podman`, `lxc`, `systemd-nspawn`; `None` when the path does not say.
    pub runtime: Option<&'static str>,
    /// Its id in hexadecimal, or its name where the engine uses names.
    pub id: String,
    /// The unique id of its Kubernetes pod.
    pub pod_uid: Option<String>,
}

impl Placement {
    /// Of a process; nothing when it is gone.
    #[must_use]
    pub fn of(pid: u32) -> Self {
        Self::parse(&fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default())
    }

    /// From the lines of `/proc/PID/cgroup`. Version 2 comes first; a hierarchy that tells nothing leaves it to the others.
    #[must_use]
    pub fn parse(lines: &str) -> Self {
        let mut paths: Vec<(&str, &str)> = lines
            .lines()
            .filter_map(|line| {
                let mut parts = line.splitn(3, ':').skip(1);
                Some((parts.next()?, parts.next()?))
            })
            .collect();
        paths.sort_by_key(|(controllers, _)| !controllers.is_empty());
        let all: Vec<Self> = paths.iter().map(|(_, path)| Self::of_path(path)).collect();
        Self {
            container: all.iter().find_map(|one| one.container.clone()),
            unit: all.iter().find_map(|one| one.unit.clone()),
        }
    }

    fn of_path(path: &str) -> Self {
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let mut pod_uid = None;
        let mut found = Self::default();
        for (index, part) in parts.iter().enumerate() {
            let before = index.checked_sub(1).and_then(|index| parts.get(index)).copied();
            pod_uid = pod_of(part).or(pod_uid);
            if let Some((runtime, id)) = container_of(before, part) {
                found = Self {
                    container: Some(Container { runtime, id: id.to_owned(), pod_uid: pod_uid.clone() }),
                    unit: None,
                };
            } else if part.ends_with(".service") {
                found.unit = Some((*part).to_owned());
            }
        }
        found
    }
}

/// The container that a part of the path is of; `before`: the part before it.
fn container_of<'a>(before: Option<&str>, part: &'a str) -> Option<(Option<&'static str>, &'a str)> {
    // `docker-<id>.scope`, and the same without `.scope` where cgroupfs is used.
    const PREFIXES: [(&str, &str); 5] = [
        ("docker-", "docker"),
        ("cri-containerd-", "containerd"),
        ("crio-", "cri-o"),
        ("libpod-", "podman"),
        ("nerdctl-", "containerd"),
    ];
    let name = part.strip_suffix(".scope").unwrap_or(part);
    for (prefix, runtime) in PREFIXES {
        if let Some(id) = name.strip_prefix(prefix).filter(|id| is_id(id)) {
            return Some((Some(runtime), id));
        }
    }
    // `kubepods-burstable-pod<uid>.slice:cri-containerd:<id>`: a name for systemd that was used as a path.
    let mut colons = part.rsplit(':');
    if let (Some(id), Some(engine), Some(_)) = (colons.next(), colons.next(), colons.next())
        && is_id(id)
    {
        let known = PREFIXES.iter().find(|(prefix, _)| prefix.trim_end_matches('-') == engine);
        return Some((known.map(|(_, runtime)| *runtime), id));
    }
    if let Some(name) = part.strip_prefix("lxc.payload.") {
        return Some((Some("lxc"), name));
    }
    if let Some(name) = part.strip_prefix("systemd-nspawn@").and_then(|name| name.strip_suffix(".service")) {
        return Some((Some("systemd-nspawn"), name));
    }
    match before {
        Some("lxc" | "lxc.payload") => Some((Some("lxc"), part)),
        Some("docker") if is_id(part) => Some((Some("docker"), part)),
        // Kubernetes with cgroupfs, and other engines that use the id alone.
        _ if is_id(part) => Some((None, part)),
        _ => None,
    }
}

/// `pod<uid>`, or `kubepods[-class]-pod<uid>.slice`, in which systemd wants `_` for `-`; also in front of `:engine:id`.
fn pod_of(part: &str) -> Option<String> {
    let name = part.split(':').next()?;
    let uid = match name.strip_suffix(".slice") {
        Some(slice) => slice.strip_prefix("kubepods")?.rsplit_once("-pod")?.1,
        None => name.strip_prefix("pod")?,
    };
    let hexadecimal = uid.chars().all(|char| char.is_ascii_hexdigit() || matches!(char, '-' | '_'));
    (uid.len() >= 32 && hexadecimal).then(|| uid.replace('_', "-"))
}

/// 64 hexadecimal digits: what Docker, containerd, CRI-O and Podman call a container.
fn is_id(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "4f1d3a0c9be25f7a61c08f4f7b2f5e0e6c2a9d1b3e4f5a6b7c8d9e0f1a2b3c4d";
    const UID: &str = "1b4c3c52-0f0e-4a5f-9c53-0a2d6f9d7e11";

    /// A line; the runtime, the container's id, the pod's, the unit.
    type Row = (
        &'static str,
        Option<&'static str>,
        Option<&'static str>,
        Option<&'static str>,
        Option<&'static str>,
    );

    fn placed(line: &str) -> (Option<&'static str>, Option<String>, Option<String>, Option<String>) {
        let line = line.replace("UID_", &UID.replace('-', "_")).replace("UID-", UID).replace("ID", ID);
        let Placement { container, unit } = Placement::parse(&line);
        let container = container.unwrap_or_default();
        let id = (!container.id.is_empty()).then_some(container.id);
        (container.runtime, id.map(|id| id.replace(ID, "ID")), container.pod_uid, unit)
    }

    #[test]
    fn paths_as_the_engines_make_them() {
        let pod = Some(UID);
        let table: &[Row] = &[
            // Docker with the systemd driver, version 2 and 1; with cgroupfs; in a unit's own slice.
            ("0::/system.slice/docker-ID.scope", Some("docker"), Some("ID"), None, None),
            ("12:memory:/docker/ID", Some("docker"), Some("ID"), None, None),
            (
                "1:name=systemd:/docker/ID\n0::/system.slice/docker.service",
                Some("docker"),
                Some("ID"),
                None,
                Some("docker.service"),
            ),
            ("0::/build.slice/docker-ID.scope", Some("docker"), Some("ID"), None, None),
            // Systemd inside of a container.
            (
                "0::/system.slice/docker-ID.scope/system.slice/nginx.service",
                Some("docker"),
                Some("ID"),
                None,
                Some("nginx.service"),
            ),
            // Kubernetes: containerd and CRI-O with the systemd driver, guaranteed, burstable and best effort.
            (
                "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podUID_.slice/cri-containerd-ID.scope",
                Some("containerd"),
                Some("ID"),
                pod,
                None,
            ),
            (
                "0::/kubepods.slice/kubepods-podUID_.slice/cri-containerd-ID.scope",
                Some("containerd"),
                Some("ID"),
                pod,
                None,
            ),
            (
                "0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-podUID_.slice/crio-ID.scope/container",
                Some("cri-o"),
                Some("ID"),
                pod,
                None,
            ),
            (
                "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podUID_.slice/docker-ID.scope",
                Some("docker"),
                Some("ID"),
                pod,
                None,
            ),
            (
                "5:cpu:/system.slice/containerd.service/kubepods-burstable-podUID_.slice:cri-containerd:ID",
                Some("containerd"),
                Some("ID"),
                pod,
                None,
            ),
            // Kubernetes with cgroupfs: the engine is not in the path.
            ("0::/kubepods/burstable/podUID-/ID", None, Some("ID"), pod, None),
            ("4:memory:/kubepods/podUID-/ID", None, Some("ID"), pod, None),
            // A node that is a container itself (kind).
            ("0::/docker/ID/kubelet/kubepods/besteffort/podUID-/ID", None, Some("ID"), pod, None),
            (
                "0::/system.slice/docker-ID.scope/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice",
                Some("docker"),
                Some("ID"),
                None,
                None,
            ),
            // Podman: root, rootless, cgroupfs; its monitor is no container.
            ("0::/machine.slice/libpod-ID.scope/container", Some("podman"), Some("ID"), None, None),
            (
                "0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-ID.scope",
                Some("podman"),
                Some("ID"),
                None,
                None,
            ),
            ("9:pids:/libpod_parent/libpod-ID", Some("podman"), Some("ID"), None, None),
            ("0::/machine.slice/libpod-conmon-ID.scope", None, None, None, None),
            ("0::/kubepods.slice/kubepods-podUID_.slice/crio-conmon-ID.scope", None, None, None, None),
            // nerdctl, LXC in its three forms, systemd-nspawn.
            ("0::/system.slice/nerdctl-ID.scope", Some("containerd"), Some("ID"), None, None),
            ("0::/lxc/web-1", Some("lxc"), Some("web-1"), None, None),
            ("0::/lxc.payload.web-1/init.scope", Some("lxc"), Some("web-1"), None, None),
            (
                "0::/lxc.payload/web-1/system.slice/ssh.service",
                Some("lxc"),
                Some("web-1"),
                None,
                Some("ssh.service"),
            ),
            ("0::/lxc.monitor.web-1", None, None, None, None),
            (
                "0::/machine.slice/systemd-nspawn@deb.service/payload",
                Some("systemd-nspawn"),
                Some("deb"),
                None,
                None,
            ),
            // Units: of the system, of a user, of an instance; the innermost one.
            ("0::/system.slice/nginx.service", None, None, None, Some("nginx.service")),
            (
                "0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-foo.service",
                None,
                None,
                None,
                Some("app-foo.service"),
            ),
            (
                "0::/system.slice/system-postgresql.slice/postgresql@15-main.service",
                None,
                None,
                None,
                Some("postgresql@15-main.service"),
            ),
            ("0::/user.slice/user-1000.slice/session-3.scope", None, None, None, None),
            ("1:name=systemd:/system.slice/cron.service\n0::/", None, None, None, Some("cron.service")),
            // Neither.
            ("0::/", None, None, None, None),
            ("4:memory:/process_api/3ce3b1efec25c8a3df43e4936cd9f01c\n0::/", None, None, None, None),
            ("0::/podcasts/docker-compose", None, None, None, None),
            ("odd", None, None, None, None),
            ("", None, None, None, None),
        ];
        for (line, runtime, id, pod_uid, unit) in table {
            let owned = |text: &Option<&str>| text.map(str::to_owned);
            assert_eq!(placed(line), (*runtime, owned(id), owned(pod_uid), owned(unit)), "{line}");
        }
    }

    #[test]
    fn a_static_pod_has_a_uid_without_dashes() {
        let uid = "0123456789abcdef0123456789abcdef";
        let line = format!("0::/kubepods/burstable/pod{uid}/{ID}");
        assert_eq!(Placement::parse(&line).container.unwrap().pod_uid.as_deref(), Some(uid));
    }
}
