//! Small text files of the host: bounded reads, and changes that happen whole or not at all.
//!
//! This is the one door to lock, configuration and credential files. A symbolic link in the place of a file is refused, since what it
//! leads to is another's choice; links on the way there are the app's own business. A change is made under a lock of the folder, which
//! the system gives up when its holder ends: the file is read, written anew beside itself, brought to the disk and then renamed.
//! Whoever reads sees the old file or the new one, whatever ends the writer.

#[cfg_attr(not(unix), path = "files/disk_other.rs")]
mod disk;

use std::path::Path;

/// Why a file could not be read or changed. Reads as the end of a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// The path names no file in a folder.
    #[error("the path does not end in the name of a file")]
    NoName,
    /// There is no such folder.
    #[error("its folder does not exist")]
    NoFolder,
    /// A symbolic link is in its place.
    #[error("it is a symbolic link; give the path that it leads to")]
    Link,
    /// Something else than a file is in its place.
    #[error("it is no ordinary file")]
    NotFile,
    /// It is larger than allowed, or would be.
    #[error("it is larger than {0} bytes")]
    TooLarge(u64),
    /// It is no UTF-8.
    #[error("it is no text")]
    NotText,
    /// Another process has been changing files in this folder all the time, which is given in seconds.
    #[error("another process has kept its folder locked for {0} s")]
    Busy(u64),
    /// The system cannot lock folders.
    #[error("files cannot be changed safely on this system")]
    Unsupported,
    /// What the system says.
    #[error("{0}")]
    System(String),
}

impl From<std::io::Error> for FileError {
    fn from(error: std::io::Error) -> Self {
        Self::System(error.to_string())
    }
}

/// The text of a file, none if there is no file of that name.
///
/// # Errors
/// For anything but an ordinary file of UTF-8 text with at most `max_bytes`.
pub fn read(path: &Path, max_bytes: u64) -> Result<Option<String>, FileError> {
    disk::read(path, max_bytes)
}

/// What becomes of the rights of a file that is changed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rights {
    /// They stay.
    Kept,
    /// Its owner alone may read and write it.
    Private,
}

/// Changes a file, or makes it. `change` gets its text as it is, none if there is no file, and gives the new one, or none to leave it.
/// Nobody else changes a file of this folder through this door meanwhile. A new file can be read by its owner alone; one that was there
/// keeps its rights.
///
/// # Errors
/// What `change` returns, and whatever keeps the file from being read, locked or written. The file is then as it was.
pub fn update<E: From<FileError>>(
    path: &Path,
    max_bytes: u64,
    change: impl FnOnce(Option<&str>) -> Result<Option<String>, E>,
) -> Result<(), E> {
    disk::update(path, max_bytes, Rights::Kept, change)
}

/// The same for a file that nobody but its owner is to read: whatever its rights were, it is written with 0600.
///
/// # Errors
/// As for [`update`].
pub fn update_private<E: From<FileError>>(
    path: &Path,
    max_bytes: u64,
    change: impl FnOnce(Option<&str>) -> Result<Option<String>, E>,
) -> Result<(), E> {
    disk::update(path, max_bytes, Rights::Private, change)
}
