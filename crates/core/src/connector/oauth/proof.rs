//! Values that only this process and the server can know: `state`, and the verifier of PKCE.

use super::failure::{Failure, Reason};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

/// Random bytes of a value.
const BYTES: usize = 32;

/// 32 random bytes in 43 characters, wiped when they are dropped.
pub(super) fn random() -> Result<Zeroizing<String>, Failure> {
    let mut bytes = Zeroizing::new([0; BYTES]);
    getrandom::fill(bytes.as_mut()).map_err(|_| Failure::new(Reason::Response, "the system gives no random numbers"))?;
    Ok(Zeroizing::new(BASE64_URL_SAFE_NO_PAD.encode(bytes.as_ref())))
}

/// The challenge for a verifier: S256.
pub(super) fn challenge(verifier: &str) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(verifier))
}

/// Whether two texts are the same. How long that takes tells nothing of the texts.
pub(super) fn same(one: &str, other: &str) -> bool {
    Sha256::digest(one) == Sha256::digest(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn makes_the_challenge_of_the_standard() {
        // RFC 7636, appendix B.
        assert_eq!(challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
        let (one, other) = (random().unwrap(), random().unwrap());
        assert!(one.len() == 43 && !same(&one, &other) && same(&one, &one.clone()));
    }
}
