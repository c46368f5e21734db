//! Credentials that live as long as their store.

use super::{CredentialStore, Credentials, check_connector};
use crate::error::ToolError;
use parking_lot::Mutex;
use std::collections::BTreeMap;

/// Keeps credentials in the memory of this process.
#[derive(Debug, Default)]
pub struct MemoryStore {
    kept: Mutex<BTreeMap<String, Credentials>>,
}

impl CredentialStore for MemoryStore {
    fn get(&self, connector: &str) -> Result<Option<Credentials>, ToolError> {
        check_connector(connector)?;
        Ok(self.kept.lock().get(connector).cloned())
    }

    fn put(&self, connector: &str, credentials: Credentials) -> Result<(), ToolError> {
        check_connector(connector)?;
        self.kept.lock().insert(connector.to_owned(), credentials);
        Ok(())
    }

    fn delete(&self, connector: &str) -> Result<bool, ToolError> {
        check_connector(connector)?;
        Ok(self.kept.lock().remove(connector).is_some())
    }

    fn list(&self) -> Result<Vec<String>, ToolError> {
        Ok(self.kept.lock().keys().cloned().collect())
    }
}
