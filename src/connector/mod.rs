//! Connectors: their specifications, and how a connection is looked after.

#![expect(unreachable_pub, reason = "the macro exports what the module system does not see")]

mod oauth;
mod store;
mod webhook;

use crate::error::to_js;
use crate::values::{duration, parse, to_text};
use napi::bindgen_prelude::Result;
use napi_derive::napi;
use serde_json::json;
use std::time::Duration;
use toolbolt_core::connector::{self, BreakerPolicy, ConnectorSpec, Policy, RetryPolicy, Sources};

/// How often something is tried again; each default is the core's.
#[napi(object)]
pub struct McpRetry {
    /// Tries after the first one.
    pub retries: Option<u32>,
    /// The longest first pause in milliseconds.
    pub first_delay_ms: Option<f64>,
    /// The longest pause in milliseconds.
    pub max_delay_ms: Option<f64>,
    /// Milliseconds after which no try begins.
    pub budget_ms: Option<f64>,
}

/// How the calls of a connection are looked after; each default is the core's.
#[napi(object)]
pub struct ConnectorCare {
    /// When they are tried again.
    pub retry: McpRetry,
    /// Failures in a row after which they are not tried at all.
    pub failures: Option<u32>,
    /// For how long, in milliseconds.
    pub reset_ms: Option<f64>,
}

impl McpRetry {
    pub(crate) fn read(&self) -> RetryPolicy {
        let default = RetryPolicy::default();
        RetryPolicy {
            retries: self.retries.unwrap_or(default.retries),
            first_delay: duration(self.first_delay_ms).unwrap_or(default.first_delay),
            max_delay: duration(self.max_delay_ms).unwrap_or(default.max_delay),
            budget: duration(self.budget_ms).unwrap_or(default.budget),
        }
    }

    /// A policy as JavaScript writes it.
    pub(crate) fn written(RetryPolicy { retries, first_delay, max_delay, budget }: RetryPolicy) -> String {
        let milliseconds = |time: Duration| time.as_secs_f64() * 1000.0;
        json!({
            "retries": retries, "firstDelayMs": milliseconds(first_delay), "maxDelayMs": milliseconds(max_delay), "budgetMs": milliseconds(budget),
        })
        .to_string()
    }
}

impl ConnectorCare {
    pub(crate) fn read(&self) -> Policy {
        let default = BreakerPolicy::default();
        let breaker =
            BreakerPolicy { failures: self.failures.unwrap_or(default.failures), reset: duration(self.reset_ms).unwrap_or(default.reset) };
        Policy { retry: self.retry.read(), breaker }
    }
}

/// Checks a specification; gives it with every default, as JSON.
#[napi(catch_unwind)]
pub fn read_connector(spec: String) -> Result<String> {
    to_text(&ConnectorSpec::read(&spec).map_err(to_js)?)
}

/// How to start or reach a connector's server, with its credentials; all of it is JSON.
#[napi(catch_unwind)]
pub fn launch_connector(spec: String, sources: String) -> Result<String> {
    let spec = ConnectorSpec::read(&spec).map_err(to_js)?;
    let sources: Sources = parse(&sources)?;
    to_text(&spec.launch(&sources).map_err(to_js)?)
}

/// The specifications that come along, each as JSON.
#[napi(catch_unwind)]
pub fn builtin_connectors() -> Vec<String> {
    connector::builtins()
}
