//! Where credentials are kept.

#![expect(unreachable_pub, reason = "the macro exports what the module system does not see")]

use crate::dispatch;
use crate::error::to_js;
use crate::threads::Lane;
use crate::values;
use napi::Env;
use napi::bindgen_prelude::{Function, Result};
use napi_derive::napi;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::Mutex;
use toolbolt_core::connector::store::{
    CredentialStore, Credentials, EnvironmentStore, FileKey, FileStore, KeyringStore, MemoryStore, generate_key,
};
use toolbolt_core::error::{ErrorCode, ToolError};

/// A store of the core. Accesses happen in the order in which they were asked for, away from threads that must not wait.
#[napi]
pub struct NativeCredentialStore {
    inner: Arc<dyn CredentialStore>,
    turn: Arc<Mutex<()>>,
}

impl NativeCredentialStore {
    fn new(store: impl CredentialStore + 'static) -> Self {
        Self { inner: Arc::new(store), turn: Arc::default() }
    }

    fn start(
        &self,
        env: &Env,
        token: u32,
        access: impl FnOnce(&dyn CredentialStore) -> std::result::Result<String, ToolError> + Send + 'static,
    ) -> Result<()> {
        let (store, turn) = (Arc::clone(&self.inner), Arc::clone(&self.turn));
        dispatch::start(env, token, Lane::Local, None, move |_dispatcher| async move {
            let _turn = turn.lock().await;
            waiting(move || access(store.as_ref())).await
        })
    }
}

/// Runs what waits for a disk or a lock.
async fn waiting<T: Send + 'static>(
    work: impl FnOnce() -> std::result::Result<T, ToolError> + Send + 'static,
) -> std::result::Result<T, ToolError> {
    let failed =
        |_| ToolError::new(ErrorCode::CredentialStoreFailed, "an internal error stopped the store of credentials; please report it");
    tokio::task::spawn_blocking(work).await.map_err(failed)?
}

/// A store in memory.
#[napi(catch_unwind)]
pub fn memory_credential_store() -> NativeCredentialStore {
    NativeCredentialStore::new(MemoryStore::default())
}

/// A store in an encrypted file, with a key as it is or a password.
#[napi(catch_unwind)]
pub fn file_credential_store(path: String, secret: String, is_password: bool) -> Result<NativeCredentialStore> {
    let key = if is_password { FileKey::password(secret) } else { FileKey::raw(&secret) };
    Ok(NativeCredentialStore::new(FileStore::new(&path, key.map_err(to_js)?).map_err(to_js)?))
}

/// A store in the keyring of the operating system.
#[napi(catch_unwind)]
pub fn keyring_credential_store(service: String) -> Result<NativeCredentialStore> {
    Ok(NativeCredentialStore::new(KeyringStore::new(&service).map_err(to_js)?))
}

/// Whether there is such a keyring.
#[napi(catch_unwind)]
pub fn check_keyring(env: Env, token: u32) -> Result<()> {
    dispatch::start(&env, token, Lane::Local, None, |_dispatcher| async { waiting(|| KeyringStore::check().map(|()| String::new())).await })
}

/// A new key for a file.
#[napi(catch_unwind)]
pub fn generate_credential_key() -> Result<String> {
    Ok(generate_key().map_err(to_js)?.to_string())
}

#[napi]
impl NativeCredentialStore {
    /// The credentials of a connector as a JSON object; empty if there are none.
    #[napi(catch_unwind)]
    pub fn get(&self, env: Env, token: u32, connector: String) -> Result<()> {
        self.start(&env, token, move |store| Ok(exposed(store.get(&connector)?.as_ref())))
    }

    /// Keeps the credentials of a connector, given as a JSON object.
    #[napi(catch_unwind)]
    pub fn put(&self, env: Env, token: u32, connector: String, credentials: String) -> Result<()> {
        let credentials = Credentials::from_json(credentials).map_err(to_js)?;
        self.start(&env, token, move |store| store.put(&connector, credentials).map(|()| String::new()))
    }

    /// Forgets the credentials of a connector: `true` or `false`.
    #[napi(catch_unwind)]
    pub fn delete(&self, env: Env, token: u32, connector: String) -> Result<()> {
        self.start(&env, token, move |store| Ok(store.delete(&connector)?.to_string()))
    }

    /// The names of connectors as a JSON list.
    #[napi(catch_unwind)]
    pub fn list(&self, env: Env, token: u32) -> Result<()> {
        self.start(&env, token, |store| Ok(serde_json::json!(store.list()?).to_string()))
    }
}

/// Which environment variables hold the fields of which connectors.
#[napi]
pub struct NativeEnvironmentStore {
    inner: EnvironmentStore,
}

#[napi]
impl NativeEnvironmentStore {
    /// Takes the names of variables by connector and field, as JSON.
    #[napi(constructor, catch_unwind)]
    pub fn new(variables: String) -> Result<Self> {
        let variables: BTreeMap<String, BTreeMap<String, String>> = values::parse(&variables)?;
        Ok(Self { inner: EnvironmentStore::new(variables).map_err(to_js)? })
    }

    /// The credentials of a connector as a JSON object; empty if there are none.
    #[napi(catch_unwind)]
    pub fn get(&self, connector: String, read: Function<'_, String, Option<String>>) -> Result<String> {
        let read = |name: &str| read.call(name.to_owned()).ok().flatten();
        Ok(exposed(self.inner.get(&connector, read).map_err(to_js)?.as_ref()))
    }

    /// The connectors that have something.
    #[napi(catch_unwind)]
    pub fn list(&self, read: Function<'_, String, Option<String>>) -> Vec<String> {
        self.inner.list(|name| read.call(name.to_owned()).ok().flatten())
    }
}

fn exposed(credentials: Option<&Credentials>) -> String {
    credentials.map(|credentials| credentials.expose_json().to_string()).unwrap_or_default()
}
