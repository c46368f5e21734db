//! The door where there are no POSIX files: reading works, changing is refused, since nothing here can lock a folder.
#![expect(clippy::disallowed_methods, reason = "this is the door")]

use super::{FileError, Rights};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

pub(super) fn read(path: &Path, max_bytes: u64) -> Result<Option<String>, FileError> {
    match std::fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => return Err(FileError::Link),
        Ok(found) if !found.is_file() => return Err(FileError::NotFile),
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes {
        return Err(FileError::TooLarge(max_bytes));
    }
    String::from_utf8(bytes).map(Some).map_err(|_| FileError::NotText)
}

pub(super) fn update<E: From<FileError>>(
    _path: &Path,
    _max_bytes: u64,
    _rights: Rights,
    _change: impl FnOnce(Option<&str>) -> Result<Option<String>, E>,
) -> Result<(), E> {
    Err(FileError::Unsupported.into())
}
