//! Splits text into tokens. Step labels, which `PolyScope` writes into its exports, are skipped: `$ 3 "MoveJ"
//! "breakAfter"`.

use core::iter::Peekable;
use core::str::CharIndices;

use super::error::{CompileError, CompileErrorKind, Position};

/// A token of a program's text. Words and signs are stored as text, so that the parser reads like the grammar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token<'s> {
    /// The end of a statement: a line end outside of brackets, except after a token that a value must follow.
    LineEnd,
    /// A reserved word of URScript.
    Word(&'s str),
    /// A name in a program that is not a reserved word.
    Name(&'s str),
    /// An operator, a bracket, a comma, a colon or a dot; `p[` (which begins a pose) is one sign.
    Sign(&'static str),
    Int(i32),
    Float(f64),
    Text(&'s str),
    /// The end of the program's text, which is returned again for every further token.
    End,
}

impl Token<'_> {
    /// Returns whether a value must follow: after `=`, an operator or a comma. A line end after such a token, with or
    /// without a comment before it, does not end the statement (`core/docs/protocol/ur-external-control.md 5.1`).
    fn wants_a_value(self) -> bool {
        match self {
            Self::Word(word) => matches!(word, "and" | "or" | "xor" | "not"),
            Self::Sign(sign) => !matches!(sign, ")" | "]" | ":"),
            _ => false,
        }
    }

    /// Returns a description of the token for error messages.
    pub(super) fn describe(self) -> String {
        match self {
            Self::LineEnd => "end of line".into(),
            Self::Word(text) | Self::Name(text) => text.into(),
            Self::Sign(text) => text.into(),
            Self::Int(value) => value.to_string(),
            Self::Float(value) => value.to_string(),
            Self::Text(_) => "a string".into(),
            Self::End => "end of program".into(),
        }
    }
}

/// A token with its position in the program's text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Placed<'s> {
    pub(super) token: Token<'s>,
    pub(super) position: Position,
}

const WORDS: [&str; 27] = [
    "and",
    "break",
    "continue",
    "def",
    "elif",
    "else",
    "end",
    "enter_critical",
    "exit_critical",
    "False",
    "global",
    "halt",
    "if",
    "join",
    "kill",
    "local",
    "None",
    "not",
    "or",
    "pause",
    "return",
    "run",
    "sec",
    "thread",
    "True",
    "while",
    "xor",
];

/// The operators, brackets and punctuation marks of URScript, each before any shorter one that it begins with.
const SIGNS: [&str; 19] =
    ["==", "!=", "<=", ">=", "<", ">", "=", "+", "-", "*", "/", "%", "(", ")", "[", "]", ",", ":", "."];

/// Splits a program's text into tokens; the last one is [`Token::End`].
pub(super) fn tokens(source: &str) -> Result<Vec<Placed<'_>>, CompileError> {
    let mut lexer = Lexer { source, chars: source.char_indices().peekable(), position: Position::START, open: 0 };
    let mut tokens: Vec<Placed<'_>> = Vec::new();
    loop {
        lexer.skip_blanks();
        let position = lexer.position;
        if lexer.peek() == Some('$') && tokens.last().is_none_or(|placed| placed.token == Token::LineEnd) {
            lexer.label()?;
            continue;
        }
        let token = lexer.token()?;
        let continued = lexer.open > 0 || tokens.last().is_some_and(|placed| placed.token.wants_a_value());
        if token == Token::LineEnd && continued {
            continue;
        }
        tokens.push(Placed { token, position });
        if token == Token::End {
            return Ok(tokens);
        }
    }
}

struct Lexer<'s> {
    source: &'s str,
    chars: Peekable<CharIndices<'s>>,
    position: Position,
    /// The number of brackets that are open at this position in the text.
    open: u32,
}

impl<'s> Lexer<'s> {
    fn peek(&mut self) -> Option<char> {
        self.chars.peek().map(|(_, c)| *c)
    }

    /// Returns the offset of the next character in the program's text \[B\].
    fn offset(&mut self) -> usize {
        self.chars.peek().map_or(self.source.len(), |(at, _)| *at)
    }

    fn advance(&mut self) {
        if let Some((_, c)) = self.chars.next() {
            if c == '\n' {
                self.position = Position { line: self.position.line.saturating_add(1), column: 1 };
            } else {
                self.position.column = self.position.column.saturating_add(1);
            }
        }
    }

    /// Takes the longest run of characters that satisfy `accept` off the program's text and returns it.
    fn run(&mut self, mut accept: impl FnMut(char) -> bool) -> &'s str {
        let from = self.offset();
        while self.peek().is_some_and(&mut accept) {
            self.advance();
        }
        let to = self.offset();
        self.source.get(from..to).unwrap_or_default()
    }

    fn skip_blanks(&mut self) {
        self.run(|c| matches!(c, ' ' | '\t' | '\r'));
        if self.peek() == Some('#') {
            self.run(|c| c != '\n');
        }
    }

    fn token(&mut self) -> Result<Token<'s>, CompileError> {
        let Some(first) = self.peek() else { return Ok(Token::End) };
        if first == '\n' {
            self.advance();
            return Ok(Token::LineEnd);
        }
        let rest = self.source.get(self.offset()..).unwrap_or_default();
        if first.is_ascii_digit() || (first == '.' && rest.chars().nth(1).is_some_and(|c| c.is_ascii_digit())) {
            return self.number();
        }
        if first == '"' {
            return self.text();
        }
        if rest.starts_with("p[") {
            self.advance();
            self.advance();
            self.open = self.open.saturating_add(1);
            return Ok(Token::Sign("p["));
        }
        if first.is_ascii_alphabetic() || first == '_' {
            let name = self.run(|c| c.is_ascii_alphanumeric() || c == '_');
            return Ok(if WORDS.contains(&name) { Token::Word(name) } else { Token::Name(name) });
        }
        let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) else {
            return Err(self.error(self.position, first.escape_default().to_string()));
        };
        for _ in 0..sign.len() {
            self.advance();
        }
        match sign {
            "(" | "[" => self.open = self.open.saturating_add(1),
            ")" | "]" => self.open = self.open.saturating_sub(1),
            _ => {}
        }
        Ok(Token::Sign(sign))
    }

    fn number(&mut self) -> Result<Token<'s>, CompileError> {
        let position = self.position;
        let mut before = ' ';
        // A sign belongs to the number only directly after its exponent.
        let text = self.run(|c| {
            let accepted =
                c.is_ascii_alphanumeric() || c == '.' || (matches!(c, '+' | '-') && matches!(before, 'e' | 'E'));
            before = c;
            accepted
        });
        let number = if text.bytes().all(|byte| byte.is_ascii_digit()) {
            text.parse().ok().map(Token::Int)
        } else if text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-')) {
            text.parse().ok().filter(|value: &f64| value.is_finite()).map(Token::Float)
        } else {
            None
        };
        number.ok_or_else(|| CompileError { position, kind: CompileErrorKind::Number(text.into()) })
    }

    fn text(&mut self) -> Result<Token<'s>, CompileError> {
        let position = self.position;
        self.advance();
        let text = self.run(|c| c != '"' && c != '\n');
        if self.peek() != Some('"') {
            return Err(self.error(position, "a string without its closing quote".into()));
        }
        self.advance();
        Ok(Token::Text(text))
    }

    /// Skips a step label such as `$ 3 "MoveJ"`, up to the end of its line
    /// (`core/docs/protocol/ur-external-control.md 5.1`).
    fn label(&mut self) -> Result<(), CompileError> {
        self.advance();
        self.skip_blanks();
        let position = self.position;
        if self.run(|c| c.is_ascii_digit()).is_empty() {
            return Err(self.unexpected(position, "the number of a label"));
        }
        self.skip_blanks();
        let position = self.position;
        if self.peek() != Some('"') {
            return Err(self.unexpected(position, "the text of a label"));
        }
        self.text()?;
        self.skip_blanks();
        let position = self.position;
        if self.peek() == Some('"') && !matches!(self.text()?, Token::Text("breakAfter" | "noBreak")) {
            return Err(self.unexpected(position, "breakAfter or noBreak"));
        }
        self.skip_blanks();
        let over = matches!(self.peek(), None | Some('\n'));
        if over { Ok(()) } else { Err(self.unexpected(self.position, "the end of a label")) }
    }

    fn error(&self, position: Position, found: String) -> CompileError {
        CompileError { position, kind: CompileErrorKind::Syntax { expected: "a statement", found } }
    }

    /// Returns the syntax error that `expected` is missing at a position. It contains the program's text from there up
    /// to the end of the line, 40 characters at most.
    fn unexpected(&self, position: Position, expected: &'static str) -> CompileError {
        let line = usize::try_from(position.line.saturating_sub(1)).unwrap_or(usize::MAX);
        let column = usize::try_from(position.column.saturating_sub(1)).unwrap_or(usize::MAX);
        let rest: String = self.source.lines().nth(line).unwrap_or_default().chars().skip(column).take(40).collect();
        let found = if rest.trim().is_empty() { "end of line".into() } else { rest.escape_default().to_string() };
        CompileError { position, kind: CompileErrorKind::Syntax { expected, found } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(source: &str) -> Vec<Token<'_>> {
        tokens(source).unwrap().into_iter().map(|placed| placed.token).collect()
    }

    #[test]
    fn a_statement_splits_into_words_signs_and_numbers() {
        use Token::{Int, LineEnd, Name, Sign, Word};
        assert_eq!(
            plain("if x1 >= -2: # far\n halt\n"),
            [
                Word("if"),
                Name("x1"),
                Sign(">="),
                Sign("-"),
                Int(2),
                Sign(":"),
                LineEnd,
                Word("halt"),
                LineEnd,
                Token::End
            ]
        );
    }

    #[test]
    fn numbers_are_whole_or_have_a_point_or_exponent() {
        for (text, token) in [
            ("0", Token::Int(0)),
            ("2147483647", Token::Int(i32::MAX)),
            ("1.5", Token::Float(1.5)),
            (".5", Token::Float(0.5)),
            ("2.", Token::Float(2.0)),
            ("1e-3", Token::Float(0.001)),
            ("1E+2", Token::Float(100.0)),
        ] {
            assert_eq!(plain(text), [token, Token::End], "{text}");
        }
        for text in ["2147483648", "1.2.3", "12ab", "1e999", "0x10", "1e"] {
            let error = tokens(text).unwrap_err();
            assert_eq!(error.kind, CompileErrorKind::Number(text.into()), "{text}");
        }
    }

    #[test]
    fn a_pose_opens_with_p_and_bracket_only_when_they_touch() {
        assert_eq!(plain("p[1]").first(), Some(&Token::Sign("p[")));
        assert_eq!(plain("p [1]").first(), Some(&Token::Name("p")));
        assert_eq!(plain("xp[1]").first(), Some(&Token::Name("xp")));
    }

    #[test]
    fn lines_continue_inside_brackets_and_after_what_a_value_must_follow() {
        let count = |source: &str| plain(source).into_iter().filter(|token| *token == Token::LineEnd).count();
        assert_eq!(count("f(1,\n 2)\n"), 1);
        assert_eq!(count("x = [1,\n2,\n\n3]\n"), 1);
        assert_eq!(count("a and\n b or # why\n c\n"), 1);
        for before in ["=", "==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", ",", "xor", "not", "and", "or"] {
            assert_eq!(count(&format!("x {before}\n\n # why\n 1\ny = 2\n")), 2, "{before}");
        }
        for after in ["x", "1", "1.5", "\"a\"", "True", "None", "end", "f()", "l[0]", "if x:", "halt"] {
            assert_eq!(count(&format!("{after} # why\ny = 2\n")), 2, "{after}");
        }
    }

    #[test]
    fn labels_are_passed_over_at_any_indent_and_their_lines_count() {
        let source = "$ 1 \"Robot Program\"\nx = 1\n   $ 22 \"Wait: 0.01\" \"breakAfter\"  # why\n\t$3 \"a\"\"noBreak\"\r\ny = 2\n";
        let found: Vec<_> =
            tokens(source).unwrap().into_iter().filter(|placed| placed.token != Token::LineEnd).collect();
        let lines: Vec<_> = found.iter().map(|placed| placed.position.line).collect();
        assert_eq!(lines, [2, 2, 2, 5, 5, 5, 6], "{found:?}");
        assert_eq!(plain("$ 1 \"at the end\""), [Token::End]);
    }

    #[test]
    fn what_is_no_label_is_an_error_where_it_stops_being_one() {
        for (source, line, column, expected) in [
            ("x = 1\n  $ \"no number\"\n", 2, 5, "the number of a label"),
            ("$ 4\n", 1, 4, "the text of a label"),
            ("$ 4 MoveJ\n", 1, 5, "the text of a label"),
            ("$ 4 \"MoveJ\" \"breakBefore\"\n", 1, 13, "breakAfter or noBreak"),
            ("$ 4 \"MoveJ\" x = 1\n", 1, 13, "the end of a label"),
            ("$ 4 \"MoveJ\n", 1, 5, "a statement"),
            ("x = 1 $ 4 \"MoveJ\"\n", 1, 7, "a statement"),
            ("f(\n$ 4 \"MoveJ\"\n)\n", 2, 1, "a statement"),
        ] {
            let error = tokens(source).unwrap_err();
            assert_eq!(error.position, Position { line, column }, "{source}");
            let CompileErrorKind::Syntax { expected: found, .. } = error.kind else { panic!("{error}") };
            assert_eq!(found, expected, "{source}");
        }
    }

    #[test]
    fn errors_name_line_and_column() {
        for (source, line, column) in [("a = 1\n  \"open", 2, 3), ("ok = $", 1, 6), ("\t\t?\n", 1, 3), ("é", 1, 1)] {
            let error = tokens(source).unwrap_err();
            assert_eq!(error.position, Position { line, column }, "{source}");
        }
    }
}
