//! The form of an encrypted file: JSON with a salt, a nonce and what is encrypted. There is one spelling for what it says, and any other
//! is refused, so that each byte of a file is either authenticated or fixed.

use super::credentials::{Credentials, Exposed};
use super::key::{FileKey, SALT_BYTES, Salt, random};
use super::{Reason, failed};
use crate::error::ToolError;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use serde::Deserialize;
use std::collections::BTreeMap;
use zeroize::Zeroizing;

/// The first member of a file. It stands for the cipher, and for how a key is made from a password.
const FORMAT: &str = "toolbolt-credentials-1";
/// What formats of later versions would begin with.
const FAMILY: &str = "toolbolt-credentials-";
const NONCE_BYTES: usize = 24;

/// The credentials of a file by the names of their connectors.
pub(super) type Kept = BTreeMap<String, Credentials>;

/// An encrypted file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// Goes into the key with the password. None where the key is used as it was given.
    salt: Option<Salt>,
    nonce: [u8; NONCE_BYTES],
    sealed: Vec<u8>,
}

/// Why a text is not such a file. Reads as the end of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealedFault {
    /// It is something else.
    #[error("it is no credential file of ours, or it is damaged")]
    NotOurs,
    /// A later version wrote it.
    #[error("a newer version wrote it, and this one knows only {FORMAT}")]
    Newer,
    /// It was changed by hand, cut or damaged.
    #[error("it is damaged, or was changed by something else")]
    Altered,
}

#[derive(Deserialize)]
struct Header {
    format: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "format")]
    _format: String,
    salt: Option<String>,
    nonce: String,
    sealed: String,
}

impl Sealed {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// For a text that [`Sealed::render`] would not write.
    pub fn read(text: &str) -> Result<Self, SealedFault> {
        let header: Header = serde_json::from_str(text).map_err(|_| SealedFault::NotOurs)?;
        match header.format.as_str() {
            FORMAT => {}
            other if other.starts_with(FAMILY) => return Err(SealedFault::Newer),
            _ => return Err(SealedFault::NotOurs),
        }
        let file: File = serde_json::from_str(text).map_err(|_| SealedFault::Altered)?;
        let salt = file.salt.as_deref().map(fixed::<SALT_BYTES>).transpose()?;
        let sealed = BASE64_STANDARD.decode(&file.sealed).map_err(|_| SealedFault::Altered)?;
        let read = Self { salt, nonce: fixed(&file.nonce)?, sealed };
        if read.render() == text { Ok(read) } else { Err(SealedFault::Altered) }
    }

    /// The text of the file.
    pub fn render(&self) -> String {
        let salt = self.salt.map_or("null".to_owned(), |salt| format!("\"{}\"", BASE64_STANDARD.encode(salt)));
        let (nonce, sealed) = (BASE64_STANDARD.encode(self.nonce), BASE64_STANDARD.encode(&self.sealed));
        format!("{{\n  \"format\": \"{FORMAT}\",\n  \"salt\": {salt},\n  \"nonce\": \"{nonce}\",\n  \"sealed\": \"{sealed}\"\n}}\n")
    }

    /// What is in it.
    ///
    /// # Errors
    /// `CREDENTIAL_STORE_FAILED` for another key, and for a file that was changed: the two cannot be told apart.
    pub fn open(&self, key: &FileKey) -> Result<Kept, ToolError> {
        let cipher = XChaCha20Poly1305::new(&(*key.with_salt(self.salt.as_ref())?).into());
        let payload = Payload { msg: &self.sealed, aad: &self.authenticated() };
        let opened = cipher.decrypt(&XNonce::from(self.nonce), payload);
        let wrong = || failed(Reason::WrongKey, "the key or password is not the one it was encrypted with, or it was changed since");
        let opened = Zeroizing::new(opened.map_err(|_| wrong())?);
        serde_json::from_slice(&opened).map_err(|_| failed(Reason::Format, "what it holds are no credentials"))
    }

    /// Encrypts credentials under a nonce that was never used. `salt` is that of the file before, since making a key takes long.
    ///
    /// # Errors
    /// `CREDENTIAL_STORE_FAILED` where no random numbers can be had, or no key can be made.
    pub fn seal(kept: &Kept, key: &FileKey, salt: Option<Salt>) -> Result<Self, ToolError> {
        let mut sealed = Self { salt, nonce: [0; NONCE_BYTES], sealed: Vec::new() };
        if sealed.salt.is_none() && key.is_password() {
            let mut salt = Salt::default();
            random(&mut salt)?;
            sealed.salt = Some(salt);
        }
        random(&mut sealed.nonce)?;
        let exposed: BTreeMap<&str, Exposed> =
            kept.iter().map(|(connector, credentials)| (connector.as_str(), Exposed(credentials))).collect();
        let unable = || failed(Reason::TooLarge, "the credentials cannot be encrypted");
        let plain = Zeroizing::new(serde_json::to_vec(&exposed).map_err(|_| unable())?);
        let cipher = XChaCha20Poly1305::new(&(*key.with_salt(sealed.salt.as_ref())?).into());
        let payload = Payload { msg: &plain, aad: &sealed.authenticated() };
        sealed.sealed = cipher.encrypt(&XNonce::from(sealed.nonce), payload).map_err(|_| unable())?;
        Ok(sealed)
    }

    pub(super) fn salt(&self) -> Option<Salt> {
        self.salt
    }

    /// What is not encrypted and must not be changed either. The nonce is part of what the cipher checks by itself.
    fn authenticated(&self) -> Vec<u8> {
        let mut bytes = FORMAT.as_bytes().to_vec();
        bytes.push(u8::from(self.salt.is_some()));
        bytes.extend(self.salt.unwrap_or_default());
        bytes
    }
}

fn fixed<const BYTES: usize>(text: &str) -> Result<[u8; BYTES], SealedFault> {
    BASE64_STANDARD.decode(text).ok().and_then(|bytes| bytes.try_into().ok()).ok_or(SealedFault::Altered)
}
