//! Python's grammar of arithmetic, bounded in length, nodes and depth while it is read.

use super::error::{CalcError, INVALID_SYNTAX};
use super::evaluate::Tree;
use super::lex::{self, Token};
use super::number::Number;
use super::{MAX_CHARACTERS, MAX_DEPTH, MAX_NODES, functions};

const KEYWORDS_OF_EXPRESSIONS: &[&str] = &["and", "or", "not", "is", "in", "if", "for"];
const OTHER_KEYWORDS: &[&str] = &[
    "as", "assert", "async", "break", "class", "continue", "def", "del", "elif", "else", "except", "finally", "from", "global", "import",
    "nonlocal", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// Reads an expression into a tree.
///
/// A syntax error wins over the refusal of a name, as in Python, where the whole expression is read before any of it counts.
pub(super) fn parse(expression: &str) -> Result<Tree, CalcError> {
    let text = expression.trim_matches(|next: char| next.is_whitespace() || matches!(next, '\x1c'..='\x1f'));
    if text.is_empty() {
        return Err(CalcError::Empty);
    }
    if text.chars().nth(MAX_CHARACTERS).is_some() {
        return Err(CalcError::TooLong);
    }
    let mut parser = Parser { tokens: lex::tokens(text)?, next: 0, nodes: 1, depth: 0, open: 0, refused: None, tree: Tree::new()? };
    let root = parser.sum()?;
    match parser.peek() {
        None => {}
        Some(Token::Symbol(",")) => return Err(CalcError::Unparseable),
        Some(_) => return Err(parser.unexpected()),
    }
    match parser.refused {
        Some(refused) => Err(refused),
        None => Ok(parser.tree.with_root(root)),
    }
}

struct Parser {
    tokens: Vec<Token>,
    next: usize,
    /// Nodes as Python's `ast.walk` counts them.
    nodes: usize,
    depth: usize,
    /// Open parentheses.
    open: usize,
    /// The first name that is not offered.
    refused: Option<CalcError>,
    tree: Tree,
}

type Part = evalexpr::Node;

impl Parser {
    fn sum(&mut self) -> Result<Part, CalcError> {
        let mut left = self.product()?;
        while let Some(operator) = self.take_any(&["+", "-"]) {
            self.count(2)?;
            let right = self.product()?;
            left = self.tree.call(operator, vec![left, right]);
        }
        match self.peek() {
            Some(Token::Symbol("<<" | ">>" | "&" | "|" | "^")) => Err(self.refuse(CalcError::BadOperator)),
            Some(Token::Symbol("<" | ">" | "<=" | ">=" | "==" | "!=")) => Err(CalcError::Unparseable),
            Some(Token::Symbol(":=")) if self.open > 0 => Err(CalcError::Unparseable),
            Some(Token::Name(name)) if KEYWORDS_OF_EXPRESSIONS.contains(&name.as_str()) => Err(CalcError::Unparseable),
            _ => Ok(left),
        }
    }

    fn product(&mut self) -> Result<Part, CalcError> {
        let mut left = self.signed()?;
        while let Some(operator) = self.take_any(&["*", "/", "//", "%"]) {
            self.count(2)?;
            let right = self.signed()?;
            left = self.tree.call(operator, vec![left, right]);
        }
        match self.peek() {
            Some(Token::Symbol("@")) => Err(self.refuse(CalcError::BadOperator)),
            _ => Ok(left),
        }
    }

    fn signed(&mut self) -> Result<Part, CalcError> {
        if self.take("~") {
            return Err(self.refuse(CalcError::BadUnary));
        }
        let Some(sign) = self.take_any(&["+", "-"]) else { return self.power() };
        self.count(2)?;
        let operand = self.deeper(Self::signed)?;
        Ok(self.tree.call(if sign == "-" { functions::NEGATE } else { functions::KEEP }, vec![operand]))
    }

    /// `**` takes a sign on its right, and is taken by a sign on its left.
    fn power(&mut self) -> Result<Part, CalcError> {
        let base = self.operand()?;
        if !self.take("**") {
            return Ok(base);
        }
        self.count(2)?;
        let exponent = self.deeper(Self::signed)?;
        Ok(self.tree.call("**", vec![base, exponent]))
    }

    fn operand(&mut self) -> Result<Part, CalcError> {
        let operand = self.atom()?;
        match self.peek() {
            Some(Token::Symbol("(")) => Err(self.refuse(CalcError::BadFunction)),
            Some(Token::Symbol("[")) => Err(self.refuse(CalcError::Unparseable)),
            Some(Token::Symbol(".")) => {
                let called = matches!(self.tokens.get(self.next + 2), Some(Token::Symbol("(")));
                Err(if called { CalcError::BadFunction } else { CalcError::Unparseable })
            }
            _ => Ok(operand),
        }
    }

    fn atom(&mut self) -> Result<Part, CalcError> {
        let Some(token) = self.tokens.get(self.next).cloned() else { return Err(self.unexpected()) };
        self.next += 1;
        match token {
            Token::Number(value) => self.number(value),
            Token::Constant(value) => Err(self.refuse(CalcError::BadConstant(value))),
            Token::FormatString | Token::Symbol("[" | "{") => Err(self.refuse(CalcError::Unparseable)),
            Token::Symbol("(") => self.group(),
            Token::Symbol(_) => {
                self.next -= 1;
                Err(self.unexpected())
            }
            Token::Name(name) => self.name(&name),
        }
    }

    fn group(&mut self) -> Result<Part, CalcError> {
        if matches!(self.peek(), Some(Token::Symbol(")" | "*"))) {
            return Err(self.refuse(CalcError::Unparseable));
        }
        self.open += 1;
        let inner = self.deeper(Self::sum)?;
        if matches!(self.peek(), Some(Token::Symbol(","))) {
            return Err(self.refuse(CalcError::Unparseable));
        }
        self.close()?;
        Ok(inner)
    }

    fn name(&mut self, name: &str) -> Result<Part, CalcError> {
        match name {
            "True" | "False" | "None" => return Err(self.refuse(CalcError::BadConstant(name.to_owned()))),
            "not" => return Err(self.refuse(CalcError::BadUnary)),
            "await" | "lambda" => return Err(self.refuse(CalcError::Unparseable)),
            _ if KEYWORDS_OF_EXPRESSIONS.contains(&name) || OTHER_KEYWORDS.contains(&name) => return Err(INVALID_SYNTAX),
            _ => {}
        }
        if self.take("(") {
            return self.call(name);
        }
        self.count(1)?;
        let value = match name {
            "pi" => std::f64::consts::PI,
            "e" => std::f64::consts::E,
            _ => {
                let refused = self.refuse(CalcError::BadName(lex::shown(name)));
                self.refused = Some(refused);
                0.0
            }
        };
        self.number(Number::Float(value))
    }

    /// The arguments of a call, after the opening parenthesis.
    fn call(&mut self, name: &str) -> Result<Part, CalcError> {
        let Some(function) = functions::offered(name) else { return Err(self.refuse(CalcError::BadFunction)) };
        self.count(3)?;
        self.open += 1;
        let mut arguments = Vec::new();
        while !matches!(self.peek(), Some(Token::Symbol(")"))) {
            self.refuse_special_argument()?;
            arguments.push(self.deeper(Self::sum)?);
            if !self.take(",") {
                break;
            }
        }
        self.close()?;
        Ok(self.tree.call(function, arguments))
    }

    /// Refuses `*x`, `**x` and `name=x`.
    fn refuse_special_argument(&mut self) -> Result<(), CalcError> {
        let named = matches!(self.tokens.get(self.next + 1), Some(Token::Symbol("=")));
        match self.peek() {
            Some(Token::Symbol("*")) => Err(self.refuse(CalcError::Unparseable)),
            Some(Token::Symbol("**")) => Err(self.refuse(CalcError::NoKeywords)),
            Some(Token::Name(_)) if named => Err(self.refuse(CalcError::NoKeywords)),
            _ => Ok(()),
        }
    }

    fn number(&mut self, value: Number) -> Result<Part, CalcError> {
        self.count(1)?;
        self.tree.number(value)
    }

    fn close(&mut self) -> Result<(), CalcError> {
        if !self.take(")") {
            return Err(self.unexpected());
        }
        self.open -= 1;
        Ok(())
    }

    fn deeper(&mut self, part: fn(&mut Self) -> Result<Part, CalcError>) -> Result<Part, CalcError> {
        if self.depth == MAX_DEPTH {
            return Err(CalcError::Failed(format!("too many nested parentheses or signs (more than {MAX_DEPTH})").into()));
        }
        self.depth += 1;
        let result = part(self);
        self.depth -= 1;
        result
    }

    fn count(&mut self, nodes: usize) -> Result<(), CalcError> {
        self.nodes += nodes;
        if self.nodes > MAX_NODES { Err(CalcError::TooComplex) } else { Ok(()) }
    }

    /// What is refused first: a name before it, or this.
    fn refuse(&mut self, refused: CalcError) -> CalcError {
        self.refused.take().unwrap_or(refused)
    }

    /// The syntax error at the next token.
    fn unexpected(&self) -> CalcError {
        match self.peek() {
            None if self.open > 0 => CalcError::failed("'(' was never closed"),
            Some(Token::Symbol(bracket @ (")" | "]" | "}"))) if self.open == 0 => {
                CalcError::Failed(format!("unmatched '{bracket}'").into())
            }
            Some(Token::Symbol(bracket @ ("]" | "}"))) => {
                CalcError::Failed(format!("closing parenthesis '{bracket}' does not match opening parenthesis '('").into())
            }
            _ => INVALID_SYNTAX,
        }
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next)
    }

    fn take(&mut self, symbol: &'static str) -> bool {
        self.take_any(&[symbol]).is_some()
    }

    fn take_any(&mut self, symbols: &[&'static str]) -> Option<&'static str> {
        let Some(Token::Symbol(symbol)) = self.peek() else { return None };
        let symbol = symbols.contains(symbol).then_some(*symbol)?;
        self.next += 1;
        Some(symbol)
    }
}
