//! The credentials of one connector, and the rules that they keep in every store.

use super::invalid;
use crate::error::ToolError;
use crate::sanitize::{cut, visible};
use secrecy::{ExposeSecret, SecretString};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeMap;
use zeroize::Zeroizing;

/// The most fields of one connector.
pub const MAX_FIELDS: usize = 64;
/// The most bytes of one value.
pub const MAX_VALUE_BYTES: usize = 64 * 1024;
const MAX_CONNECTOR_CHARS: usize = 128;
const MAX_FIELD_CHARS: usize = 64;

/// Values by the keys of their fields. They are not part of its `Debug` form, and are wiped when it is dropped.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct Credentials(BTreeMap<String, SecretString>);

impl Credentials {
    /// Takes values by the keys of their fields.
    ///
    /// # Errors
    /// `INVALID_OPTIONS` for no field at all or more than [`MAX_FIELDS`], a key that is none, and a value that is empty, longer than
    /// [`MAX_VALUE_BYTES`] or holds a NUL. No value is shown.
    pub fn new(values: impl IntoIterator<Item = (String, SecretString)>) -> Result<Self, ToolError> {
        Self(values.into_iter().collect()).checked()
    }

    /// Reads a JSON object of texts, and wipes it.
    ///
    /// # Errors
    /// As for [`Credentials::new`], and for other JSON.
    pub fn from_json(json: String) -> Result<Self, ToolError> {
        Self::read(&Zeroizing::new(json))
    }

    pub(super) fn read(json: &str) -> Result<Self, ToolError> {
        // What the parser says may quote a value.
        let message = "credentials must be an object of texts without halves of surrogate pairs";
        serde_json::from_str::<Self>(json).map_err(|_| invalid(message))?.checked()
    }

    fn checked(self) -> Result<Self, ToolError> {
        if self.0.is_empty() {
            return Err(invalid("credentials have no field; use delete to forget a connector"));
        }
        if self.0.len() > MAX_FIELDS {
            return Err(invalid(format!("credentials have more than {MAX_FIELDS} fields")));
        }
        for (field, value) in &self.0 {
            check_field(field)?;
            let value = value.expose_secret();
            if value.is_empty() {
                return Err(invalid(format!("the value of '{field}' is empty; leave the field out")));
            }
            if value.len() > MAX_VALUE_BYTES {
                return Err(invalid(format!("the value of '{field}' is longer than {MAX_VALUE_BYTES} bytes")));
            }
            if value.contains('\0') {
                return Err(invalid(format!("the value of '{field}' holds a NUL, which neither a header nor a variable can carry")));
            }
        }
        Ok(self)
    }

    /// The value of a field.
    pub fn get(&self, field: &str) -> Option<&str> {
        self.0.get(field).map(ExposeSecret::expose_secret)
    }

    /// The keys of the fields, sorted.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// All values as a JSON object, for whoever is to use them.
    pub fn expose_json(&self) -> Zeroizing<String> {
        Zeroizing::new(serde_json::to_string(&Exposed(self)).unwrap_or_default())
    }
}

/// Credentials as they are written where they are kept.
pub(super) struct Exposed<'a>(pub(super) &'a Credentials);

impl Serialize for Exposed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.0.len()))?;
        for (field, value) in &self.0.0 {
            map.serialize_entry(field, value.expose_secret())?;
        }
        map.end()
    }
}

/// Refuses what cannot be the name of a connector in any store.
///
/// # Errors
/// `INVALID_OPTIONS`, with the name as it can be read.
pub fn check_connector(name: &str) -> Result<(), ToolError> {
    check_name(name, "the name of a connector", MAX_CONNECTOR_CHARS, "_.:/@-")
}

pub(super) fn check_field(name: &str) -> Result<(), ToolError> {
    check_name(name, "the key of a field", MAX_FIELD_CHARS, "_.-")
}

pub(super) fn check_name(name: &str, what: &str, most: usize, others: &str) -> Result<(), ToolError> {
    if (1..=most).contains(&name.len()) && name.chars().all(|character| character.is_ascii_alphanumeric() || others.contains(character)) {
        return Ok(());
    }
    let shown = match cut(name, most) {
        Some(head) => format!("{}…", visible(head)),
        None => visible(name),
    };
    Err(invalid(format!("{what} has 1 to {most} characters out of a-z, A-Z, 0-9 and '{others}', and '{shown}' has not")))
}
