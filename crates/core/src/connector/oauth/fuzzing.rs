//! What strangers' bytes reach, for fuzz targets and property tests.

use super::{browser, challenge};
use crate::http::query;

const STATE: &str = "a state that nobody guesses";

/// Takes bytes as a request to the port for the browser's return, as its query, and as a header with challenges. No query without the state
/// counts.
pub fn heard(bytes: &[u8]) {
    let _ = query(bytes, "127.0.0.1:81", "/callback");
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = challenge::read(text);
    assert!(browser::judge(text, STATE, None, true).is_none() || text.contains("state"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn nothing_is_too_odd(bytes in proptest::collection::vec(any::<u8>(), 0..400), text in "[ -~]{0,200}") {
            heard(&bytes);
            heard(text.as_bytes());
        }
    }
}
