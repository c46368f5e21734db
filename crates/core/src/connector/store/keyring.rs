//! Credentials in the kernel's keyring of the user.
//!
//! They lie in the persistent keyring, one key for each connector. It is not tied to a login; it vanishes when nobody has used it for
//! some days (three, unless the administrator says otherwise), and with the machine. A program possesses what the thread that works holds:
//! the persistent keyring is linked there each time, which also puts off its end.

use super::credentials::check_name;
use super::{CredentialStore, Credentials, Reason, check_connector, failed};
use crate::error::{ErrorCode, ToolError};
use linux_keyutils::{Key, KeyError, KeyRing, KeyRingIdentifier};
use zeroize::Zeroizing;

/// The most bytes of a key of this kind.
const MAX_BYTES: usize = 32_767;
/// Links that are read. The library needs to be given more room than there can be; what is not used costs nothing.
const MAX_LINKS: usize = 8 * 1024 * 1024;
const MAX_SERVICE_CHARS: usize = 64;

/// Keeps credentials in the keyring of the kernel.
#[derive(Debug)]
pub struct KeyringStore {
    prefix: String,
}

impl KeyringStore {
    /// A store whose keys are told from those of other programs by the name of a service.
    ///
    /// # Errors
    /// `INVALID_OPTIONS` for a name that is none.
    pub fn new(service: &str) -> Result<Self, ToolError> {
        check_name(service, "the name of a service", MAX_SERVICE_CHARS, "_.-")?;
        Ok(Self { prefix: format!("toolbolt:{service}:") })
    }

    /// Whether there is a keyring here that can be used.
    ///
    /// # Errors
    /// `UNSUPPORTED_PLATFORM`, with what is in the way.
    pub fn check() -> Result<(), ToolError> {
        ring().map(drop)
    }

    fn find(&self, ring: &KeyRing, connector: &str) -> Result<Option<Key>, ToolError> {
        check_connector(connector)?;
        match ring.search(&self.description(connector)) {
            Ok(key) => Ok(Some(key)),
            Err(error) if is_gone(error) => Ok(None),
            Err(error) => Err(explain(error)),
        }
    }

    fn description(&self, connector: &str) -> String {
        format!("{}{connector}", self.prefix)
    }
}

impl CredentialStore for KeyringStore {
    fn get(&self, connector: &str) -> Result<Option<Credentials>, ToolError> {
        let Some(key) = self.find(&ring()?, connector)? else { return Ok(None) };
        let mut bytes = Zeroizing::new(vec![0; MAX_BYTES]);
        let length = match key.read(&mut *bytes) {
            Ok(length) => length,
            Err(error) if is_gone(error) => return Ok(None),
            Err(error) => return Err(explain(error)),
        };
        let json = bytes.get(..length).and_then(|bytes| std::str::from_utf8(bytes).ok());
        let credentials = json.and_then(|json| Credentials::read(json).ok());
        let foreign = || failed(Reason::Format, format!("the key '{}' of the keyring holds no credentials", self.description(connector)));
        credentials.ok_or_else(foreign).map(Some)
    }

    fn put(&self, connector: &str, credentials: Credentials) -> Result<(), ToolError> {
        check_connector(connector)?;
        let json = credentials.expose_json();
        if json.len() > MAX_BYTES {
            let message =
                format!("the credentials of '{connector}' need {} bytes, and a key of the keyring has room for {MAX_BYTES}", json.len());
            return Err(failed(Reason::TooLarge, message));
        }
        ring()?.add_key(&self.description(connector), json.as_bytes()).map(drop).map_err(explain)
    }

    fn delete(&self, connector: &str) -> Result<bool, ToolError> {
        let ring = ring()?;
        let Some(key) = self.find(&ring, connector)? else { return Ok(false) };
        match ring.unlink_key(key) {
            Ok(()) => Ok(true),
            // Another process was faster.
            Err(KeyError::MissingFileOrDirectory) => Ok(false),
            Err(error) if is_gone(error) => Ok(false),
            Err(error) => Err(explain(error)),
        }
    }

    fn list(&self) -> Result<Vec<String>, ToolError> {
        let links = ring()?.get_links(MAX_LINKS).map_err(explain)?;
        let descriptions = links.iter().filter_map(|link| Some(link.as_key()?.metadata().ok()?.get_description().to_owned()));
        let mut names: Vec<String> =
            descriptions.filter_map(|description| Some(description.strip_prefix(&self.prefix)?.to_owned())).collect();
        names.sort_unstable();
        Ok(names)
    }
}

/// The persistent keyring, which this thread possesses from now on.
fn ring() -> Result<KeyRing, ToolError> {
    KeyRing::get_persistent(KeyRingIdentifier::Thread).map_err(unsupported)
}

fn is_gone(error: KeyError) -> bool {
    matches!(error, KeyError::KeyDoesNotExist | KeyError::KeyRevoked | KeyError::KeyExpired)
}

fn unsupported(error: KeyError) -> ToolError {
    let why = match error {
        KeyError::PermissionDenied | KeyError::AccessDenied => {
            "the system does not let this process use it, as is usual in a container".to_owned()
        }
        KeyError::OperationNotSupported | KeyError::Unknown(38) => "the kernel has none that outlasts a process".to_owned(),
        other => other.to_string(),
    };
    let message = format!("there is no keyring of the operating system here: {why}. Keep credentials in a FileCredentialStore instead.");
    ToolError::new(ErrorCode::UnsupportedPlatform, message)
}

fn explain(error: KeyError) -> ToolError {
    match error {
        KeyError::QuotaExceeded => {
            failed(Reason::TooLarge, "the keyring has no more room for this user; see /proc/sys/kernel/keys/maxbytes and maxkeys")
        }
        KeyError::PermissionDenied | KeyError::AccessDenied => failed(Reason::Keyring, "the keyring denies access to this key"),
        other => failed(Reason::Keyring, format!("the keyring failed: {other}")),
    }
}
