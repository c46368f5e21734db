//! Known secrets, hidden in whatever comes back.

use regex::Regex;
use std::fmt;
use std::fmt::Write as _;

const HIDDEN: &str = "***";
/// Shorter ones would take harmless words with them.
const SHORTEST: usize = 6;

/// Secrets, found however each of their characters is written: as it is, in the other case, as a host's name has it, or escaped for an
/// address, for JSON or for HTML.
#[derive(Clone, Default)]
pub struct Secrets {
    patterns: Vec<Regex>,
}

impl fmt::Debug for Secrets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Secrets").finish_non_exhaustive()
    }
}

impl Secrets {
    /// Those of at least six bytes.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let mut secrets: Vec<&str> = secrets.into_iter().filter(|secret| secret.len() >= SHORTEST).collect();
        // One may contain another: the longest first, or a part of it would stay.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        secrets.dedup();
        Self { patterns: secrets.into_iter().filter_map(|secret| Regex::new(&format!("(?i){}", pattern(secret))).ok()).collect() }
    }

    /// The text with `***` for every secret.
    pub fn hide(&self, text: String) -> String {
        self.patterns.iter().fold(text, |text, pattern| match pattern.is_match(&text) {
            true => pattern.replace_all(&text, HIDDEN).into_owned(),
            false => text,
        })
    }
}

fn pattern(secret: &str) -> String {
    secret.chars().fold(String::new(), |mut pattern, character| {
        let mut bytes = [0; 4];
        let number = u32::from(character);
        let percent = character.encode_utf8(&mut bytes).bytes().map(|byte| format!("%(?:25)*{byte:02x}")).collect::<String>();
        // Writing to a string cannot fail.
        let _ = write!(pattern, "(?:{}|{percent}|&#0*{number};|&#x0*{number:x};", regex::escape(character.encode_utf8(&mut bytes)));
        if number <= 0xffff {
            let _ = write!(pattern, r"|\\\\?u{number:04x}");
        }
        match character {
            ' ' => pattern.push_str(r"|\+"),
            '"' => pattern.push_str(r#"|\\"|&quot;|&#34;"#),
            '\\' => pattern.push_str(r"|\\\\"),
            '/' => pattern.push_str(r"|\\/"),
            '&' => pattern.push_str("|&amp;"),
            '<' => pattern.push_str("|&lt;"),
            '>' => pattern.push_str("|&gt;"),
            '\'' => pattern.push_str("|&#39;"),
            _ => {}
        }
        pattern.push(')');
        pattern
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hides_every_form() {
        let secrets = Secrets::new([r#"s3cr/et key&"+\<ü"#, "planted-secret-1", "planted-secret-1-longer", "tiny"]);
        for text in [
            r#"s3cr/et key&"+\<ü"#,
            r#"s3cr\/et key&\"+\\<ü"#,
            "s3cr/et key&amp;&quot;+\\&lt;ü",
            "s3cr%2Fet+key%26%22%2B%5C%3C%C3%BC",
            "s3cr%2fet%20key%26%22%2b%5c%3c%c3%bc",
            "s3cr/et%20key&%22+%5C%3C%C3%BC",
            "S3CR/et key&\"+\\<ü",
            "&#115;3cr/et key&\"+\\&#x3C;ü",
            r#"\u00733cr%252Fet key&"+\<ü"#,
            "planted-secret-1",
            "planted%2Dsecret-1",
            "planted-secret-1-longer",
        ] {
            assert_eq!(secrets.hide(format!("a {text}|b")), "a ***|b", "{text}");
        }
        assert_eq!(secrets.hide("tiny words".to_owned()), "tiny words");
        assert!(!format!("{secrets:?}").contains("planted"));
    }
}
