//! The catalogue's definitions, as they are built in.

use std::sync::OnceLock;

use super::Definition;

/// Each definition's text, by its name.
pub const TEXTS: &[(&str, &str)] = &[
    ("hotspot", include_str!("hotspot.toml")),
    ("ocaml5", include_str!("ocaml5.toml")),
    ("ocaml4", include_str!("ocaml4.toml")),
    ("boehm", include_str!("boehm.toml")),
    ("d", include_str!("d.toml")),
    ("sbcl", include_str!("sbcl.toml")),
    ("ghc", include_str!("ghc.toml")),
    ("mono", include_str!("mono.toml")),
    ("erlang", include_str!("erlang.toml")),
    ("julia", include_str!("julia.toml")),
    ("dotnet", include_str!("dotnet.toml")),
    ("v8", include_str!("v8.toml")),
    // Before the other, of which it holds all that identifies it.
    ("cpython-free-threaded", include_str!("cpython-free-threaded.toml")),
    ("cpython", include_str!("cpython.toml")),
    ("ruby", include_str!("ruby.toml")),
    ("php", include_str!("php.toml")),
    ("luajit", include_str!("luajit.toml")),
    ("lua", include_str!("lua.toml")),
];

/// The definitions, in the order in which processes are looked at for them.
///
/// # Panics
/// If one is not of the form, which a test of this module would have shown.
pub fn definitions() -> &'static [Definition] {
    static PARSED: OnceLock<Vec<Definition>> = OnceLock::new();
    PARSED.get_or_init(|| {
        let parse = |(name, text): &(&str, &str)| match Definition::parse(text, name) {
            Ok(definition) => definition,
            Err(error) => panic!("the built-in definition {name}: {error}"),
        };
        TEXTS.iter().map(parse).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_of_the_form_and_has_its_own_name() {
        for ((name, _), definition) in TEXTS.iter().zip(definitions()) {
            assert_eq!(definition.name, *name);
            assert!(definition.recognise.is_some(), "{name} can't be recognised");
            assert!(definition.workers.iter().all(|worker| worker.len() <= 15), "{name}: cut by the kernel");
        }
    }
}
