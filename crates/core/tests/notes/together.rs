#![expect(clippy::disallowed_types, reason = "the test starts itself a second time")]

use super::{Notes, Scratch, ok};
use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use toolbolt_core::builtin::notes::NotesLimits;

const ROOT: &str = "NOTES_TEST_ROOT";
const WRITER: &str = "NOTES_TEST_WRITER";
const COUNT: u32 = 1_000;

/// This program again, as one of its tests that only runs so.
pub(crate) fn start(test: &str, root: &Path, writer: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--ignored", "--nocapture", "--test-threads=1"]).env(ROOT, root).env(WRITER, writer);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// What `start` passed on.
pub(crate) fn started_with() -> Option<(String, String)> {
    Some((std::env::var(ROOT).ok()?, std::env::var(WRITER).ok()?))
}

#[test]
#[ignore = "started by the test below, in a process of its own"]
fn writer() {
    let Some((root, writer)) = started_with() else { return };
    let notes = Notes::new(Path::new(&root));
    for number in 0..COUNT {
        ok(&notes.append("shared/log.md", &format!("{writer} {number}")));
    }
}

#[test]
fn two_processes_lose_nothing() {
    let scratch = Scratch::new();
    let root = scratch.path("root");
    let writers = ["left", "right"].map(|name| start("together::writer", &root, name));
    for writer in writers {
        assert!(writer.wait_with_output().unwrap().status.success());
    }
    let text = fs::read_to_string(root.join("shared/log.md")).unwrap();
    let lines: HashSet<&str> = text.lines().collect();
    assert_eq!((text.lines().count(), lines.len()), (2 * COUNT as usize, 2 * COUNT as usize));
    for name in ["left", "right"] {
        let numbers: Vec<u32> = text.lines().filter_map(|line| line.strip_prefix(name)?.trim().parse().ok()).collect();
        assert!(numbers.is_sorted() && numbers.len() == COUNT as usize, "{name}");
    }
}

#[test]
#[ignore = "started by the test below, where files cannot grow beyond 64 KiB"]
fn confined() {
    let Some((root, _)) = started_with() else { return };
    let notes = Notes::with(Path::new(&root), NotesLimits { max_append_chars: 100_000, ..NotesLimits::default() });
    ok(&notes.append("a", &"x".repeat(50_000)));
    super::refused(&notes.append("a", &"y".repeat(50_000)));
    ok(&notes.append("a", "z"));
}

#[test]
fn where_no_space_is_left_what_was_there_stays() {
    let scratch = Scratch::new();
    let script = r#"trap "" XFSZ; ulimit -f 128; [ "$(ulimit -f)" = 128 ] && exec "$0" together::confined --exact --ignored"#;
    let mut command = Command::new("sh");
    command.arg("-c").arg(script).arg(std::env::current_exe().unwrap()).env(ROOT, scratch.path("root")).env(WRITER, "");
    assert!(command.stdout(Stdio::null()).status().unwrap().success());
    let text = fs::read_to_string(scratch.path("root/a")).unwrap();
    assert_eq!(text, format!("{}\nz\n", "x".repeat(50_000)));
}
