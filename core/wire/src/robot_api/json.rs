//! Reads a JSON text byte by byte and extracts the value of one member.

use heapless::Vec;

/// The length of the longest extracted JSON text that is stored \[B\]; the rest of a longer one is dropped.
const VALUE: usize = 512;
/// The length of the longest member name that can be distinguished \[B\].
const KEY: usize = 16;
/// The deepest nesting of JSON objects and arrays that is accepted.
const DEPTH: u8 = 64;

/// The member of a JSON text to extract: the first of these paths whose value is a text, or also `null` if there is only
/// one path. Each path is the enclosing object's name (empty for the outermost object) and the member's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    pub(super) path: &'static [(&'static str, &'static str)],
}

/// The value of the extracted member of a JSON text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// A text of at most 512 bytes; the rest of a longer one is dropped.
    Text {
        /// The text of the member in UTF-8, with escapes resolved.
        bytes: &'a [u8],
        /// `true` if the end of the member's text was dropped.
        cut: bool,
    },
    /// The value of the member is `null`.
    Null,
}

/// The part of the JSON text that must follow at this position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Value,
    /// The first value of a JSON array, or the end of the array.
    ValueOrEnd,
    Key,
    /// The first key of a JSON object, or the end of the object.
    KeyOrEnd,
    Colon,
    CommaOrEnd,
    /// More characters of a quoted text, or its closing quote.
    Text,
    /// The character after a backslash within a quoted text.
    Escape,
    /// Hexadecimal digits of an escaped character: the number still missing, and the value of those read.
    Unicode(u8, u16),
    Number,
    /// The rest of the literal `true`, `false` or `null`.
    Word(&'static [u8]),
    /// The end of the JSON text: all of it was read.
    Done,
    /// The input is not valid JSON.
    Invalid,
}

/// The meaning of the quoted text or value that is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Key,
    /// The value of a member to extract; the number is its index in [`Member::path`].
    Wanted(u8),
    Other,
}

/// Reads a JSON text and stores one member. Numbers are skipped without validation.
#[derive(Clone, Debug)]
pub(super) struct Scanner {
    member: Member,
    next: Next,
    role: Role,
    depth: u8,
    /// The kinds of the open JSON objects and arrays, one bit per level, the innermost in the lowest bit: set for an
    /// object, clear for an array.
    objects: u64,
    /// The names of the current members of the outermost object and of the one inside it.
    keys: [Vec<u8, KEY>; 2],
    /// The first half of a surrogate pair, until the second half is read.
    high: Option<u16>,
    /// The index, in [`Member::path`], of the path at which a usable value was found; `true` if the value is `null`.
    found: Option<(u8, bool)>,
    value: Vec<u8, VALUE>,
    cut: bool,
}

impl Scanner {
    pub(super) const fn new(member: Member) -> Self {
        Self {
            member,
            next: Next::Value,
            role: Role::Other,
            depth: 0,
            objects: 0,
            keys: [Vec::new(), Vec::new()],
            high: None,
            found: None,
            value: Vec::new(),
            cut: false,
        }
    }

    /// Returns the value of the extracted JSON member; `None` unless the whole input is a JSON text that has the
    /// member.
    pub(super) fn value(&self) -> Option<Value<'_>> {
        let (_, null) = self.found.filter(|_| self.next == Next::Done)?;
        Some(if null { Value::Null } else { Value::Text { bytes: &self.value, cut: self.cut } })
    }

    pub(super) fn take(&mut self, byte: u8) {
        self.next = self.after(byte).unwrap_or(Next::Invalid);
    }

    /// Processes the next byte of the JSON text and returns the part of the text that must follow it; `None` if the
    /// byte is invalid here.
    fn after(&mut self, byte: u8) -> Option<Next> {
        match self.next {
            Next::Text => self.text(byte),
            Next::Escape => self.escape(byte),
            Next::Unicode(missing, code) => self.unicode(byte, missing, code),
            Next::Word([first, rest @ ..]) if *first == byte => {
                Some(if rest.is_empty() { self.ended() } else { Next::Word(rest) })
            }
            Next::Word(_) | Next::Invalid => None,
            Next::Number if matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E') => Some(Next::Number),
            Next::Number => {
                self.next = self.ended();
                self.after(byte)
            }
            next if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') => Some(next),
            Next::Value => self.begin(byte),
            Next::ValueOrEnd if byte == b']' => self.leave(false),
            Next::ValueOrEnd => self.begin(byte),
            Next::KeyOrEnd if byte == b'}' => self.leave(true),
            Next::Key | Next::KeyOrEnd if byte == b'"' => {
                self.role = Role::Key;
                if let Some(key) = self.key() {
                    key.clear();
                }
                Some(Next::Text)
            }
            Next::Colon if byte == b':' => Some(Next::Value),
            Next::CommaOrEnd if byte == b',' => Some(if self.in_object() { Next::Key } else { Next::Value }),
            Next::CommaOrEnd if matches!(byte, b'}' | b']') => self.leave(byte == b'}'),
            Next::Key | Next::KeyOrEnd | Next::Colon | Next::CommaOrEnd | Next::Done => None,
        }
    }

    const fn in_object(&self) -> bool {
        self.depth > 0 && self.objects & 1 == 1
    }

    /// Returns the stored name of the current JSON member at this level; `None` at levels that are too deep to matter.
    fn key(&mut self) -> Option<&mut Vec<u8, KEY>> {
        self.keys.get_mut(usize::from(self.depth.checked_sub(1)?))
    }

    fn begin(&mut self, byte: u8) -> Option<Next> {
        self.role = self.wanted().map_or(Role::Other, Role::Wanted);
        if let Role::Wanted(place) = self.role {
            let better = self.found.is_none_or(|(found, _)| place <= found);
            let usable = byte == b'"' || (byte == b'n' && self.member.path.len() == 1);
            if !better {
                self.role = Role::Other;
            } else if usable {
                self.value.clear();
                self.cut = false;
                self.found = Some((place, byte == b'n'));
            } else if self.found.is_some_and(|(found, _)| place == found) {
                // The same member again, with a value of no use: the last one counts.
                self.found = None;
            }
        }
        match byte {
            b'"' => Some(Next::Text),
            b'{' => self.enter(true),
            b'[' => self.enter(false),
            b'-' | b'0'..=b'9' => Some(Next::Number),
            b't' => Some(Next::Word(b"rue")),
            b'f' => Some(Next::Word(b"alse")),
            b'n' => Some(Next::Word(b"ull")),
            _ => None,
        }
    }

    /// Returns the index of the current member in the paths of the member to extract; `None` if it is not among
    /// them.
    fn wanted(&self) -> Option<u8> {
        if !self.in_object() || self.depth > 2 || (self.depth == 2 && self.objects & 2 == 0) {
            return None;
        }
        let [outer, inner] = &self.keys;
        let (within, name): (&[u8], &[u8]) = if self.depth == 1 { (b"", outer) } else { (outer, inner) };
        let here = |path: &(&str, &str)| (path.0.as_bytes(), path.1.as_bytes()) == (within, name);
        self.member.path.iter().position(here).and_then(|place| u8::try_from(place).ok())
    }

    fn enter(&mut self, object: bool) -> Option<Next> {
        if self.depth == DEPTH {
            return None;
        }
        self.depth = self.depth.saturating_add(1);
        self.objects = (self.objects << 1) | u64::from(object);
        Some(if object { Next::KeyOrEnd } else { Next::ValueOrEnd })
    }

    fn leave(&mut self, object: bool) -> Option<Next> {
        if self.depth == 0 || self.in_object() != object {
            return None;
        }
        self.depth = self.depth.saturating_sub(1);
        self.objects >>= 1;
        Some(self.ended())
    }

    /// Returns the part of the JSON text that must follow a value that has ended: the end of the text, or a comma or
    /// closing bracket.
    const fn ended(&self) -> Next {
        if self.depth == 0 { Next::Done } else { Next::CommaOrEnd }
    }

    fn text(&mut self, byte: u8) -> Option<Next> {
        match byte {
            b'\\' => return Some(Next::Escape),
            // Half of a surrogate pair must be followed by the other half.
            _ if self.high.is_some() => return None,
            b'"' if self.role == Role::Key => return Some(Next::Colon),
            b'"' => return Some(self.ended()),
            0..=0x1f => return None,
            _ => self.keep(&[byte]),
        }
        Some(Next::Text)
    }

    fn escape(&mut self, byte: u8) -> Option<Next> {
        if byte == b'u' {
            return Some(Next::Unicode(4, 0));
        }
        let meant = match byte {
            b'"' | b'\\' | b'/' => byte,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            _ => return None,
        };
        if self.high.is_some() {
            return None;
        }
        self.keep(&[meant]);
        Some(Next::Text)
    }

    fn unicode(&mut self, byte: u8, missing: u8, code: u16) -> Option<Next> {
        let digit = u16::try_from(char::from(byte).to_digit(16)?).ok()?;
        let code = (code << 4) | digit;
        if missing > 1 {
            return Some(Next::Unicode(missing.saturating_sub(1), code));
        }
        let pair = match self.high.take() {
            Some(high) => [high, code],
            None if (0xd800..0xdc00).contains(&code) => {
                self.high = Some(code);
                return Some(Next::Text);
            }
            None => [code, 0],
        };
        let c = char::decode_utf16(pair).next()?.ok()?;
        let mut utf8 = [0; 4];
        self.keep(c.encode_utf8(&mut utf8).as_bytes());
        Some(Next::Text)
    }

    fn keep(&mut self, bytes: &[u8]) {
        match self.role {
            Role::Key => {
                let Some(key) = self.key() else { return };
                if key.extend_from_slice(bytes).is_err() {
                    // Longer than every path's name: store a name that no path has.
                    key.clear();
                    let _ = key.extend_from_slice(&[0; KEY]);
                }
            }
            Role::Wanted(_) => {
                self.cut |= self.cut || self.value.extend_from_slice(bytes).is_err();
            }
            Role::Other => {}
        }
    }
}
