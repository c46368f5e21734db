//! The command line tool.

#![expect(unreachable_pub, reason = "the macro exports what the module system does not see")]

use crate::dispatch::{Dispatcher, Message};
use crate::environment;
use crate::error::{misuse, to_js};
use crate::policy::NativePrompts;
use crate::tools::NativeTool;
use crate::values::{duration, parse};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use napi::bindgen_prelude::Result;
use napi_derive::napi;
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use toolbolt_core::builtin::cli::policy::{Policy, Rule};
use toolbolt_core::builtin::cli::{ArgumentHook, CliOptions, CliTool, HookAnswer, SandboxMode, input_schema};

/// What TypeScript has checked, with every default filled in.
#[napi(object)]
pub struct CliSettings {
    /// Bare names of programs.
    pub allowed: Vec<String>,
    /// Where they are looked up.
    pub path: String,
    /// The whole environment of a program.
    pub env: HashMap<String, String>,
    /// The folder to start in.
    pub cwd: Option<String>,
    /// For one program, in milliseconds.
    pub timeout_ms: f64,
    /// Characters shown of each stream.
    pub max_output_chars: u32,
    /// Bytes read of each stream.
    pub max_output_bytes: u32,
    /// Whether programs without a rule are refused.
    pub strict: bool,
    /// Rules by program name, as JSON.
    pub programs: String,
    /// Whether the app judges every program without a rule of its own.
    pub hook_for_all: bool,
    /// The number under which JavaScript knows its policy.
    pub hook: Option<u32>,
    /// `best-effort` or `required`.
    pub sandbox: Option<String>,
}

/// An allowed program that never runs.
#[napi(object, object_from_js = false)]
pub struct CliUnavailable {
    /// Its name.
    pub program: String,
    /// `not-found`, `refused` or `no-rule`.
    pub reason: String,
}

/// The tool, and what it was made of.
#[napi(object, object_from_js = false)]
pub struct CliMade {
    /// The tool.
    pub tool: NativeTool,
    /// Allowed programs that never run.
    pub unavailable: Vec<CliUnavailable>,
}

/// JavaScript's policy, reached through the dispatcher.
struct JsPolicy {
    dispatcher: Arc<Dispatcher>,
    number: u32,
}

impl ArgumentHook for JsPolicy {
    fn judge(&self, program: &str, words: &[String]) -> BoxFuture<'static, HookAnswer> {
        let dispatcher = Arc::clone(&self.dispatcher);
        let payload = json!({ "policy": self.number, "program": program, "words": words });
        async move {
            // One word, or two with a reason.
            let answer = dispatcher.ask(Message::Policy, &payload, CancellationToken::new()).await.unwrap_or_default();
            let words: Vec<String> = serde_json::from_str(&answer).unwrap_or_default();
            match words.as_slice() {
                [word] if word == "allow" => HookAnswer::Allow,
                [word, reason] if word == "refuse" => HookAnswer::Refuse(reason.clone()),
                _ => HookAnswer::Broken,
            }
        }
        .boxed()
    }
}

/// The command line.
#[napi(catch_unwind)]
pub fn cli_tool(prompts: &NativePrompts, settings: CliSettings) -> Result<CliMade> {
    let dispatcher = environment::dispatcher().ok_or_else(|| misuse("the environment has no dispatcher"))?;
    let owner = dispatcher.owner();
    let hook = settings.hook.map(|number| Arc::new(JsPolicy { dispatcher, number }) as Arc<dyn ArgumentHook>);
    let programs: HashMap<String, Rule> = parse(&settings.programs)?;
    let options = CliOptions {
        allowed: settings.allowed,
        path: settings.path,
        env: settings.env.into_iter().collect(),
        cwd: settings.cwd,
        timeout: duration(Some(settings.timeout_ms)).ok_or_else(|| misuse("timeoutMs is out of range"))?,
        max_output_chars: settings.max_output_chars as usize,
        max_output_bytes: settings.max_output_bytes as usize,
        policy: Policy { programs, hook: settings.hook_for_all, strict: settings.strict },
        sandbox: settings.sandbox.map(|mode| if mode == "required" { SandboxMode::Required } else { SandboxMode::BestEffort }),
        owner,
    };
    let tool = CliTool::new(options, hook, Arc::clone(&prompts.inner)).map_err(to_js)?;
    let unavailable =
        tool.unavailable().map(|(program, why)| CliUnavailable { program: program.to_owned(), reason: why.as_str().to_owned() }).collect();
    let description = tool.description();
    let tool = NativeTool::new(Arc::new(tool), description, input_schema(&prompts.inner).to_string());
    Ok(CliMade { tool, unavailable })
}
