//! Headers of webhooks: no panic, and nothing passes that was not signed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::time::UNIX_EPOCH;
use toolbolt_core::connector::webhook::{DEFAULT_TOLERANCE, Encoding, HmacScheme, Message, Scheme, Verifier};

fuzz_target!(|input: (&str, &str, &[u8])| {
    let (signature, time, body) = input;
    let described = |encoding| {
        Scheme::Hmac(HmacScheme { header: "signature".to_owned(), prefix: String::new(), encoding, timestamp_header: Some("time".to_owned()) })
    };
    let names = ["x-hub-signature-256", "x-slack-signature", "stripe-signature", "signature"];
    let mut headers: Vec<_> = names.map(|name| (name.to_owned(), signature.to_owned())).into();
    headers.extend(["x-slack-request-timestamp", "time"].map(|name| (name.to_owned(), time.to_owned())));
    for scheme in [Scheme::GitHub, Scheme::Slack, Scheme::Stripe, described(Encoding::Hex), described(Encoding::Base64)] {
        let verifier = Verifier::new(scheme, &["a secret that the fuzzer cannot guess from a digest"], DEFAULT_TOLERANCE).expect("a secret");
        assert!(verifier.verify(Message { headers: &headers, body }, UNIX_EPOCH).is_err());
    }
});
