//! The key of a file: given as it is, or made from a password.

use super::{Reason, failed, invalid};
use crate::error::ToolError;
use argon2::{Algorithm, Argon2, Params, Version};
use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use parking_lot::Mutex;
use secrecy::{ExposeSecret, SecretString};
use std::fmt;
use zeroize::Zeroizing;

pub(super) const KEY_BYTES: usize = 32;
pub(super) const SALT_BYTES: usize = 16;
/// The second recommended choice of RFC 9106: 64 MiB, three passes, four lanes. They are part of the format of the file.
const MEMORY_KIB: u32 = 64 * 1024;
const PASSES: u32 = 3;
const LANES: u32 = 4;
const MIN_PASSWORD_CHARS: usize = 8;

pub(super) type Key = Zeroizing<[u8; KEY_BYTES]>;
pub(super) type Salt = [u8; SALT_BYTES];

/// What opens a file. It is not part of its `Debug` form, and is wiped when it is dropped.
pub struct FileKey(Kind);

enum Kind {
    Raw(Key),
    Password { password: SecretString, last: Mutex<Option<(Salt, Key)>> },
}

impl fmt::Debug for FileKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.is_password() { "FileKey(password)" } else { "FileKey(key)" })
    }
}

impl FileKey {
    /// A key of 32 bytes, in 64 hexadecimal digits or in base64 of either alphabet.
    ///
    /// # Errors
    /// `INVALID_OPTIONS` for anything else, without showing it.
    pub fn raw(text: &str) -> Result<Self, ToolError> {
        let bytes = decode(text.trim()).filter(|bytes| bytes.len() == KEY_BYTES);
        let message = "the key of a credential file has 32 bytes, in 64 hexadecimal digits or in base64; make one with FileCredentialStore.generateKey()";
        let bytes = bytes.ok_or_else(|| invalid(message))?;
        let mut key = Key::default();
        key.copy_from_slice(&bytes);
        Ok(Self(Kind::Raw(key)))
    }

    /// A password, from which a key is made with Argon2id. That takes a tenth of a second or more, once for each file.
    ///
    /// # Errors
    /// `INVALID_OPTIONS` for one with less than 8 characters.
    pub fn password(password: String) -> Result<Self, ToolError> {
        let password = SecretString::from(password);
        if password.expose_secret().chars().count() < MIN_PASSWORD_CHARS {
            return Err(invalid(format!("the password of a credential file has at least {MIN_PASSWORD_CHARS} characters")));
        }
        Ok(Self(Kind::Password { password, last: Mutex::default() }))
    }

    pub(super) fn is_password(&self) -> bool {
        matches!(self.0, Kind::Password { .. })
    }

    /// The key for a file with this salt. A key that is given as it is has none.
    pub(super) fn with_salt(&self, salt: Option<&Salt>) -> Result<Key, ToolError> {
        match (&self.0, salt) {
            (Kind::Raw(key), None) => Ok(key.clone()),
            (Kind::Password { password, last }, Some(salt)) => {
                // Held meanwhile: whoever wants the same key waits for it instead of making it too.
                let mut last = last.lock();
                if let Some((_, key)) = last.as_ref().filter(|(known, _)| known == salt) {
                    return Ok(key.clone());
                }
                let key = derive(password.expose_secret(), salt)?;
                *last = Some((*salt, key.clone()));
                Ok(key)
            }
            (Kind::Raw(_), Some(_)) => Err(failed(Reason::WrongKey, "it was encrypted with a password, and a key is given")),
            (Kind::Password { .. }, None) => Err(failed(Reason::WrongKey, "it was encrypted with a key, and a password is given")),
        }
    }
}

fn derive(password: &str, salt: &Salt) -> Result<Key, ToolError> {
    let unable = |error: argon2::Error| failed(Reason::File, format!("no key can be made from the password: {error}"));
    let params = Params::new(MEMORY_KIB, PASSES, LANES, Some(KEY_BYTES)).map_err(unable)?;
    let mut key = Key::default();
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params).hash_password_into(password.as_bytes(), salt, key.as_mut()).map_err(unable)?;
    Ok(key)
}

/// A new key from the system's source of randomness, in base64.
///
/// # Errors
/// `CREDENTIAL_STORE_FAILED` where the system has none.
pub fn generate_key() -> Result<Zeroizing<String>, ToolError> {
    let mut key = Key::default();
    random(key.as_mut())?;
    Ok(Zeroizing::new(base64::prelude::BASE64_STANDARD.encode(key.as_ref())))
}

pub(super) fn random(bytes: &mut [u8]) -> Result<(), ToolError> {
    getrandom::fill(bytes).map_err(|error| failed(Reason::File, format!("the system gives no random numbers: {error}")))
}

fn decode(text: &str) -> Option<Zeroizing<Vec<u8>>> {
    if text.len() == 2 * KEY_BYTES {
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let pairs = text.as_bytes().chunks_exact(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?));
        return pairs.collect::<Option<Vec<u8>>>().map(Zeroizing::new);
    }
    let config = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let alphabet = if text.contains(['-', '_']) { URL_SAFE } else { STANDARD };
    GeneralPurpose::new(&alphabet, config).decode(text).ok().map(Zeroizing::new)
}
