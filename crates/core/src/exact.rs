//! What JSON text holds that a host may not: whole numbers that a double would round, and nesting that exhausts a stack.

use memchr::memchr2;
use std::ops::Range;

/// Largest whole number that every consumer of JSON keeps exactly: 2^53 - 1.
pub const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;
/// Its length in digits: shorter literals need no parsing.
const SAFE_DIGITS: usize = 15;

/// The first such number of valid JSON text, as written: also one written with a fraction of zeros or an exponent.
pub fn first_inexact(text: &str) -> Option<&str> {
    next_number(text, 0, |literal| is_inexact(literal) || is_rounded(literal)).map(|range| &text[range])
}

/// The text with each such number as a string that begins with the prefix; `None` where there is none. The prefix is one that
/// occurs nowhere in the text.
pub fn mark_inexact(text: &str) -> Option<(String, String)> {
    next_inexact(text, 0)?;
    let prefix = (0u64..).map(|attempt| format!("bigint-{attempt}:")).find(|prefix| !text.contains(prefix.as_str()))?;
    let mut marked = String::with_capacity(text.len() + 64);
    let mut rest = 0;
    while let Some(range) = next_inexact(text, rest) {
        marked.push_str(&text[rest..range.start]);
        marked.push('"');
        marked.push_str(&prefix);
        marked.push_str(&text[range.clone()]);
        marked.push('"');
        rest = range.end;
    }
    marked.push_str(&text[rest..]);
    Some((marked, prefix))
}

/// The first number of valid JSON text that overflows a double: parsers of the host would make it infinite, or give up on everything beside
/// it.
pub fn first_overflow(text: &str) -> Option<&str> {
    // Shorter ones without an exponent cannot overflow.
    let overflows =
        |literal: &str| (literal.len() > 300 || literal.contains(['e', 'E'])) && literal.parse::<f64>().is_ok_and(f64::is_infinite);
    next_number(text, 0, overflows).map(|range| &text[range])
}

/// Where the next one is that is written as digits alone, which is how it can be passed on.
fn next_inexact(text: &str, from: usize) -> Option<Range<usize>> {
    next_number(text, from, is_inexact)
}

/// Where the next number of a kind is, from a place outside any string. Only ASCII is looked for, so every index is a boundary.
fn next_number(text: &str, from: usize, wanted: impl Fn(&str) -> bool) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = from;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => at = string_end(bytes, at),
            b'-' | b'0'..=b'9' => {
                let length = bytes[at..].iter().take_while(|byte| matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')).count();
                if wanted(&text[at..at + length]) {
                    return Some(at..at + length);
                }
                at += length;
            }
            _ => at += 1,
        }
    }
    None
}

fn is_inexact(literal: &str) -> bool {
    let digits = literal.strip_prefix('-').unwrap_or(literal);
    // Too long to parse is too large as well.
    digits.len() > SAFE_DIGITS && !digits.contains(['.', 'e', 'E']) && digits.parse().map_or(true, |number: u64| number > MAX_SAFE_INTEGER)
}

/// Whether a number with a fraction or exponent is a whole one that a double rounds. `1e300` is none: its double prints the same.
fn is_rounded(literal: &str) -> bool {
    let digits = literal.strip_prefix('-').unwrap_or(literal);
    if digits.len() <= SAFE_DIGITS {
        return false;
    }
    let Some((written, exponent)) = significant(digits) else { return false };
    let whole = exponent >= i64::try_from(written.len()).unwrap_or(i64::MAX);
    let double = digits.parse::<f64>().ok().map(|number| format!("{number:e}"));
    whole && written.len() > SAFE_DIGITS && double.as_deref().and_then(significant) != Some((written, exponent))
}

/// The significant digits of a number, and how many digits its whole part has.
fn significant(literal: &str) -> Option<(String, i64)> {
    let (mantissa, exponent) = literal.split_once(['e', 'E']).unwrap_or((literal, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let leading = all.len() - all.trim_start_matches('0').len();
    let exponent =
        exponent.parse::<i64>().ok()?.checked_add(i64::try_from(whole.len()).ok()?)?.checked_sub(i64::try_from(leading).ok()?)?;
    Some((all.trim_matches('0').to_owned(), exponent))
}

/// Whether valid JSON text nests arrays and objects deeper than a limit.
pub fn nests_deeper(text: &str, limit: usize) -> bool {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 0usize);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = string_end(bytes, at);
                continue;
            }
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > limit {
            return true;
        }
        at += 1;
    }
    false
}

/// The index after the string that opens at `start`.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(next) = bytes.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        at += next;
        if bytes.get(at) == Some(&b'"') {
            return at + 1;
        }
        at += 2;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_whole_numbers_that_a_double_rounds() {
        for (text, found) in [
            ("{\"n\":9007199254740991}", None),
            ("{\"n\":9007199254740992}", Some("9007199254740992")),
            ("[-9007199254740993]", Some("-9007199254740993")),
            ("{\"s\":\"9007199254740993 \\\" 9007199254740993\"}", None),
            ("[1e300, 12345678901234567.5, 0.12345678901234567, 1.7976931348623157e308, 1e21, 123456789012345680000.0]", None),
            ("[9007199254740993.0]", Some("9007199254740993.0")),
            ("[90071992547409931e0]", Some("90071992547409931e0")),
            ("[0.0009007199254740993e19]", Some("0.0009007199254740993e19")),
            ("[18446744073709551616]", Some("18446744073709551616")),
        ] {
            assert_eq!(first_inexact(text), found, "{text}");
        }
    }

    #[test]
    fn marks_with_a_prefix_that_occurs_nowhere_else() {
        let (marked, prefix) = mark_inexact("[9007199254740993,\"bigint-0:1\",1,-18446744073709551616]").unwrap();
        assert_eq!(prefix, "bigint-1:");
        assert_eq!(marked, "[\"bigint-1:9007199254740993\",\"bigint-0:1\",1,\"bigint-1:-18446744073709551616\"]");
        assert!(mark_inexact("[1]").is_none());
    }

    #[test]
    fn finds_numbers_that_overflow() {
        for (json, found) in [
            (r#"{"a":"1e400","b\"":[1e308,-0.5E-400,1E+5]}"#, None),
            (r#"{"a":-1e309}"#, Some("-1e309")),
            (r#"["\\",1E999]"#, Some("1E999")),
        ] {
            assert_eq!(first_overflow(json), found, "{json}");
        }
        let long = "9".repeat(400);
        assert_eq!(first_overflow(&long), Some(long.as_str()));
    }
}
