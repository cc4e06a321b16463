//! A parser for one request line: a JSON object of known keys and flat values. It works in place.

use core::ops::Range;

use super::json_keys::{Key, WORDS};
use super::json_number::f32_of;
use super::message::{ClientRequest, Message};
use super::request_freshness::Challenge;
use super::{Fault, FaultKind};
use outrigger_core::mode::Epoch;
use outrigger_wire::sensor::SampleValue;

const KEYS: &str = "one of do, id, epoch, output, source, values, seq, how, challenge, what";

/// An error in a request line, with its positions as offsets into the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Flaw {
    kind: FaultKind,
    at: usize,
    key: Option<Key>,
    expected: &'static str,
    found: Range<usize>,
}

impl Flaw {
    pub(super) const fn at(kind: FaultKind, at: usize, expected: &'static str) -> Self {
        Self { kind, at, key: None, expected, found: 0..0 }
    }

    const fn of(self, key: Key) -> Self {
        Self { key: Some(key), ..self }
    }

    fn found(self, found: Range<usize>) -> Self {
        Self { found, ..self }
    }
}

/// Reads the request message of a line; returns the error `flaw` if there is one already.
pub(super) fn message_of(flaw: Result<(), Flaw>, line: &mut [u8]) -> Result<Message<'_>, Fault<'_>> {
    let mut found = Found::default();
    let read = flaw.and_then(|()| Scanner { line, at: 0 }.object(&mut found)).and_then(|()| found.check());
    let line = &*line;
    read.and_then(|kind| found.message(kind, line)).map_err(|Flaw { kind, at, key, expected, found: range }| {
        let end = range.end.min(range.start.saturating_add(Fault::FOUND_MAX));
        let excerpt = line.get(range.start..end).unwrap_or_default();
        Fault { id: found.id, kind, at, key, expected, found: excerpt }
    })
}

/// A kind of client request: a value of the JSON key `do`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Status,
    Watch,
    Request,
    Resume,
    Release,
    Acknowledge,
    Set,
    Sample,
    HandBack,
    Resend,
    Freedrive,
    Force,
    ToolContact,
    Renew,
    Stiffen,
    Move,
    Cancel,
    Dashboard,
    Withdraw,
}

impl Kind {
    /// The list of all kinds of request, in the order of [`ClientRequest::WORDS`].
    const ALL: [Self; 19] = [
        Self::Status,
        Self::Watch,
        Self::Request,
        Self::Resume,
        Self::Release,
        Self::Acknowledge,
        Self::Set,
        Self::Sample,
        Self::HandBack,
        Self::Resend,
        Self::Freedrive,
        Self::Force,
        Self::ToolContact,
        Self::Renew,
        Self::Stiffen,
        Self::Move,
        Self::Cancel,
        Self::Dashboard,
        Self::Withdraw,
    ];

    /// Returns the JSON keys that this kind of request requires besides `do`, and those that it permits besides `id`,
    /// `epoch` and `challenge`.
    const fn keys(self) -> (&'static [Key], &'static [Key]) {
        match self {
            Self::Status | Self::Watch | Self::Release | Self::Acknowledge => (&[], &[]),
            Self::Renew | Self::Stiffen | Self::Cancel => (&[], &[]),
            Self::Freedrive => (&[Key::Epoch], &[Key::How]),
            Self::Force | Self::ToolContact | Self::Move | Self::Dashboard => (&[Key::Epoch, Key::How], &[]),
            Self::Request | Self::Resume | Self::HandBack | Self::Resend => (&[Key::Epoch], &[]),
            Self::Withdraw => (&[Key::What], &[]),
            Self::Set => (&[Key::Epoch, Key::Output], &[]),
            Self::Sample => (&[Key::Epoch, Key::Source, Key::Values], &[Key::Seq]),
        }
    }
}

/// The contents of a request line's JSON object.
#[derive(Default)]
struct Found {
    kind: Option<Kind>,
    id: Option<u32>,
    epoch: Option<u32>,
    output: Option<Range<usize>>,
    source: Option<Range<usize>>,
    values: Option<SampleValue>,
    seq: Option<u32>,
    how: Option<Range<usize>>,
    challenge: Option<u32>,
    what: Option<u32>,
    /// The position of each JSON key in the request line, in the order of [`Key::ALL`].
    keys: [usize; Key::ALL.len()],
    seen: u16,
    /// The position of the JSON object's end in the request line.
    end: usize,
}

impl Found {
    /// Checks that the request's JSON object has every key that its kind of request requires, and none that it does not
    /// permit. Returns the kind.
    fn check(&self) -> Result<Kind, Flaw> {
        let missing = |key: Key| Flaw::at(FaultKind::MissingKey, self.end, key.expected()).of(key);
        let kind = self.kind.ok_or_else(|| missing(Key::Do))?;
        let (needed, possible) = kind.keys();
        for (key, at) in Key::ALL.into_iter().zip(self.keys) {
            let stands = self.seen & key.bit() != 0;
            let common = matches!(key, Key::Do | Key::Id | Key::Epoch | Key::Challenge);
            if stands && !common && !needed.contains(&key) && !possible.contains(&key) {
                return Err(Flaw::at(FaultKind::UnexpectedKey, at, "no such key with this `do`").of(key));
            }
            if !stands && needed.contains(&key) {
                return Err(missing(key));
            }
        }
        Ok(kind)
    }

    fn message<'a>(&self, kind: Kind, line: &'a [u8]) -> Result<Message<'a>, Flaw> {
        let epoch = Epoch::from_number(self.epoch.unwrap_or_default());
        let text = |range: &Option<Range<usize>>| {
            let range = range.clone().unwrap_or_default();
            let bytes = line.get(range).unwrap_or_default();
            core::str::from_utf8(bytes).map_err(|_| Flaw::at(FaultKind::NotText, 0, UTF8))
        };
        let ask = match kind {
            Kind::Status => ClientRequest::Status,
            Kind::Watch => ClientRequest::Watch,
            Kind::Request => ClientRequest::Request(epoch),
            Kind::Resume => ClientRequest::Resume(epoch),
            Kind::Release => ClientRequest::Release,
            Kind::Acknowledge => ClientRequest::Acknowledge,
            Kind::Set => ClientRequest::Set { epoch, output: text(&self.output)? },
            Kind::Sample => {
                let values = self.values.unwrap_or(SampleValue::scalar(0.0));
                ClientRequest::Sample { epoch, source: text(&self.source)?, values, seq: self.seq }
            }
            Kind::HandBack => ClientRequest::HandBack(epoch),
            Kind::Resend => ClientRequest::Resend(epoch),
            Kind::Freedrive => ClientRequest::Freedrive { epoch, how: text(&self.how)? },
            Kind::Force => ClientRequest::Force { epoch, how: text(&self.how)? },
            Kind::ToolContact => ClientRequest::ToolContact { epoch, how: text(&self.how)? },
            Kind::Renew => ClientRequest::Renew,
            Kind::Stiffen => ClientRequest::Stiffen,
            Kind::Move => ClientRequest::Move { epoch, how: text(&self.how)? },
            Kind::Cancel => ClientRequest::Cancel,
            Kind::Dashboard => ClientRequest::Dashboard { epoch, how: text(&self.how)? },
            Kind::Withdraw => ClientRequest::Withdraw { what: self.what.unwrap_or_default() },
        };
        Ok(Message { id: self.id, challenge: self.challenge.map(Challenge::from_number), ask })
    }
}

const UTF8: &str = "UTF-8";
const VALUE: &str = "a value";
const STRING: &str = "a text in quotes";
const ESCAPE: &str = "an escape of JSON, of a character";

/// A scanner of a request line from its beginning. JSON texts are unescaped in place.
struct Scanner<'l> {
    line: &'l mut [u8],
    at: usize,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<u8> {
        self.line.get(self.at).copied()
    }

    fn skip(&mut self, count: usize) {
        self.at = self.at.saturating_add(count);
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r')) {
            self.skip(1);
        }
    }

    /// Returns the error for a JSON syntax error at the current position in the line.
    fn syntax(&self, expected: &'static str) -> Flaw {
        Flaw::at(FaultKind::Syntax, self.at, expected).found(self.token())
    }

    /// Returns the range in the line from the current position to the next character that separates JSON values or
    /// keys.
    fn token(&self) -> Range<usize> {
        let rest = self.line.get(self.at..).unwrap_or_default();
        let ends = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b',' | b':' | b']' | b'}');
        let length = rest.iter().position(ends).unwrap_or(rest.len()).max(usize::from(!rest.is_empty()));
        self.at..self.at.saturating_add(length)
    }

    fn take(&mut self, byte: u8, expected: &'static str) -> Result<(), Flaw> {
        self.blanks();
        if self.peek() != Some(byte) {
            return Err(self.syntax(expected));
        }
        self.skip(1);
        Ok(())
    }

    /// Consumes a comma of the JSON text and returns `true`, or consumes the closing bracket `end` and returns `false`.
    fn another(&mut self, end: u8, expected: &'static str) -> Result<bool, Flaw> {
        self.blanks();
        let more = match self.peek() {
            Some(b',') => true,
            Some(byte) if byte == end => false,
            _ => return Err(self.syntax(expected)),
        };
        self.skip(1);
        Ok(more)
    }

    fn object(mut self, found: &mut Found) -> Result<(), Flaw> {
        if let Err(error) = core::str::from_utf8(self.line) {
            let at = error.valid_up_to();
            return Err(Flaw::at(FaultKind::NotText, at, UTF8).found(at..at.saturating_add(1)));
        }
        self.take(b'{', "an object: {")?;
        self.blanks();
        if self.peek() == Some(b'}') {
            self.skip(1);
        } else {
            loop {
                self.member(found)?;
                if !self.another(b'}', "a comma or }")? {
                    break;
                }
            }
        }
        found.end = self.at.saturating_sub(1);
        self.blanks();
        if self.at < self.line.len() { Err(self.syntax("nothing after the object")) } else { Ok(()) }
    }

    fn member(&mut self, found: &mut Found) -> Result<(), Flaw> {
        self.blanks();
        let at = self.at;
        if self.peek() != Some(b'"') {
            return Err(self.syntax("a key in quotes"));
        }
        let name = self.text()?;
        let is = |key: &Key| self.line.get(name.clone()) == Some(key.name().as_bytes());
        let Some(key) = Key::ALL.into_iter().find(is) else {
            return Err(Flaw::at(FaultKind::UnknownKey, at, KEYS).found(name));
        };
        if found.seen & key.bit() != 0 {
            return Err(Flaw::at(FaultKind::RepeatedKey, at, "each key once").of(key));
        }
        found.seen |= key.bit();
        if let Some(place) = found.keys.get_mut(key as usize) {
            *place = at;
        }
        self.take(b':', "a colon")?;
        self.blanks();
        self.value(key, found).map_err(|flaw| flaw.of(key))
    }

    fn value(&mut self, key: Key, found: &mut Found) -> Result<(), Flaw> {
        let at = self.at;
        match key {
            Key::Id => found.id = Some(self.integer(key)?),
            Key::Epoch => found.epoch = Some(self.integer(key)?),
            Key::Seq => found.seq = Some(self.integer(key)?),
            Key::Challenge => found.challenge = Some(self.integer(key)?),
            Key::What => found.what = Some(self.integer(key)?),
            Key::Do => {
                let text = self.text_of(key)?;
                let word = self.line.get(text.clone()).unwrap_or_default();
                let index = ClientRequest::WORDS.iter().position(|known| known.as_bytes() == word);
                let unknown = || Flaw::at(FaultKind::UnknownWord, at, WORDS).found(text);
                found.kind = Some(index.and_then(|index| Kind::ALL.get(index).copied()).ok_or_else(unknown)?);
            }
            Key::Output | Key::Source | Key::How => {
                let text = self.text_of(key)?;
                if text.is_empty() {
                    return Err(Flaw::at(FaultKind::OutOfRange, at, key.expected()));
                }
                match key {
                    Key::Output => found.output = Some(text),
                    Key::How => found.how = Some(text),
                    _ => found.source = Some(text),
                }
            }
            Key::Values => found.values = Some(self.numbers()?),
        }
        Ok(())
    }

    /// Returns the error for a JSON value at the current position that has a wrong type or is missing.
    fn other(&self, key: Key) -> Flaw {
        let begins = matches!(self.peek(), Some(b'"' | b'[' | b'{' | b't' | b'f' | b'n' | b'-' | b'0'..=b'9'));
        if !begins {
            return self.syntax(VALUE);
        }
        Flaw::at(FaultKind::WrongType, self.at, key.expected()).found(self.token())
    }

    fn text_of(&mut self, key: Key) -> Result<Range<usize>, Flaw> {
        if self.peek() == Some(b'"') { self.text() } else { Err(self.other(key)) }
    }

    /// Reads a JSON text in quotes; returns the range of its unescaped characters in the line.
    fn text(&mut self) -> Result<Range<usize>, Flaw> {
        self.skip(1);
        let start = self.at;
        let mut end = start;
        loop {
            match self.peek() {
                None => return Err(Flaw::at(FaultKind::Syntax, self.at, "a quote at the end of the text")),
                Some(b'"') => {
                    self.skip(1);
                    return Ok(start..end);
                }
                Some(b'\\') => {
                    let character = self.escape()?;
                    let mut bytes = [0; 4];
                    for byte in character.encode_utf8(&mut bytes).bytes() {
                        self.put(&mut end, byte);
                    }
                }
                Some(control) if control < 0x20 => return Err(self.syntax(STRING)),
                Some(byte) => {
                    self.skip(1);
                    self.put(&mut end, byte);
                }
            }
        }
    }

    /// Writes a byte of an unescaped JSON text to the line; the text is never longer than its escaped form.
    fn put(&mut self, end: &mut usize, byte: u8) {
        if let Some(place) = self.line.get_mut(*end) {
            *place = byte;
        }
        *end = end.saturating_add(1);
    }

    fn escape(&mut self) -> Result<char, Flaw> {
        let flaw = Flaw::at(FaultKind::Syntax, self.at, ESCAPE).found(self.at..self.at.saturating_add(2));
        self.skip(1);
        let character = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.skip(1);
                let high = self.hexadecimal().ok_or_else(|| flaw.clone())?;
                if !(0xd800..0xdc00).contains(&high) {
                    return char::from_u32(high).ok_or(flaw);
                }
                if self.line.get(self.at..self.at.saturating_add(2)) != Some(b"\\u") {
                    return Err(flaw);
                }
                self.skip(2);
                let low =
                    self.hexadecimal().filter(|low| (0xdc00..0xe000).contains(low)).ok_or_else(|| flaw.clone())?;
                let code = 0x10000_u32.saturating_add((high & 0x3ff) << 10 | low & 0x3ff);
                return char::from_u32(code).ok_or(flaw);
            }
            _ => return Err(flaw),
        };
        self.skip(1);
        Ok(character)
    }

    fn hexadecimal(&mut self) -> Option<u32> {
        let digits = self.line.get(self.at..self.at.saturating_add(4))?;
        let number = digits.iter().try_fold(0, |number, digit| Some(number << 4 | char::from(*digit).to_digit(16)?))?;
        self.skip(4);
        Some(number)
    }

    /// Reads a number in JSON's grammar; returns its range in the request line.
    fn number(&mut self) -> Result<Range<usize>, Flaw> {
        let start = self.at;
        let flaw = self.syntax("a number as JSON writes it");
        if self.peek() == Some(b'-') {
            self.skip(1);
        }
        let whole = self.at;
        let zero = self.peek() == Some(b'0');
        let digits = self.digits();
        if digits == 0 || zero && digits > 1 {
            return Err(Flaw { at: whole, ..flaw });
        }
        if self.peek() == Some(b'.') {
            self.skip(1);
            if self.digits() == 0 {
                return Err(flaw);
            }
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.skip(1);
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.skip(1);
            }
            if self.digits() == 0 {
                return Err(flaw);
            }
        }
        Ok(start..self.at)
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.skip(1);
        }
        self.at.saturating_sub(start)
    }

    fn integer(&mut self, key: Key) -> Result<u32, Flaw> {
        if !matches!(self.peek(), Some(b'-' | b'0'..=b'9')) {
            return Err(self.other(key));
        }
        let number = self.number()?;
        let text = core::str::from_utf8(self.line.get(number.clone()).unwrap_or_default()).unwrap_or_default();
        let flaw = |kind| Flaw::at(kind, number.start, key.expected()).found(number.clone());
        if text.contains(['.', 'e', 'E']) {
            return Err(flaw(FaultKind::WrongType));
        }
        text.parse().map_err(|_| flaw(FaultKind::OutOfRange))
    }

    fn numbers(&mut self) -> Result<SampleValue, Flaw> {
        let start = self.at;
        if self.peek() != Some(b'[') {
            return Err(self.other(Key::Values));
        }
        self.skip(1);
        let (mut numbers, mut count) = ([0.0; SampleValue::CAPACITY], 0_usize);
        self.blanks();
        if self.peek() == Some(b']') {
            return Err(Flaw::at(FaultKind::OutOfRange, start, Key::Values.expected()));
        }
        loop {
            self.blanks();
            if !matches!(self.peek(), Some(b'-' | b'0'..=b'9')) {
                return Err(self.other(Key::Values));
            }
            let number = self.number()?;
            let value = f32_of(self.line.get(number.clone()).unwrap_or_default());
            match (value, numbers.get_mut(count)) {
                (Some(value), Some(place)) => *place = value,
                _ => {
                    let flaw = Flaw::at(FaultKind::OutOfRange, number.start, Key::Values.expected());
                    return Err(flaw.found(number));
                }
            }
            count = count.saturating_add(1);
            if !self.another(b']', "a comma or ]")? {
                break;
            }
        }
        let values = numbers.get(..count).and_then(SampleValue::new);
        values.ok_or_else(|| Flaw::at(FaultKind::OutOfRange, start, Key::Values.expected()))
    }
}
