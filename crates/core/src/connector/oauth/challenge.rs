//! What a server that wants a token says in `WWW-Authenticate`.

/// The parts of a Bearer challenge that matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Challenge {
    /// Where the metadata of the resource is.
    pub(super) resource_metadata: Option<String>,
    /// The scopes that a token needs.
    pub(super) scope: Option<String>,
}

/// Bytes of a header that are read.
const MAX_HEADER: usize = 8 * 1024;

/// The first Bearer challenge of a header, which may hold several challenges. `None` where there is none, or it is written wrongly.
pub(crate) fn read(header: &str) -> Option<Challenge> {
    let mut rest = header.get(..MAX_HEADER).unwrap_or(header);
    while let Some((scheme, after)) = token(rest.trim_start_matches([' ', '\t', ','])) {
        let (parameters, next) = parameters(after)?;
        if scheme.eq_ignore_ascii_case("bearer") {
            let value = |name: &str| parameters.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.clone());
            return Some(Challenge { resource_metadata: value("resource_metadata"), scope: value("scope") });
        }
        rest = next;
    }
    None
}

type Parameters = Vec<(String, String)>;

/// The parameters of a challenge, and what comes after them: the next challenge.
fn parameters(mut rest: &str) -> Option<(Parameters, &str)> {
    let mut found = Parameters::new();
    loop {
        let start = rest.trim_start_matches([' ', '\t', ',']);
        let Some((name, after)) = token(start) else { return start.is_empty().then_some((found, start)) };
        let Some(value) = after.trim_start_matches([' ', '\t']).strip_prefix('=') else { return Some((found, start)) };
        // A credential of an older form ends in equals signs, and has no value.
        let value = value.trim_start_matches('=').trim_start_matches([' ', '\t']);
        if value.is_empty() || value.starts_with(',') {
            rest = value;
            continue;
        }
        let (value, after) = match value.strip_prefix('"') {
            Some(quoted) => unquoted(quoted)?,
            None => token(value).map(|(value, after)| (value.to_owned(), after))?,
        };
        found.push((name.to_owned(), value));
        rest = after;
    }
}

/// A token in front of a text, and what comes after it. Those of older credentials count too.
fn token(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|letter: char| !(letter.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~/:".contains(letter))).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// What stands before a closing quote, and what comes after it.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut letters = text.char_indices();
    while let Some((place, letter)) = letters.next() {
        match letter {
            '"' => return Some((value, &text[place + 1..])),
            '\\' => value.push(letters.next()?.1),
            _ => value.push(letter),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn challenge(resource_metadata: Option<&str>, scope: Option<&str>) -> Option<Challenge> {
        Some(Challenge { resource_metadata: resource_metadata.map(str::to_owned), scope: scope.map(str::to_owned) })
    }

    #[test]
    fn finds_the_bearer_challenge() {
        let at = "https://a.example/.well-known/oauth-protected-resource/mcp";
        for (header, expected) in [
            (format!(r#"Bearer resource_metadata="{at}""#), challenge(Some(at), None)),
            (format!(r#"bearer realm="a, b=\"c\"" , scope="x y",resource_metadata = "{at}""#), challenge(Some(at), Some("x y"))),
            (format!(r#"Basic realm="x", Bearer error=invalid_token, resource_metadata={at}"#), challenge(Some(at), None)),
            (
                format!(r#"Negotiate, NTLM aGVsbG8=, Bearer scope=x, resource_metadata="{at}", Digest a="b""#),
                challenge(Some(at), Some("x")),
            ),
            ("Bearer".to_owned(), challenge(None, None)),
            (r#"Basic realm="Bearer resource_metadata=x""#.to_owned(), None),
            (r#"Bearer resource_metadata="never closed"#.to_owned(), None),
            (String::new(), None),
            (",,,".to_owned(), None),
            ("Bearer \u{e9}=x".to_owned(), None),
        ] {
            assert_eq!(read(&header), expected, "{header}");
        }
    }

    proptest! {
        #[test]
        fn no_header_is_too_odd(header in "\\PC{0,200}") {
            let _ = read(&header);
        }

        #[test]
        fn a_quoted_value_comes_back(value in "[ -~]{0,40}", before in "[a-z]{1,8}") {
            let quoted = value.replace('\\', "\\\\").replace('"', "\\\"");
            let found = read(&format!(r#"{before}1 x="{quoted}", Bearer y=z, scope="{quoted}""#)).unwrap();
            prop_assert_eq!(found.scope.unwrap(), value);
        }
    }
}
