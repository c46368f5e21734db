//! What a tool may ask of the program it runs in.

use futures_util::future::{BoxFuture, FutureExt, ready};

/// The program around: what it knows of its environment. It is asked at each call, so that what changes meanwhile counts.
pub trait Surroundings: Send + Sync {
    /// The values of environment variables, in the order of their names. What is not set, or not text, is `None`.
    fn variables(&self, names: &'static [&'static str]) -> BoxFuture<'static, Vec<Option<String>>>;

    /// Root certificates as PEM, for a system that has none of its own. Empty where the program has none either.
    fn root_certificates(&self) -> BoxFuture<'static, String>;
}

/// The process itself. A program whose own view of the environment differs, or that changes it while others read it, brings its own.
#[derive(Clone, Copy, Debug, Default)]
pub struct Process;

impl Surroundings for Process {
    fn variables(&self, names: &'static [&'static str]) -> BoxFuture<'static, Vec<Option<String>>> {
        ready(names.iter().map(|name| std::env::var(name).ok()).collect()).boxed()
    }

    fn root_certificates(&self) -> BoxFuture<'static, String> {
        ready(String::new()).boxed()
    }
}
