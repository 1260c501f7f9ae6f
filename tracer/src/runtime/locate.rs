//! From a place as it is written to the instructions that it means, in a process's files.

use std::{path::PathBuf, sync::Arc};

use super::{
    files::MappedFiles,
    place::{Place, What},
    sites::{Site, SiteKind},
};
use crate::elf::{
    ElfAddress, FileOffset, Function, GoFunctions, Image, ReturnSitesError, SymbolSource, exits,
    find_functions, functions_where, holds_go_code, usdt,
};

/// What compilers append to a function's name for the part of it that hardly ever runs, which they put elsewhere.
const COLD_PART: &str = ".cold";

/// Names that are like the one that was not found, at most.
const NEAR_MISSES: usize = 6;

/// A place is nowhere, or can't be probed.
#[derive(Debug, thiserror::Error)]
pub enum LocateError {
    /// No file holds it.
    #[error("{place} is {} {}{}", counted(.files.len()), shown(.files), like(.near))]
    NotFound {
        /// As it was written.
        place: String,
        /// Where it was looked for.
        files: Vec<PathBuf>,
        /// Names that are like it.
        near: Vec<String>,
    },
    /// No file has that name.
    #[error("{place}: the process has no file {file} mapped; it has {}", shown(.files))]
    NoSuchFile {
        /// As it was written.
        place: String,
        /// The file's name.
        file: String,
        /// What it has.
        files: Vec<PathBuf>,
    },
    /// Several files hold it.
    #[error("{place} is in several files ({}); write FILE:SYMBOL to say which", shown(.files))]
    Several {
        /// As it was written.
        place: String,
        /// The files.
        files: Vec<PathBuf>,
    },
    /// Several functions of that name.
    #[error("{place} is {count} different functions in {file}; write {file}+0xOFFSET to say which")]
    Ambiguous {
        /// As it was written.
        place: String,
        /// The file.
        file: PathBuf,
        /// How many.
        count: usize,
    },
    /// The offset is not in the file's code.
    #[error("{place} is not in the code of {file}: nothing is probed there")]
    NotCode {
        /// As it was written.
        place: String,
        /// The file.
        file: PathBuf,
    },
    /// The function's code can't be read.
    #[error("{place}: {source}")]
    Returns {
        /// As it was written.
        place: String,
        /// What is wrong.
        source: ReturnSitesError,
    },
}

fn counted(files: usize) -> String {
    if files == 1 { "not in".to_owned() } else { format!("in none of the {files} files") }
}

fn shown(files: &[PathBuf]) -> String {
    const SHOWN: usize = 12;
    let mut names: Vec<String> = files.iter().take(SHOWN).map(|file| file.display().to_string()).collect();
    if files.len() > SHOWN {
        names.push(format!("and {} more", files.len() - SHOWN));
    }
    names.join(", ")
}

fn like(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!("; there is {}", names.join(", ")) }
}

/// Finds the functions that a place means: the file they are in, and each of them.
///
/// # Errors
/// See [`LocateError`].
pub fn functions(place: &Place, files: &MappedFiles) -> Result<(usize, Vec<Function>), LocateError> {
    let mut found: Vec<(usize, Vec<Function>)> = Vec::new();
    for (index, image) in candidates(place, files)? {
        let functions = in_file(place, files, index, image);
        if !functions.is_empty() {
            found.push((index, functions));
        }
    }
    let (file, functions) = only_file(place, files, found)?;
    if matches!(place.what, What::Function(_)) && functions.len() > 1 {
        return Err(LocateError::Ambiguous {
            place: place.to_string(),
            file: files.files[file].shown_as().to_path_buf(),
            count: functions.len(),
        });
    }
    Ok((file, functions))
}

/// Finds the instructions that a place means.
///
/// # Errors
/// See [`LocateError`].
pub fn locate(place: &Place, files: &MappedFiles) -> Result<Vec<Site>, LocateError> {
    match &place.what {
        What::Usdt { provider, name } => {
            let mut found = Vec::new();
            for (index, image) in candidates(place, files)? {
                let here = usdt(image);
                let here = here.iter().filter(|usdt| usdt.provider == *provider && usdt.name == *name);
                let sites: Vec<Site> = here.filter_map(|usdt| Site::usdt(image, usdt)).collect();
                if !sites.is_empty() {
                    found.push((index, sites));
                }
            }
            let (file, sites) = only_file(place, files, found)?;
            Ok(sites.into_iter().map(|site| site.in_file(file)).collect())
        }
        What::Offset(offset) => {
            let mut found = candidates(place, files)?;
            let (index, image) = match found.len() {
                1 => found.remove(0),
                _ => return Err(not_found(place, files)),
            };
            let not_code =
                || LocateError::NotCode { place: place.to_string(), file: image.shown_as().to_path_buf() };
            let elf_address = image.elf_address(FileOffset(*offset)).ok_or_else(not_code)?;
            if !image.is_executable(elf_address) {
                return Err(not_code());
            }
            Ok(vec![Site {
                function: place.to_string(),
                file: index,
                elf_address,
                file_offset: FileOffset(*offset),
                source: SymbolSource::Given,
                kind: SiteKind::Given,
                semaphore: None,
                arguments: None,
            }])
        }
        What::Function(_) | What::FunctionsBeginning(_) => {
            let (file, functions) = functions(place, files)?;
            let image = &files.files[file];
            let mut sites = Vec::new();
            for function in &functions {
                let of_function = if place.returns {
                    ends(image, tables(files, file, function.source), function)
                } else {
                    Site::entry(image, function).map(|site| vec![site])
                };
                sites.extend(
                    of_function
                        .map_err(|source| LocateError::Returns { place: place.to_string(), source })?,
                );
            }
            Ok(sites.into_iter().map(|site| site.in_file(file)).collect())
        }
    }
}

fn candidates<'a>(
    place: &Place,
    files: &'a MappedFiles,
) -> Result<Vec<(usize, &'a Arc<Image>)>, LocateError> {
    let all = files.files.iter().enumerate();
    let Some(name) = &place.file else { return Ok(all.collect()) };
    let named: Vec<_> = all.filter(|(_, image)| MappedFiles::is_called(image, name)).collect();
    if named.is_empty() {
        return Err(LocateError::NoSuchFile {
            place: place.to_string(),
            file: name.clone(),
            files: paths(files),
        });
    }
    Ok(named)
}

/// Where a function of that source is named: in the file, or in its separate debug file.
pub(super) fn tables(files: &MappedFiles, file: usize, source: SymbolSource) -> &Image {
    match files.debug_file(file) {
        Ok(debug) if source == SymbolSource::DebugFile => &debug.image,
        _ => &files.files[file],
    }
}

/// Where a function is left: its return instructions, those of its cold part, and jumps from either to other functions, which
/// return to its caller.
fn ends(image: &Image, tables: &Image, function: &Function) -> Result<Vec<Site>, ReturnSitesError> {
    let mut parts = cold_parts(tables, function);
    parts.insert(0, function.clone());
    let inside = |address: ElfAddress| {
        parts.iter().any(|part| {
            address.0.checked_sub(part.address.0).is_some_and(|distance| distance < part.size_bytes)
        })
    };
    let mut sites = Vec::new();
    let mut jumps_out = 0;
    for part in &parts {
        let exits = exits(image, part)?;
        jumps_out += exits.jumps_out.len() + exits.tail_jumps.len();
        for address in &exits.returns {
            sites.push(Site::at(image, function, *address, SiteKind::Return)?);
        }
        for (address, target) in &exits.tail_jumps {
            if !inside(*target) {
                sites.push(Site::at(image, function, *address, SiteKind::TailJump)?);
            }
        }
    }
    if sites.is_empty() {
        return Err(ReturnSitesError::NoReturn { function: function.name.clone(), jumps_out });
    }
    Ok(sites)
}

/// The parts of a function that the compiler put elsewhere because they are rarely executed.
pub(super) fn cold_parts(tables: &Image, function: &Function) -> Vec<Function> {
    let beginning = format!("{}{COLD_PART}", function.name);
    functions_where(tables, |name| name.starts_with(beginning.as_bytes()))
}

fn in_file(place: &Place, files: &MappedFiles, index: usize, image: &Image) -> Vec<Function> {
    let mut found = named(place, image);
    if found.is_empty()
        && matches!(place.what, What::Function(_) | What::FunctionsBeginning(_))
        && !image.has_symbols()
        && let Ok(debug) = files.debug_file(index)
    {
        found = named(place, &debug.image);
        found.iter_mut().for_each(|function| function.source = SymbolSource::DebugFile);
    }
    if let What::Function(name) = &place.what
        && holds_go_code(image)
        && let Ok(go) = GoFunctions::read(image)
    {
        found.extend(go.find(&[name]));
    }
    found.sort_by_key(|function| (function.address, function.source));
    found.dedup_by_key(|function| function.address);
    found
}

fn named(place: &Place, image: &Image) -> Vec<Function> {
    match &place.what {
        What::Function(name) => {
            let mut found = find_functions(image, &[name]);
            if found.is_empty() {
                found = demangled(image, name);
            }
            found
        }
        What::FunctionsBeginning(name) => {
            let mut found = functions_where(image, |other| other.starts_with(name.as_bytes()));
            found.retain(|function| !function.name.contains(COLD_PART));
            found
        }
        _ => Vec::new(),
    }
}

/// Functions whose name reads so when it is demangled, without its parameters.
fn demangled(image: &Image, name: &str) -> Vec<Function> {
    let last = name.rsplit("::").next().unwrap_or(name);
    let last = last.split('(').next().unwrap_or(last).as_bytes().to_vec();
    if last.is_empty() || !name.contains("::") {
        return Vec::new();
    }
    let holds = |mangled: &[u8]| mangled.windows(last.len()).any(|part| part == last);
    let mut found = functions_where(image, |mangled| mangled.starts_with(b"_Z") && holds(mangled));
    found.retain(|function| {
        cpp_demangle::Symbol::new(function.name.as_bytes())
            .ok()
            .and_then(|symbol| symbol.demangle().ok())
            .is_some_and(|read| read == name || read.split('(').next() == Some(name))
    });
    found
}

fn only_file<T>(
    place: &Place,
    files: &MappedFiles,
    mut found: Vec<(usize, Vec<T>)>,
) -> Result<(usize, Vec<T>), LocateError> {
    if found.len() > 1 && !holds_executable(&found) {
        let several = found.iter().map(|(file, _)| files.files[*file].shown_as().to_path_buf()).collect();
        return Err(LocateError::Several { place: place.to_string(), files: several });
    }
    if found.is_empty() { Err(not_found(place, files)) } else { Ok(found.remove(0)) }
}

/// The executable is the first file, and what it defines is what the process uses, as the dynamic linker has it.
fn holds_executable<T>(found: &[(usize, Vec<T>)]) -> bool {
    found.first().is_some_and(|(file, _)| *file == 0)
}

fn not_found(place: &Place, files: &MappedFiles) -> LocateError {
    let mut near: Vec<String> = Vec::new();
    for image in &files.files {
        match &place.what {
            What::Usdt { name, .. } => {
                near.extend(
                    usdt(image)
                        .iter()
                        .filter(|usdt| usdt.name.contains(name.as_str()))
                        .map(|usdt| format!("usdt:{}:{}", usdt.provider, usdt.name)),
                );
            }
            What::Function(name) | What::FunctionsBeginning(name) => {
                let part = name.rsplit([':', '.']).next().unwrap_or(name).as_bytes().to_vec();
                if part.len() > 3 {
                    let like = |other: &[u8]| other.windows(part.len()).any(|window| window == part);
                    near.extend(
                        functions_where(image, like).into_iter().take(NEAR_MISSES).map(|found| found.name),
                    );
                }
            }
            What::Offset(_) => {}
        }
    }
    near.sort();
    near.dedup();
    near.truncate(NEAR_MISSES);
    LocateError::NotFound { place: place.to_string(), files: paths(files), near }
}

fn paths(files: &MappedFiles) -> Vec<PathBuf> {
    files.files.iter().map(|image| image.shown_as().to_path_buf()).collect()
}
