//! Lua and LuaJIT: neither counts its collections; the program stops the automatic collector and makes a known number.

use std::process::Command;

use tracer::report::model::Report;

use crate::{
    attached::{Running, as_root},
    runtimes::{fetched, ready, refused, traced, workload},
};

fn lua(name: &str) -> Running {
    let mut command = Command::new(fetched(name));
    // Its first character would be taken for an option's.
    command.arg("-e").arg(format!("\n{}", workload("workload.lua")));
    ready(command)
}

fn count(report: &Report, reason: &str) -> u64 {
    report.summary.by_reason.get(reason).copied().unwrap_or(0)
}

fn asked_for(name: &str, runtime: &str) -> Report {
    as_root();
    let mut lua = lua(name);
    let (full, _) = traced(&mut lua, &["full 7"]);
    assert_eq!(full.target.runtime.name, runtime);
    assert!(full.trace.complete, "{:?}", full.trace.incomplete);
    assert_eq!((full.summary.pauses, count(&full, "full collection")), (7, 7));
    let (steps, _) = traced(&mut lua, &["step 5"]);
    assert_eq!(count(&steps, "full collection"), 0);
    let (by_itself, _) = traced(&mut lua, &["churn 20"]);
    assert!(count(&by_itself, "step") > 0 && count(&by_itself, "full collection") == 0);
    steps
}

/// Its symbols lie in a file of their own.
#[test]
fn lua_5_4_with_its_debug_file() {
    let steps = asked_for("lua-5.4-debug", "lua");
    assert_eq!((steps.summary.pauses, count(&steps, "step")), (5, 5));
    assert!(steps.target.runtime.version.starts_with("5.4."));
}

/// It divides each step that is asked for until enough is done, and says nowhere into how many.
#[test]
fn luajit_with_symbols() {
    let steps = asked_for("luajit-symbols", "luajit");
    assert!(
        steps.summary.pauses >= 5 && count(&steps, "step") == steps.summary.pauses,
        "{:?}",
        steps.summary
    );
    assert!(steps.target.runtime.version.starts_with("2.1."));
}

#[test]
fn stripped_builds_are_refused() {
    as_root();
    for (name, parts) in [
        ("lua-5.4", ["luaC_fullgc", "luaC_step", ".build-id/", "liblua5.N-0-dbg"]),
        ("luajit", ["lj_gc_fullgc", "lj_gc_step", ".build-id/", "TARGET_STRIP"]),
    ] {
        let lua = lua(name);
        let ended = refused(lua.pid());
        assert_eq!((ended.code(), ended.stdout.as_str()), (1, ""), "{}", ended.told());
        for part in parts {
            assert!(ended.stderr.contains(part), "{part}: {}", ended.told());
        }
    }
}
