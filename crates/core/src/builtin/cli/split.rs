//! A command line as words, by the quoting rules of POSIX shells and nothing else: no expansion, no operator, no second line.

/// Why a line is no single command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SplitError {
    /// A quote is not closed.
    OpenQuote,
    /// A backslash stands at the end.
    OpenEscape,
    /// A line ends and another one follows.
    SecondLine,
    /// A NUL character, which no argument can hold.
    Nul,
    /// Shell operators outside of quotes.
    Operators(Vec<String>),
    /// More bytes or words than a command may have.
    TooLong,
}

/// The most bytes a command line may have: far below what any system takes as arguments.
pub const MAX_BYTES: usize = 65_536;
/// The most words a command line may have.
pub const MAX_WORDS: usize = 4_096;

/// Splits a line into words. An empty line, or one that holds only a comment, has none.
///
/// Single quotes keep everything; within double quotes a backslash escapes `"` and `\`; outside of quotes it escapes the next character.
/// A `#` that begins a word begins a comment. `$`, `` ` ``, `*`, `~` and braces are characters like others.
///
/// # Errors
/// What is no single command.
pub fn split(line: &str) -> Result<Vec<String>, SplitError> {
    if line.len() > MAX_BYTES {
        return Err(SplitError::TooLong);
    }
    if line.contains('\0') {
        return Err(SplitError::Nul);
    }
    let mut reader = Reader { rest: line.chars().peekable(), words: Vec::new(), operators: Vec::new(), word: None };
    reader.read()?;
    match reader {
        Reader { operators, .. } if !operators.is_empty() => Err(SplitError::Operators(operators)),
        Reader { words, .. } if words.len() > MAX_WORDS => Err(SplitError::TooLong),
        Reader { words, .. } => Ok(words),
    }
}

fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\n')
}

fn is_operator(character: char) -> bool {
    matches!(character, '(' | ')' | ';' | '<' | '>' | '|' | '&')
}

struct Reader<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    words: Vec<String>,
    operators: Vec<String>,
    word: Option<String>,
}

impl Reader<'_> {
    fn read(&mut self) -> Result<(), SplitError> {
        while let Some(character) = self.rest.next() {
            match character {
                '\n' | '\r' => self.end_line()?,
                ' ' | '\t' => self.end_word(),
                '#' if self.word.is_none() => self.skip_comment(),
                '\'' => self.read_single()?,
                '"' => self.read_double()?,
                '\\' => self.read_escape()?,
                operator if is_operator(operator) => self.read_operator(operator),
                other => self.push(other),
            }
        }
        self.end_word();
        Ok(())
    }

    /// Lines before the command and after it hold nothing.
    fn end_line(&mut self) -> Result<(), SplitError> {
        self.end_word();
        let is_first = self.words.is_empty() && self.operators.is_empty();
        let is_last = self.rest.clone().all(is_blank);
        if is_first || is_last { Ok(()) } else { Err(SplitError::SecondLine) }
    }

    fn push(&mut self, character: char) {
        self.word.get_or_insert_default().push(character);
    }

    fn end_word(&mut self) {
        self.words.extend(self.word.take());
    }

    fn skip_comment(&mut self) {
        while self.rest.next_if(|&next| !matches!(next, '\n' | '\r')).is_some() {}
    }

    fn read_single(&mut self) -> Result<(), SplitError> {
        // Quotes make a word even where there is nothing between them.
        self.word.get_or_insert_default();
        loop {
            match self.rest.next().ok_or(SplitError::OpenQuote)? {
                '\'' => return Ok(()),
                other => self.push(other),
            }
        }
    }

    fn read_double(&mut self) -> Result<(), SplitError> {
        self.word.get_or_insert_default();
        loop {
            match self.rest.next().ok_or(SplitError::OpenQuote)? {
                '"' => return Ok(()),
                '\\' => {
                    let escaped = self.rest.next_if(|&next| matches!(next, '"' | '\\'));
                    self.push(escaped.unwrap_or('\\'));
                }
                other => self.push(other),
            }
        }
    }

    fn read_escape(&mut self) -> Result<(), SplitError> {
        match self.rest.next().ok_or(SplitError::OpenEscape)? {
            '\n' | '\r' => Err(SplitError::SecondLine),
            other => {
                self.push(other);
                Ok(())
            }
        }
    }

    fn read_operator(&mut self, first: char) {
        self.end_word();
        let mut operator = first.to_string();
        while let Some(next) = self.rest.next_if(|&next| is_operator(next)) {
            operator.push(next);
        }
        self.operators.push(operator);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_within_a_word_is_a_character() {
        assert_eq!(split("echo a#b '#c' # d"), Ok(vec!["echo".into(), "a#b".into(), "#c".into()]));
        assert_eq!(split("# only"), Ok(vec![]));
    }

    #[test]
    fn a_second_line_is_refused_and_blank_ends_are_not() {
        for line in ["echo a\nls", "echo a\r\nls", "echo # c\nls", "echo a\\\nb"] {
            assert_eq!(split(line), Err(SplitError::SecondLine), "{line:?}");
        }
        assert_eq!(split("\n echo a\r\n"), Ok(vec!["echo".into(), "a".into()]));
        assert_eq!(split("# first\nls\n"), Ok(vec!["ls".into()]));
        assert_eq!(split("echo 'a\nb'"), Ok(vec!["echo".into(), "a\nb".into()]));
    }

    #[test]
    fn limits_hold() {
        assert_eq!(split(&"a ".repeat(MAX_WORDS + 1)), Err(SplitError::TooLong));
        assert_eq!(split(&"a".repeat(MAX_BYTES + 1)), Err(SplitError::TooLong));
        assert_eq!(split(&"a ".repeat(MAX_WORDS)).map(|words| words.len()), Ok(MAX_WORDS));
    }

    #[test]
    fn a_trailing_escaped_blank_stays_a_character() {
        assert_eq!(split("echo a\\ "), Ok(vec!["echo".into(), "a ".into()]));
        assert_eq!(split("echo a\\"), Err(SplitError::OpenEscape));
    }
}
