//! The one door through which notes reach the disk.
//!
//! Everything is opened by one name at a time, relative to a folder that is held open, and never through a symbolic link; what was
//! opened is then looked at again. Nothing here waits for a pipe or a device.
#![expect(clippy::disallowed_types, reason = "this is the door")]

mod append;
mod folder;
mod list;
mod read;
mod root;
mod search;
mod walk;

pub(super) use root::Root;

use super::NotesLimits;
use super::answer::Done;
use super::fault::Fault;
use super::path::NotePath;
use super::request::Request;
use folder::Folder;
use std::fs::File;
use tokio_util::sync::CancellationToken;

/// Carries a request out, on a thread that may wait.
pub(super) fn carry_out(root: &Root, request: &Request, limits: &NotesLimits, cancelled: &CancellationToken) -> Result<Done, Fault> {
    if cancelled.is_cancelled() {
        return Err(Fault::Cancelled);
    }
    match request {
        Request::Read(path) => read::read(root.find()?, path, limits).map(Done::Read),
        Request::Append(path, chunk) => append::append(root.find_or_make()?, path, chunk, limits, cancelled).map(Done::Appended),
        Request::List(path) => list::list(root.find()?, path, cancelled).map(Done::Listed),
        Request::Search(path, query) => search::search(root.find()?, path, query, limits, cancelled).map(Done::Found),
    }
}

/// The folder of these names, none where one of them is missing.
fn folder_at(root: &Folder, names: &[String]) -> Result<Option<Folder>, Fault> {
    let mut folder = root.again()?;
    for name in names {
        match folder.enter(name)? {
            Some(next) => folder = next,
            None => return Ok(None),
        }
    }
    Ok(Some(folder))
}

/// A note, open for reading, none where it is missing.
fn note_at(root: &Folder, path: &NotePath) -> Result<Option<File>, Fault> {
    let Some((name, parents)) = path.names().split_last() else { return Err(Fault::Folder) };
    match folder_at(root, parents)? {
        Some(folder) => folder.open_note(name, folder::Access::Read),
        None => Ok(None),
    }
}
