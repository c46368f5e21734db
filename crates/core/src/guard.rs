//! Delimiters around text from outside.
//!
//! The delimiters carry a nonce that the text cannot know, and whatever in the text reads like one of them is defused, because a
//! model does not compare nonces as strictly as a program would. Everything else in the text stays as it came.

use crate::prompts::PromptRegistry;
use crate::sanitize::{cut, is_hidden, push_escape, visible};
use std::hash::{BuildHasher, RandomState};

const NAME: &str = "external-content";
/// What a look-alike has to spell: the name without what is skipped anyway.
const LETTERS: &str = "externalcontent";
const MAX_ORIGIN_CHARS: usize = 200;

/// Sixteen random hexadecimal digits.
pub fn nonce() -> String {
    let mut bytes = [0; 8];
    let random = match getrandom::fill(&mut bytes) {
        Ok(()) => u64::from_ne_bytes(bytes),
        // The standard library's own seed is the next best thing where the system call is not allowed.
        Err(_) => RandomState::new().hash_one(NAME),
    };
    format!("{random:016x}")
}

/// The text for a model: a sentence that says what the text is worth, then the text between delimiters.
///
/// The delimiters are part of the template's `content`, so that an override cannot lose them.
pub fn wrap(text: &str, origin: &str, nonce: &str, prompts: &PromptRegistry) -> String {
    let origin = safe_origin(origin);
    let inner = defused(text);
    let content = format!("<{NAME} id=\"{nonce}\" origin=\"{origin}\">\n{inner}\n</{NAME} id=\"{nonce}\">");
    prompts.text("tool.external_guard", &[("content", &content), ("nonce", nonce), ("origin", &origin)])
}

/// An origin that can end neither the attribute nor the delimiter it stands in.
fn safe_origin(origin: &str) -> String {
    let bounded = cut(origin, MAX_ORIGIN_CHARS).unwrap_or(origin);
    let mut safe = String::with_capacity(bounded.len());
    for character in visible(bounded).chars() {
        match character {
            '"' | '>' => push_escape(&mut safe, character),
            _ if is_opening(character) => push_escape(&mut safe, character),
            _ => safe.push(character),
        }
    }
    safe
}

/// The text with the opening bracket of every look-alike written as `\u{3c}`.
fn defused(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        match is_opening(character) && spells_name(rest.as_str()) {
            true => push_escape(&mut safe, character),
            false => safe.push(character),
        }
    }
    safe
}

/// Whether the text after a bracket starts with the delimiters' name. No bracket is ever skipped, so all calls together read every
/// character at most once.
fn spells_name(text: &str) -> bool {
    let mut letters = LETTERS.chars();
    let mut wanted = letters.next();
    for character in text.chars() {
        match wanted {
            None => return true,
            Some(letter) if folded(character) == Some(letter) => wanted = letters.next(),
            Some(_) if is_skipped(character) => {}
            Some(_) => return false,
        }
    }
    wanted.is_none()
}

/// Brackets that read as `<`: full-width and small forms, angle brackets, guillemets, ornaments, and letters of the same shape.
const fn is_opening(character: char) -> bool {
    matches!(
        character,
        '<' | '\u{FF1C}'
            | '\u{FE64}'
            | '\u{300A}'
            | '\u{3008}'
            | '\u{2329}'
            | '\u{27E8}'
            | '\u{27EA}'
            | '\u{2039}'
            | '\u{AB}'
            | '\u{276C}'
            | '\u{276E}'
            | '\u{2770}'
            | '\u{29FC}'
            | '\u{FE3D}'
            | '\u{FE3F}'
            | '\u{2C2}'
            | '\u{1438}'
            | '\u{226A}'
    )
}

/// What a reader passes over between two letters: space, what hides, marks on letters, slashes, bars and dashes.
fn is_skipped(character: char) -> bool {
    const SLASHES: &[char] = &['/', '\\', '|', '!', '／', '＼', '⁄', '∕', '⧸', '⧵'];
    const DASHES: &[char] = &['-', '_', '.', '–', '—', '‐', '‑', '‒', '―', '−', '－', '＿', '﹣', '﹘', '·', '・'];
    character.is_whitespace()
        || is_hidden(character)
        || matches!(character, '\u{300}'..='\u{36F}' | '\u{1AB0}'..='\u{1AFF}' | '\u{1DC0}'..='\u{1DFF}' | '\u{20D0}'..='\u{20FF}')
        || SLASHES.contains(&character)
        || DASHES.contains(&character)
}

/// The small Latin letter that a character reads as: full-width, mathematical and circled letters, and the Cyrillic and Greek ones
/// that look the same.
fn folded(character: char) -> Option<char> {
    let code = u32::from(character);
    let letter = |offset: u32| char::from_u32(u32::from('a') + offset % 26);
    match character {
        'a'..='z' => Some(character),
        'A'..='Z' => Some(character.to_ascii_lowercase()),
        'Ａ'..='Ｚ' => letter(code - 0xFF21),
        'ａ'..='ｚ' => letter(code - 0xFF41),
        '\u{24B6}'..='\u{24E9}' => letter(code - 0x24B6),
        '\u{1D400}'..='\u{1D6A3}' => letter(code - 0x1D400),
        'а' | 'А' | 'α' | 'Α' | 'ɑ' => Some('a'),
        'с' | 'С' | 'ϲ' => Some('c'),
        'е' | 'Е' | 'ε' | 'Ε' | 'ё' | 'Ё' | 'ℯ' => Some('e'),
        'ӏ' | 'Ӏ' | 'І' | 'і' | 'Ι' | '1' | '|' | 'ℓ' => Some('l'),
        'ո' | 'η' | 'Ν' => Some('n'),
        'о' | 'О' | 'ο' | 'Ο' | '0' | 'ℴ' => Some('o'),
        'г' | 'ᴦ' => Some('r'),
        'т' | 'Т' | 'τ' | 'Τ' => Some('t'),
        'х' | 'Х' | 'χ' | 'Χ' | '×' => Some('x'),
        _ => accented(character),
    }
}

/// The letter under a mark, for those of the name that Latin-1 has with one.
const fn accented(character: char) -> Option<char> {
    match character {
        'à'..='å' | 'À'..='Å' => Some('a'),
        'ç' | 'Ç' => Some('c'),
        'è'..='ë' | 'È'..='Ë' => Some('e'),
        'ñ' | 'Ñ' => Some('n'),
        'ò'..='ö' | 'Ò'..='Ö' | 'ø' | 'Ø' => Some('o'),
        _ => None,
    }
}
