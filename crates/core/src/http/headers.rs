//! Headers that are put together from names and values of others.

use super::HttpError;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use std::fmt;

/// A set of headers. A name that comes twice has its last value.
#[derive(Clone, Default)]
pub struct Headers {
    inner: HeaderMap,
}

/// Their names alone.
impl fmt::Debug for Headers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.inner.keys()).finish()
    }
}

impl Headers {
    /// Sets a header. A secret one is shown by no log and kept in no table of a connection.
    ///
    /// # Errors
    /// [`HttpError::Invalid`] for a name that is no token, and for a value that holds anything but visible ASCII, blanks and tabs.
    pub fn set(&mut self, name: &str, value: &str, secret: bool) -> Result<(), HttpError> {
        let (name, value) = read(name, value, secret)?;
        self.inner.insert(name, value);
        Ok(())
    }

    /// Whether there is one of this name, in whatever case.
    pub fn has(&self, name: &str) -> bool {
        self.inner.contains_key(name)
    }

    /// The value of a header.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.inner.get(name)?.to_str().ok()
    }

    pub(super) fn add_to(&self, headers: &mut HeaderMap) {
        for (name, value) in &self.inner {
            headers.insert(name.clone(), value.clone());
        }
    }
}

pub(super) fn read(name: &str, value: &str, secret: bool) -> Result<(HeaderName, HeaderValue), HttpError> {
    if !value.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~')) {
        return Err(HttpError::Invalid);
    }
    let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| HttpError::Invalid)?;
    let mut value = HeaderValue::from_str(value).map_err(|_| HttpError::Invalid)?;
    value.set_sensitive(secret);
    Ok((name, value))
}
