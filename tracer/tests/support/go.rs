//! For tests: finds the Go toolchains that `cargo xtask setup --tests` installs, and builds Go programs with
//! them.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

/// Every toolchain that the tests use: the first and the last version of each way in which Go's runtime
/// behaves.
#[allow(dead_code, reason = "each test file includes this module and uses a part of it")]
pub(crate) const VERSIONS: [&str; 6] = ["1.21.13", "1.22.10", "1.23.9", "1.25.5", "1.26.6", "1.27.3"];

/// The environment variable that names another folder of toolchains.
const VARIABLE: &str = "PAUSELENS_GO_TOOLCHAINS";

/// The `go` command of a version.
///
/// # Panics
///
/// It is not installed; the message names the command that installs it.
pub(crate) fn toolchain(version: &str) -> PathBuf {
    let go = installed(version);
    assert!(
        go.is_file(),
        "Go {version} is not installed: {} does not exist. Run `cargo xtask setup --tests`, or set \
         {VARIABLE} to a folder that holds {version}/go/bin/go",
        go.display()
    );
    go
}

/// Where the `go` command of a version would be; it may not exist.
pub(crate) fn installed(version: &str) -> PathBuf {
    let folder = env::var_os(VARIABLE).map(PathBuf::from).unwrap_or_else(|| cache().join("go"));
    folder.join(version).join("go/bin/go")
}

/// Builds a program without cgo from a source file or from a folder that holds a package.
///
/// # Panics
///
/// The toolchain is not installed, or the build fails; its output is in the message.
#[allow(dead_code, reason = "each test file includes this module and uses a part of it")]
pub(crate) fn build(version: &str, source: &Path, out: &Path, flags: &[&str]) {
    build_in(version, source, out, flags, &[("CGO_ENABLED", "0")]);
}

/// Go's own disassembly of a program.
#[allow(dead_code, reason = "each test file includes this module and uses a part of it")]
pub(crate) fn objdump(version: &str, program: &Path) -> String {
    let go = toolchain(version);
    let mut command = Command::new(&go);
    command.args(["tool", "objdump"]).arg(program).env("GOTOOLCHAIN", "local");
    command.env("GOROOT", go.ancestors().nth(2).unwrap_or(Path::new("/")));
    command.env("GOCACHE", cache().join("go-build"));
    let output = command.output().unwrap_or_else(|error| panic!("can't run {}: {error}", go.display()));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Builds a program with these environment variables, such as `CGO_ENABLED` and `GOARCH`.
///
/// # Panics
///
/// As for [`build`].
pub(crate) fn build_in(
    version: &str,
    source: &Path,
    out: &Path,
    flags: &[&str],
    environment: &[(&str, &str)],
) {
    let go = toolchain(version);
    let mut command = Command::new(&go);
    // A package is built in its own folder, a file anywhere.
    let package = if source.is_dir() { Path::new(".") } else { source };
    if source.is_dir() {
        command.current_dir(source);
    }
    command.args(["build", "-p", "2", "-o"]).arg(out).args(flags).arg(package);
    command.env("GOROOT", go.ancestors().nth(2).unwrap_or(Path::new("/")));
    command.envs([("GOTOOLCHAIN", "local"), ("GOFLAGS", "-mod=mod"), ("GOPROXY", "off"), ("GOWORK", "off")]);
    command.env("GOCACHE", cache().join("go-build")).envs(environment.iter().copied());
    let output = command.output().unwrap_or_else(|error| panic!("can't run {}: {error}", go.display()));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "Go {version} can't build {} with {flags:?}:\n{said}", source.display());
}

/// Where `cargo xtask setup` keeps what it downloads.
fn cache() -> PathBuf {
    let of_user = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute());
    of_user.unwrap_or_else(|| env::home_dir().unwrap_or_default().join(".cache")).join("pauselens")
}
