//! Text from outside, made safe to read.
//!
//! The two tables hold what Unicode 16 says; a test compares the first with the tables of the `regex` crate.

use regex::Regex;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt::Write as _;
use std::sync::LazyLock;

/// Stands at the end of text that [`clean_text`] cut.
pub const TRUNCATED: &str = "…(truncated)";

/// General category Cf.
const FORMAT: &[(u32, u32)] = &[
    (0xAD, 0xAD),
    (0x600, 0x605),
    (0x61C, 0x61C),
    (0x6DD, 0x6DD),
    (0x70F, 0x70F),
    (0x890, 0x891),
    (0x8E2, 0x8E2),
    (0x180E, 0x180E),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x2064),
    (0x2066, 0x206F),
    (0xFEFF, 0xFEFF),
    (0xFFF9, 0xFFFB),
    (0x110BD, 0x110BD),
    (0x110CD, 0x110CD),
    (0x13430, 0x1343F),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0001, 0xE0001),
    (0xE0020, 0xE007F),
];

/// What a reader cannot see or cannot tell from a plain space, beside Cf: the rest of Default_Ignorable_Code_Point, every
/// separator but U+0020, and the blank Braille pattern.
const BLANK: &[(u32, u32)] = &[
    (0xA0, 0xA0),
    (0x34F, 0x34F),
    (0x115F, 0x1160),
    (0x1680, 0x1680),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x2065, 0x2065),
    (0x2800, 0x2800),
    (0x3000, 0x3000),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8),
    (0xE0000, 0xE0FFF),
];

fn is_in(table: &[(u32, u32)], character: char) -> bool {
    let code = u32::from(character);
    let order = |&(first, last): &(u32, u32)| match code {
        _ if code < first => Ordering::Greater,
        _ if code > last => Ordering::Less,
        _ => Ordering::Equal,
    };
    table.binary_search_by(order).is_ok()
}

/// General category Cf.
pub(crate) fn is_format(character: char) -> bool {
    is_in(FORMAT, character)
}

/// Whether a character has no shape of its own: controls, format characters, everything that renderers ignore, unusual spaces.
pub(crate) fn is_hidden(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_control();
    }
    character.is_control() || is_format(character) || is_in(BLANK, character)
}

/// Remote text without what could hide or forge something, at most `limit` code points and a mark where it was cut.
///
/// Control and format characters go, terminal sequences as a whole; the joiners that scripts need and the soft hyphen stay, and so do
/// tabs, line feeds and carriage returns. The line and paragraph separators become line feeds. However much of the text is dropped,
/// at most `max(8 * limit + 1024, 2048)` code points are looked at.
pub fn clean_text(text: &str, limit: usize) -> String {
    // Most text is plain, and is looked at only once.
    if text.len() <= limit && is_plain(text) {
        return text.to_owned();
    }
    let bound = limit.saturating_mul(8).saturating_add(1024).max(2048);
    let window = cut(text, bound);
    let mut truncated = window.is_some();
    let scanned = without_terminal_sequences(window.unwrap_or(text));
    let mut clean = String::with_capacity(scanned.len().min(limit.saturating_add(TRUNCATED.len())));
    for (count, character) in scanned.chars().filter_map(kept).enumerate() {
        if count == limit {
            truncated = true;
            break;
        }
        clean.push(character);
    }
    if truncated {
        clean.push_str(TRUNCATED);
    }
    clean
}

/// The same for prose, such as a description, where a carriage return says nothing and makes a terminal write over what it has shown:
/// it becomes a line feed, together with one that follows.
pub fn clean_prose(text: &str, limit: usize) -> String {
    match text.contains('\r') {
        true => clean_text(&text.replace("\r\n", "\n").replace('\r', "\n"), limit),
        false => clean_text(text, limit),
    }
}

/// Whether every character is one that is kept as it is, and ASCII. By blocks, so that many bytes are looked at together.
fn is_plain(text: &str) -> bool {
    let plain = |byte: &u8| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~');
    text.as_bytes().chunks(64).all(|block| block.iter().fold(true, |all, byte| all & plain(byte)))
}

fn kept(character: char) -> Option<char> {
    match character {
        '\t' | '\n' | '\r' | ' '..='~' | '\u{200C}' | '\u{200D}' | '\u{AD}' => Some(character),
        '\u{2028}' | '\u{2029}' => Some('\n'),
        _ if character.is_control() || is_format(character) => None,
        _ => Some(character),
    }
}

/// Escape sequences in both spellings: CSI, the strings that end in BEL or ST, and the short ones. A string without an end loses
/// only its start, so that no text disappears which a terminal would have been waiting for.
static TERMINAL_SEQUENCE: LazyLock<Regex> = LazyLock::new(|| {
    let csi = r"(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]";
    let string = r"(?:\x1b[\]PX^_]|[\x{90}\x{98}\x{9d}-\x{9f}])[^\x07\x1b\x{9c}]*(?:\x07|\x1b\\|\x{9c})";
    let short = r"\x1b[ -/]*[0-~]";
    constant_regex(&format!("{csi}|{string}|{short}"))
});

/// Compiles a pattern of ours.
#[allow(clippy::expect_used, reason = "the pattern is a constant, and the tests compile each of them")]
pub(crate) fn constant_regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a valid pattern")
}

fn without_terminal_sequences(text: &str) -> Cow<'_, str> {
    match text.contains(['\u{1b}', '\u{90}', '\u{98}', '\u{9b}', '\u{9d}', '\u{9e}', '\u{9f}']) {
        true => TERMINAL_SEQUENCE.replace_all(text, ""),
        false => Cow::Borrowed(text),
    }
}

/// The text with every character that hides shown as `\u{202e}`, line feeds and tabs too, and backslashes doubled: nothing in the
/// result is invisible, and two different texts never look the same because of one.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    text.chars().for_each(|character| push_visible(&mut shown, character));
    shown
}

pub(crate) fn push_visible(shown: &mut String, character: char) {
    match character {
        '\\' => shown.push_str("\\\\"),
        _ if is_hidden(character) => push_escape(shown, character),
        _ => shown.push(character),
    }
}

pub(crate) fn push_escape(shown: &mut String, character: char) {
    // Writing to a string cannot fail.
    let _ = write!(shown, "\\u{{{:x}}}", u32::from(character));
}

/// The first `limit` code points, or `None` for a text that has no more than that.
pub fn cut(text: &str, limit: usize) -> Option<&str> {
    if text.len() <= limit {
        return None;
    }
    let (end, _) = text.char_indices().nth(limit)?;
    text.get(..end)
}
