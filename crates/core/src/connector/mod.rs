//! Connectors: described ways to reach a service. A specification says how to start or reach the service's MCP server and which
//! credentials it takes; what is here checks it, resolves the credentials, keeps a connection up and says how it is;
//! people authorize it with OAuth 2, stores keep credentials, and a check tells whether a message comes from a service.

mod breaker;
mod builtins;
mod connect;
mod credentials;
mod health;
pub mod oauth;
mod placement;
mod resilience;
mod retry;
mod spec;
pub mod store;
#[cfg(test)]
mod tests;
mod tool;
pub mod webhook;

pub use breaker::{BreakerPolicy, BreakerState};
pub use builtins::builtins;
pub use connect::{connect, list};
pub use credentials::{Launch, Sources};
pub use health::{Health, Report, Status, Thresholds};
pub use resilience::{Policy, Resilience};
pub use retry::RetryPolicy;
pub use spec::{AuthField, AuthType, ConnectorSpec};
pub use tool::ResilientTool;
