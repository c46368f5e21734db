//! Python's tokens, as far as arithmetic and a precise refusal need them.

use super::error::{CalcError, INVALID_SYNTAX};
use super::number::Number;
use num_bigint::BigInt;

/// How much of a literal or name an error repeats.
const SHOWN_CHARACTERS: usize = 60;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Number(Number),
    /// A literal that is no real number, as an error shows it.
    Constant(String),
    /// A string that holds code.
    FormatString,
    Name(String),
    Symbol(&'static str),
}

/// Longest first, so that `**` is never two tokens.
const SYMBOLS: &[&str] = &[
    "...", "**", "//", "<<", ">>", "<=", ">=", "==", "!=", ":=", "+", "-", "*", "/", "%", "(", ")", "[", "]", "{", "}", ",", "=", "<", ">",
    "&", "|", "^", "~", "@", ".", ":", ";",
];

/// Splits an expression into tokens.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, CalcError> {
    let mut lexer = Lexer { rest: text, open: 0 };
    let mut found = Vec::new();
    while let Some(token) = lexer.next()? {
        found.push(token);
    }
    Ok(found)
}

struct Lexer<'a> {
    rest: &'a str,
    /// Open brackets: inside them a line end is a blank.
    open: usize,
}

impl Lexer<'_> {
    fn next(&mut self) -> Result<Option<Token>, CalcError> {
        self.skip_blanks()?;
        let Some(first) = self.rest.chars().next() else { return Ok(None) };
        let after = self.rest.strip_prefix('.').unwrap_or(self.rest);
        if after.starts_with(|next: char| next.is_ascii_digit()) {
            return self.number().map(Some);
        }
        if matches!(first, '\'' | '"') {
            return self.string("").map(Some);
        }
        if is_name_start(first) {
            return self.name().map(Some);
        }
        let Some(symbol) = SYMBOLS.iter().copied().find(|symbol| self.rest.starts_with(symbol)) else { return Err(stray(first)) };
        self.advance(symbol.len());
        match symbol {
            "(" | "[" | "{" => self.open += 1,
            ")" | "]" | "}" => self.open = self.open.saturating_sub(1),
            "..." => return Ok(Some(Token::Constant("Ellipsis".to_owned()))),
            _ => {}
        }
        Ok(Some(Token::Symbol(symbol)))
    }

    fn skip_blanks(&mut self) -> Result<(), CalcError> {
        loop {
            let blanks: &[char] = if self.open > 0 { &[' ', '\t', '\x0c', '\n', '\r'] } else { &[' ', '\t', '\x0c'] };
            self.rest = self.rest.trim_start_matches(blanks);
            let Some(after) = self.rest.strip_prefix('\\') else { return Ok(()) };
            let continued = ["\r\n", "\n", "\r"].into_iter().find_map(|end| after.strip_prefix(end));
            self.rest = continued.ok_or(CalcError::failed("unexpected character after line continuation character"))?;
        }
    }

    fn name(&mut self) -> Result<Token, CalcError> {
        let name = self.take_while(|next| next == '_' || next.is_alphanumeric());
        if self.rest.starts_with(['\'', '"']) && name.len() <= 2 {
            return self.string(&name.to_ascii_lowercase());
        }
        Ok(Token::Name(name))
    }

    /// A string, of which only the kind matters; `prefix` is what stood before the quote.
    fn string(&mut self, prefix: &str) -> Result<Token, CalcError> {
        let quote = self.rest.chars().next().unwrap_or('\'');
        self.advance(quote.len_utf8());
        let mut escaped = false;
        let end = self.rest.find(|next: char| {
            let ends = next == quote && !escaped;
            escaped = next == '\\' && !escaped;
            ends
        });
        let (content, after) =
            end.and_then(|end| self.rest.split_at_checked(end)).ok_or(CalcError::failed("unterminated string literal"))?;
        let token = match prefix {
            "" | "u" | "r" => Token::Constant(format!("'{}'", shown(content))),
            "b" | "br" | "rb" => Token::Constant(format!("b'{}'", shown(content))),
            "f" | "fr" | "rf" => Token::FormatString,
            _ => return Err(INVALID_SYNTAX),
        };
        self.rest = after.strip_prefix(quote).unwrap_or(after);
        Ok(token)
    }

    fn number(&mut self) -> Result<Token, CalcError> {
        let prefixed = self.rest.strip_prefix('0').and_then(|after| match after.chars().next()? {
            'x' | 'X' => Some((16, "invalid hexadecimal literal")),
            'o' | 'O' => Some((8, "invalid octal literal")),
            'b' | 'B' => Some((2, "invalid binary literal")),
            _ => None,
        });
        match prefixed {
            Some((radix, problem)) => self.prefixed_integer(radix, problem),
            None => self.decimal(),
        }
    }

    fn prefixed_integer(&mut self, radix: u32, problem: &'static str) -> Result<Token, CalcError> {
        self.advance(2);
        let written = self.take_while(|next| next == '_' || next.is_alphanumeric());
        // A separator may follow the prefix, unlike in other literals.
        let digits = joined(written.strip_prefix('_').unwrap_or(&written)).ok_or(CalcError::failed(problem))?;
        let value = BigInt::parse_bytes(digits.as_bytes(), radix).ok_or(CalcError::failed(problem))?;
        Ok(Token::Number(Number::Int(value)))
    }

    fn decimal(&mut self) -> Result<Token, CalcError> {
        const PROBLEM: CalcError = CalcError::failed("invalid decimal literal");
        let digit = |next: char| next == '_' || next.is_ascii_digit();
        let mut text = String::new();
        let mut whole = true;
        if !self.rest.starts_with('.') {
            text = joined(&self.take_while(digit)).ok_or(PROBLEM)?;
        }
        if let Some(after) = self.rest.strip_prefix('.') {
            whole = false;
            self.rest = after;
            text.push('.');
            if after.starts_with(digit) {
                text.push_str(&joined(&self.take_while(digit)).ok_or(PROBLEM)?);
            }
        }
        if self.rest.starts_with(['e', 'E']) {
            whole = false;
            self.advance(1);
            text.push('e');
            if let Some(sign) = self.rest.chars().next().filter(|next| matches!(next, '+' | '-')) {
                self.advance(1);
                text.push(sign);
            }
            text.push_str(&joined(&self.take_while(digit)).ok_or(PROBLEM)?);
        }
        if self.rest.starts_with(['j', 'J']) {
            self.advance(1);
            text.push('j');
            return self.not_glued(PROBLEM).map(|()| Token::Constant(shown(&text)));
        }
        self.not_glued(PROBLEM)?;
        if !whole {
            let value: f64 = text.parse().map_err(|_| PROBLEM)?;
            let finite = value.is_finite().then_some(Number::Float(value));
            return finite.map(Token::Number).ok_or(CalcError::failed("the number is too large for a float"));
        }
        if text.starts_with('0') && text.contains(|digit| digit != '0') {
            return Err(CalcError::failed(
                "leading zeros in decimal integer literals are not permitted; use an 0o prefix for octal integers",
            ));
        }
        BigInt::parse_bytes(text.as_bytes(), 10).map(|value| Token::Number(Number::Int(value))).ok_or(PROBLEM)
    }

    /// Refuses a number that runs into a letter.
    fn not_glued(&self, problem: CalcError) -> Result<(), CalcError> {
        if self.rest.starts_with(is_name_start) { Err(problem) } else { Ok(()) }
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> String {
        let end = self.rest.find(|next| !wanted(next)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken.to_owned()
    }

    fn advance(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or("");
    }
}

fn is_name_start(next: char) -> bool {
    next == '_' || next.is_alphabetic()
}

/// The digits without their separators, each of which must stand between two digits.
fn joined(written: &str) -> Option<String> {
    let separated = !written.is_empty() && written.split('_').all(|part| !part.is_empty());
    separated.then(|| written.replace('_', ""))
}

/// The beginning of a text, for an error.
pub(super) fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN_CHARACTERS).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

fn stray(found: char) -> CalcError {
    match found {
        '#' => CalcError::failed("comments are not allowed"),
        '\0' => CalcError::failed("source code string cannot contain null bytes"),
        '\n' | '\r' | '!' | '$' | '?' | '`' => INVALID_SYNTAX,
        _ => {
            // The escape of a character that prints is the character itself.
            let kind = if found.escape_debug().len() > 1 { "non-printable character".to_owned() } else { format!("character '{found}'") };
            CalcError::Failed(format!("invalid {kind} (U+{:04X})", u32::from(found)).into())
        }
    }
}
