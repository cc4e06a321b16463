//! Renders whole programs from templates, which have placeholders for values and lines for certain software versions.
//! The text is returned in pieces.
//!
//! A template is a text of this crate (`urscript/programs`) that is written for readers. The rendered text has neither
//! its comments nor its indentation. Only a position in the template is stored, so a program of any length can be read
//! through a buffer of any size.
//!
//! | in a template | becomes |
//! |---|---|
//! | `{{NAME}}` | the value of that name |
//! | `$>=5.10 ` or `$<5.10 ` at the beginning of a line, several one after the other | nothing, and the line stays where all of them hold |
//! | a line that begins with `#` | nothing, except `# HEADER_BEGIN` and `# HEADER_END` |
//! | blanks at the beginning of a line | one: a controller takes `def` without any for the beginning of a program |
//! | empty lines | nothing |
//! | a byte from 128 on | to [`ScriptText::of`], which the packed templates of this crate are for: a frequent word |

use core::net::Ipv4Addr;

use super::error::Range;
use super::templates::{is_word, word};
use super::text_cursor::Line;
use super::version::Version;

/// The size of the memory for a number or address that replaces a placeholder \[B\]: enough for a sign, ten digits, a
/// point and the decimals.
const SCRATCH: usize = 20;

/// The value that replaces a placeholder of a template.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScriptValue<'a> {
    /// A whole number in place of the placeholder.
    Integer(i32),
    /// A decimal with six digits after the point, in the range [`ScriptValue::DECIMAL`].
    Decimal(f32),
    /// An IP address such as `192.168.56.1`.
    Address(Ipv4Addr),
    /// A text value of printable ASCII without `"` and `\`.
    Text(&'a str),
    /// A text that may contain line ends, repeated this number of times. It makes the rows of a list whose length is
    /// chosen when the program is rendered.
    Repeated(&'a str, u16),
}

impl ScriptValue<'_> {
    /// The range of [`ScriptValue::Decimal`] values that are rendered.
    pub const DECIMAL: Range = Range::symmetric(4e9);

    fn is_sound(&self) -> bool {
        match *self {
            Self::Integer(_) | Self::Address(_) => true,
            Self::Decimal(value) => (Self::DECIMAL.min..=Self::DECIMAL.max).contains(&value),
            Self::Text(text) => is_plain(text.bytes()),
            Self::Repeated(text, times) => {
                times > 0 && !text.is_empty() && is_plain(text.bytes().filter(|byte| *byte != b'\n'))
            }
        }
    }

    /// Returns the number of times that the placeholder's value is written: 1, except for a repeated text.
    const fn times(&self) -> usize {
        match *self {
            Self::Repeated(_, times) => times as usize,
            Self::Integer(_) | Self::Decimal(_) | Self::Address(_) | Self::Text(_) => 1,
        }
    }

    /// Returns the bytes that are written for a placeholder's value: a text itself, or a number's text, which is
    /// written to `scratch`.
    fn bytes<'b>(&'b self, scratch: &'b mut [u8; SCRATCH]) -> &'b [u8] {
        let mut line = Line::new(scratch);
        match *self {
            Self::Integer(value) => {
                if value < 0 {
                    line.put(b"-");
                }
                line.integer(value.unsigned_abs());
            }
            Self::Decimal(value) => line.number(value),
            Self::Address(address) => {
                let [a, b, c, d] = address.octets();
                for byte in [a, b, c] {
                    line.integer(byte.into());
                    line.put(b".");
                }
                line.integer(d.into());
            }
            Self::Text(text) | Self::Repeated(text, _) => return text.as_bytes(),
        }
        let len = line.finish().unwrap_or(0);
        scratch.get(..len).unwrap_or_default()
    }
}

fn is_plain(mut bytes: impl Iterator<Item = u8>) -> bool {
    bytes.all(|b| matches!(b, b' '..=b'~') && b != b'"' && b != b'\\')
}

/// The reason why a program's template is not rendered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ScriptError {
    /// A placeholder in this line of the template has a name without a value, or is not closed.
    Place {
        /// The number of the template's line, from 1.
        line: u16,
    },
    /// The text after `$` at the beginning of this line is not a condition on the software version.
    Gate {
        /// The number of the template's line, from 1.
        line: u16,
    },
    /// A placeholder's value is not finite, too large, or a text that could end its string.
    Value {
        /// The index of the rejected value in the list of placeholders' values, from 0.
        index: u8,
    },
}

impl core::error::Error for ScriptError {}

impl core::fmt::Display for ScriptError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Place { line } => write!(f, "line {line} of the template has a place without a value"),
            Self::Gate { line } => write!(f, "line {line} of the template names no software after `$`"),
            Self::Value { index } => write!(f, "value {index} of the template cannot be written"),
        }
    }
}

/// The way in which a list of templates makes up a program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Each template is written as it is, one after the other.
    Plain,
    /// The second template is the body of a program.
    Wrapped,
    /// The bytes from 128 on in a template represent frequent words.
    Packed,
}

/// The text of a URScript program that is rendered from a template, read part by part.
///
/// ```
/// use outrigger_urscript::{ScriptText, ScriptValue, Version};
///
/// let template = "# Says hello.\ndef hello():\n  $>=5.0 textmsg({{N}})\nend\n";
/// let values = [("N", ScriptValue::Integer(7))];
/// let mut text = ScriptText::new(template, &values, Version::new(5, 15)).unwrap();
/// assert_eq!(text.len(), 29);
/// let (mut piece, mut sent) = ([0; 16], Vec::<u8>::new());
/// while let n @ 1.. = text.read(&mut piece) {
///     sent.extend_from_slice(&piece[..n]);
/// }
/// assert_eq!(sent, b"def hello():\n textmsg(7)\nend\n");
/// ```
#[derive(Clone, Debug)]
pub struct ScriptText<'a> {
    values: &'a [(&'a str, ScriptValue<'a>)],
    version: Version,
    /// The templates of the program that follow `rest`, in order.
    after: [&'a [u8]; 5],
    rest: &'a [u8],
    /// The number of the current line of the template, from 1.
    line: u16,
    /// `true` if `rest` is at the beginning of a line of the template.
    fresh: bool,
    /// `true` if the next template is the body of a program.
    wraps: bool,
    /// `true` if `rest` is in the body of a program, which gets indented.
    indents: bool,
    /// `true` if bytes from 128 on in the templates represent frequent words.
    packed: bool,
    /// The number of bytes that were already read of the value for the placeholder at the beginning of `rest`.
    within: usize,
    len: usize,
}

impl<'a> ScriptText<'a> {
    /// Returns the text of a template for a controller of this software. All of it is rendered once for checking, so
    /// that [`read`](Self::read) cannot fail.
    ///
    /// # Errors
    /// A placeholder without a value, a line with an invalid condition, or a value that cannot be written.
    pub fn new(
        template: &'a str,
        values: &'a [(&'a str, ScriptValue<'a>)],
        version: Version,
    ) -> Result<Self, ScriptError> {
        Self::joined(template.as_bytes(), [b""; 5], Form::Plain, values, version)
    }

    /// Returns the text of a template that is the body of a program, between a first line, e.g. `"def
    /// externalControl():\n"`, and `end`.
    ///
    /// # Errors
    /// The errors of [`ScriptText::new`].
    pub fn within(
        head: &'a str,
        template: &'a str,
        values: &'a [(&'a str, ScriptValue<'a>)],
        version: Version,
    ) -> Result<Self, ScriptError> {
        Self::joined(head.as_bytes(), [template.as_bytes(), b"end\n", b"", b"", b""], Form::Wrapped, values, version)
    }

    /// Returns the concatenated texts of several of this crate's own [`programs`](crate::programs), in which a byte
    /// from 128 on represents a frequent word.
    ///
    /// # Errors
    /// The errors of [`ScriptText::new`].
    pub fn of(
        templates: [&'a [u8]; 6],
        values: &'a [(&'a str, ScriptValue<'a>)],
        version: Version,
    ) -> Result<Self, ScriptError> {
        let [first, after @ ..] = templates;
        Self::joined(first, after, Form::Packed, values, version)
    }

    fn joined(
        rest: &'a [u8],
        after: [&'a [u8]; 5],
        form: Form,
        values: &'a [(&'a str, ScriptValue<'a>)],
        version: Version,
    ) -> Result<Self, ScriptError> {
        for (index, (_, value)) in (0..).zip(values) {
            if !value.is_sound() {
                return Err(ScriptError::Value { index });
            }
        }
        let (fresh, indents) = (true, false);
        let (wraps, packed) = (form == Form::Wrapped, form == Form::Packed);
        let mut text = Self { values, version, after, rest, line: 0, fresh, wraps, indents, packed, within: 0, len: 0 };
        let (mut walk, mut len) = (text.clone(), 0_usize);
        while let n @ 1.. = walk.fill(&mut [0; 64])? {
            len = len.saturating_add(n);
        }
        text.len = len;
        Ok(text)
    }

    /// Returns the length of the whole program's text \[B\].
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns `true` if the program's text is empty, because no line of the template is for this software.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Fills a buffer with the next part of the text and returns the part's length \[B\]. The length is smaller than
    /// that of the buffer at the end of the text, and 0 after it.
    pub fn read(&mut self, out: &mut [u8]) -> usize {
        // Cannot fail, because `joined` has rendered all of it.
        self.fill(out).unwrap_or(0)
    }

    fn fill(&mut self, out: &mut [u8]) -> Result<usize, ScriptError> {
        let mut at = 0_usize;
        loop {
            let room = out.get_mut(at..).unwrap_or_default();
            let Some(next) = room.first_mut() else { return Ok(at) };
            if self.fresh {
                let Some(indented) = self.begin_line()? else { return Ok(at) };
                self.fresh = false;
                if indented {
                    *next = b' ';
                    at = at.saturating_add(1);
                    continue;
                }
            }
            let mut scratch = [0; SCRATCH];
            let value;
            // The bytes that are copied together, how often, the bytes behind them, and whether they end the line.
            let whole = if let Some(place) = self.rest.strip_prefix(b"{{") {
                let refused = ScriptError::Place { line: self.line };
                let rest;
                (value, rest) = self.value(place).ok_or(refused)?;
                Some((value.bytes(&mut scratch), value.times(), rest, false))
            } else {
                let first = self.rest.split_first().filter(|_| self.packed);
                let frequent = first.and_then(|(byte, rest)| Some((word(*byte)?, rest)));
                frequent.map(|(word, rest)| (word, 1, rest, word.ends_with(b"\n")))
            };
            let copied = if let Some((whole, times, rest, ends_line)) = whole {
                let written = self.within.checked_rem(whole.len()).unwrap_or_default();
                let copied = copy(whole.get(written..).unwrap_or_default(), room);
                self.within = self.within.saturating_add(copied);
                if self.within >= whole.len().saturating_mul(times) {
                    (self.rest, self.within, self.fresh) = (rest, 0, ends_line);
                }
                copied
            } else {
                let copied = copy_line(self.rest, room, self.packed);
                let (done, rest) = self.rest.split_at_checked(copied).unwrap_or_default();
                self.rest = rest;
                self.fresh = done.last() == Some(&b'\n');
                copied
            };
            // A template may end within a line.
            self.fresh |= self.rest.is_empty();
            at = at.saturating_add(copied);
        }
    }

    /// Returns the value of the placeholder with which `place` begins, and the bytes behind the placeholder.
    fn value(&self, place: &'a [u8]) -> Option<(ScriptValue<'a>, &'a [u8])> {
        self.values.iter().find_map(|(name, value)| {
            let rest = place.strip_prefix(name.as_bytes())?.strip_prefix(b"}}")?;
            Some((*value, rest))
        })
    }

    /// Advances to the first byte of the template's next line that is rendered and returns whether the line is
    /// indented; `None` at the end.
    fn begin_line(&mut self) -> Result<Option<bool>, ScriptError> {
        self.line = self.line.saturating_add(1);
        let mut indented = self.indents;
        loop {
            let Some((&first, rest)) = self.rest.split_first() else {
                let [next, second, third, fourth, last] = self.after;
                if self.after.iter().all(|text| text.is_empty()) {
                    return Ok(None);
                }
                (self.rest, self.after, self.line) = (next, [second, third, fourth, last, b""], 1);
                self.indents = core::mem::take(&mut self.wraps);
                indented = self.indents;
                continue;
            };
            let keeps = match first {
                b' ' | b'\t' => {
                    self.rest = rest;
                    indented = true;
                    continue;
                }
                b'\n' => false,
                b'#' => rest.starts_with(b" HEADER_"),
                b'$' => {
                    let (holds, after) = gate(rest, self.version).ok_or(ScriptError::Gate { line: self.line })?;
                    if holds {
                        self.rest = after;
                        continue;
                    }
                    false
                }
                _ => true,
            };
            if keeps {
                return Ok(Some(indented));
            }
            let end = self
                .rest
                .iter()
                .position(|b| ends_line(*b, self.packed))
                .map_or(self.rest.len(), |at| at.saturating_add(1));
            self.rest = self.rest.get(end..).unwrap_or_default();
            self.line = self.line.saturating_add(1);
            indented = self.indents;
        }
    }
}

/// Copies as many bytes of `from` as fit into `to` and returns their number.
fn copy(from: &[u8], to: &mut [u8]) -> usize {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
    from.len().min(to.len())
}

/// Returns `true` for a line feed and, in a packed template, for a byte that represents a word with a line feed.
fn ends_line(byte: u8, packed: bool) -> bool {
    byte == b'\n' || packed && word(byte).is_some_and(|word| word.ends_with(b"\n"))
}

/// Copies bytes of a line up to a placeholder or a frequent word, or up to and including the end of the line, as far
/// as they fit.
fn copy_line(from: &[u8], to: &mut [u8], packed: bool) -> usize {
    let ends = |at: usize, byte: u8| {
        byte == b'\n' || (packed && is_word(byte)) || from.get(at..).is_some_and(|from| from.starts_with(b"{{"))
    };
    let end = (0..).zip(from).find_map(|(at, byte)| ends(at, *byte).then_some(at));
    let end = end.map_or(from.len(), |at| if from.get(at) == Some(&b'\n') { at.saturating_add(1) } else { at });
    copy(from.get(..end).unwrap_or_default(), to)
}

/// Returns whether a template's line with this condition is for this software, and the text behind the condition (e.g.
/// `>=5.10 `).
fn gate(text: &[u8], version: Version) -> Option<(bool, &[u8])> {
    let (since, text) = match text.strip_prefix(b">=") {
        Some(text) => (true, text),
        None => (false, text.strip_prefix(b"<")?),
    };
    let (major, text) = number(text, b'.')?;
    let (minor, text) = number(text, b' ')?;
    Some(((version >= Version { major, minor }) == since, text))
}

fn number(text: &[u8], end: u8) -> Option<(u8, &[u8])> {
    let (digits, rest) = text.split_at_checked(text.iter().position(|b| *b == end)?)?;
    let mut value = if digits.is_empty() { None } else { Some(0_u8) };
    for digit in digits {
        let digit = digit.checked_sub(b'0').filter(|d| *d <= 9)?;
        value = value?.checked_mul(10)?.checked_add(digit);
    }
    Some((value?, rest.get(1..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(template: &str, values: &[(&str, ScriptValue<'_>)], version: Version) -> String {
        whole_and_in_pieces(&ScriptText::new(template, values, version).unwrap())
    }

    fn unpacked(template: &[u8]) -> String {
        whole_and_in_pieces(&ScriptText::of([template, b"", b"", b"", b"", b""], &[], ANY).unwrap())
    }

    fn whole_and_in_pieces(text: &ScriptText<'_>) -> String {
        let whole = read(text.clone(), 4096);
        for room in [1, 2, 3, 7, 64] {
            assert_eq!(read(text.clone(), room), whole, "in pieces of {room}");
        }
        assert_eq!(text.len(), whole.len());
        assert_eq!(text.is_empty(), whole.is_empty());
        whole
    }

    fn read(mut text: ScriptText<'_>, room: usize) -> String {
        let (mut piece, mut all) = (vec![0xa5; room], vec![]);
        while let n @ 1.. = text.read(&mut piece) {
            all.extend(&piece[..n]);
        }
        assert_eq!(text.read(&mut piece), 0, "the end stays the end");
        String::from_utf8(all).unwrap()
    }

    const ANY: Version = Version::new(5, 15);

    #[test]
    fn values_stand_where_their_names_stood() {
        let values = [
            ("N", ScriptValue::Integer(-2_147_483_648)),
            ("NAME", ScriptValue::Decimal(-0.25)),
            ("HOST", ScriptValue::Address(Ipv4Addr::new(192, 168, 56, 1))),
            ("WORDS", ScriptValue::Text("{{N}}, gain=2000")),
            ("NOTHING", ScriptValue::Text("")),
        ];
        let text = rendered("f({{NAME}},{{N}}{{NOTHING}})\n{{HOST}}\n{{WORDS}} }{\n{{NOTHING}}\n", &values, ANY);
        assert_eq!(text, "f(-0.250000,-2147483648)\n192.168.56.1\n{{N}}, gain=2000 }{\n\n");
    }

    #[test]
    fn comments_and_blanks_are_not_sent_and_the_marks_of_a_header_are() {
        let template = "# What it does.\n\n  # HEADER_BEGIN\n\tdef f():\n    x = 1\n  end\n# HEADER_END\n#f()\nf()\n";
        assert_eq!(rendered(template, &[], ANY), " # HEADER_BEGIN\n def f():\n x = 1\n end\n# HEADER_END\nf()\n");
    }

    #[test]
    fn a_byte_beyond_ascii_stands_for_a_word_wherever_it_is() {
        for byte in (128..=u8::MAX).filter(|byte| word(*byte).is_some()) {
            let of = word(byte).and_then(|word| str::from_utf8(word).ok()).unwrap();
            let (template, one) = ([b"f(".as_slice(), &[byte]].concat(), format!("f({of}"));
            assert!(of.len() > 1 && of.is_ascii() && !of.trim_end_matches('\n').contains('\n'));
            assert_eq!(unpacked(&template), one);
            assert_eq!(unpacked(&template.repeat(2)), format!("{one}{one}"));
            if of.ends_with('\n') {
                assert_eq!(unpacked(&[b"$<5.0 f(".as_slice(), &[byte], b" $>=5.0 g\n"].concat()), " g\n");
            }
        }
        assert_eq!(unpacked(b"a\tb\r\n\x01"), "a\tb\r\n\x01");
        assert_eq!(rendered("f(\u{80}\n", &[], ANY), "f(\u{80}\n", "a template of anybody is as it is");
    }

    #[test]
    fn lines_are_for_some_software_only() {
        let template = "$<3.0 a\n  $>=5.10   b\n$>=3.10 $<5.10 c\n$>=10.0 $>=10.8 {{D}}\n$>=5.0 # no\ne\n";
        let of = |major, minor| {
            let text = rendered(template, &[("D", ScriptValue::Text("d"))], Version::new(major, minor));
            text.replace(['\n', ' '], "")
        };
        assert_eq!(
            [of(1, 8), of(3, 9), of(3, 10), of(5, 9), of(5, 10), of(10, 7), of(10, 8)],
            ["ae", "e", "ce", "ce", "be", "be", "bde"]
        );
    }

    #[test]
    fn a_body_is_wrapped() {
        let text = ScriptText::within("def f():\n", "# c\n x()\n\ny()\n", &[], ANY).unwrap();
        assert_eq!((text.len(), read(text, 5)), (23, "def f():\n x()\n y()\nend\n".to_owned()));
    }

    #[test]
    fn what_cannot_be_rendered_is_refused_with_its_line() {
        let refused = |template, values: &[_]| ScriptText::new(template, values, ANY).map(drop);
        for (template, line) in
            [("\n# c\nf({{NO}})\n", 3), ("{{N\n", 1), ("f({{", 1), ("{{NN}}\n", 1), ("a\n{{N}\n", 2)]
        {
            assert_eq!(refused(template, &[("N", ScriptValue::Integer(1))]), Err(ScriptError::Place { line }));
        }
        for template in ["\n$5.0 a\n", "\n$>5.0 a\n", "\n$>=5 a\n", "\n$>=5.0\n", "\n$<.1 a\n", "\n$<5.256 a\n", "\n$"]
        {
            assert_eq!(refused(template, &[]), Err(ScriptError::Gate { line: 2 }), "{template}");
        }
        for value in [f32::NAN, f32::INFINITY, -5e9].map(ScriptValue::Decimal) {
            assert_eq!(
                refused("", &[("A", ScriptValue::Integer(1)), ("N", value)]),
                Err(ScriptError::Value { index: 1 })
            );
        }
        for text in ["a\"", "a\\", "a\nb", "ü"] {
            assert_eq!(refused("", &[("N", ScriptValue::Text(text))]), Err(ScriptError::Value { index: 0 }));
        }
        let inner = ScriptText::within("def f():\n", "\n{{NO}}\n", &[], ANY).map(drop);
        assert_eq!(inner, Err(ScriptError::Place { line: 2 }));
    }
}
