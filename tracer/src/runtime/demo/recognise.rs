//! Whether a file is the demonstration program.

use super::sites::pause_sites;
use crate::{
    elf::Image,
    runtime::{RecogniseError, Recognised, RuntimeKind, WindowRules, recognised::Decoder},
};

/// What identifies the demonstration.
pub(in crate::runtime) const LOOKED_FOR: &str = "the demonstration's functions pauselens_demo_stop_world and \
                                                 pauselens_demo_start_world (.symtab, .dynsym)";

/// Recognises the demonstration; `Ok(None)` if the file has none of its functions. It is built together with
/// this program and so has its version.
pub(in crate::runtime) fn recognise(image: &Image) -> Result<Option<Recognised>, RecogniseError> {
    let sites = pause_sites(image)?;
    Ok(sites.map(|sites| Recognised {
        kind: RuntimeKind::Demo,
        name: "pauselens-demo".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        sites,
        files: Vec::new(),
        rules: WindowRules::default(),
        go_functions: None,
        notes: Vec::new(),
        decoder: Decoder::Demo,
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
        runtime::{SiteKind, recognise},
    };

    const BOTH: &str = "
        __attribute__((noinline, used))
        void pauselens_demo_stop_world(int reason) { __asm__ volatile(\"nop\" :: \"r\"(reason)); }
        __attribute__((noinline, used)) void pauselens_demo_start_world(void) { __asm__ volatile(\"\"); }
        int main(void) { pauselens_demo_stop_world(2); pauselens_demo_start_world(); return 0; }";

    fn recognised(source: &str, arguments: &[&str]) -> Result<Recognised, RecogniseError> {
        let folder = tempfile::tempdir().unwrap();
        recognise(&std::sync::Arc::new(open(&compile(folder.path(), source, arguments))))
    }

    #[test]
    fn finds_the_demonstration_in_either_table() {
        for (arguments, source) in
            [(&["-O2"][..], SymbolSource::Symtab), (&["-O2", "-rdynamic", "-s"], SymbolSource::Dynsym)]
        {
            let demo = recognised(BOTH, arguments).unwrap();
            assert_eq!(
                (demo.kind, demo.name.as_str(), demo.version.as_str()),
                (RuntimeKind::Demo, "pauselens-demo", env!("CARGO_PKG_VERSION"))
            );
            assert_eq!(
                (demo.sites.requested[0].source, demo.sites.requested[0].kind),
                (source, SiteKind::Entry)
            );
            assert_eq!((demo.sites.stopped.len(), demo.sites.resumed.len()), (1, 1));
            assert!(demo.sites.stopped[0].file_offset > demo.sites.requested[0].file_offset);
        }
    }

    #[test]
    fn half_a_pair_is_an_error_that_names_the_other_half() {
        let half =
            "void pauselens_demo_stop_world(int reason) { (void)reason; } int main(void) { return 0; }";
        let error = recognised(half, &[]).unwrap_err();
        let RecogniseError::PauseFunctionNotFound { missing, tables_tried, .. } = &error else {
            panic!("{error}")
        };
        assert_eq!(missing, &["pauselens_demo_start_world"]);
        assert_eq!(tables_tried, &[".symtab", ".dynsym"]);
    }

    #[test]
    fn a_pause_that_never_ends_is_an_error() {
        let endless = BOTH.replace("__asm__ volatile(\"\");", "for (;;) {}");
        assert!(matches!(recognised(&endless, &["-O2"]), Err(RecogniseError::ReturnSites { .. })));
    }

    #[test]
    fn any_other_program_is_no_known_runtime() {
        let error = recognised("int main(void) { return 0; }", &[]).unwrap_err();
        let RecogniseError::NoKnownRuntime { .. } = &error else { panic!("{error}") };
        let message = error.to_string();
        for part in [".go.buildinfo", ".gopclntab", "pauselens_demo_stop_world", "--enter"] {
            assert!(message.contains(part), "{message}");
        }
    }
}
