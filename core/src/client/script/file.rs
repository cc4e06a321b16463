//! A program file before it is sent: its content, warnings, and the lines to which the controller's line numbers refer.

/// A file of URScript text as the controller's ports accept it (`core/docs/protocol/ur-client-interfaces.md 5.1`).
///
/// Lines before the first statement are not sent: the controller does not count lines outside a program, so its line
/// numbers would differ from those of the file.
#[derive(Clone, Copy, Debug)]
pub struct ScriptFile<'t> {
    /// The text of the program file from the first statement on.
    text: &'t str,
    /// The number of lines of the program file before the first statement.
    skipped: u32,
    kind: ScriptKind,
    name: Option<&'t str>,
    /// The number of programs that the controller sees in the file.
    programs: u32,
    /// `true` if a program of the file is not a secondary program, so that it ends the one that runs.
    replaces: bool,
}

/// The kind of a program file's last program, which is the one that runs in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptKind {
    /// A `def` block, an ordinary program of URScript.
    Program,
    /// A `sec` block: it runs beside the program and reports nothing.
    Secondary,
    /// A single line: a program of one statement, or a service line, that is, a command such as `power on` that is not
    /// URScript.
    Statement,
}

/// The reason for which a program file is not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptError {
    /// The program file is not valid UTF-8.
    NotUtf8 {
        /// The number of the line with the first invalid byte, from 1.
        line: u32,
        /// The position of the first invalid byte within the line, from 1.
        column: u32,
    },
    /// The program file contains no statement.
    Empty,
}

impl core::fmt::Display for ScriptError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NotUtf8 { line, column } => write!(f, "line {line}, byte {column}: not UTF-8 text"),
            Self::Empty => f.write_str("it has no statement"),
        }
    }
}

impl core::error::Error for ScriptError {}

/// A place in a program file that the controller does not process as its author probably intended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScriptWarning {
    /// The line of the program file to which the warning refers, from 1.
    pub line: u32,
    /// The kind of problem at this place of the program file.
    pub kind: ScriptWarningKind,
}

/// The kind of problem that a [`ScriptWarning`] about a program file names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptWarningKind {
    /// The block that begins on this line of the program has no `end` in column 1: the controller waits for the `end`
    /// and runs nothing.
    NoEnd,
    /// A second program, which ends the one before it as soon as it is read.
    Replaces,
    /// A line inside a block of the program that is not indented.
    NotIndented,
    /// A statement that takes time in a `sec` program, which has to be completed within one control step.
    TakesTime,
    /// Characters outside ASCII, in the first line that has any: the controller reads and shows each of their bytes as
    /// a character.
    NotAscii,
    /// The last line of the file has no line end, without which the controller does not run it; one is added.
    NoLineEnd,
}

impl ScriptWarningKind {
    /// Returns a description of the problem in the program file, for people.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::NoEnd => "the block that begins here has no 'end' in column 1: the controller does not run it",
            Self::Replaces => {
                "this is a program of its own, and ends the one before it at once: put both into one 'def … end'"
            }
            Self::NotIndented => "inside a program every line must be indented",
            Self::TakesTime => "a 'sec' program must finish in one control step: no motion, no sleep, no threads",
            Self::NotAscii => "a character outside ASCII: the controller shows each of its bytes as a character",
            Self::NoLineEnd => "the last line has no line end, and the controller would not run it: one is added",
        }
    }
}

/// The URScript words that cause the warning [`TakesTime`](ScriptWarningKind::TakesTime): motions, waits and threads.
const TAKE_TIME: [&str; 9] = ["sleep", "sync", "movej", "movel", "movec", "movep", "speedj", "servoj", "thread"];

impl<'t> ScriptFile<'t> {
    /// Reads the URScript program in the `bytes` of a file, without the lines before its first statement.
    ///
    /// # Errors
    /// Returns an error if nothing can be sent.
    pub fn new(bytes: &'t [u8]) -> Result<Self, ScriptError> {
        let text = utf8(bytes)?;
        let mut skipped: u32 = 0;
        let mut rest = text;
        while let Some((_, after)) = rest.split_once(['\n']).filter(|(line, _)| !is_statement(line)) {
            rest = after;
            skipped = skipped.saturating_add(1);
        }
        if !rest.split(['\n']).any(is_statement) {
            return Err(ScriptError::Empty);
        }
        let mut file =
            Self { text: rest, skipped, kind: ScriptKind::Statement, name: None, programs: 0, replaces: false };
        walk(rest, &mut |item| {
            if let Item::Begins { kind, name, .. } = item {
                file.kind = kind;
                file.name = name;
                file.programs = file.programs.saturating_add(1);
                file.replaces |= kind != ScriptKind::Secondary;
            }
        });
        Ok(file)
    }

    /// Returns the bytes of the program file to send; if [`Self::ends_with_line_end`] returns `false`, a line end has
    /// to follow.
    #[must_use]
    pub const fn bytes(&self) -> &'t [u8] {
        self.text.as_bytes()
    }

    /// Returns whether the last line of the program file has a line end, without which the controller would not run it.
    #[must_use]
    pub fn ends_with_line_end(&self) -> bool {
        self.text.ends_with('\n')
    }

    /// Returns the kind of the last program of the file: ordinary, secondary, or a single statement.
    #[must_use]
    pub const fn kind(&self) -> ScriptKind {
        self.kind
    }

    /// Returns whether a program of the file, of several perhaps not the last one, ends the one that the controller
    /// runs.
    #[must_use]
    pub const fn replaces(&self) -> bool {
        self.replaces
    }

    /// Returns the name of the last program of the file; `None` if it has none.
    #[must_use]
    pub const fn name(&self) -> Option<&'t str> {
        self.name
    }

    /// Returns the number of lines of the program file that are sent.
    #[must_use]
    pub fn lines(&self) -> u32 {
        number(lines(self.text).count())
    }

    /// Returns the number and text of the line of the file to which the controller's number `line` refers. `None` if
    /// the file contains several programs, which are counted separately, or no such line.
    #[must_use]
    pub fn source_line(&self, line: i32) -> Option<(u32, &'t str)> {
        let line = u32::try_from(line).ok().filter(|_| self.programs == 1)?;
        let text = lines(self.text).nth(usize::try_from(line.checked_sub(1)?).ok()?)?;
        Some((line.saturating_add(self.skipped), text))
    }

    /// Passes every warning about the program file to `tell`: in the order of the lines, and at the end those about a
    /// block or a line that is not ended.
    pub fn warnings(&self, mut tell: impl FnMut(ScriptWarning)) {
        let skipped = self.skipped;
        let mut warn = |line: u32, kind| tell(ScriptWarning { line: line.saturating_add(skipped), kind });
        let (mut programs, mut secondary, mut foreign) = (0_u32, false, false);
        walk(self.text, &mut |item| match item {
            Item::Begins { kind, line, .. } => {
                secondary = kind == ScriptKind::Secondary;
                // A secondary program runs beside the one before it.
                if !secondary {
                    if programs > 0 {
                        warn(line, ScriptWarningKind::Replaces);
                    }
                    programs = programs.saturating_add(1);
                }
            }
            Item::Line { line, text, inside } => {
                if inside && text.starts_with(|c: char| !c.is_whitespace() && c != '#') {
                    warn(line, ScriptWarningKind::NotIndented);
                }
                if inside && secondary && words(text).any(|word| TAKE_TIME.contains(&word)) {
                    warn(line, ScriptWarningKind::TakesTime);
                }
                if !foreign && !text.is_ascii() {
                    foreign = true;
                    warn(line, ScriptWarningKind::NotAscii);
                }
            }
            Item::NeverEnds { line } => warn(line, ScriptWarningKind::NoEnd),
        });
        if !self.ends_with_line_end() {
            warn(self.lines(), ScriptWarningKind::NoLineEnd);
        }
    }
}

enum Item<'t> {
    Begins { kind: ScriptKind, name: Option<&'t str>, line: u32 },
    Line { line: u32, text: &'t str, inside: bool },
    NeverEnds { line: u32 },
}

/// Parses a program file as the controller's ports do: blocks up to an `end` in column 1, and single lines.
fn walk<'t>(text: &'t str, visit: &mut dyn FnMut(Item<'t>)) {
    let mut block: Option<u32> = None;
    for (line, text) in (1_u32..).zip(lines(text)) {
        match block {
            Some(_) if is_end(text) => block = None,
            Some(_) => visit(Item::Line { line, text, inside: true }),
            None => {
                if !is_statement(text) {
                    continue;
                }
                let opened = opens(text);
                let (kind, name) = opened.unwrap_or((ScriptKind::Statement, None));
                visit(Item::Begins { kind, name, line });
                visit(Item::Line { line, text, inside: false });
                if opened.is_some() && !ends_on_its_line(text) {
                    block = Some(line);
                }
            }
        }
    }
    if let Some(line) = block {
        visit(Item::NeverEnds { line });
    }
}

/// Returns `bytes` as text without a byte order mark, with which some editors begin a file and which no controller
/// accepts.
pub(in crate::client) fn utf8(bytes: &[u8]) -> Result<&str, ScriptError> {
    let text = core::str::from_utf8(bytes).map_err(|error| {
        let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
        let column = before.rsplit(|byte| *byte == b'\n').next().map_or(0, <[u8]>::len);
        ScriptError::NotUtf8 { line: line_of(before), column: number(column).saturating_add(1) }
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Iterates over the lines of a text, without their line ends, as `str::lines` does. Texts are split at lists
/// of characters here and below, because a split at a single `char` would link a panic into the binary.
pub(in crate::client) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(['\n']).map(|line| match line.strip_suffix('\n') {
        Some(line) => line.strip_suffix('\r').unwrap_or(line),
        None => line,
    })
}

/// Returns whether the line contains a URScript statement: it is neither empty nor only a comment.
fn is_statement(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && !line.starts_with('#')
}

/// Returns the kind and name of a URScript block that begins in column 1 of the line; `None` if none begins there.
fn opens(line: &str) -> Option<(ScriptKind, Option<&str>)> {
    let (kind, rest) = match (line.strip_prefix("def"), line.strip_prefix("sec")) {
        (Some(rest), _) => (ScriptKind::Program, rest),
        (_, Some(rest)) => (ScriptKind::Secondary, rest),
        _ => return None,
    };
    let name = rest.strip_prefix([' ', '\t'])?.split(['(']).next()?.trim();
    Some((kind, Some(name).filter(|name| !name.is_empty())))
}

fn is_end(line: &str) -> bool {
    line.strip_prefix("end").map(str::trim_start).is_some_and(|rest| rest.is_empty() || rest.starts_with('#'))
}

/// Returns whether a URScript block that begins on this line also ends on it: `def stop(): sleep(0.0) end`.
fn ends_on_its_line(line: &str) -> bool {
    let (mut open, mut end) = (0_u32, 0_u32);
    for word in words(line) {
        match word {
            "def" | "sec" | "thread" | "if" | "while" => open = open.saturating_add(1),
            "end" => end = end.saturating_add(1),
            _ => {}
        }
    }
    end >= open
}

/// Iterates over the words of the code in a URScript line, without those in string literals and comments.
pub(in crate::client) fn words(line: &str) -> impl Iterator<Item = &str> {
    let mut comment = false;
    line.split(['"'])
        .step_by(2)
        .map_while(move |part| {
            let code = (!comment).then(|| part.split(['#']).next().unwrap_or_default());
            comment |= part.contains('#');
            code
        })
        .flat_map(|code| code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'))
}

/// Returns the number, from 1, of the line of the program file that the bytes `before` lead up to.
fn line_of(before: &[u8]) -> u32 {
    number(before.iter().filter(|byte| **byte == b'\n').count()).saturating_add(1)
}

fn number(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warnings(text: &str) -> Vec<(u32, ScriptWarningKind)> {
        let mut all = vec![];
        ScriptFile::new(text.as_bytes()).unwrap().warnings(|warning| all.push((warning.line, warning.kind)));
        all
    }

    #[test]
    fn a_program_is_sent_from_its_first_statement_and_its_lines_are_those_of_the_file() {
        let text = "\u{feff}# weld\r\n\r\ndef weld(a):\r\n  movej(q)\r\n  # pause\r\nend\r\n";
        let file = ScriptFile::new(text.as_bytes()).unwrap();
        assert_eq!((file.kind(), file.name()), (ScriptKind::Program, Some("weld")));
        assert!(file.bytes().starts_with(b"def weld"), "{file:?}");
        assert_eq!(file.source_line(2), Some((4, "  movej(q)")));
        assert_eq!(file.source_line(1), Some((3, "def weld(a):")));
        assert_eq!([file.source_line(0), file.source_line(-1), file.source_line(5)], [None; 3]);
        assert_eq!(warnings(text), []);
    }

    #[test]
    fn what_cannot_be_sent_is_said_with_its_place() {
        let error = |bytes: &[u8]| ScriptFile::new(bytes).unwrap_err();
        assert_eq!(error(b""), ScriptError::Empty);
        assert_eq!(error(b"# nothing\n  \n# else"), ScriptError::Empty);
        assert_eq!(error(b"def a():\n x\xfc()\nend\n"), ScriptError::NotUtf8 { line: 2, column: 3 });
        assert_eq!(error(b"\xff"), ScriptError::NotUtf8 { line: 1, column: 1 });
    }

    #[test]
    fn a_missing_line_end_is_noticed_and_a_lone_last_statement_is_one() {
        let file = ScriptFile::new(b"# one\nstopj(1)").unwrap();
        assert_eq!((file.bytes(), file.kind()), (b"stopj(1)".as_slice(), ScriptKind::Statement));
        assert!(!file.ends_with_line_end());
        assert_eq!(warnings("# one\nstopj(1)"), [(2, ScriptWarningKind::NoLineEnd)]);
    }

    #[test]
    fn statements_on_their_own_replace_one_another_and_blocks_do_too() {
        assert_eq!(warnings("movej(a)\n\nmovej(b)\n"), [(3, ScriptWarningKind::Replaces)]);
        let text = "def a():\n halt\nend\ndef b():\n halt\nend\n";
        assert_eq!(warnings(text), [(4, ScriptWarningKind::Replaces)]);
        let file = ScriptFile::new(text.as_bytes()).unwrap();
        assert_eq!((file.name(), file.source_line(2)), (Some("b"), None), "which program's line 2?");
        assert_eq!(warnings("sec a():\n set_flag(1,True)\nend\ndef b():\n halt\nend\n"), [], "side by side");
    }

    #[test]
    fn only_a_file_of_nothing_but_secondary_programs_leaves_the_running_program_alone() {
        let replaces = |text: &str| ScriptFile::new(text.as_bytes()).unwrap().replaces();
        let (secondary, program) = ("sec a():\n set_flag(1,True)\nend\n", "def b():\n halt\nend\n");
        assert!(!replaces(secondary) && !replaces(&secondary.repeat(2)));
        for text in [program, "halt\n", &format!("{program}{secondary}"), &format!("halt\n{secondary}")] {
            assert!(replaces(text), "{text}");
        }
    }

    #[test]
    fn a_block_without_its_end_and_lines_out_of_place_are_noticed() {
        assert_eq!(warnings("def a():\n halt\n end\n"), [(1, ScriptWarningKind::NoEnd)]);
        assert_eq!(warnings("def a():\nhalt\nend\n"), [(2, ScriptWarningKind::NotIndented)]);
        assert_eq!(warnings("def a(): sleep(0.0) end\n"), []);
        assert_eq!(warnings("def a(): textmsg(\"end # end\") end # end\n"), []);
    }

    #[test]
    fn what_a_secondary_program_may_not_do_and_foreign_characters_are_noticed() {
        let text = "sec a():\n sleep(1) # sleep\n textmsg(\"movej\")\nend\n";
        assert_eq!(warnings(text), [(2, ScriptWarningKind::TakesTime)]);
        assert_eq!(warnings("def a():\n textmsg(\"ü\")\n textmsg(\"ö\")\nend\n"), [(2, ScriptWarningKind::NotAscii)]);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_a_file_with_all_its_warnings_inside_it_or_is_refused(
            parts in proptest::collection::vec(
                proptest::sample::select(vec![
                    "def", "sec", " ", "a(): ", "end", "\n", "\r\n", "#", "\"", " sleep(1)", "ü", "\u{feff}", "thread t(): ",
                ]),
                0..40,
            )
        ) {
            let text = parts.concat();
            let lines = number(text.lines().count());
            if let Ok(file) = ScriptFile::new(text.as_bytes()) {
                file.warnings(|warning| assert!((1..=lines).contains(&warning.line), "{warning:?} of {lines} lines"));
                let sent = number(core::str::from_utf8(file.bytes()).unwrap().lines().count());
                for line in -1..=i32::try_from(sent).unwrap() + 1 {
                    let Some((at, shown)) = file.source_line(line) else { continue };
                    let stands = text.lines().nth(at as usize - 1).unwrap();
                    assert_eq!(stands.trim_start_matches('\u{feff}'), shown.trim_start_matches('\u{feff}'));
                }
            }
        }
    }
}
