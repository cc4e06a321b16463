//! A file of statements for interpreter mode, each of which is sent as one line.

use crate::client::script::ScriptError;
use crate::client::script::file::{lines, utf8, words};

/// A file of URScript statements, as in the body of a program.
///
/// A block (`if`, `while`, `def`, `thread`, `sec`) and an expression over several lines are one statement, which is
/// sent as one line: without comments, line ends and the marks that PolyScope writes before its steps.
#[derive(Clone, Copy, Debug)]
pub struct StatementFile<'t> {
    text: &'t str,
}

/// The reason for which a file of URScript statements is rejected, so that none of them is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementError {
    /// The statement file as a whole is invalid: it is not UTF-8, or contains no statement.
    File(ScriptError),
    /// The block or expression that begins at this line is not ended.
    Unfinished {
        /// The number of the line at which the block or expression begins, from 1.
        line: u32,
    },
    /// An `end` in the file that closes no block.
    StrayEnd {
        /// The number of the line of the `end`, from 1.
        line: u32,
    },
    /// The statement that begins at this line is longer than [`StatementFile::LONGEST`].
    TooLong {
        /// The number of the line at which the statement begins, from 1.
        line: u32,
    },
}

impl core::fmt::Display for StatementError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::File(error) => error.fmt(f),
            Self::Unfinished { line } => write!(f, "line {line}: this statement is not ended"),
            Self::StrayEnd { line } => write!(f, "line {line}: 'end' without a block"),
            Self::TooLong { line } => {
                write!(f, "line {line}: the statement is longer than {} bytes", StatementFile::LONGEST)
            }
        }
    }
}

impl core::error::Error for StatementError {}

impl<'t> StatementFile<'t> {
    /// The longest accepted statement \[B\]; the limit of controllers is not known.
    pub const LONGEST: usize = 32 * 1024;

    /// Checks that `bytes` consist of URScript statements, all of which can be sent.
    ///
    /// # Errors
    /// Returns the first statement that cannot be sent, or [`StatementError::File`] if the file as a whole is invalid.
    pub fn new(bytes: &'t [u8]) -> Result<Self, StatementError> {
        let text = utf8(bytes).map_err(StatementError::File)?;
        let mut all = Statements { rest: text, line: 1 };
        let mut any = false;
        while let Some(next) = all.read() {
            next?;
            any = true;
        }
        if any { Ok(Self { text }) } else { Err(StatementError::File(ScriptError::Empty)) }
    }

    /// Returns an iterator over the statements of the file, in their order.
    #[must_use]
    pub const fn statements(&self) -> Statements<'t> {
        Statements { rest: self.text, line: 1 }
    }

    /// Returns the text of a line of the file, counted from 1; `None` if the file has no such line.
    #[must_use]
    pub fn source_line(&self, line: u32) -> Option<&'t str> {
        lines(self.text).nth(usize::try_from(line.checked_sub(1)?).ok()?)
    }
}

/// A statement of a file for interpreter mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statement<'t> {
    /// The line of the file at which the statement begins, from 1.
    pub line: u32,
    /// The lines of the statement as they are in the file.
    text: &'t str,
}

impl<'t> Statement<'t> {
    /// Iterates over the parts of the statement to send, which have to be separated by blanks.
    pub fn parts(&self) -> impl Iterator<Item = &'t str> + use<'t> {
        let mut rest = self.text;
        core::iter::from_fn(move || {
            let (part, after) = split_part(rest)?;
            rest = after;
            Some(part)
        })
    }

    /// Returns the first part of the statement that is code, and the lines after it; `None` if it contains no code.
    pub(super) fn split_part(&self) -> Option<(&'t str, &'t str)> {
        split_part(self.text)
    }

    /// Returns `true` if later statements may depend on this one, because it defines or assigns something.
    #[must_use]
    pub fn defines(&self) -> bool {
        let mut depth = 0_u32;
        let mut before = b' ';
        for part in self.parts() {
            if words(part).any(|word| matches!(word, "def" | "thread" | "sec" | "global" | "local")) {
                return true;
            }
            let mut quoted = false;
            for (at, byte) in part.bytes().enumerate() {
                let next = part.as_bytes().get(at.saturating_add(1));
                match byte {
                    b'"' => quoted = !quoted,
                    _ if quoted => {}
                    b'(' | b'[' => depth = depth.saturating_add(1),
                    b')' | b']' => depth = depth.saturating_sub(1),
                    b'=' if depth == 0 && next != Some(&b'=') && !matches!(before, b'=' | b'<' | b'>' | b'!') => {
                        return true;
                    }
                    _ => {}
                }
                before = byte;
            }
        }
        false
    }
}

/// An iterator over the statements of a file.
#[derive(Clone, Debug)]
pub struct Statements<'t> {
    rest: &'t str,
    /// The number of the line of the file at which the statements that are left begin.
    line: u32,
}

impl<'t> Statements<'t> {
    fn read(&mut self) -> Option<Result<Statement<'t>, StatementError>> {
        let first = loop {
            let line = self.rest.split_inclusive(['\n']).next()?;
            if !code(line).is_empty() {
                break self.line;
            }
            self.take(line.len(), 1);
        };
        let (mut size, mut taken, mut open) = (0_usize, 0_u32, Open::default());
        for line in self.rest.split_inclusive(['\n']) {
            let number = first.saturating_add(taken);
            size = size.saturating_add(line.len());
            taken = taken.saturating_add(1);
            let part = code(line);
            let error = if !open.take(part) {
                Some(StatementError::StrayEnd { line: number })
            } else if size > StatementFile::LONGEST {
                Some(StatementError::TooLong { line: first })
            } else {
                None
            };
            if let Some(error) = error {
                self.rest = "";
                return Some(Err(error));
            }
            if open.is_none() {
                return Some(Ok(Statement { line: first, text: self.take(size, taken) }));
            }
        }
        self.rest = "";
        Some(Err(StatementError::Unfinished { line: first }))
    }

    /// Removes the first `size` bytes, which are `count` lines, from the unread part of the statement file, and returns
    /// them.
    fn take(&mut self, size: usize, count: u32) -> &'t str {
        let (taken, rest) = self.rest.split_at_checked(size).unwrap_or((self.rest, ""));
        self.rest = rest;
        self.line = self.line.saturating_add(count);
        taken
    }
}

impl<'t> Iterator for Statements<'t> {
    type Item = Statement<'t>;

    fn next(&mut self) -> Option<Statement<'t>> {
        self.read().and_then(Result::ok)
    }
}

/// Returns the first part of these lines that is code, and the text after its line; `None` if they contain no code.
pub(super) fn split_part(lines: &str) -> Option<(&str, &str)> {
    let mut size = 0_usize;
    for line in lines.split_inclusive(['\n']) {
        size = size.saturating_add(line.len());
        let part = code(line);
        if !part.is_empty() {
            return Some((part, lines.get(size..).unwrap_or_default()));
        }
    }
    None
}

/// Returns the code of a URScript line without its comment. A mark that PolyScope writes before a step of a program
/// (`$ 1 "MoveJ"`) extends to the end of its line and is not code.
fn code(line: &str) -> &str {
    let line = line.trim();
    if line.starts_with(['$']) {
        return "";
    }
    let mut quoted = false;
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b'#' if !quoted => return line.get(..at).unwrap_or_default().trim_end(),
            _ => {}
        }
    }
    line
}

/// The blocks and brackets of a URScript statement that have begun and are not ended, and whether its last line ends
/// with an operator or a comma.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    blocks: u32,
    brackets: u32,
    /// `true` if the last line of the statement ends with an operator or a comma, after which a value has to follow.
    goes_on: bool,
}

impl Open {
    const fn is_none(&self) -> bool {
        self.blocks == 0 && self.brackets == 0 && !self.goes_on
    }

    /// Processes the code of a line of URScript. Returns `false` if it ends a block that never began.
    fn take(&mut self, part: &str) -> bool {
        let mut last = "";
        for word in words(part).filter(|word| !word.is_empty()) {
            match word {
                "def" | "sec" | "thread" | "if" | "while" => self.blocks = self.blocks.saturating_add(1),
                "end" => match self.blocks.checked_sub(1) {
                    Some(blocks) => self.blocks = blocks,
                    None => return false,
                },
                _ => {}
            }
            last = word;
        }
        let mut quoted = false;
        for byte in part.bytes() {
            match byte {
                b'"' => quoted = !quoted,
                _ if quoted => {}
                b'(' | b'[' => self.brackets = self.brackets.saturating_add(1),
                b')' | b']' => self.brackets = self.brackets.saturating_sub(1),
                _ => {}
            }
        }
        if let Some(byte) = part.bytes().last() {
            let operator = matches!(byte, b'=' | b'+' | b'-' | b'*' | b'/' | b'%' | b'<' | b'>' | b',');
            let word = matches!(last, "or" | "and" | "xor" | "not") && part.ends_with(last);
            self.goes_on = operator || word;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(text: &str) -> Vec<(u32, String)> {
        let file = StatementFile::new(text.as_bytes()).unwrap();
        file.statements().map(|one| (one.line, one.parts().collect::<Vec<_>>().join(" "))).collect()
    }

    #[test]
    fn a_block_and_an_expression_over_several_lines_are_one_line_each() {
        let text = "\u{feff}# a file\r\n\r\nmovej(q) # there\r\nwhile x < 3: # thrice\n  $ 2 \"Wait\" \"noBreak\"\n\n  if a:\n    \
                    x = x + 1\n  end\nend # all\nmovel(p[0,\n  1], # metres\n  a=1)\ny = # here\n 0\nb = c or\n d\n\
                    textmsg(\"end # of (\") def f(): halt end";
        assert_eq!(
            joined(text),
            [
                (3, "movej(q)".to_owned()),
                (4, "while x < 3: if a: x = x + 1 end end".to_owned()),
                (11, "movel(p[0, 1], a=1)".to_owned()),
                (14, "y = 0".to_owned()),
                (16, "b = c or d".to_owned()),
                (18, "textmsg(\"end # of (\") def f(): halt end".to_owned()),
            ]
        );
    }

    #[test]
    fn what_cannot_be_sent_is_named_by_its_line() {
        let error = |text: &str| StatementFile::new(text.as_bytes()).unwrap_err();
        assert_eq!(error("# nothing\n\n"), StatementError::File(ScriptError::Empty));
        assert_eq!(error("a()\n\nif b:\n c()\n"), StatementError::Unfinished { line: 3 });
        assert_eq!(error("a()\nb(1,\n"), StatementError::Unfinished { line: 2 });
        assert_eq!(error("a()\nend\n"), StatementError::StrayEnd { line: 2 });
        let long = format!("a()\nif b:\n{}end\n", " textmsg(\"x\")\n".repeat(3000));
        assert_eq!(error(&long), StatementError::TooLong { line: 2 });
        let not_utf8 = StatementFile::new(b"a()\n\xff").unwrap_err();
        assert_eq!(not_utf8, StatementError::File(ScriptError::NotUtf8 { line: 2, column: 1 }));
    }

    #[test]
    fn what_later_statements_may_need_is_known() {
        let defines = |text: &str| StatementFile::new(text.as_bytes()).unwrap().statements().next().unwrap().defines();
        for text in ["def f(): halt end", "x = 1", "local y=2", "if a == 1:\n x = 2\nend", "x[1] = 2"] {
            assert!(defines(text), "{text}");
        }
        for text in ["movej(q, a=1)", "if a == 1:\n f()\nend", "while a <= 1: f() end", "textmsg(\"a = 1\")"] {
            assert!(!defines(text), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_statements_that_hold_all_of_its_code_or_is_refused(
            parts in proptest::collection::vec(
                proptest::sample::select(vec![
                    "def f(): ", "end", "\n", "\r\n", "#", "\"", " sleep(1)", "ü", "(", ")", "=", " or", "$", "while x: ", "[",
                ]),
                0..20,
            )
        ) {
            let text = parts.concat();
            if let Ok(file) = StatementFile::new(text.as_bytes()) {
                let sent: Vec<&str> = file.statements().flat_map(|one| one.parts().collect::<Vec<_>>()).collect();
                let code: Vec<&str> = text.lines().map(code).filter(|part| !part.is_empty()).collect();
                assert_eq!(sent, code);
                for one in file.statements() {
                    let first = one.parts().next().unwrap();
                    assert!(file.source_line(one.line).unwrap().contains(first));
                }
            }
        }
    }
}
