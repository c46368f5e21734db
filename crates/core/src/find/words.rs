//! Words of names and sentences.

/// Words that say nothing about what a tool does.
const EMPTY: [&str; 50] = [
    "a", "about", "all", "an", "and", "any", "are", "as", "at", "be", "by", "can", "do", "for", "from", "have", "how", "i", "if", "in",
    "into", "is", "it", "its", "me", "my", "need", "of", "on", "or", "our", "please", "some", "that", "the", "their", "this", "to", "tool",
    "up", "use", "using", "want", "we", "what", "when", "which", "with", "you", "your",
];
/// Characters of a word that are kept.
const MAX_CHARS: usize = 40;

/// The words of a text in the form in which they are compared: `getHTTPFiles` and "get the http file" share all of theirs. Scripts
/// without blanks give pairs of neighbouring characters.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for run in text.split(|character: char| !character.is_alphanumeric()) {
        for piece in pieces(run) {
            if piece.chars().next().is_some_and(is_unspaced) {
                pairs(&piece, &mut found);
            } else {
                let word: String = piece.to_lowercase().chars().take(MAX_CHARS).collect();
                if !word.is_empty() && !EMPTY.contains(&word.as_str()) {
                    found.push(stem(word));
                }
            }
        }
    }
    found
}

/// Chinese characters, kana and hangul.
const fn is_unspaced(character: char) -> bool {
    matches!(character, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{20000}'..='\u{2fa1f}')
}

/// Cuts `getHTTPFiles` into `get`, `HTTP` and `Files`, and one script from another.
fn pieces(run: &str) -> Vec<String> {
    let characters: Vec<char> = run.chars().collect();
    let mut found = Vec::new();
    let mut current = String::new();
    for (index, character) in characters.iter().copied().enumerate() {
        let before = index.checked_sub(1).and_then(|before| characters.get(before)).copied();
        let after = characters.get(index + 1);
        let starts = before.is_some_and(|before| {
            (character.is_uppercase() && (!before.is_uppercase() || after.is_some_and(|after| after.is_lowercase())))
                || is_unspaced(before) != is_unspaced(character)
        });
        if starts {
            found.push(std::mem::take(&mut current));
        }
        current.push(character);
    }
    found.push(current);
    found
}

fn pairs(piece: &str, found: &mut Vec<String>) {
    let characters: Vec<char> = piece.chars().collect();
    if characters.len() == 1 {
        found.push(piece.to_owned());
    }
    found.extend(characters.windows(2).map(|pair| pair.iter().collect()));
}

/// Takes endings off English words, the same ones on both sides of a comparison.
fn stem(word: String) -> String {
    if !word.is_ascii() || word.len() < 4 {
        return word;
    }
    let single = match word.strip_suffix('s') {
        Some(rest) if rest.ends_with("ie") && rest.len() > 4 => format!("{}y", &rest[..rest.len() - 2]),
        Some(rest) if ["ss", "xe", "che", "she"].iter().any(|end| rest.ends_with(end)) => rest.trim_end_matches('e').to_owned(),
        Some(rest) if !rest.ends_with(['s', 'u', 'i']) => rest.to_owned(),
        _ => word,
    };
    let rest = ["ing", "ed", "er", "ion"].iter().find_map(|ending| single.strip_suffix(ending)).filter(|rest| rest.len() >= 4);
    let base = rest.map_or(single.as_str(), undoubled);
    base.strip_suffix('e').filter(|rest| rest.len() >= 3).unwrap_or(base).to_owned()
}

/// `committ` of `committed` is `commit`.
fn undoubled(word: &str) -> &str {
    let mut ends = word.chars().rev();
    match (ends.next(), ends.next()) {
        (Some(last), Some(before)) if last == before && !matches!(last, 'l' | 's' | 'z') => &word[..word.len() - 1],
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn names_and_sentences_share_words() {
        assert_eq!(words("getHTTPFiles"), words("get the http file"));
        assert_eq!(words("create_pull-request"), words("Creating pull requests"));
        assert_eq!(words("deletes committed entries"), words("delete commit entry"));
        assert_eq!(words("search repositories"), words("SearchRepository"));
        assert_eq!(words("读取文件file"), ["读取", "取文", "文件", "fil"]);
        assert_eq!(words("status of the address class"), words("Status address class"));
        assert!(words("the 'of' -- __").is_empty());
    }
}
