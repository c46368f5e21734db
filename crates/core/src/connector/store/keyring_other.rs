//! Where there is no keyring that this version knows: every access is refused.

use super::credentials::check_name;
use super::{CredentialStore, Credentials};
use crate::error::{ErrorCode, ToolError};

/// Refuses everything.
#[derive(Debug)]
pub struct KeyringStore;

impl KeyringStore {
    /// A store that refuses every access.
    ///
    /// # Errors
    /// `INVALID_OPTIONS` for a name of a service that is none.
    pub fn new(service: &str) -> Result<Self, ToolError> {
        check_name(service, "the name of a service", 64, "_.-")?;
        Ok(Self)
    }

    /// Whether there is a keyring here that can be used.
    ///
    /// # Errors
    /// `UNSUPPORTED_PLATFORM`.
    pub fn check() -> Result<(), ToolError> {
        Err(unsupported())
    }
}

impl CredentialStore for KeyringStore {
    fn get(&self, _connector: &str) -> Result<Option<Credentials>, ToolError> {
        Err(unsupported())
    }

    fn put(&self, _connector: &str, _credentials: Credentials) -> Result<(), ToolError> {
        Err(unsupported())
    }

    fn delete(&self, _connector: &str) -> Result<bool, ToolError> {
        Err(unsupported())
    }

    fn list(&self) -> Result<Vec<String>, ToolError> {
        Err(unsupported())
    }
}

fn unsupported() -> ToolError {
    let message = "only the keyring of Linux is known to this version. Keep credentials in a FileCredentialStore instead.";
    ToolError::new(ErrorCode::UnsupportedPlatform, message)
}
