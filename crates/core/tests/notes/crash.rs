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
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        // Some are killed while they begin, the others once they are at work. Not random, but no rhythm that a writer could share.
        let mut kept = 0;
        while kept < writer % 4 {
            let Some(line) = lines.next() else { break };
            kept += u32::from(line.starts_with("kept "));
        }
        thread::sleep(Duration::from_micros(u64::from(writer) * 7_919 % if kept == 0 { 25_000 } else { 4_000 }));
        child.kill().unwrap();
        child.wait().unwrap();
        kept += u32::try_from(lines.filter(|line| line.starts_with("kept ")).count()).unwrap();
        kept_in_all += kept;
        expected.extend((0..kept).map(|number| content(&name, number)));

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
    assert!(kept_in_all >= KILLS, "the writers were at work");
}
