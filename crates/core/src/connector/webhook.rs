//! Whether a message comes from who signed it: HMAC with SHA-256 in the forms of GitHub, Slack and Stripe, and one to be described.
//!
//! Signatures are compared by the library in constant time, every one that came with every secret, and the age is looked at last, so
//! how long a check takes says nothing about a right signature.

use crate::error::{ErrorCode, ToolError};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How old, or how far in the future, a message may be.
pub const DEFAULT_TOLERANCE: Duration = Duration::from_secs(300);
/// The longest header of a signature in bytes.
const MAX_HEADER_BYTES: usize = 4096;
/// The most signatures of one message.
const MAX_SIGNATURES: usize = 16;
/// Digits of a time in seconds, far beyond any that will be.
const MAX_TIME_DIGITS: usize = 12;
const MAC_BYTES: usize = 32;

/// The form of a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// `X-Hub-Signature-256: sha256=…` of the body. No time is signed.
    GitHub,
    /// `X-Slack-Signature: v0=…` of `v0:{X-Slack-Request-Timestamp}:{body}`.
    Slack,
    /// `Stripe-Signature: t=…,v1=…` of `{t}.{body}`.
    Stripe,
    /// One that is described.
    Hmac(HmacScheme),
}

/// A signature of the body, or of `{time}.{body}`, in a header of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HmacScheme {
    /// The header of the signature.
    pub header: String,
    /// What stands before it there.
    pub prefix: String,
    /// How its bytes are written.
    pub encoding: Encoding,
    /// The header of the time in seconds since 1970, if one is signed.
    pub timestamp_header: Option<String>,
}

/// How bytes are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Hexadecimal digits of either case.
    Hex,
    /// Base64 with padding.
    Base64,
}

/// Why a message is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A header that the scheme needs is missing.
    MissingHeader,
    /// A header is there twice, or is not written as the scheme has it.
    Malformed,
    /// No signature fits a secret: another secret, another body, or a forgery.
    Mismatch,
    /// The signature is right, and too old or from the future.
    OutsideWindow,
}

impl Refusal {
    /// The refusal as programs see it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MissingHeader => "missingHeader",
            Self::Malformed => "malformed",
            Self::Mismatch => "mismatch",
            Self::OutsideWindow => "outsideWindow",
        }
    }
}

/// What came, as it came.
#[derive(Clone, Copy)]
pub struct Message<'a> {
    /// Names and values. Names are compared without regard to case.
    pub headers: &'a [(String, String)],
    /// The bytes of the body, before anything has read them.
    pub body: &'a [u8],
}

/// What a message says of its signature.
struct Claim<'a> {
    signatures: Vec<[u8; MAC_BYTES]>,
    /// What is signed before the body.
    before: String,
    time: Option<&'a str>,
}

/// Judges messages of one sender.
pub struct Verifier {
    scheme: Scheme,
    keys: Vec<Hmac<Sha256>>,
    tolerance: Duration,
}

impl Verifier {
    /// Takes the secrets of which any may have signed, so that one can be replaced while both are in use.
    ///
    /// # Errors
    /// `INVALID_OPTIONS` without a secret, for one that is empty, since anybody could sign with it, and for a header without a name.
    pub fn new(scheme: Scheme, secrets: &[impl AsRef<[u8]>], tolerance: Duration) -> Result<Self, ToolError> {
        if secrets.is_empty() || secrets.iter().any(|secret| secret.as_ref().is_empty()) {
            return Err(invalid("a webhook is checked with a secret that is not empty; anybody could sign with an empty one"));
        }
        if let Scheme::Hmac(described) = &scheme
            && (described.header.is_empty() || described.timestamp_header.as_ref().is_some_and(String::is_empty))
        {
            return Err(invalid("the header of a signature or time needs a name"));
        }
        // Keys of any length are keys.
        let keys: Result<_, _> = secrets.iter().map(|secret| Hmac::new_from_slice(secret.as_ref())).collect();
        Ok(Self { scheme, keys: keys.map_err(|_| invalid("the secret of a webhook cannot be used"))?, tolerance })
    }

    /// Judges a message that came at `now`.
    ///
    /// # Errors
    /// Why it is refused.
    pub fn verify(&self, message: Message<'_>, now: SystemTime) -> Result<(), Refusal> {
        let claim = self.claim(message)?;
        let mut fits = false;
        for key in &self.keys {
            let mac = key.clone().chain_update(claim.before.as_bytes()).chain_update(message.body);
            for signature in &claim.signatures {
                fits |= mac.clone().verify_slice(signature).is_ok();
            }
        }
        if !fits {
            return Err(Refusal::Mismatch);
        }
        match claim.time {
            Some(time) if !self.is_near(time, now)? => Err(Refusal::OutsideWindow),
            _ => Ok(()),
        }
    }

    fn claim<'a>(&self, message: Message<'a>) -> Result<Claim<'a>, Refusal> {
        let header = |name: &str| header(message.headers, name);
        match &self.scheme {
            Scheme::GitHub => single(header("x-hub-signature-256")?, "sha256=", Encoding::Hex, None),
            Scheme::Slack => {
                let time = header("x-slack-request-timestamp")?;
                let claim = single(header("x-slack-signature")?, "v0=", Encoding::Hex, Some(time))?;
                Ok(Claim { before: format!("v0:{time}:"), ..claim })
            }
            Scheme::Stripe => several(header("stripe-signature")?),
            Scheme::Hmac(described) => {
                let time = described.timestamp_header.as_deref().map(header).transpose()?;
                single(header(&described.header)?, &described.prefix, described.encoding, time)
            }
        }
    }

    fn is_near(&self, time: &str, now: SystemTime) -> Result<bool, Refusal> {
        let is_time = !time.is_empty() && time.len() <= MAX_TIME_DIGITS && time.bytes().all(|byte| byte.is_ascii_digit());
        let seconds: u64 = time.parse().ok().filter(|_| is_time).ok_or(Refusal::Malformed)?;
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(now.abs_diff(Duration::from_secs(seconds)) <= self.tolerance)
    }
}

/// A header that is there once.
fn header<'a>(headers: &'a [(String, String)], name: &str) -> Result<&'a str, Refusal> {
    let mut found = headers.iter().filter(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim());
    match (found.next(), found.next()) {
        (None, _) => Err(Refusal::MissingHeader),
        (Some(value), None) if value.len() <= MAX_HEADER_BYTES => Ok(value),
        _ => Err(Refusal::Malformed),
    }
}

/// A header that is one signature.
fn single<'a>(value: &str, prefix: &str, encoding: Encoding, time: Option<&'a str>) -> Result<Claim<'a>, Refusal> {
    let signature = value.strip_prefix(prefix).and_then(|written| decode(written, encoding)).ok_or(Refusal::Malformed)?;
    Ok(Claim { signatures: vec![signature], before: time.map_or_else(String::new, |time| format!("{time}.")), time })
}

/// A header that is a time and signatures, as Stripe writes it. What else is in it is not ours.
fn several(value: &str) -> Result<Claim<'_>, Refusal> {
    let (mut time, mut signatures) = (None, Vec::new());
    for part in value.split(',') {
        match part.trim().split_once('=').ok_or(Refusal::Malformed)? {
            ("t", given) if time.is_none() => time = Some(given),
            ("t", _) => return Err(Refusal::Malformed),
            ("v1", given) => signatures.push(decode(given, Encoding::Hex).ok_or(Refusal::Malformed)?),
            _ => {}
        }
    }
    match time {
        Some(time) if (1..=MAX_SIGNATURES).contains(&signatures.len()) => {
            Ok(Claim { signatures, before: format!("{time}."), time: Some(time) })
        }
        _ => Err(Refusal::Malformed),
    }
}

fn decode(written: &str, encoding: Encoding) -> Option<[u8; MAC_BYTES]> {
    match encoding {
        Encoding::Base64 => BASE64_STANDARD.decode(written).ok()?.try_into().ok(),
        Encoding::Hex => {
            let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
            let bytes: Option<Vec<u8>> = written
                .as_bytes()
                .chunks(2)
                .map(|pair| match pair {
                    [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
                    _ => None,
                })
                .collect();
            bytes?.try_into().ok()
        }
    }
}

fn invalid(message: &str) -> ToolError {
    ToolError::new(ErrorCode::InvalidOptions, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: u64 = 1_700_000_000;

    fn hex(key: &str, signed: &str) -> String {
        let mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).unwrap().chain_update(signed).finalize();
        mac.into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn judge(scheme: &Scheme, headers: &[(&str, &str)], body: &str, now: u64) -> Result<(), Refusal> {
        let verifier = Verifier::new(scheme.clone(), &["old secret", "secret"], DEFAULT_TOLERANCE).unwrap();
        let headers: Vec<_> = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        verifier.verify(Message { headers: &headers, body: body.as_bytes() }, UNIX_EPOCH + Duration::from_secs(now))
    }

    #[test]
    fn accepts_the_example_of_the_documentation_of_github() {
        let verifier = Verifier::new(Scheme::GitHub, &["It's a Secret to Everybody"], DEFAULT_TOLERANCE).unwrap();
        let signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17".to_owned();
        let headers = [("X-Hub-Signature-256".to_owned(), signature)];
        assert_eq!(verifier.verify(Message { headers: &headers, body: b"Hello, World!" }, SystemTime::now()), Ok(()));
        assert_eq!(verifier.verify(Message { headers: &headers, body: b"Hello, World" }, SystemTime::now()), Err(Refusal::Mismatch));
    }

    #[test]
    fn judges_the_time_of_slack_after_the_signature() {
        let time = AT.to_string();
        let signature = format!("v0={}", hex("secret", &format!("v0:{time}:a=b")));
        let headers = [("x-slack-request-timestamp", time.as_str()), ("X-Slack-Signature", &signature)];
        for (now, expected) in [
            (AT, Ok(())),
            (AT + 300, Ok(())),
            (AT - 300, Ok(())),
            (AT + 301, Err(Refusal::OutsideWindow)),
            (AT - 301, Err(Refusal::OutsideWindow)),
        ] {
            assert_eq!(judge(&Scheme::Slack, &headers, "a=b", now), expected, "{now}");
        }
        assert_eq!(judge(&Scheme::Slack, &headers, "a=c", AT + 999), Err(Refusal::Mismatch));
        assert_eq!(judge(&Scheme::Slack, &headers[1..], "a=b", AT), Err(Refusal::MissingHeader));
        let moved = [("x-slack-request-timestamp", "1700000001"), headers[1]];
        assert_eq!(judge(&Scheme::Slack, &moved, "a=b", AT), Err(Refusal::Mismatch));
        for time in ["", "+1700000000", "-1", "1e9", "1700000000.0", "99999999999999999999"] {
            let signature = format!("v0={}", hex("secret", &format!("v0:{time}:a=b")));
            let headers = [("x-slack-request-timestamp", time), ("x-slack-signature", &signature)];
            assert_eq!(judge(&Scheme::Slack, &headers, "a=b", AT), Err(Refusal::Malformed), "{time}");
        }
    }

    #[test]
    fn reads_the_header_of_stripe() {
        let (time, right) = (AT.to_string(), hex("secret", &format!("{AT}.{{}}")));
        let old = hex("old secret", &format!("{AT}.{{}}"));
        let wrong = "0".repeat(64);
        for header in [
            format!("t={time},v1={right}"),
            format!("t={time},v1={old}"),
            format!("v0=whatever, v1={wrong}, t={time}, v1={right},scheme=x"),
        ] {
            assert_eq!(judge(&Scheme::Stripe, &[("Stripe-Signature", &header)], "{}", AT), Ok(()), "{header}");
        }
        let many = format!("t={time}{}", format!(",v1={right}").repeat(17));
        for header in
            ["", "t=1", &right, &format!("v1={right}"), &format!("t={time},t={time},v1={right}"), &format!("t={time},v1=xyz"), &many]
        {
            assert_eq!(judge(&Scheme::Stripe, &[("Stripe-Signature", header)], "{}", AT), Err(Refusal::Malformed), "{header}");
        }
        assert_eq!(judge(&Scheme::Stripe, &[("Stripe-Signature", &format!("t={time},v1={wrong}"))], "{}", AT), Err(Refusal::Mismatch));
        assert_eq!(judge(&Scheme::Stripe, &[("Stripe-Signature", &format!("t={time},v0={right}"))], "{}", AT), Err(Refusal::Malformed));
    }

    #[test]
    fn takes_a_scheme_that_is_described() {
        let described =
            HmacScheme { header: "X-Signature".to_owned(), prefix: "v=".to_owned(), encoding: Encoding::Base64, timestamp_header: None };
        let bytes: Vec<u8> = Hmac::<Sha256>::new_from_slice(b"secret").unwrap().chain_update("body").finalize().into_bytes().to_vec();
        let signature = format!("v={}", BASE64_STANDARD.encode(bytes));
        let scheme = Scheme::Hmac(described.clone());
        assert_eq!(judge(&scheme, &[("x-signature", &signature)], "body", AT), Ok(()));
        assert_eq!(judge(&scheme, &[("x-signature", &signature[2..])], "body", AT), Err(Refusal::Malformed));
        assert_eq!(judge(&scheme, &[("x-signature", &signature), ("X-SIGNATURE", &signature)], "body", AT), Err(Refusal::Malformed));
        let timed = Scheme::Hmac(HmacScheme { timestamp_header: Some("X-Time".to_owned()), encoding: Encoding::Hex, ..described });
        let signature = format!("v={}", hex("secret", &format!("{AT}.body")).to_uppercase());
        let time = AT.to_string();
        assert_eq!(judge(&timed, &[("x-signature", &signature), ("x-time", &time)], "body", AT), Ok(()));
        assert_eq!(judge(&timed, &[("x-signature", &signature), ("x-time", &time)], "body", AT + 999), Err(Refusal::OutsideWindow));
        assert_eq!(judge(&timed, &[("x-signature", &signature)], "body", AT), Err(Refusal::MissingHeader));
    }

    #[test]
    fn nobody_signs_with_an_empty_secret() {
        for secrets in [&[][..], &[""][..], &["secret", ""][..]] {
            assert!(Verifier::new(Scheme::GitHub, secrets, DEFAULT_TOLERANCE).is_err());
        }
    }
}
