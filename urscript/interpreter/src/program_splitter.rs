//! Cuts the bytes of a connection into programs and service lines (client interfaces, 5.1).

use super::limits::Limits;
use outrigger_urscript::ServiceLine;

/// A complete program or service line (a command outside of URScript).
#[derive(Clone, Debug, PartialEq)]
pub enum Assembled {
    /// The text of one program, for [`Program::compile`](super::Program::compile): a `def` or `sec` block, or a single
    /// line.
    Program(String),
    /// A service line: a command that is not URScript.
    Service(Service),
}

/// A service line: a command such as `power on` that is not URScript.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Service {
    /// A service line without arguments, such as `power on`.
    Line(ServiceLine),
    /// The service line `set speed`, with the position of the speed slider, 0 to 1.
    Speed(f64),
}

/// An assembler that cuts bytes into the units that a controller's ports accept:
///
/// * A block: from a line that begins with `def` or `sec` in column 1 up to a line `end` in column 1. It can also be a
///   single line, if every block that the line opens ends on it.
/// * Any other line: a service line if it can be read as one, otherwise a program of one line.
///
/// Outside of blocks, empty lines and lines with only a comment are dropped. A unit is complete with its newline, so
/// bytes that remain when a connection closes have no effect. Bytes are read as ISO 8859-1.
///
/// ```
/// use outrigger_interpreter::{Assembled, LineAssembler};
///
/// let mut assembler = LineAssembler::default();
/// let mut bytes: &[u8] = b"sec io():\n set_flag(1,True)\nend\nstopj(1.0)\nstopj(2";
/// let text = |text: &str| Some(Assembled::Program(text.into()));
/// assert_eq!(assembler.next(&mut bytes), text("sec io():\n set_flag(1,True)\nend\n"));
/// assert_eq!(assembler.next(&mut bytes), text("stopj(1.0)\n"));
/// assert_eq!(assembler.next(&mut bytes), None);
/// assert!(bytes.is_empty());
/// ```
#[derive(Clone, Debug)]
pub struct LineAssembler {
    /// The current line as far as its bytes have arrived, without its newline.
    line: Line,
    /// The lines of the program's block that is open.
    block: Option<Block>,
    limit: usize,
    oversize: u64,
}

#[derive(Clone, Debug, Default)]
struct Line {
    text: String,
    /// `true` if the line is longer than the limit; `text` is its beginning.
    cut: bool,
}

#[derive(Clone, Debug, Default)]
struct Block {
    text: String,
    /// `true` if the block is longer than the limit: its text was dropped, and its remaining lines are skipped.
    skipped: bool,
}

impl Default for LineAssembler {
    /// Returns an assembler with the default of [`Limits::source`].
    fn default() -> Self {
        Self::new(Limits::default().source)
    }
}

impl LineAssembler {
    /// Returns an assembler that skips and counts programs longer than `limit` bytes. It uses at most twice as much
    /// memory.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { line: Line::default(), block: None, limit, oversize: 0 }
    }

    /// Returns the number of programs and lines that were skipped because of their length.
    #[must_use]
    pub fn oversize(&self) -> u64 {
        self.oversize
    }

    /// Takes bytes off the front until a program or service line is complete; `None` if all bytes are taken and neither
    /// is complete.
    pub fn next(&mut self, bytes: &mut &[u8]) -> Option<Assembled> {
        while let Some((byte, rest)) = bytes.split_first() {
            *bytes = rest;
            if *byte == b'\n' {
                let line = core::mem::take(&mut self.line);
                let complete = if self.block.is_some() { self.within(&line) } else { self.outside(line) };
                if complete.is_some() {
                    return complete;
                }
            } else if self.line.text.len() < self.limit {
                self.line.text.push(char::from(*byte));
            } else {
                self.line.cut = true;
            }
        }
        None
    }

    /// Adds a line to the program's open block. Returns the program if the line ends the block.
    fn within(&mut self, line: &Line) -> Option<Assembled> {
        let block = self.block.as_mut()?;
        let len = block.text.len().saturating_add(line.text.len()).saturating_add(1);
        if !block.skipped && (line.cut || len > self.limit) {
            self.oversize = self.oversize.saturating_add(1);
            *block = Block { skipped: true, ..Block::default() };
        }
        if !block.skipped {
            block.text.push_str(&line.text);
            block.text.push('\n');
        }
        if line.cut || !is_end(&line.text) {
            return None;
        }
        self.block.take().filter(|block| !block.skipped).map(|block| Assembled::Program(block.text))
    }

    /// Converts a line outside of program blocks to a service line or a program of one line. Returns `None` for a line
    /// that opens a block, is empty, contains only a comment, or is too long.
    fn outside(&mut self, line: Line) -> Option<Assembled> {
        let Line { mut text, cut } = line;
        let opens = opens_block(&text);
        if cut || text.len() >= self.limit {
            self.oversize = self.oversize.saturating_add(1);
            if opens {
                self.block = Some(Block { skipped: true, ..Block::default() });
            }
            return None;
        }
        let words = text.trim();
        if words.is_empty() || words.starts_with('#') {
            return None;
        }
        if let Some(service) = service(words) {
            return Some(Assembled::Service(service));
        }
        text.push('\n');
        if opens && open_blocks(&text) > 0 {
            self.block = Some(Block { text, skipped: false });
            return None;
        }
        Some(Assembled::Program(text))
    }
}

fn service(words: &str) -> Option<Service> {
    if let Some(line) = ServiceLine::ALL.into_iter().find(|line| line.words() == words) {
        return Some(Service::Line(line));
    }
    let speed: f64 = words.strip_prefix("set speed ")?.trim_start().parse().ok()?;
    (0.0..=1.0).contains(&speed).then_some(Service::Speed(speed))
}

fn opens_block(line: &str) -> bool {
    let rest = line.strip_prefix("def").or_else(|| line.strip_prefix("sec"));
    rest.is_some_and(|rest| rest.starts_with([' ', '\t']))
}

fn is_end(line: &str) -> bool {
    line.strip_prefix("end").map(str::trim_start).is_some_and(|rest| rest.is_empty() || rest.starts_with('#'))
}

/// Returns the number of blocks that a line opens and does not end.
fn open_blocks(line: &str) -> i64 {
    // Every second part is a quoted text.
    let outside = line.split('"').step_by(2).flat_map(|part| {
        let comment = part.contains('#');
        part.split('#').take(1).map(move |code| (code, comment))
    });
    let mut open = 0_i64;
    for (code, comment) in outside {
        for word in code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
            match word {
                "def" | "sec" | "thread" | "if" | "while" => open = open.saturating_add(1),
                "end" => open = open.saturating_sub(1),
                _ => {}
            }
        }
        if comment {
            break;
        }
    }
    open
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> Vec<Assembled> {
        let (mut assembler, mut rest) = (LineAssembler::default(), bytes);
        core::iter::from_fn(|| assembler.next(&mut rest)).collect()
    }

    fn program(text: &str) -> Assembled {
        Assembled::Program(text.into())
    }

    #[test]
    fn a_line_is_a_program_only_with_its_newline() {
        assert_eq!(all(b"stopj(1.0)"), []);
        assert_eq!(all(b"stopj(1.0)\nstopj(2.0)\r\n"), [program("stopj(1.0)\n"), program("stopj(2.0)\r\n")]);
    }

    #[test]
    fn a_block_ends_with_end_in_column_one() {
        let text = "def a():\n if True:\n  halt\n end\n\tendless()\nend # of a\n";
        assert_eq!(all(text.as_bytes()), [program(text)]);
        let before_its_newline = text.trim_end().as_bytes();
        assert_eq!(all(before_its_newline), []);
    }

    #[test]
    fn a_block_may_stand_on_one_line() {
        for text in [
            "def stop(): sleep(0.0) end\n",
            "sec io(): if True: set_flag(1, True) end end # end\n",
            "def say(): textmsg(\"if # not ended\") end\n",
        ] {
            assert_eq!(all(text.as_bytes()), [program(text)]);
        }
        assert_eq!(all(b"def a(): if True: halt end\n"), [], "the program itself is open");
    }

    #[test]
    fn words_that_only_begin_like_a_block_open_none() {
        assert_eq!(all(b"define(1)\n"), [program("define(1)\n")]);
        assert_eq!(all(b" def a():\n"), [program(" def a():\n")], "not in column one");
    }

    #[test]
    fn service_lines_are_told_from_programs() {
        let service = |line| Assembled::Service(Service::Line(line));
        assert_eq!(all(b"power on\n"), [service(ServiceLine::PowerOn)]);
        assert_eq!(all(b" stop program\r\n"), [service(ServiceLine::StopProgram)]);
        assert_eq!(all(b"set speed 0.25\n"), [Assembled::Service(Service::Speed(0.25))]);
        for text in ["set speed 2\n", "set speed\n", "set speed NaN\n", "power  on\n"] {
            assert_eq!(all(text.as_bytes()), [program(text)], "for the compiler to refuse");
        }
        let inside = "def a():\npower on\nend\n";
        assert_eq!(all(inside.as_bytes()), [program(inside)]);
    }

    #[test]
    fn empty_lines_and_comments_are_dropped_outside_blocks_and_counted_inside() {
        assert_eq!(all(b"\n \r\n# hello\n  # again\nhalt\n"), [program("halt\n")]);
        let text = "def a():\n\n # note\nend\n";
        assert_eq!(all(text.as_bytes()), [program(text)]);
    }

    #[test]
    fn oversize_programs_are_skipped_to_their_end_and_counted() {
        let mut assembler = LineAssembler::new(32);
        let long = "x".repeat(100);
        let text = format!("{long}\nhalt\ndef a():\n {long}\nend\ndef {long}():\n halt\nend\nstopj(1)\n");
        let mut bytes = text.as_bytes();
        let found: Vec<_> = core::iter::from_fn(|| assembler.next(&mut bytes)).collect();
        assert_eq!(found, [program("halt\n"), program("stopj(1)\n")]);
        assert_eq!(assembler.oversize(), 3);
    }

    #[test]
    fn bytes_are_read_as_latin_1() {
        assert_eq!(all(b"textmsg(\"gr\xfcn\")\n"), [program("textmsg(\"gr\u{fc}n\")\n")]);
    }
}
