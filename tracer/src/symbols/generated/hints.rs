//! How to get names for generated code, by the runtime that has made it.

use std::ffi::OsStr;

/// What a runtime's executable file or library is called, how it begins, and what makes it write names down.
const RUNTIMES: &[(&[&str], &str)] = &[
    (
        &["libjvm.so"],
        "HotSpot from 17 on writes a map at any time: `jcmd PID Compiler.perfmap`, before the trace's end",
    ),
    (&["libcoreclr.so"], ".NET writes a map when it is started with DOTNET_PerfMapEnabled=1"),
    (&["node", "nodejs", "libnode.so"], "Node writes a map when it is started with --perf-basic-prof"),
    (
        &["libpython3", "python3", "python"],
        "CPython from 3.12 on writes a map of its Python functions when it is started with -X perf (PYTHONPERFSUPPORT=1)",
    ),
];

/// For everything else.
const ANY: &str = "a runtime that writes a perf map (/tmp/perf-PID.map) or a jitdump file while it runs gets its names \
                   from there";

/// What would name the generated code of a program that has mapped these files as code.
pub(in crate::symbols) fn hint<'a>(mapped: impl Iterator<Item = &'a OsStr>) -> &'static str {
    let names: Vec<String> = mapped
        .map(|path| {
            let path = path.to_string_lossy();
            let path = path.strip_suffix(" (deleted)").unwrap_or(&path).to_owned();
            path.rsplit('/').next().unwrap_or_default().to_owned()
        })
        .collect();
    let has = |begins: &&str| names.iter().any(|name| is(name, begins));
    RUNTIMES.iter().find(|(begins, _)| begins.iter().any(has)).map_or(ANY, |(_, hint)| hint)
}

/// Whether the code that these runtimes generate is known to have no frame pointers: HotSpot uses the register for other things
/// (unless it is told `-XX:+PreserveFramePointer`), and CPython's trampolines make no frame.
pub(in crate::symbols) fn lacks_frame_pointers<'a>(mapped: impl Iterator<Item = &'a OsStr>) -> bool {
    let given = hint(mapped);
    given.starts_with("HotSpot") || given.starts_with("CPython")
}

/// Whether the name is that of the runtime, with or without a version behind it.
fn is(name: &str, begin: &str) -> bool {
    name.strip_prefix(begin).is_some_and(|rest| {
        let rest = rest.split(".so").next().unwrap_or(rest);
        rest.trim_matches(|letter: char| letter.is_ascii_digit() || ".-dmt".contains(letter)).is_empty()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_runtime_has_its_own() {
        let table = [
            ("/usr/lib/jvm/java-17/lib/server/libjvm.so", "Compiler.perfmap"),
            ("/usr/share/dotnet/shared/x/libcoreclr.so", "DOTNET_PerfMapEnabled"),
            ("/usr/bin/node", "--perf-basic-prof"),
            ("/usr/lib/libnode.so.108", "--perf-basic-prof"),
            ("/opt/python3.13t (deleted)", "-X perf"),
            ("/usr/lib/x86_64-linux-gnu/libpython3.12.so.1.0", "-X perf"),
            ("/usr/bin/nodepad", "/tmp/perf-PID.map"),
            ("/usr/bin/service", "/tmp/perf-PID.map"),
        ];
        for (path, expected) in table {
            let paths = ["", "[vdso]", "/usr/lib/libc.so.6", path];
            let given = hint(paths.iter().map(OsStr::new));
            assert!(given.contains(expected), "{path}: {given}");
        }
    }
}
