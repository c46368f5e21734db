//! Why a request has no answer.

use super::resolve::Unresolved;
use rustls::CertificateError;
use std::error::Error;

/// Why a request has no answer: a kind, without words of the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// No connection, for another reason than the next three: the network, the proxy.
    #[error("the server cannot be reached")]
    Unreachable,
    /// Nobody listens at the port.
    #[error("the server refuses connections")]
    Refused,
    /// The name of the host leads nowhere.
    #[error("the name of the server leads nowhere")]
    Unresolved,
    /// The time to connect was up.
    #[error("the server could not be reached in time")]
    Late,
    /// The server's certificate is not trusted.
    #[error("the certificate of the server is not trusted")]
    Untrusted,
    /// The certificate is no longer valid, or not yet.
    #[error("the certificate of the server is not valid now")]
    Expired,
    /// The certificate is that of another host.
    #[error("the certificate of the server is for another name")]
    Misnamed,
    /// TLS failed otherwise, such as at a server that speaks none.
    #[error("the server speaks no TLS")]
    NoTls,
    /// A redirect to another place, or too many.
    #[error("the server redirects to another place")]
    Redirected,
    /// A body over the cap.
    #[error("the answer is too large")]
    TooLarge,
    /// The connection broke off, or what came is no HTTP.
    #[error("the answer broke off")]
    Broken,
    /// A variable of the environment names a proxy that is no URL.
    #[error("the proxy of the environment is no URL")]
    Proxy,
    /// A request that cannot be sent, such as one whose header has a line feed.
    #[error("the request cannot be sent")]
    Invalid,
}

/// The words of the client hold addresses, and with them keys: only the kind is kept.
impl From<reqwest::Error> for HttpError {
    fn from(error: reqwest::Error) -> Self {
        if error.is_redirect() {
            Self::Redirected
        } else if error.is_builder() {
            Self::Invalid
        } else if let Some(fault) = find(&error, |cause| cause.downcast_ref().map(of_tls)) {
            fault
        } else if error.is_timeout() {
            Self::Late
        } else if error.is_connect() {
            find(&error, of_connecting).unwrap_or(Self::Unreachable)
        } else {
            Self::Broken
        }
    }
}

fn of_tls(error: &rustls::Error) -> HttpError {
    match error {
        rustls::Error::InvalidCertificate(CertificateError::Expired | CertificateError::ExpiredContext { .. }) => HttpError::Expired,
        rustls::Error::InvalidCertificate(CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. }) => {
            HttpError::Expired
        }
        rustls::Error::InvalidCertificate(CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. }) => {
            HttpError::Misnamed
        }
        rustls::Error::InvalidCertificate(_) => HttpError::Untrusted,
        _ => HttpError::NoTls,
    }
}

fn of_connecting(cause: &(dyn Error + 'static)) -> Option<HttpError> {
    if cause.is::<Unresolved>() {
        return Some(HttpError::Unresolved);
    }
    let kind = cause.downcast_ref::<std::io::Error>()?.kind();
    (kind == std::io::ErrorKind::ConnectionRefused).then_some(HttpError::Refused)
}

/// What is made of the first cause that something can be made of.
fn find(error: &reqwest::Error, read: impl Fn(&(dyn Error + 'static)) -> Option<HttpError>) -> Option<HttpError> {
    let mut cause: Option<&(dyn Error + 'static)> = error.source();
    while let Some(error) = cause {
        if let Some(found) = read(error) {
            return Some(found);
        }
        // An error of input and output does not name the one that it holds as its source.
        let held = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        cause = match held {
            Some(held) => Some(held),
            None => error.source(),
        };
    }
    None
}
