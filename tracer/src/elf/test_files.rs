//! For tests: compiles small C programs and opens them.

use std::{
    fs::File,
    path::{Path, PathBuf},
    process::Command,
};

use super::Image;

/// Compiles a C program with `gcc` into `folder`, which must last as long as the file is used.
pub(crate) fn compile(folder: &Path, source: &str, arguments: &[&str]) -> PathBuf {
    let (code, program) = (folder.join("program.c"), folder.join("program"));
    std::fs::write(&code, source).unwrap();
    let output = Command::new("gcc").arg("-o").arg(&program).args(arguments).arg(&code).output().unwrap();
    assert!(output.status.success(), "gcc {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    program
}

/// Opens a file that is known to be good.
pub(crate) fn open(path: &Path) -> Image {
    Image::open(File::open(path).unwrap(), path.to_owned()).unwrap()
}
