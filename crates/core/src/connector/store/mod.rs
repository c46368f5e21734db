//! Where credentials are kept: in memory, in environment variables, in an encrypted file, in the keyring of the operating system.
//!
//! No value is ever part of an error, and values in memory are wiped when they are dropped. Stores wait for disks and locks, so those
//! that do are not for a thread that must not.

mod credentials;
mod environment;
mod file;
mod key;
#[cfg_attr(not(target_os = "linux"), path = "keyring_other.rs")]
mod keyring;
mod memory;
mod sealed;

pub use credentials::{Credentials, MAX_FIELDS, MAX_VALUE_BYTES, check_connector};
pub use environment::EnvironmentStore;
pub use file::{FileStore, MAX_FILE_BYTES};
pub use key::{FileKey, generate_key};
pub use keyring::KeyringStore;
pub use memory::MemoryStore;
pub use sealed::{Sealed, SealedFault};

use crate::error::{ErrorCode, ToolError};
use serde_json::json;

/// Keeps the credentials of connectors, by their names.
pub trait CredentialStore: Send + Sync {
    /// What is kept for a connector, none if nothing is.
    ///
    /// # Errors
    /// `INVALID_OPTIONS` for a name that no connector can have; `CREDENTIAL_STORE_FAILED`, `UNSUPPORTED_PLATFORM`.
    fn get(&self, connector: &str) -> Result<Option<Credentials>, ToolError>;

    /// Keeps credentials in the place of those that were kept for the connector. It happens whole or not at all.
    ///
    /// # Errors
    /// As for [`CredentialStore::get`].
    fn put(&self, connector: &str, credentials: Credentials) -> Result<(), ToolError>;

    /// Forgets what is kept for a connector. False if nothing was.
    ///
    /// # Errors
    /// As for [`CredentialStore::get`].
    fn delete(&self, connector: &str) -> Result<bool, ToolError>;

    /// The names of the connectors of which something is kept, sorted.
    ///
    /// # Errors
    /// As for [`CredentialStore::get`].
    fn list(&self) -> Result<Vec<String>, ToolError>;
}

/// Why a store failed, as programs see it in `data.reason`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    /// The key is another one, or what it would open was changed.
    WrongKey,
    /// What is kept there is not what this store writes.
    Format,
    /// A file could not be read or changed.
    File,
    /// The keyring did not do what it was asked to.
    Keyring,
    /// The store has no room for it.
    TooLarge,
}

impl Reason {
    const fn as_str(self) -> &'static str {
        match self {
            Self::WrongKey => "wrongKey",
            Self::Format => "format",
            Self::File => "file",
            Self::Keyring => "keyring",
            Self::TooLarge => "tooLarge",
        }
    }
}

fn failed(reason: Reason, message: impl Into<String>) -> ToolError {
    ToolError::new(ErrorCode::CredentialStoreFailed, message).with_data(json!({ "reason": reason.as_str() }))
}

fn invalid(message: impl Into<String>) -> ToolError {
    ToolError::new(ErrorCode::InvalidOptions, message)
}
