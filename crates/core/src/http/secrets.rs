//! Known secrets, hidden in whatever comes back.

use super::Url;
use std::fmt;

const HIDDEN: &str = "***";
/// Shorter ones would take harmless words with them.
const SHORTEST: usize = 6;

/// Secrets in every form in which an address or an answer may repeat them.
#[derive(Clone, Default)]
pub struct Secrets {
    forms: Vec<String>,
}

impl fmt::Debug for Secrets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Secrets").finish_non_exhaustive()
    }
}

impl Secrets {
    /// Those of at least six bytes.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let mut forms: Vec<String> = secrets.into_iter().filter(|secret| secret.len() >= SHORTEST).flat_map(forms).collect();
        // One may contain another: the longest first, or a part of it would stay.
        forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
        forms.dedup();
        Self { forms }
    }

    /// The text with `***` for every secret.
    pub fn hide(&self, text: String) -> String {
        self.forms.iter().fold(text, |text, form| if text.contains(form.as_str()) { text.replace(form.as_str(), HIDDEN) } else { text })
    }
}

/// As it is, as JSON writes it, and percent-encoded with `+` and `%20` for a space, in capital and small digits.
fn forms(secret: &str) -> Vec<String> {
    let json = serde_json::Value::from(secret).to_string();
    let mut forms = vec![secret.to_owned(), json.get(1..json.len() - 1).unwrap_or_default().to_owned()];
    if let Ok(mut url) = Url::parse("http://x/") {
        let encoded = url.query_pairs_mut().append_key_only(secret).finish().query().unwrap_or_default().to_owned();
        for form in [encoded.replace('+', "%20"), encoded] {
            forms.push(small_digits(&form));
            forms.push(form);
        }
    }
    forms.retain(|form| form.len() >= SHORTEST);
    forms
}

fn small_digits(encoded: &str) -> String {
    let mut digits = 0;
    let small = |character: char| {
        if character == '%' {
            digits = 2;
        } else if digits > 0 {
            digits -= 1;
            return character.to_ascii_lowercase();
        }
        character
    };
    encoded.chars().map(small).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hides_every_form() {
        let secrets = Secrets::new(["s3cr/et key\"+ü", "planted-secret-1", "planted-secret-1-longer", "tiny"]);
        for text in [
            "s3cr/et key\"+ü",
            r#"s3cr/et key\"+ü"#,
            "s3cr%2Fet+key%22%2B%C3%BC",
            "s3cr%2fet+key%22%2b%c3%bc",
            "s3cr%2Fet%20key%22%2B%C3%BC",
            "s3cr%2fet%20key%22%2b%c3%bc",
            "planted-secret-1",
            "planted-secret-1-longer",
        ] {
            assert_eq!(secrets.hide(format!("a {text}&b")), "a ***&b");
        }
        assert_eq!(secrets.hide("tiny words".to_owned()), "tiny words");
        assert!(!format!("{secrets:?}").contains("planted"));
    }
}
