//! TLS: which certificates are trusted.
//!
//! The system's (`SSL_CERT_FILE` and `SSL_CERT_DIR` count), and those in the file of `NODE_EXTRA_CA_CERTS`. Where the system has none at
//! all, the program around is asked for its own list.

use super::HttpError;
use crate::surroundings::Surroundings;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use std::sync::Arc;
use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;

/// Read once: parsing some hundred certificates takes milliseconds.
static CONFIG: OnceCell<ClientConfig> = OnceCell::const_new();

const EXTRA: &[&str] = &["NODE_EXTRA_CA_CERTS"];

pub(super) async fn config(surroundings: &dyn Surroundings) -> Result<ClientConfig, HttpError> {
    CONFIG.get_or_try_init(|| load(surroundings)).await.cloned()
}

async fn load(surroundings: &dyn Surroundings) -> Result<ClientConfig, HttpError> {
    let extra = surroundings.variables(EXTRA).await.into_iter().next().flatten();
    let mut certificates = in_background(|| rustls_native_certs::load_native_certs().certs).await?;
    if certificates.is_empty() {
        let pem = surroundings.root_certificates().await;
        certificates = in_background(move || readable(CertificateDer::pem_slice_iter(pem.as_bytes()))).await?;
    }
    in_background(move || {
        if let Some(Ok(extra)) = extra.map(CertificateDer::pem_file_iter) {
            certificates.extend(readable(extra));
        }
        trusting(certificates)
    })
    .await?
}

fn readable<E>(certificates: impl Iterator<Item = Result<CertificateDer<'static>, E>>) -> Vec<CertificateDer<'static>> {
    certificates.filter_map(Result::ok).collect()
}

fn trusting(certificates: Vec<CertificateDer<'static>>) -> Result<ClientConfig, HttpError> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(certificates);
    let mut config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|_| HttpError::Untrusted)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

async fn in_background<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, HttpError> {
    // Fails only where the runtime is ending.
    spawn_blocking(work).await.map_err(|_| HttpError::Unreachable)
}
