//! A folder that is held open, and what can be reached from it by one name.

use super::super::fault::Fault;
use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::{Dir, DirBuilder, DirBuilderExt, Metadata, MetadataExt, OpenOptions, OpenOptionsExt};
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::ffi::OsString;
use std::fs::File;
use std::io::ErrorKind;

/// How often what was replaced while it was opened is opened again.
const ATTEMPTS: usize = 16;
/// The rights of a new note: for its owner alone.
const NOTE_MODE: u32 = 0o600;
/// The rights of a new folder.
pub(super) const FOLDER_MODE: u32 = 0o700;

/// What a note is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    /// Reading, and adding to the end.
    Append,
}

/// A folder below the root, or the root itself.
pub(super) struct Folder(Dir);

impl Folder {
    pub(super) fn new(dir: Dir) -> Self {
        Self(dir)
    }

    /// A second handle of the same folder.
    pub(super) fn again(&self) -> Result<Self, Fault> {
        Ok(Self(self.0.try_clone()?))
    }

    /// The folder of this name in here, none if there is nothing of that name.
    pub(super) fn enter(&self, name: &str) -> Result<Option<Self>, Fault> {
        match self.0.open_dir_nofollow(name) {
            Ok(dir) => Ok(Some(Self(dir))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            // Not every system tells a link from a file here.
            Err(error) => match self.0.symlink_metadata(name) {
                Ok(found) if found.is_symlink() => Err(Fault::Link),
                Ok(found) if !found.is_dir() => Err(Fault::NotFolder),
                _ => Err(error.into()),
            },
        }
    }

    /// The folder of this name in here, made if there is nothing of that name.
    pub(super) fn enter_or_make(&self, name: &str) -> Result<Self, Fault> {
        if let Some(folder) = self.enter(name)? {
            return Ok(folder);
        }
        let mut builder = DirBuilder::new();
        builder.mode(FOLDER_MODE);
        match self.0.create_dir_with(name, &builder) {
            Ok(()) => self.sync(),
            // Somebody else was faster.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error.into()),
        }
        self.enter(name)?.ok_or(Fault::Moved)
    }

    /// What is known of a name in here, none if there is nothing of that name. Links are not followed.
    pub(super) fn look(&self, name: &str) -> Result<Option<Metadata>, Fault> {
        match self.0.symlink_metadata(name) {
            Ok(metadata) => Ok(Some(metadata)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// A note in here, none if there is nothing of that name.
    pub(super) fn open_note(&self, name: &str, access: Access) -> Result<Option<File>, Fault> {
        for _ in 0..ATTEMPTS {
            // Opening a device can do something already, so that has to be known before.
            match self.look(name)? {
                Some(metadata) => check_note(&metadata)?,
                None => return Ok(None),
            }
            match self.0.open_with(name, &options(access)) {
                Ok(file) => {
                    check_note(&file.metadata()?)?;
                    let file = file.into_std();
                    // Otherwise an editor has replaced it, or it was another name of a file elsewhere that is gone already.
                    if self.holds(name, &file)? {
                        return Ok(Some(file));
                    }
                }
                Err(error) => match Errno::from_io_error(&error) {
                    Some(Errno::NOENT) => return Ok(None),
                    // It changed since it was looked at.
                    Some(Errno::LOOP) => return Err(Fault::Link),
                    Some(Errno::NXIO) => return Err(Fault::NotFile),
                    _ => return Err(error.into()),
                },
            }
        }
        Err(Fault::Moved)
    }

    /// Whether an open file is the note of this name in here, and has no other name anywhere. One look tells both, so that a second name
    /// which comes and goes cannot pass between two.
    pub(super) fn holds(&self, name: &str, file: &File) -> Result<bool, Fault> {
        let Some(here) = self.look(name)? else { return Ok(false) };
        check_note(&here)?;
        let open = file.metadata()?;
        Ok((here.dev(), here.ino()) == (std::os::unix::fs::MetadataExt::dev(&open), std::os::unix::fs::MetadataExt::ino(&open)))
    }

    /// A new note in here, none if something of that name came up meanwhile.
    pub(super) fn create_note(&self, name: &str) -> Result<Option<File>, Fault> {
        match self.0.open_with(name, options(Access::Append).create_new(true).mode(NOTE_MODE)) {
            Ok(file) => Ok(Some(file.into_std())),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Up to `limit` names of what is in here, in order, and whether those are all.
    pub(super) fn names(&self, limit: usize) -> Result<(Vec<OsString>, bool), Fault> {
        let mut entries = self.0.entries()?;
        let mut names = entries.by_ref().take(limit).map(|entry| Ok(entry?.file_name())).collect::<Result<Vec<_>, std::io::Error>>()?;
        let all = entries.next().is_none();
        names.sort_unstable();
        Ok((names, all))
    }

    /// Writes to the disk that something of a new name is in here. Some systems cannot, and keep it safe in their own way.
    pub(super) fn sync(&self) {
        let _ = self.0.open(".").and_then(|folder| folder.sync_all());
    }
}

/// Whether something is a note: an ordinary file with this one name.
pub(super) fn check_note(metadata: &Metadata) -> Result<(), Fault> {
    match metadata {
        _ if metadata.is_symlink() => Err(Fault::Link),
        _ if metadata.is_dir() => Err(Fault::Folder),
        _ if !metadata.is_file() => Err(Fault::NotFile),
        // None at all: it was removed while it was opened, and whoever adds to it finds out once it is locked.
        _ if metadata.nlink() > 1 => Err(Fault::HardLink),
        _ => Ok(()),
    }
}

fn options(access: Access) -> OpenOptions {
    let flags = i32::try_from(OFlags::NOCTTY.bits()).unwrap_or_default();
    let mut options = OpenOptions::new();
    options.read(true).append(access == Access::Append).follow(FollowSymlinks::No).nonblock(true).custom_flags(flags);
    options
}
