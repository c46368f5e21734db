//! Going through everything below a folder, in order and within bounds.

use super::super::fault::Fault;
use super::super::path::NotePath;
use super::folder::{Folder, check_note};
use cap_std::fs::Metadata;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// The most names that are looked at.
const MAX_NAMES: usize = 10_000;
/// The most time that is spent.
const MAX_TIME: Duration = Duration::from_secs(5);

/// A note or folder on the way.
pub(super) struct Step<'a> {
    /// What it is in.
    pub(super) folder: &'a Folder,
    pub(super) name: &'a str,
    pub(super) path: &'a NotePath,
    pub(super) metadata: &'a Metadata,
}

/// How far a walk has come.
pub(super) struct Walk<'a> {
    cancelled: &'a CancellationToken,
    started: Instant,
    names: usize,
    /// How many things were passed over that cannot be notes or folders of them.
    pub(super) skipped: usize,
    /// Whether a bound ended it before everything was seen.
    pub(super) cut: bool,
}

impl<'a> Walk<'a> {
    pub(super) fn new(cancelled: &'a CancellationToken) -> Self {
        Self { cancelled, started: Instant::now(), names: 0, skipped: 0, cut: false }
    }

    /// Calls `each` for every folder, before what is in it, and for every note, names with a dot in front aside. `Break` from it ends the walk.
    pub(super) fn through(
        &mut self,
        folder: &Folder,
        at: &NotePath,
        each: &mut dyn FnMut(&Step<'_>) -> Result<ControlFlow<()>, Fault>,
    ) -> Result<ControlFlow<()>, Fault> {
        let (names, all) = folder.names(MAX_NAMES - self.names)?;
        self.names += names.len();
        for name in &names {
            if self.cancelled.is_cancelled() {
                return Err(Fault::Cancelled);
            }
            if self.started.elapsed() >= MAX_TIME {
                self.cut = true;
                return Ok(ControlFlow::Break(()));
            }
            // Other programs keep what is theirs under such names. Whoever asks for one by its path gets it.
            if name.as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let Some((name, path)) = name.to_str().and_then(|name| Some((name, at.child(name)?))) else {
                self.skipped += 1;
                continue;
            };
            // What went away meanwhile was never there.
            let Some(metadata) = folder.look(name)? else { continue };
            if !metadata.is_dir() && check_note(&metadata).is_err() {
                self.skipped += 1;
                continue;
            }
            if each(&Step { folder, name, path: &path, metadata: &metadata })?.is_break() {
                self.cut = true;
                return Ok(ControlFlow::Break(()));
            }
            if metadata.is_dir() && self.through_inner(folder, name, &path, each)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        self.cut |= !all;
        Ok(if all { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    }

    fn through_inner(
        &mut self,
        folder: &Folder,
        name: &str,
        path: &NotePath,
        each: &mut dyn FnMut(&Step<'_>) -> Result<ControlFlow<()>, Fault>,
    ) -> Result<ControlFlow<()>, Fault> {
        match folder.enter(name) {
            Ok(Some(inner)) => match self.through(&inner, path, each) {
                Err(Fault::Denied) => {
                    self.skipped += 1;
                    Ok(ControlFlow::Continue(()))
                }
                other => other,
            },
            Ok(None) => Ok(ControlFlow::Continue(())),
            // It changed since it was looked at, or may not be entered.
            Err(_) => {
                self.skipped += 1;
                Ok(ControlFlow::Continue(()))
            }
        }
    }
}
