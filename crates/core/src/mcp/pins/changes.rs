//! What became of one part of a definition, in a few lines that show what hides: `- before`, `+ now`, `~ where: before → now`.

use super::super::text::{json_string, object};
use crate::sanitize::{cut, visible};
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};

/// Lines about one part.
const MAX_LINES: usize = 12;
/// Characters of a line of text.
const LINE_CHARS: usize = 160;
/// Characters of it before the first that differs.
const LEAD_CHARS: usize = 40;
/// Characters of a place in a schema, and of a value there.
const PLACE_CHARS: usize = 160;
const VALUE_CHARS: usize = 60;

/// The lines about a part, before and now, each in its one spelling. At least one where they differ.
pub(super) fn lines(before: Option<&str>, now: Option<&str>) -> Vec<String> {
    let mut lines = Lines::default();
    match (before, now) {
        (Some(before), Some(now)) if before == now => {}
        (Some(before), Some(now)) => match (text_of(before), text_of(now)) {
            (Some(one), Some(other)) if one != other => lines.texts(&one, &other),
            (None, None) => match (serde_json::from_str(before), serde_json::from_str(now)) {
                (Ok(before), Ok(now)) => lines.values("", before, now),
                _ => lines.replaced("", before, now),
            },
            _ => lines.replaced("", before, now),
        },
        (None, Some(now)) => lines.push(format!("+ {}", short(now, LINE_CHARS))),
        (Some(before), None) => lines.push(format!("- {}", short(before, LINE_CHARS))),
        (None, None) => {}
    }
    lines.finish()
}

fn text_of(json: &str) -> Option<String> {
    json_string(serde_json::from_str(json).ok()?)
}

fn short(text: &str, limit: usize) -> String {
    cut(text, limit).map_or_else(|| visible(text), |head| visible(head) + "…")
}

#[derive(Default)]
struct Lines {
    shown: Vec<String>,
    more: usize,
}

impl Lines {
    fn push(&mut self, line: String) {
        if self.shown.len() < MAX_LINES { self.shown.push(line) } else { self.more += 1 }
    }

    fn finish(mut self) -> Vec<String> {
        if self.more > 0 {
            self.shown.push(format!("… {} more", self.more));
        }
        self.shown
    }

    /// Two texts: the lines that they do not share at their beginning and end.
    fn texts(&mut self, before: &str, now: &str) {
        let (old, new): (Vec<&str>, Vec<&str>) = (before.split('\n').collect(), now.split('\n').collect());
        let same = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
        let (old, new) = (old.get(same..).unwrap_or_default(), new.get(same..).unwrap_or_default());
        let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(one, other)| one == other).count();
        let (old, new) = (old.get(..old.len() - tail).unwrap_or_default(), new.get(..new.len() - tail).unwrap_or_default());
        for (sign, lines, others) in [('-', old, new), ('+', new, old)] {
            for (place, line) in lines.iter().enumerate() {
                if place == MAX_LINES / 2 {
                    self.more += lines.len() - place;
                    break;
                }
                self.push(format!("{sign} {}", window(line, others.get(place).copied().unwrap_or_default())));
            }
        }
    }

    /// Two values in their one spelling, which makes equal values equal texts.
    fn values(&mut self, place: &str, before: &RawValue, now: &RawValue) {
        if before.get() == now.get() {
            return;
        }
        if let (Some(old), Some(new)) = (children(before), children(now)) {
            let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
            for key in keys {
                let place = format!("{place}/{}", key.replace('~', "~0").replace('/', "~1"));
                match (old.get(key), new.get(key)) {
                    (Some(before), Some(now)) => self.values(&place, before, now),
                    (Some(before), None) => {
                        self.push(format!("- {}: {}", short(&place, PLACE_CHARS), short(before.get(), VALUE_CHARS)));
                    }
                    (_, now) => {
                        let now = now.map_or("", |now| now.get());
                        self.push(format!("+ {}: {}", short(&place, PLACE_CHARS), short(now, VALUE_CHARS)));
                    }
                }
            }
        } else {
            self.replaced(place, before.get(), now.get());
        }
    }

    fn replaced(&mut self, place: &str, before: &str, now: &str) {
        let place = if place.is_empty() { String::new() } else { format!("{}: ", short(place, PLACE_CHARS)) };
        let (before, now) = (window_of(before, now, VALUE_CHARS), window_of(now, before, VALUE_CHARS));
        self.push(format!("~ {place}{before} → {now}"));
    }
}

/// The members of an object by name; none for anything else, and for names that are no text.
fn children(json: &RawValue) -> Option<BTreeMap<String, &RawValue>> {
    object(json)
}

fn window(line: &str, other: &str) -> String {
    window_of(line, other, LINE_CHARS)
}

/// The part of a text where it begins to differ from another.
fn window_of(line: &str, other: &str, limit: usize) -> String {
    if cut(line, limit).is_none() {
        return visible(line);
    }
    let same = line.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
    let start = same.saturating_sub(LEAD_CHARS.min(limit / 2));
    let rest: String = line.chars().skip(start).collect();
    format!("{}{}", if start > 0 { "…" } else { "" }, short(&rest, limit))
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn texts() {
        assert_eq!(lines(Some(r#""a""#), Some(r#""a""#)), Vec::<String>::new());
        assert_eq!(lines(Some(r#""one\ntwo\nthree""#), Some(r#""one\n2\nthree""#)), ["- two", "+ 2"]);
        assert_eq!(lines(Some(r#""one""#), Some("\"o\u{200b}ne\"")), ["- one", "+ o\\u{200b}ne"]);
        assert_eq!(lines(None, Some(r#""new""#)), [r#"+ "new""#]);
        assert_eq!(lines(Some(r#""old""#), None), [r#"- "old""#]);
        let far = |end: &str| format!("\"{}{end}{}\"", "x".repeat(3000), "y".repeat(3000));
        let shown = lines(Some(&far("old")), Some(&far("new")));
        assert!(shown[0].contains("xold") && shown[1].contains("xnew") && shown.iter().all(|line| line.chars().count() < 200), "{shown:?}");
        let many = |word: &str| format!("\"{}\"", (0..100).map(|n| format!("{word}{n}\\n")).collect::<String>());
        assert_eq!(lines(Some(&many("a")), Some(&many("b"))).len(), 13);
        // Two halves of surrogate pairs are the same text, and are not the same.
        assert_eq!(lines(Some(r#""\ud800""#), Some(r#""\ud801""#)).len(), 1);
    }

    #[test]
    fn schemas() {
        let before = r#"{"properties":{"a":{"default":1,"type":"string"},"b":{}},"required":["a"],"type":"object"}"#;
        let now = r#"{"properties":{"a":{"default":1.0,"type":"string"},"c/d":{"x":1}},"required":["a","c/d"],"type":"object"}"#;
        assert_eq!(
            lines(Some(before), Some(now)),
            [
                "~ /properties/a/default: 1 → 1.0",
                "- /properties/b: {}",
                "+ /properties/c~1d: {\"x\":1}",
                "~ /required: [\"a\"] → [\"a\",\"c/d\"]",
            ]
        );
        assert_eq!(lines(Some("null"), Some(r#""x""#)), [r#"~ null → "x""#]);
        let wide = |value: u32| format!("{{{}}}", (100..200).map(|n| format!("\"{n}\":{value}")).collect::<Vec<_>>().join(","));
        assert_eq!(lines(Some(&wide(1)), Some(&wide(2))).last().map(String::as_str), Some("… 88 more"));
    }
}
