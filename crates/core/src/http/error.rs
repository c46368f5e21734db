//! Why a request has no answer.

use std::error::Error;

/// Why a request has no answer: a kind, without words of the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// No connection: the name, the network, the proxy, or the time to connect.
    #[error("the server cannot be reached")]
    Unreachable,
    /// The server's certificate is not trusted, or TLS failed otherwise.
    #[error("the connection to the server cannot be trusted")]
    Untrusted,
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
        } else if is_about_tls(&error) {
            Self::Untrusted
        } else if error.is_connect() || error.is_timeout() {
            Self::Unreachable
        } else {
            Self::Broken
        }
    }
}

fn is_about_tls(error: &reqwest::Error) -> bool {
    let mut cause: Option<&(dyn Error + 'static)> = error.source();
    while let Some(error) = cause {
        if error.is::<rustls::Error>() {
            return true;
        }
        // An error of input and output does not name the one that it holds as its source.
        let held = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        cause = match held {
            Some(held) => Some(held),
            None => error.source(),
        };
    }
    false
}
