//! Credentials in one encrypted file, which several processes may share.

use super::key::FileKey;
use super::sealed::{Kept, Sealed};
use super::{CredentialStore, Credentials, Reason, check_connector, failed, invalid};
use crate::error::ToolError;
use crate::files::{self, FileError};
use std::path::{Path, PathBuf};

/// The most bytes of a file.
pub const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// Keeps credentials in a file that is encrypted and authenticated with XChaCha20-Poly1305. It is read anew each time, so what another
/// process changes counts. A change is written beside it and renamed, under a lock.
#[derive(Debug)]
pub struct FileStore {
    path: PathBuf,
    key: FileKey,
}

/// Why nothing came of an access.
enum Trouble {
    File(FileError),
    Store(ToolError),
}

impl From<FileError> for Trouble {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

impl From<ToolError> for Trouble {
    fn from(error: ToolError) -> Self {
        Self::Store(error)
    }
}

impl FileStore {
    /// A store in a file that need not exist yet; its folder must by the time something is kept. A relative path counts from the working
    /// folder of now. Nothing is read or written yet.
    ///
    /// # Errors
    /// `INVALID_OPTIONS` for a path that cannot be one.
    pub fn new(path: &str, key: FileKey) -> Result<Self, ToolError> {
        if path.is_empty() || path.contains('\0') {
            return Err(invalid("the path of a credential file is empty or holds NUL"));
        }
        let path = std::path::absolute(path).map_err(|error| invalid(format!("the path of a credential file cannot be used: {error}")))?;
        Ok(Self { path, key })
    }

    fn read(&self) -> Result<Kept, ToolError> {
        let read = || Ok(self.open(files::read(&self.path, MAX_FILE_BYTES)?.as_deref())?.0);
        read().map_err(|trouble| self.explain(trouble, "read"))
    }

    /// Changes what is kept. `change` says whether there is anything to write.
    fn change(&self, change: impl FnOnce(&mut Kept) -> bool) -> Result<bool, ToolError> {
        let mut changed = false;
        let update = files::update_private(&self.path, MAX_FILE_BYTES, |text| {
            // Opened first: what the key does not open is never written over.
            let (mut kept, salt) = self.open(text)?;
            changed = change(&mut kept);
            Ok(if changed { Some(Sealed::seal(&kept, &self.key, salt)?.render()) } else { None })
        });
        update.map_err(|trouble: Trouble| self.explain(trouble, "changed"))?;
        Ok(changed)
    }

    fn open(&self, text: Option<&str>) -> Result<(Kept, Option<super::key::Salt>), Trouble> {
        let Some(text) = text else { return Ok((Kept::default(), None)) };
        let sealed = Sealed::read(text).map_err(|fault| failed(Reason::Format, fault.to_string()))?;
        Ok((sealed.open(&self.key)?, sealed.salt()))
    }

    fn explain(&self, trouble: Trouble, access: &str) -> ToolError {
        let path = Path::display(&self.path);
        match trouble {
            Trouble::Store(mut error) => {
                error.message = format!("the credential file '{path}' cannot be {access}: {}. It was left as it is.", error.message);
                error
            }
            Trouble::File(error) => {
                let reason = if matches!(error, FileError::TooLarge(_)) { Reason::TooLarge } else { Reason::File };
                failed(reason, format!("the credential file '{path}' cannot be {access}: {error}"))
            }
        }
    }
}

impl CredentialStore for FileStore {
    fn get(&self, connector: &str) -> Result<Option<Credentials>, ToolError> {
        check_connector(connector)?;
        Ok(self.read()?.remove(connector))
    }

    fn put(&self, connector: &str, credentials: Credentials) -> Result<(), ToolError> {
        check_connector(connector)?;
        let keep = |kept: &mut Kept| {
            kept.insert(connector.to_owned(), credentials);
            true
        };
        self.change(keep).map(drop)
    }

    fn delete(&self, connector: &str) -> Result<bool, ToolError> {
        check_connector(connector)?;
        // Without a file there is nothing to forget, and no folder to lock.
        if !self.read()?.contains_key(connector) {
            return Ok(false);
        }
        self.change(|kept| kept.remove(connector).is_some())
    }

    fn list(&self) -> Result<Vec<String>, ToolError> {
        Ok(self.read()?.into_keys().collect())
    }
}
