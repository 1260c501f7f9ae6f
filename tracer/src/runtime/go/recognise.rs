//! Whether a file is a Go program, and of which version.

use std::sync::Arc;

use super::{GoVersion, sites::pause_sites};
use crate::{
    elf::{GoFunctions, Image, PclntabError, build_info::has_build_info, go_version},
    runtime::{RecogniseError, Recognised, RuntimeKind, WindowRules, recognised::Decoder},
};

/// What identifies a Go program.
pub(in crate::runtime) const LOOKED_FOR: &str =
    "Go's build information (.go.buildinfo) and Go's function table (.gopclntab)";

const OLDEST_MINOR: u32 = 18;
const NEWEST_TESTED_MINOR: u32 = 27;
const VERSION_COMMAND: &str = "go version";

/// Recognises a Go program; `Ok(None)` if the file holds no Go code.
pub(in crate::runtime) fn recognise(image: &Image) -> Result<Option<Recognised>, RecogniseError> {
    let build = go_version(image);
    let functions = GoFunctions::read(image);
    if !has_build_info(image) && matches!(functions, Err(PclntabError::NotFound)) {
        return Ok(None);
    }
    let path = || image.shown_as().to_path_buf();
    let unreadable = |found: String| RecogniseError::VersionUnreadable {
        path: path(),
        runtime: "Go",
        found,
        version_command: VERSION_COMMAND,
    };
    let build = build.ok_or_else(|| unreadable("there is no build information, or it is damaged".into()))?;
    let version = GoVersion::parse(&build.version)
        .ok_or_else(|| unreadable(format!("it is {:?}, without a number such as go1.27", build.version)))?;
    if !version.is_at_least(OLDEST_MINOR) {
        return Err(RecogniseError::TooOld {
            path: path(),
            runtime: "Go",
            found: version.to_string(),
            needed: format!("1.{OLDEST_MINOR}"),
            version_command: VERSION_COMMAND,
        });
    }
    let mut notes = Vec::new();
    if version.is_at_least(NEWEST_TESTED_MINOR + 1) {
        notes.push(format!(
            "Go {version} is newer than what was tested (1.{NEWEST_TESTED_MINOR}); its pauses are read as \
             those of 1.{NEWEST_TESTED_MINOR}"
        ));
    }
    if let Err(error) = &functions {
        notes.push(format!("Go functions are named from the ELF symbols alone: {error}"));
    }
    let sites = pause_sites(image, functions.as_ref())?;
    Ok(Some(Recognised {
        kind: RuntimeKind::Go,
        name: "go".to_owned(),
        version: version.to_string(),
        sites,
        files: Vec::new(),
        rules: WindowRules::default(),
        go_functions: functions.ok().map(Arc::new),
        notes,
        decoder: Decoder::Go(version),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        elf::{
            SymbolSource,
            test_files::{compile, open},
        },
        runtime::recognise,
    };

    /// Go's build information and pause functions, made by hand. Words in capitals are replaced.
    const PROGRAM: &str = r#"
        __asm__(R"(
            .section .go.buildinfo,"aw",@progbits
            .p2align 4
            .ascii "\377 Go buildinf:"
            .byte 8, INLINE
            .quad POINTER, 0
            .byte end - begin
        begin: .ascii "VERSION"
        end: .byte 0
            .data
            .p2align 3
        string: .quad text, text_end - text
        text: .ascii "VERSION"
        text_end:
            .text
            .type "runtime.STOP", @function
        "runtime.STOP": nop
            ret
            .size "runtime.STOP", . - "runtime.STOP"
            .type "runtime.startTheWorldWithSema", @function
        "runtime.startTheWorldWithSema": nop
            ret
            .size "runtime.startTheWorldWithSema", . - "runtime.startTheWorldWithSema"
        )");
        int main(void) { return 0; }"#;

    const GOOD: [(&str, &str); 3] = [("INLINE", "2"), ("POINTER", "0"), ("STOP", "stopTheWorldWithSema")];

    fn recognised(
        version: &str,
        arguments: &[&str],
        changes: &[(&str, &str)],
    ) -> Result<Recognised, RecogniseError> {
        let words = [("VERSION", version)];
        let words = words.iter().chain(changes).chain(&GOOD);
        let source = words.fold(PROGRAM.to_owned(), |source, (word, value)| source.replace(word, value));
        let folder = tempfile::tempdir().unwrap();
        recognise(&Arc::new(open(&compile(folder.path(), &source, arguments))))
    }

    #[test]
    fn symbols_do_without_the_function_table() {
        let go = recognised("go1.27.3", &[], &[]).unwrap();
        assert_eq!((go.kind, go.version.as_str()), (RuntimeKind::Go, "1.27.3"));
        assert_eq!((go.sites.requested[0].source, go.sites.stopped.len()), (SymbolSource::Symtab, 1));
        assert!(go.go_functions.is_none());
        assert!(matches!(&go.notes[..], [note] if note.contains("no Go function table")), "{:?}", go.notes);
    }

    #[test]
    fn a_newer_version_is_accepted_with_a_note() {
        let go = recognised("go1.31.4", &[], &[]).unwrap();
        assert!(go.notes[0].contains("1.31.4 is newer than what was tested (1.27)"), "{:?}", go.notes);
    }

    /// Before Go 1.18 the version is behind a pointer, which is a relocation in a position-independent
    /// program.
    #[test]
    fn an_older_version_is_refused() {
        for arguments in [&["-no-pie"][..], &["-pie", "-fPIE"]] {
            let pointing = [("INLINE", "0"), ("POINTER", "string")];
            let error = recognised("go1.17.13", arguments, &pointing).unwrap_err();
            assert!(matches!(&error, RecogniseError::TooOld { found, .. } if found == "1.17.13"), "{error}");
            assert!(error.to_string().contains("1.18 or later is needed"), "{error}");
        }
    }

    #[test]
    fn an_unreadable_version_is_refused() {
        for (version, changes) in [("devel +1a2b3c", &[][..]), ("go1.27.3", &[("INLINE", "3")]), ("\\n", &[])]
        {
            let error = recognised(version, &[], changes).unwrap_err();
            let RecogniseError::VersionUnreadable { .. } = &error else { panic!("{version}: {error}") };
        }
    }

    #[test]
    fn a_missing_function_is_named_with_all_that_was_tried() {
        let error = recognised("go1.27.3", &[], &[("STOP", "elsewhere")]).unwrap_err();
        let RecogniseError::PauseFunctionNotFound { missing, candidates, tables_tried, .. } = &error else {
            panic!("{error}")
        };
        assert_eq!(missing, &["runtime.stopTheWorldWithSema"]);
        assert_eq!((candidates.len(), tables_tried.len()), (2, 3));
        assert!(
            error.to_string().contains(".symtab; .dynsym; Go's function table (no Go function table"),
            "{error}"
        );
    }
}
