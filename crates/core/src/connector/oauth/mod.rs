//! OAuth 2: an authorization that a person gives, and the tokens that come of it.
//!
//! - A token is asked for only from a server that calls itself as it is called, over addresses that are encrypted or on this machine; a server
//!   elsewhere cannot lead here.
//! - The browser comes back to a port of this machine that answers one path. Its `state` is random, good once and for a time; PKCE is S256
//!   and nothing else.
//! - No code, verifier, state or token is in an error, and none leaves but to the server that it is for.

mod authorize;
mod browser;
mod challenge;
mod client;
mod device;
mod endpoint;
mod failure;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod metadata;
mod proof;
mod renew;
mod settings;
mod token;
mod web;

pub use authorize::{Invitation, Way, Wishes, authorize};
pub use device::DeviceCode;
pub use renew::{Standing, refresh, revoke, standing};
pub use settings::OAuthSettings;
