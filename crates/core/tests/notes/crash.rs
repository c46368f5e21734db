use super::together::{start, started_with};
use super::{Notes, Scratch};
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::thread;
use std::time::Duration;
use toolbolt_core::builtin::notes::NotesLimits;
use toolbolt_core::response::Status;

const KILLS: u32 = 200;
/// How many writers add to the same note, one after another.
const PER_NOTE: u32 = 20;

/// The text of one note: long, so that a kill can hit in the middle of writing it, and of three bytes a character.
fn content(writer: &str, number: u32) -> String {
    format!("{writer}.{number}:{}", "语".repeat(20_000))
}

#[test]
#[ignore = "started by the test below, in a process that is killed"]
fn writer() {
    let Some((root, writer)) = started_with() else { return };
    let notes = Notes::with(Path::new(&root), NotesLimits { max_file_bytes: 1 << 30, ..NotesLimits::default() });
    let path = note_of(writer.parse().unwrap());
    for number in 0.. {
        assert_eq!(notes.append(&path, &content(&writer, number)).status, Status::Success);
        let mut out = std::io::stdout().lock();
        writeln!(out, "kept {number}").unwrap();
        out.flush().unwrap();
    }
}

fn note_of(writer: u32) -> String {
    let mut path = String::from("days/");
    let _ = write!(path, "{}.md", writer / PER_NOTE);
    path
}

#[test]
fn a_writer_that_is_killed_loses_nothing_that_it_was_told_was_kept() {
    let scratch = Scratch::new();
    let root = scratch.path("root");
    let mut expected: Vec<String> = Vec::new();
    let (mut kept_in_all, mut torn) = (0, 0);
    for writer in 0..KILLS {
        if writer.is_multiple_of(PER_NOTE) {
            expected.clear();
        }
        let name = writer.to_string();
        let mut child = start("crash::writer", &root, &name);
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // Not a random number, but no rhythm that a writer could share.
        let pause = Duration::from_micros(u64::from(writer) * 7_919 % 25_000);
        let killer = thread::spawn(move || {
            thread::sleep(Duration::from_millis(3) + pause);
            child.kill().unwrap();
            child.wait().unwrap();
        });
        let kept = lines.map_while(Result::ok).filter(|line| line.starts_with("kept ")).count();
        killer.join().unwrap();
        kept_in_all += kept;
        expected.extend((0..u32::try_from(kept).unwrap()).map(|number| content(&name, number)));

        let path = note_of(writer);
        let file = root.join(&path);
        if !file.exists() {
            assert!(expected.is_empty());
            continue;
        }
        let notes = Notes::with(&root, NotesLimits { max_read_chars: 1 << 30, ..NotesLimits::default() });
        let read = notes.read(&path);
        assert_eq!(read.status, Status::Success, "{}", read.text);
        let mut found = read.text.lines();
        for line in &expected {
            assert!(found.any(|found| found == line), "a kept note is gone after kill {writer}");
        }
        torn += u32::from(!fs::read(&file).unwrap().ends_with(b"\n"));
    }
    let _ = writeln!(std::io::stderr(), "{kept_in_all} notes were kept; {torn} of {KILLS} kills cut a write off");
    assert!(kept_in_all > 100, "the writers were killed before they wrote");
}
