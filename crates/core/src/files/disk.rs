//! The door where there are POSIX files. Everything is opened relative to a folder that is held open.
#![expect(clippy::disallowed_methods, reason = "this is the door")]

use super::{FileError, Rights};
use rustix::fs::{AtFlags, FlockOperation, Gid, Mode, OFlags, Uid, fchmod, fchown, flock, fsync, open, openat, renameat, unlinkat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long the folder is waited for.
const PATIENCE: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(5);
/// The rights of a new file: for its owner alone.
const NEW_MODE: u32 = 0o600;

/// A name in a folder that is held open.
struct Place<'a> {
    folder: OwnedFd,
    name: &'a OsStr,
}

struct Found {
    text: String,
    metadata: Metadata,
}

impl From<Errno> for FileError {
    fn from(errno: Errno) -> Self {
        std::io::Error::from(errno).into()
    }
}

pub(super) fn read(path: &Path, max_bytes: u64) -> Result<Option<String>, FileError> {
    match Place::of(path) {
        Ok(place) => Ok(place.read(max_bytes)?.map(|found| found.text)),
        Err(FileError::NoFolder) => Ok(None),
        Err(error) => Err(error),
    }
}

pub(super) fn update<E: From<FileError>>(
    path: &Path,
    max_bytes: u64,
    rights: Rights,
    change: impl FnOnce(Option<&str>) -> Result<Option<String>, E>,
) -> Result<(), E> {
    let place = Place::of(path)?;
    place.lock()?;
    let found = place.read(max_bytes)?;
    let Some(text) = change(found.as_ref().map(|found| found.text.as_str()))? else { return Ok(()) };
    if text.len() as u64 > max_bytes {
        return Err(FileError::TooLarge(max_bytes).into());
    }
    Ok(place.replace(&text, found.as_ref().map(|found| &found.metadata), rights)?)
}

impl<'a> Place<'a> {
    fn of(path: &'a Path) -> Result<Self, FileError> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Err(FileError::NoName) };
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        match open(parent, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()) {
            Ok(folder) => Ok(Self { folder, name }),
            Err(Errno::NOENT | Errno::NOTDIR) => Err(FileError::NoFolder),
            Err(error) => Err(error.into()),
        }
    }

    /// Held until the folder is closed, which the end of the process does too.
    fn lock(&self) -> Result<(), FileError> {
        let started = Instant::now();
        loop {
            match flock(&self.folder, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(Errno::WOULDBLOCK) if started.elapsed() >= PATIENCE => return Err(FileError::Busy(PATIENCE.as_secs())),
                Err(Errno::WOULDBLOCK) => sleep(POLL),
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn read(&self, max_bytes: u64) -> Result<Option<Found>, FileError> {
        // Without waiting for the other end of a pipe, and without becoming the terminal of this process.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = match openat(&self.folder, self.name, flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP | Errno::MLINK) => return Err(FileError::Link),
            Err(Errno::NXIO) => return Err(FileError::NotFile),
            Err(error) => return Err(error.into()),
        };
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(FileError::NotFile);
        }
        let mut bytes = Vec::new();
        file.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > max_bytes {
            return Err(FileError::TooLarge(max_bytes));
        }
        let text = String::from_utf8(bytes).map_err(|_| FileError::NotText)?;
        Ok(Some(Found { text, metadata }))
    }

    /// The lock makes us the only writer, so what is in the way under the temporary name was left by one that was killed.
    fn replace(&self, text: &str, before: Option<&Metadata>, rights: Rights) -> Result<(), FileError> {
        let mut temporary = OsString::from(".");
        temporary.push(self.name);
        temporary.push(".new");
        match unlinkat(&self.folder, &temporary, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = File::from(openat(&self.folder, &temporary, flags, Mode::from_raw_mode(NEW_MODE))?);
        let renamed = write(&file, text, before, rights)
            .and_then(|()| renameat(&self.folder, &temporary, &self.folder, self.name).map_err(FileError::from));
        if let Err(error) = renamed {
            // The error that came first is the one that matters.
            let _ = unlinkat(&self.folder, &temporary, AtFlags::empty());
            return Err(error);
        }
        // Some systems cannot bring a folder to the disk, and keep it safe in their own way.
        let _ = fsync(&self.folder);
        Ok(())
    }
}

fn write(file: &File, text: &str, before: Option<&Metadata>, rights: Rights) -> Result<(), FileError> {
    let mut target = file;
    target.write_all(text.as_bytes())?;
    if let Some(before) = before {
        let made = file.metadata()?;
        if (made.uid(), made.gid()) != (before.uid(), before.gid()) {
            // Only root can give a file away; for anybody else it becomes their own.
            let _ = fchown(file, Some(Uid::from_raw(before.uid())), Some(Gid::from_raw(before.gid())));
        }
        // A new file is private already.
        if rights == Rights::Kept {
            fchmod(file, Mode::from_raw_mode(before.mode() & 0o777))?;
        }
    }
    Ok(file.sync_all()?)
}
