//! What a person is shown before a call, and what counts as a no.
//!
//! A preview never hides anything silently: what does not fit is counted, measured and hashed, and every character that would be
//! invisible or move the cursor is spelled out. Line feeds inside a value are spelled out too, so every line is one of ours.

use crate::prompts::PromptRegistry;
use crate::redact::redact_text;
use crate::sanitize::{clean_text, cut, push_visible};
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use std::fmt;

/// The most characters of a preview.
const MAX_CHARS: usize = 8_000;
/// The most characters of a tool's name, an origin or an argument's name.
const MAX_NAME_CHARS: usize = 240;
/// A value that has to be cut keeps at least this many characters, the note about the cut included.
const MIN_VALUE_CHARS: usize = 320;
/// The most characters of the message of a failed question.
const MAX_MESSAGE_CHARS: usize = 500;
/// Kept free for the note about arguments that are not shown.
const OMITTED_NOTE_CHARS: usize = 160;

/// What a person reads before saying yes: tool and origin, then one line per argument, at most 8,000 characters in all.
///
/// A call that changes something outside says so in its first line. Values are shown as compact JSON, numbers as they were written, text with `\n`, `\t`, `\r` and `\u{202e}` for what hides, `\\` and `\"`.
pub fn preview(name: &str, origin: &str, writes: bool, arguments: &str) -> String {
    let title = |text: &str| shortened(&spelled(text), text, MAX_NAME_CHARS);
    let mut shown = format!("{} (from {}{})", title(name), title(origin), if writes { "; writes" } else { "" });
    let budget = MAX_CHARS - 2 * MAX_NAME_CHARS - 20;
    match serde_json::from_str::<Fields<'_>>(arguments) {
        Ok(fields) if fields.0.is_empty() => shown.push_str("\n(no arguments)"),
        Ok(fields) => push_fields(&mut shown, &fields.0, arguments, budget),
        Err(_) => {
            shown.push_str("\narguments: ");
            shown.push_str(&shortened(&spelled(arguments), arguments, budget - 12));
        }
    }
    shown
}

/// One line of a preview, in full.
struct Line<'a> {
    key: String,
    value: String,
    raw: &'a str,
    chars: usize,
}

impl<'a> Line<'a> {
    fn new(key: &str, raw: &'a str) -> Self {
        let key = shortened(&readable_key(key), key, MAX_NAME_CHARS);
        let value = readable(raw);
        // A line feed, a colon and a space stand around them.
        let chars = key.chars().count() + value.chars().count() + 3;
        Self { key, value, raw, chars }
    }

    fn least_chars(&self) -> usize {
        self.chars.min(self.key.chars().count() + 3 + MIN_VALUE_CHARS)
    }
}

fn push_fields(shown: &mut String, fields: &[(String, &RawValue)], arguments: &str, budget: usize) {
    let lines: Vec<Line<'_>> = fields.iter().map(|(key, raw)| Line::new(key, raw.get())).collect();
    let fits = lines.iter().map(|line| line.chars).sum::<usize>() <= budget;
    let budget = if fits { budget } else { budget - OMITTED_NOTE_CHARS };
    let mut spent = 0;
    let shown_count = lines
        .iter()
        .take_while(|line| {
            spent += line.least_chars();
            spent <= budget
        })
        .count();
    let (kept, omitted) = lines.split_at(shown_count);
    let level = fair_share(kept, budget);
    for line in kept {
        let value = shortened(&line.value, line.raw, level.max(line.least_chars()).saturating_sub(line.key.chars().count() + 3));
        shown.push_str(&format!("\n{}: {value}", line.key));
    }
    if !omitted.is_empty() {
        let (count, all) = (omitted.len(), lines.len());
        shown.push_str(&format!("\n…[{count} of {all} arguments are not shown; sha256 of all of them {}]", fingerprint(arguments)));
    }
}

/// The most characters a line may have so that all lines fit: short lines are shown in full and the long ones share what is left.
fn fair_share(lines: &[Line<'_>], budget: usize) -> usize {
    let lengths: Vec<(usize, usize)> = lines.iter().map(|line| (line.chars, line.least_chars())).collect();
    let (mut low, mut high) = (0, budget);
    while low < high {
        let level = (low + high).div_ceil(2);
        let needed: usize = lengths.iter().map(|(chars, least)| (*chars).min(level).max(*least)).sum();
        match needed <= budget {
            true => low = level,
            false => high = level - 1,
        }
    }
    low
}

/// A plain key as it is; any other in quotes, so that a key cannot pass for a key and its value.
fn readable_key(key: &str) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || matches!(character, '_' | '-' | '.' | '$');
    if !key.is_empty() && key.chars().all(is_plain) {
        return spelled(key);
    }
    let mut shown = String::new();
    push_quoted(&mut shown, key);
    shown
}

/// JSON text as a person reads it: no space between tokens, and text with its characters instead of JSON's escapes.
///
/// It goes token by token, so it neither rounds numbers nor minds how deep the value is.
fn readable(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    let mut rest = json;
    while !rest.is_empty() {
        let is_string = rest.starts_with('"');
        let length = if is_string { string_length(rest) } else { rest.find('"').unwrap_or(rest.len()) };
        let (token, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        match is_string.then(|| serde_json::from_str::<String>(token)) {
            Some(Ok(text)) => push_quoted(&mut shown, &text),
            // Half a surrogate pair cannot be a character, so its escape stays.
            Some(Err(_)) => shown.push_str(&spelled(token)),
            None => token.chars().filter(|between| !between.is_ascii_whitespace()).for_each(|between| push_spelled(&mut shown, between)),
        }
        rest = after;
    }
    shown
}

/// The bytes of the string that a text starts with, quotes included.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (index, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return index + 1,
            _ => {}
        }
    }
    text.len()
}

/// The text with what hides spelled out, and backslashes doubled.
fn spelled(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    text.chars().for_each(|character| push_spelled(&mut shown, character));
    shown
}

/// The usual controls have their usual names. A backslash of the text is doubled, so that none of them can be taken for one.
fn push_spelled(shown: &mut String, character: char) {
    match character {
        '\n' => shown.push_str("\\n"),
        '\t' => shown.push_str("\\t"),
        '\r' => shown.push_str("\\r"),
        _ => push_visible(shown, character),
    }
}

fn push_quoted(shown: &mut String, text: &str) {
    shown.push('"');
    for character in text.chars() {
        match character {
            '"' => shown.push_str("\\\""),
            _ => push_spelled(shown, character),
        }
    }
    shown.push('"');
}

/// A text of visible characters within `limit`: in full, or its head and tail around a note that says how much is hidden.
fn shortened(shown: &str, raw: &str, limit: usize) -> String {
    if cut(shown, limit).is_none() {
        return shown.to_owned();
    }
    let all = shown.chars().count();
    // The note with the largest numbers it can hold, so that the text with the real note is never longer.
    let room = limit.saturating_sub(note(all, all, raw).chars().count());
    let (head, tail) = ends(shown, room - room / 3, room / 3);
    let hidden = all - head.chars().count() - tail.chars().count();
    format!("{head}{}{tail}", note(hidden, all, raw))
}

fn note(hidden: usize, all: usize, raw: &str) -> String {
    format!("…[{hidden} of {all} characters are not shown; sha256 {}]…", fingerprint(raw))
}

/// The longest start and end within the limits that do not cut an escape such as `\u{202e}` in two.
fn ends(shown: &str, head_chars: usize, tail_chars: usize) -> (&str, &str) {
    let tail_from = shown.chars().count().saturating_sub(tail_chars);
    let (mut head_end, mut tail_start) = (0, None);
    let (mut position, mut index) = (0, 0);
    while let Some((chars, bytes)) = shown.get(index..).and_then(unit) {
        if position >= tail_from {
            tail_start = tail_start.or(Some(index));
            break;
        }
        position += chars;
        index += bytes;
        if position <= head_chars {
            head_end = index;
        }
    }
    (shown.get(..head_end).unwrap_or_default(), tail_start.and_then(|start| shown.get(start..)).unwrap_or_default())
}

/// Characters and bytes of the first character or escape.
fn unit(shown: &str) -> Option<(usize, usize)> {
    let first = shown.chars().next()?;
    let length = match shown.as_bytes() {
        [b'\\', b'u', ..] => shown.find('}').map_or(2, |end| end + 1),
        [b'\\', _, ..] => 2,
        _ => return Some((1, first.len_utf8())),
    };
    Some((length, length))
}

/// The first 16 hexadecimal digits of the text's SHA-256.
fn fingerprint(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// The fields of an object in their order, values as they are written. Repeated names stay, so that a preview shows them.
struct Fields<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> serde::Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldsVisitor;
        impl<'de> Visitor<'de> for FieldsVisitor {
            type Value = Fields<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(FieldsVisitor)
    }
}

/// Why nobody said yes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// The answer was `false`.
    Declined,
    /// The answer was neither `true` nor `false`.
    NotABoolean,
    /// Asking failed, with this message.
    Threw(String),
    /// No answer came within so many milliseconds.
    TimedOut(u64),
    /// The call was cancelled while the question was open.
    Cancelled,
    /// The answer was a promise where the caller cannot wait.
    Promise,
}

impl Rejection {
    /// The reason as a sentence for the model.
    pub fn sentence(&self, prompts: &PromptRegistry) -> String {
        match self {
            Self::Declined => prompts.text("tool.confirm.declined", &[]),
            Self::NotABoolean => prompts.text("tool.confirm.not_boolean", &[]),
            Self::Threw(message) => prompts.text("tool.confirm.threw", &[("err", &redact_text(&clean_text(message, MAX_MESSAGE_CHARS)))]),
            Self::TimedOut(milliseconds) => prompts.text("tool.confirm.timed_out", &[("timeout", &milliseconds.to_string())]),
            Self::Cancelled => prompts.text("tool.confirm.cancelled", &[]),
            Self::Promise => prompts.text("tool.confirm.promise", &[]),
        }
    }
}
