//! Configuration files as editors write them.

use crate::error::{ErrorCode, ToolError};
use crate::files;
use crate::sanitize::visible;
use crate::schema::arguments;
use serde_json::Value;
use std::path::Path;

/// Largest file, in bytes.
const MAX_BYTES: usize = 1 << 20;

/// Reads a configuration file: see [`read_config`]. Waits for the disk, so it is not for a thread that must not wait.
///
/// # Errors
/// [`ErrorCode::InvalidOptions`] for anything but an ordinary file with a configuration.
pub fn read_config_file(path: &str) -> Result<Value, ToolError> {
    let invalid = |problem: String| ToolError::new(ErrorCode::InvalidOptions, format!("'{}' cannot be used: {problem}", visible(path)));
    match files::read(Path::new(path), MAX_BYTES as u64) {
        Ok(Some(text)) => read_config(&text).map_err(|error| invalid(error.message)),
        Ok(None) => Err(invalid("there is no such file".to_owned())),
        Err(error) => Err(invalid(error.to_string())),
    }
}

/// Reads JSON that may have comments, trailing commas and a byte order mark. A key that comes twice is refused: one reader would take the
/// first server of that name, another the last.
///
/// # Errors
/// [`ErrorCode::InvalidOptions`], with the place. Nothing of the text is shown: it may hold secrets.
pub fn read_config(text: &str) -> Result<Value, ToolError> {
    let invalid = |problem: String| ToolError::new(ErrorCode::InvalidOptions, problem);
    if text.len() > MAX_BYTES {
        return Err(invalid(format!("the configuration is longer than {MAX_BYTES} bytes")));
    }
    let plain = without_comments(text.strip_prefix('\u{feff}').unwrap_or(text));
    if plain.trim_ascii().is_empty() {
        return Err(invalid("the configuration is empty; write { \"mcpServers\": { … } }".to_owned()));
    }
    arguments::parse(&plain).map_err(|violation| invalid(format!("the configuration is {}", violation.message)))
}

/// The text with blanks in place of comments and trailing commas, so that the places of faults stay right.
fn without_comments(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut comma = None;
    let mut before = '{';
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => string_length(rest),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            // An open one is left as it is, for the reader to find.
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(1, |end| end + 2),
            _ => first.len_utf8(),
        };
        let (part, after) = rest.split_at(length);
        rest = after;
        if first == '/' && length > 1 {
            plain.extend(part.chars().map(|character| if character == '\n' { '\n' } else { ' ' }));
            continue;
        }
        match first {
            // After nothing it is a mistake.
            ',' => comma = Some(plain.len()).filter(|_| !matches!(before, '{' | '[' | ',' | ':')),
            '}' | ']' => {
                if let Some(place) = comma.take() {
                    plain.replace_range(place..=place, " ");
                }
            }
            _ if first.is_ascii_whitespace() => {}
            _ => comma = None,
        }
        if !first.is_ascii_whitespace() {
            before = first;
        }
        plain.push_str(part);
    }
    plain
}

/// How long the string at the start of a text is, quotes included; to the end for one that is open.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    let end = text.bytes().enumerate().skip(1).find(|(_, byte)| {
        let ends = !escaped && *byte == b'"';
        escaped = !escaped && *byte == b'\\';
        ends
    });
    end.map_or(text.len(), |(place, _)| place + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn reads_what_editors_write() {
        for (text, value) in [
            ("{}", json!({})),
            ("\u{feff}// a\n{ /* \"b\": 1, */ \"c\": [1, 2, /* x */ ], // }\n }", json!({"c": [1, 2]})),
            (r#"{"url": "https://a/*b*/,]", "q": "a\"//b",}"#, json!({"url": "https://a/*b*/,]", "q": "a\"//b"})),
            ("[1,\n\n]//", json!([1])),
            (r#"["é", "\\",]"#, json!(["é", "\\"])),
        ] {
            assert_eq!(read_config(text).unwrap(), value, "{text}");
        }
    }

    #[test]
    fn refuses_the_rest_without_showing_it() {
        for text in [
            "",
            " // nothing\n",
            "{",
            "{,}",
            "[1,,]",
            "/* open",
            "{\"secret\": \"planted",
            "{\"a\":1,\"a\":2}",
            "{\"secret\": planted}",
            "/",
            "\"",
            "{} planted",
            &"[".repeat(1000),
        ] {
            let error = read_config(text).unwrap_err();
            assert_eq!(error.code, ErrorCode::InvalidOptions, "{text}");
            assert!(!error.message.contains("planted"), "{error}");
        }
    }
}
