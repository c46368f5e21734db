//! The check of messages that services send.

#![expect(unreachable_pub, reason = "the macro exports what the module system does not see")]

use crate::error::{misuse, to_js};
use crate::values::duration;
use napi::bindgen_prelude::{Result, Uint8Array};
use napi_derive::napi;
use std::time::SystemTime;
use toolbolt_core::connector::webhook::{DEFAULT_TOLERANCE, Encoding, HmacScheme, Message, Scheme, Verifier};

/// How a message is signed.
#[napi(object)]
pub struct WebhookForm {
    /// `github`, `slack`, `stripe` or `hmac-sha256`.
    pub scheme: String,
    /// Any of these may have signed.
    pub secrets: Vec<String>,
    /// How far from now its time may be.
    pub tolerance_ms: Option<f64>,
    /// Of `hmac-sha256`: the header of the signature.
    pub header: Option<String>,
    /// What stands before the signature.
    pub prefix: Option<String>,
    /// Whether it is base64.
    pub base64: bool,
    /// The header of the time.
    pub timestamp_header: Option<String>,
}

/// Why a message is refused; nothing if it is not. `headers` are names and values in turn.
#[napi(catch_unwind)]
pub fn judge_webhook(form: WebhookForm, headers: Vec<String>, body: Uint8Array) -> Result<Option<String>> {
    let scheme = match form.scheme.as_str() {
        "github" => Scheme::GitHub,
        "slack" => Scheme::Slack,
        "stripe" => Scheme::Stripe,
        "hmac-sha256" => Scheme::Hmac(HmacScheme {
            header: form.header.unwrap_or_default(),
            prefix: form.prefix.unwrap_or_default(),
            encoding: if form.base64 { Encoding::Base64 } else { Encoding::Hex },
            timestamp_header: form.timestamp_header,
        }),
        _ => return Err(misuse("unknown scheme")),
    };
    let tolerance = duration(form.tolerance_ms).unwrap_or(DEFAULT_TOLERANCE);
    let verifier = Verifier::new(scheme, &form.secrets, tolerance).map_err(to_js)?;
    let headers: Vec<(String, String)> = headers.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
    let judged = verifier.verify(Message { headers: &headers, body: &body }, SystemTime::now());
    Ok(judged.err().map(|refusal| refusal.as_str().to_owned()))
}
