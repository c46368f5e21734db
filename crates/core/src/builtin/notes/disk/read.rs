//! The text of a note.

use super::super::NotesLimits;
use super::super::answer::Reading;
use super::super::fault::Fault;
use super::super::path::NotePath;
use super::folder::Folder;
use super::note_at;
use crate::sanitize::cut;
use rustix::fs::{FlockOperation, flock};
use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Every system writes in pieces that end at a multiple of this, so that a write that was cut off ends there too.
const PAGE_BYTES: u64 = 4_096;
/// How long a reader lets an append finish.
const READ_PATIENCE: Duration = Duration::from_millis(250);
const POLL: Duration = Duration::from_millis(2);

pub(super) fn read(root: Option<&Folder>, path: &NotePath, limits: &NotesLimits) -> Result<Reading, Fault> {
    let opened = root.map_or(Ok(None), |root| note_at(root, path))?;
    let Some(file) = opened else {
        // What is asked for like a folder is not a note that could be made.
        return if path.names_folder() {
            Err(Fault::Folder)
        } else {
            Ok(Reading { path: path.to_string(), exists: false, truncated: false, text: String::new() })
        };
    };
    // A character takes up to four bytes, and one more character tells whether something is left out.
    let window = (limits.max_read_chars as u64).saturating_add(1).saturating_mul(4);
    let bytes = start_of(&file, window)?;
    let text = with_plain_newlines(decode(&bytes, file.metadata()?.len())?);
    let (text, truncated) = match cut(&text, limits.max_read_chars) {
        Some(start) => (start.to_owned(), true),
        None => (text.into_owned(), false),
    };
    Ok(Reading { path: path.to_string(), exists: true, truncated, text })
}

/// The first `limit` bytes of a note, at a moment when nobody adds to it.
pub(super) fn start_of(file: &File, limit: u64) -> Result<Vec<u8>, Fault> {
    // Somebody who holds it for longer keeps nobody from reading.
    let _ = lock(file, FlockOperation::NonBlockingLockShared, READ_PATIENCE, || false);
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    let _ = flock(file, FlockOperation::Unlock);
    Ok(bytes)
}

/// Whether a lock was got in time. `stop` ends the waiting.
pub(super) fn lock(file: &File, operation: FlockOperation, patience: Duration, stop: impl Fn() -> bool) -> std::io::Result<bool> {
    let started = Instant::now();
    loop {
        match flock(file, operation) {
            Ok(()) => return Ok(true),
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::WOULDBLOCK) if started.elapsed() >= patience || stop() => return Ok(false),
            Err(rustix::io::Errno::WOULDBLOCK) => sleep(POLL),
            Err(error) => return Err(error.into()),
        }
    }
}

/// The first bytes of a file of `length` bytes as text. A character that the end of the bytes cuts is left out.
pub(super) fn decode(bytes: &[u8], length: u64) -> Result<&str, Fault> {
    let goes_on = (bytes.len() as u64) < length;
    let torn = if goes_on { unfinished(bytes) } else { torn_off(bytes, length) };
    std::str::from_utf8(bytes.get(..bytes.len() - torn).unwrap_or_default()).map_err(|_| Fault::NotText)
}

/// How many bytes at the end of a file of `length` bytes are the start of a character whose rest a crash kept from being written.
pub(super) fn torn_off(tail: &[u8], length: u64) -> usize {
    if length.is_multiple_of(PAGE_BYTES) { unfinished(tail) } else { 0 }
}

/// How many bytes at the end are the start of a character without its rest.
fn unfinished(bytes: &[u8]) -> usize {
    let last = bytes.iter().rev().take(3).enumerate().find(|(_, byte)| !matches!(byte, 0x80..=0xBF));
    let width = match last {
        Some((_, 0xC2..=0xDF)) => 2,
        Some((_, 0xE0..=0xEF)) => 3,
        Some((_, 0xF0..=0xF4)) => 4,
        _ => 0,
    };
    last.map_or(0, |(after, _)| if width > after + 1 { after + 1 } else { 0 })
}

/// A text with every kind of line ending as a line feed.
pub(super) fn with_plain_newlines(text: &str) -> Cow<'_, str> {
    if text.contains('\r') { Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n")) } else { Cow::Borrowed(text) }
}

#[cfg(test)]
mod tests {
    use super::{PAGE_BYTES, decode, unfinished, with_plain_newlines};

    #[test]
    fn a_character_without_its_rest() {
        for (bytes, count) in [
            (&b"a"[..], 0),
            (b"", 0),
            (b"\xc3", 1),
            (b"a\xe4\xbd", 2),
            (b"\xf0\x9f\x98", 3),
            ("é".as_bytes(), 0),
            ("😀".as_bytes(), 0),
            (b"\xff", 0),
            (b"\x80\x80\x80\x80", 0),
        ] {
            assert_eq!(unfinished(bytes), count, "{bytes:x?}");
        }
    }

    #[test]
    fn only_a_cut_at_a_page_is_taken_for_a_crash() {
        let page = [vec![b'a'; 4_094], b"\xe4\xbd".to_vec()].concat();
        assert_eq!(decode(&page, PAGE_BYTES).map(str::len).ok(), Some(4_094));
        assert!(decode(b"caf\xe9", 4).is_err());
        assert_eq!(decode(b"caf\xc3", 9).ok(), Some("caf"), "the rest was not asked for");
        assert!(decode(b"\xffab", 9).is_err());
    }

    #[test]
    fn line_endings() {
        assert_eq!(with_plain_newlines("a\r\nb\rc\n\r\n"), "a\nb\nc\n\n");
    }
}
