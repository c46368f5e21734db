//! The folder that all notes are in: found on first use, made by the first append, then held.

use super::super::fault::Fault;
use super::folder::{FOLDER_MODE, Folder};
use crate::error::{ErrorCode, ToolError};
use cap_fs_ext::DirExt;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, MetadataExt};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The root of notes.
pub(in super::super) struct Root {
    path: PathBuf,
    held: OnceLock<Folder>,
}

impl Root {
    /// A root at a path, which counts from the working folder of now, whatever that becomes.
    pub(in super::super) fn new(path: &Path) -> Result<Self, ToolError> {
        let path = std::path::absolute(path).map_err(|error| {
            ToolError::new(ErrorCode::InvalidOptions, format!("the root of notes cannot be made an absolute path: {error}"))
        })?;
        Ok(Self { path, held: OnceLock::new() })
    }

    /// Its last name.
    pub(in super::super) fn name(&self) -> Option<String> {
        self.path.file_name().map(|name| name.to_string_lossy().into_owned())
    }

    /// The folder, if it is there.
    pub(super) fn find(&self) -> Result<Option<&Folder>, Fault> {
        if self.held.get().is_none()
            && let Some(folder) = open(&self.path).map_err(unusable)?
        {
            // Of two calls that come here together, one decides for both.
            let _ = self.held.set(folder);
        }
        Ok(self.held.get())
    }

    /// The folder, made with its parents if it is not there.
    pub(super) fn find_or_make(&self) -> Result<&Folder, Fault> {
        if self.find()?.is_none() {
            make(&self.path).map_err(unusable)?;
        }
        self.find()?.ok_or_else(|| unusable(Fault::Moved))
    }
}

fn unusable(fault: Fault) -> Fault {
    Fault::Root(Box::new(match fault {
        Fault::NotFolder => Fault::NoFolder,
        other => other,
    }))
}

/// Opens the root. Links on the way to it are the app's own business; one in its place is followed if nobody else can have put it there.
fn open(path: &Path) -> Result<Option<Folder>, Fault> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let dir = if found.is_symlink() {
        if !is_trusted(found.uid()) {
            return Err(Fault::ForeignLink);
        }
        open_nofollow(&fs::canonicalize(path).map_err(|_| Fault::NoFolder)?)?
    } else {
        open_nofollow(path)?
    };
    let found = dir.dir_metadata()?;
    if !is_trusted(found.uid()) && !rustix::process::geteuid().is_root() {
        return Err(Fault::ForeignRoot);
    }
    if found.mode() & 0o002 != 0 {
        return Err(Fault::OpenRoot);
    }
    Ok(Some(Folder::new(dir)))
}

/// Whether this user is the process's own, or the one who can do everything anyway.
fn is_trusted(user: u32) -> bool {
    user == rustix::process::geteuid().as_raw() || user == 0
}

fn open_nofollow(path: &Path) -> Result<Dir, Fault> {
    Ok(match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => Dir::open_ambient_dir(parent, ambient_authority())?.open_dir_nofollow(name)?,
        _ => Dir::open_ambient_dir(path, ambient_authority())?,
    })
}

fn make(path: &Path) -> Result<(), Fault> {
    let missing: Vec<&Path> = path.ancestors().take_while(|ancestor| !ancestor.exists()).collect();
    fs::DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(path)?;
    for parent in missing.into_iter().filter_map(Path::parent) {
        if let Ok(parent) = Dir::open_ambient_dir(parent, ambient_authority()) {
            Folder::new(parent).sync();
        }
    }
    Ok(())
}
