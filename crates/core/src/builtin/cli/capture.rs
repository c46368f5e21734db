//! Output of a child, bounded while it is read.

use crate::sanitize::{constant_regex, is_hidden, push_escape};
use regex::Regex;
use std::sync::LazyLock;
use tokio::io::{AsyncRead, AsyncReadExt};

/// What terminals take for a command: CSI (colours, the cursor), OSC and the other strings (titles, links), and the short ones. A string
/// has to end on its line: one without an end must not take the text after it along, of which the model would then not learn.
static TERMINAL_SEQUENCE: LazyLock<Regex> = LazyLock::new(|| {
    let csi = r"(?:\x1b\[|\x{9b})[0-?]*[ -/]*(?:[@-~]|\z)";
    let string = r"(?:\x1b[\]PX^_]|[\x{90}\x{98}\x{9d}-\x{9f}])[^\x07\x1b\x{9c}\n]*(?:\x07|\x1b\\|\x{9c})";
    let short = r"\x1b[ -/]*[0-~]";
    constant_regex(&format!("{csi}|{string}|{short}"))
});

/// One stream of a child, as far as it was read.
#[derive(Debug, Default)]
pub(super) struct Capture {
    bytes: Vec<u8>,
    /// Whether there was more than may be kept.
    pub(super) overflowed: bool,
}

impl Capture {
    /// Reads to the end, or to one byte over the limit. May be dropped at any await without losing what was read.
    pub(super) async fn fill(&mut self, pipe: &mut (impl AsyncRead + Unpin), max_bytes: usize) {
        let mut chunk = [0; 8_192];
        while !self.overflowed {
            match pipe.read(&mut chunk).await {
                // A broken pipe has no more to give either.
                Ok(0) | Err(_) => return,
                Ok(count) => self.keep(chunk.get(..count).unwrap_or_default(), max_bytes),
            }
        }
    }

    fn keep(&mut self, chunk: &[u8], max_bytes: usize) {
        let room = max_bytes - self.bytes.len();
        self.overflowed = chunk.len() > room;
        self.bytes.extend_from_slice(chunk.get(..room).unwrap_or(chunk));
    }

    /// The text without blanks around it, and whether there was more than `max_chars` characters of it. What is no UTF-8 is replaced, terminal
    /// sequences are left out, what else a terminal would obey or hide is spelled out, and counts as it is shown. `None` where there is no text.
    pub(super) fn text(&self, max_chars: usize) -> Option<(String, bool)> {
        let decoded = String::from_utf8_lossy(self.whole_characters());
        let plain = TERMINAL_SEQUENCE.replace_all(&decoded, "");
        let trimmed = plain.trim();
        let mut characters = trimmed.chars().peekable();
        let (mut text, mut shown) = (String::new(), 0);
        while shown < max_chars {
            let before = text.len();
            match characters.next() {
                None => break,
                Some('\r') if characters.peek() == Some(&'\n') => {}
                // A line that its program meant to overwrite.
                Some('\r') => text.push('\n'),
                Some(hidden) if is_treacherous(hidden) => push_escape(&mut text, hidden),
                Some(other) => text.push(other),
            }
            shown += text.get(before..).map_or(0, |added| added.chars().count());
        }
        (!trimmed.is_empty()).then(|| (text, characters.peek().is_some()))
    }

    /// All of it, where it is UTF-8.
    pub(super) fn exact(self) -> Option<String> {
        String::from_utf8(self.bytes).ok()
    }

    /// Without the beginning of a character that the limit cut in two.
    fn whole_characters(&self) -> &[u8] {
        let torn = if self.overflowed { self.bytes.utf8_chunks().last().map_or(0, |chunk| chunk.invalid().len()) } else { 0 };
        self.bytes.get(..self.bytes.len() - torn).unwrap_or(&self.bytes)
    }
}

/// What a terminal would obey, or what hides or reorders text. Blanks of other widths and what joins letters or colours signs are harmless.
fn is_treacherous(character: char) -> bool {
    let is_harmless = matches!(character, '\n' | '\t' | '\u{ad}' | '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}')
        || (character.is_whitespace() && !character.is_control());
    !is_harmless && is_hidden(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn captured(bytes: &[u8], max_bytes: usize) -> Capture {
        let mut capture = Capture::default();
        capture.fill(&mut &*bytes, max_bytes).await;
        capture
    }

    #[tokio::test]
    async fn the_limit_holds_to_the_byte() {
        assert!(!captured(&[b'x'; 80], 80).await.overflowed);
        let over = captured(&[b'x'; 81], 80).await;
        assert!(over.overflowed && over.bytes.len() == 80);
    }

    #[tokio::test]
    async fn what_colours_and_moves_is_left_out_and_no_text_with_it() {
        let shown = |text: &'static str| async move { captured(text.as_bytes(), 1_000).await.text(1_000) };
        for (written, read) in [
            ("\x1b[1;31mred\x1b[0m \x1b[38;2;1;2;3mmore\x1b[m", "red more"),
            ("\x1b]0;title\x07a \x1b]8;;http://x/\x1b\\link\x1b]8;;\x1b\\", "a link"),
            ("\x1b[2K\x1b[1Gx\x1b(By\x1b7z\u{9b}1mw", "xyzw"),
            ("a\x1b]0;no end\nb\x07", "a0;no end\nb\\u{7}"),
            ("cut\x1b[3", "cut"),
            ("\x1b[31\u{202e}x", "31\\u{202e}x"),
        ] {
            assert_eq!(shown(written).await, Some((read.to_owned(), false)), "{written:?}");
        }
        assert_eq!(shown("\x1b[0m \x1b[K\n").await, None);
    }

    #[tokio::test]
    async fn text_is_cut_between_characters_and_shows_what_hides() {
        let torn = captured("ééé".as_bytes(), 5).await;
        assert_eq!(torn.text(10), Some(("éé".to_owned(), false)));
        let odd = captured(b" \x1b[1mred\r\nnext\rover \xff\0\tend\n", 100).await;
        assert_eq!(odd.text(100), Some(("red\nnext\nover \u{fffd}\\u{0}\tend".to_owned(), false)));
        assert_eq!(captured(b" \n", 9).await.text(9), None);
        assert_eq!(captured("日本語".as_bytes(), 9).await.text(2), Some(("日本".to_owned(), true)));
    }
}
