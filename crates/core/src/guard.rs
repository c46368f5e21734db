//! Delimiters around text from outside.
//!
//! The delimiters carry a nonce that the text cannot know, and whatever in the text reads like one of them is defused, because a
//! model does not compare nonces as strictly as a program would. Everything else in the text stays as it came.

use crate::prompts::PromptRegistry;
use crate::sanitize::{cut, is_hidden, push_escape, visible};
use std::hash::{BuildHasher, RandomState};
use unicode_normalization::char::decompose_compatible;

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

/// Where a text comes from.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The tool that gave it, if known: its name says what kind of source it is.
    pub tool: Option<&'a str>,
    /// Who vouches for the tool.
    pub origin: &'a str,
}

impl<'a> From<&'a str> for Source<'a> {
    fn from(origin: &'a str) -> Self {
        Self { tool: None, origin }
    }
}

/// The text for a model: a sentence that says what the text is worth, then the text between delimiters.
///
/// The delimiters are part of the template's `content`, so that an override cannot lose them.
pub fn wrap<'a>(text: &str, source: impl Into<Source<'a>>, nonce: &str, prompts: &PromptRegistry) -> String {
    let Source { tool, origin } = source.into();
    let origin = safe_origin(origin);
    let source = match tool.map(safe_origin) {
        Some(tool) if origin.is_empty() => tool,
        Some(tool) => format!("{tool}, {origin}"),
        None => origin.clone(),
    };
    let inner = defused(text);
    let content = format!("<{NAME} id=\"{nonce}\" origin=\"{origin}\">\n{inner}\n</{NAME} id=\"{nonce}\">");
    prompts.text("tool.external_guard", &[("content", &content), ("nonce", nonce), ("origin", &origin), ("source", &source)])
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
        let after = if is_opening(character) { Some(rest.as_str()) } else { after_entity(character, rest.as_str()) };
        match after.is_some_and(spells_name) {
            true => push_escape(&mut safe, character),
            false => safe.push(character),
        }
    }
    safe
}

/// The text after a bracket that is written as in a web page.
fn after_entity(character: char, rest: &str) -> Option<&str> {
    const ENTITIES: &[&str] = &["lt", "#60", "#x3c", "#x03c", "#x003c", "#060", "laquo", "lang", "lsaquo"];
    if character != '&' {
        return None;
    }
    ENTITIES.iter().find_map(|entity| {
        let found = rest.get(..entity.len())?;
        found.eq_ignore_ascii_case(entity).then(|| &rest[entity.len()..])
    })
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
            | '\u{227A}'
            | '\u{22D6}'
            | '\u{2991}'
            | '\u{2F1}'
    )
}

/// What a reader passes over between two letters: all that is no letter or digit, what hides, and what only stretches a line.
fn is_skipped(character: char) -> bool {
    !is_opening(character) && (!character.is_alphanumeric() || is_hidden(character) || character == '\u{640}')
}

/// The small Latin letter that a character reads as: what it is made of by Unicode's own account (full-width, mathematical, circled,
/// raised, with marks), and those of other scripts that look the same.
fn folded(character: char) -> Option<char> {
    if character.is_ascii_alphabetic() && character != 'I' {
        return Some(character.to_ascii_lowercase());
    }
    look_alike(character).or_else(|| {
        let mut letter = None;
        decompose_compatible(character, |part| {
            if letter.is_none() {
                letter = if part.is_ascii_alphabetic() { Some(part.to_ascii_lowercase()) } else { look_alike(part) };
            }
        });
        letter
    })
}

const fn look_alike(character: char) -> Option<char> {
    match character {
        'а' | 'А' | 'α' | 'Α' | 'ɑ' | 'ᴀ' | 'Ꭺ' | 'ꓮ' | '4' | '@' => Some('a'),
        'с' | 'С' | 'ϲ' | 'ᴄ' | 'Ꮯ' | 'ꓚ' => Some('c'),
        'е' | 'Е' | 'ε' | 'Ε' | 'ё' | 'Ё' | 'ℯ' | 'ᴇ' | 'ɛ' | 'Ꭼ' | 'ꓰ' | '3' | 'є' | 'Є' | 'ә' | 'ǝ' => Some('e'),
        'I' | 'ӏ' | 'Ӏ' | 'І' | 'і' | 'Ι' | 'ι' | '1' | '|' | 'ℓ' | 'ʟ' | 'ı' | 'ꓡ' | 'Ꮮ' | 'ł' | 'Ł' => Some('l'),
        'ո' | 'η' | 'Ν' | 'ɴ' | 'ꓠ' | 'п' | 'П' => Some('n'),
        'о' | 'О' | 'ο' | 'Ο' | '0' | 'ℴ' | 'ᴏ' | 'ꓳ' | 'ø' | 'Ø' | 'σ' | 'օ' => Some('o'),
        'г' | 'ᴦ' | 'ʀ' | 'ɾ' | 'Ꭱ' | 'ꓣ' => Some('r'),
        'т' | 'Т' | 'τ' | 'Τ' | 'ᴛ' | 'Ꭲ' | 'ꓔ' | '7' | 'ŧ' | '†' => Some('t'),
        'х' | 'Х' | 'χ' | 'Χ' | '×' | 'ꓫ' | '✕' | '✖' => Some('x'),
        // Negative squared and negative circled letters, which Unicode does not take apart.
        '\u{1F150}'..='\u{1F169}' => letter_at(character as u32 - 0x1F150),
        '\u{1F170}'..='\u{1F189}' => letter_at(character as u32 - 0x1F170),
        _ => None,
    }
}

const fn letter_at(place: u32) -> Option<char> {
    char::from_u32('a' as u32 + place)
}
