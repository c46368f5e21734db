//! What notes and folders there are.

use super::super::answer::{Entry, Kind, Listing};
use super::super::fault::Fault;
use super::super::path::NotePath;
use super::folder::Folder;
use super::folder_at;
use super::walk::{Step, Walk};
use std::ops::ControlFlow;
use std::time::UNIX_EPOCH;
use tokio_util::sync::CancellationToken;

/// The most entries of a listing.
const MAX_ENTRIES: usize = 1_000;

pub(super) fn list(root: Option<&Folder>, path: &NotePath, cancelled: &CancellationToken) -> Result<Listing, Fault> {
    let mut listing = Listing { path: path.to_string(), ..Listing::default() };
    let Some(folder) = find(root, path)? else { return Ok(listing) };
    let mut walk = Walk::new(cancelled);
    let _ = walk.through(&folder, path, &mut |step| {
        if listing.entries.len() == MAX_ENTRIES {
            return Ok(ControlFlow::Break(()));
        }
        listing.entries.push(entry(step));
        Ok(ControlFlow::Continue(()))
    })?;
    (listing.exists, listing.skipped, listing.truncated) = (true, walk.skipped, walk.cut);
    Ok(listing)
}

fn find(root: Option<&Folder>, path: &NotePath) -> Result<Option<Folder>, Fault> {
    let Some(root) = root else { return Ok(None) };
    let Some((name, parents)) = path.names().split_last() else { return root.again().map(Some) };
    let Some(parent) = folder_at(root, parents)? else { return Ok(None) };
    parent.enter(name).map_err(|fault| match fault {
        // The last name itself.
        Fault::NotFolder => Fault::Note,
        other => other,
    })
}

fn entry(step: &Step<'_>) -> Entry {
    let is_folder = step.metadata.is_dir();
    let modified = step.metadata.modified().ok().and_then(|time| time.into_std().duration_since(UNIX_EPOCH).ok());
    Entry {
        path: step.path.to_string(),
        kind: if is_folder { Kind::Folder } else { Kind::Note },
        bytes: (!is_folder).then(|| step.metadata.len()),
        modified_ms: modified.and_then(|since| u64::try_from(since.as_millis()).ok()),
    }
}
