//! The environment of JavaScript: `process.env` as it is now, which in a worker is not that of the process.

use crate::dispatch::{Dispatcher, Message};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use std::sync::{Arc, Weak};
use tokio_util::sync::CancellationToken;
use toolbolt_core::surroundings::Surroundings;

/// Asks the environment that a tool was made in. One that has ended knows nothing.
pub(crate) struct JsSurroundings {
    dispatcher: Weak<Dispatcher>,
}

impl JsSurroundings {
    pub(crate) fn new(dispatcher: Option<&Arc<Dispatcher>>) -> Self {
        Self { dispatcher: dispatcher.map(Arc::downgrade).unwrap_or_default() }
    }

    fn ask(&self, message: Message, payload: Value) -> impl Future<Output = Option<String>> + Send + use<> {
        let dispatcher = self.dispatcher.upgrade();
        async move { dispatcher?.ask(message, &payload, CancellationToken::new()).await }
    }
}

impl Surroundings for JsSurroundings {
    fn variables(&self, names: &'static [&'static str]) -> BoxFuture<'static, Vec<Option<String>>> {
        let answer = self.ask(Message::Variables, json!(names));
        async move { answer.await.and_then(|answer| serde_json::from_str(&answer).ok()).unwrap_or_default() }.boxed()
    }

    fn root_certificates(&self) -> BoxFuture<'static, String> {
        let answer = self.ask(Message::RootCertificates, Value::Null);
        async move { answer.await.unwrap_or_default() }.boxed()
    }
}
