//! Adding to the end of a note.
//!
//! An append is one write to the end, under a lock, of bytes that end in a line feed; nothing that was there before is written again.
//! Whatever ends the process, earlier notes stay as they are, and at worst a part of the last one follows them without a line feed.
//! The next append begins a new line after it.

use super::super::NotesLimits;
use super::super::answer::Appended;
use super::super::fault::Fault;
use super::super::path::NotePath;
use super::folder::{Access, Folder};
use super::read::{lock, torn_off};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long an append waits for others that add to the same note.
const LOCK_PATIENCE: Duration = Duration::from_secs(2);
/// How often what was moved away while it was opened is looked for again.
const ATTEMPTS: usize = 16;

pub(super) fn append(
    root: &Folder,
    path: &NotePath,
    chunk: &str,
    limits: &NotesLimits,
    cancelled: &CancellationToken,
) -> Result<Appended, Fault> {
    let Some((name, parents)) = path.names().split_last() else { return Err(Fault::Folder) };
    for _ in 0..ATTEMPTS {
        let mut folder = root.again()?;
        for parent in parents {
            folder = folder.enter_or_make(parent)?;
        }
        let Some((file, created)) = open(&folder, name)? else { continue };
        if !lock(&file, FlockOperation::NonBlockingLockExclusive, LOCK_PATIENCE, || cancelled.is_cancelled())? {
            return Err(if cancelled.is_cancelled() { Fault::Cancelled } else { Fault::Locked(LOCK_PATIENCE.as_secs()) });
        }
        // Removed, or replaced by an editor: what stands there now is another file.
        if !folder.holds(name, &file)? {
            continue;
        }
        if cancelled.is_cancelled() {
            return Err(Fault::Cancelled);
        }
        write(&file, chunk, limits.max_file_bytes)?;
        if created {
            // Before anybody else can add to it, and be told that this was kept.
            folder.sync();
        }
        // Others need not wait for the rest.
        let _ = flock(&file, FlockOperation::Unlock);
        sync(&file)?;
        return Ok(Appended { path: path.to_string(), appended_chars: chunk.chars().count() });
    }
    Err(Fault::Moved)
}

/// The note, and whether it is new; none if it came or went in between.
fn open(folder: &Folder, name: &str) -> Result<Option<(File, bool)>, Fault> {
    if let Some(file) = folder.open_note(name, Access::Append)? {
        return Ok(Some((file, false)));
    }
    Ok(folder.create_note(name)?.map(|file| (file, true)))
}

fn write(file: &File, chunk: &str, max_file_bytes: u64) -> Result<(), Fault> {
    let before = file.metadata()?.len();
    let mut tail = [0; 4];
    let from = before.saturating_sub(4);
    let tail = tail.get_mut(..usize::try_from(before - from).unwrap_or_default()).unwrap_or_default();
    file.read_exact_at(tail, from)?;
    let kept = before - torn_off(tail, before) as u64;
    let mut bytes = Vec::with_capacity(chunk.len() + 1);
    if tail.last().is_some_and(|&last| last != b'\n') {
        bytes.push(b'\n');
    }
    bytes.extend_from_slice(chunk.as_bytes());
    if kept.saturating_add(bytes.len() as u64) > max_file_bytes {
        return Err(Fault::TooLarge);
    }
    if kept < before {
        file.set_len(kept)?;
    }
    let mut end = file;
    end.write_all(&bytes).map_err(|error| match file.set_len(kept) {
        Ok(()) => error.into(),
        Err(_) => Fault::Unsynced,
    })
}

fn sync(file: &File) -> Result<(), Fault> {
    match file.sync_data() {
        Ok(()) => Ok(()),
        // Not every file system knows the wish.
        Err(error) if matches!(Errno::from_io_error(&error), Some(Errno::INVAL | Errno::NOTSUP | Errno::NOSYS)) => Ok(()),
        Err(_) => Err(Fault::Unsynced),
    }
}
