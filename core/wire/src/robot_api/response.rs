//! Reads an HTTP/1.1 response that arrives in parts of any size.

use heapless::Vec;

use super::json::{Member, Scanner, Value};
use super::software;
use crate::robot::SoftwareVersion;

/// The greatest length of an HTTP response's status line and headers together that is accepted \[B\].
const HEAD: u32 = 16 * 1024;
/// The greatest length of an HTTP response's body that is accepted \[B\]; the API's description is the longest body.
const BODY: u64 = 16 << 20;
/// The number of bytes of a response's line (status, header or chunk length) that are examined; the rest of a longer line
/// is skipped.
const LINE: usize = 128;
/// The number of bytes of a response body that are stored unchanged.
const EXCERPT: usize = 200;

/// The reason why bytes are not a valid HTTP response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum HttpError {
    /// The first line of the response is not that of HTTP/1.
    NotHttp,
    /// The status line and headers of the response are longer than 16 KiB.
    HeadTooLong,
    /// The length of the response body is not a number, is given twice with different values, or is given for a body in
    /// chunks.
    BadLength,
    /// The response has a transfer encoding other than `chunked`.
    Encoding,
    /// A chunk of the response body does not begin with its length, or is longer than its length.
    BadChunk,
    /// The body of the response is longer than 16 MiB.
    BodyTooLong,
    /// The connection ended before the response did.
    Truncated,
}

impl core::fmt::Display for HttpError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::NotHttp => "it does not answer as a web server does",
            Self::HeadTooLong => "the headers of its answer are longer than 16 KiB",
            Self::BadLength => "its answer has no length that can be understood",
            Self::Encoding => "its answer has a transfer encoding that is not understood",
            Self::BadChunk => "a chunk of its answer does not have the length that it tells",
            Self::BodyTooLong => "its answer is longer than 16 MiB",
            Self::Truncated => "the connection ended within the answer",
        })
    }
}

impl core::error::Error for HttpError {}

/// The part of the HTTP response to which the next byte belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Status,
    Header,
    /// The body of the response; the number of its bytes that are still to come.
    Body(u64),
    /// The body of a response that states no length: it lasts up to the end of the connection.
    Rest,
    ChunkSize,
    Chunk(u64),
    /// The line end after a chunk of the body.
    ChunkEnd,
    Trailer,
    Whole,
}

/// An HTTP response that is being received, with one member of the JSON text in it.
#[derive(Clone, Debug)]
pub struct Response {
    part: Part,
    line: Vec<u8, LINE>,
    /// `true` if the current line (status, header or chunk length) is longer than the part of it that is stored.
    long: bool,
    head: u32,
    status: u16,
    length: Option<u64>,
    chunked: bool,
    body: u64,
    json: Scanner,
    excerpt: Vec<u8, EXCERPT>,
}

impl Response {
    /// Starts a response whose `member` is extracted. If the status is 300 or more, [`REFUSAL`](super::REFUSAL) is
    /// extracted instead.
    #[must_use]
    pub const fn new(member: Member) -> Self {
        Self {
            part: Part::Status,
            line: Vec::new(),
            long: false,
            head: 0,
            status: 0,
            length: None,
            chunked: false,
            body: 0,
            json: Scanner::new(member),
            excerpt: Vec::new(),
        }
    }

    /// Processes received bytes and returns whether the response is complete. Bytes after its end are ignored.
    ///
    /// # Errors
    /// [`HttpError`] if the response is invalid; it will never be complete.
    pub fn take(&mut self, bytes: &[u8]) -> Result<bool, HttpError> {
        for byte in bytes {
            if self.part == Part::Whole {
                break;
            }
            self.byte(*byte)?;
        }
        Ok(self.part == Part::Whole)
    }

    /// Records that the connection has ended, which completes a response that states no length.
    ///
    /// # Errors
    /// [`HttpError::Truncated`] if the response is incomplete.
    pub fn end(&mut self) -> Result<(), HttpError> {
        match self.part {
            Part::Rest | Part::Whole => {
                self.part = Part::Whole;
                Ok(())
            }
            _ => Err(HttpError::Truncated),
        }
    }

    /// Returns the HTTP status of the response, 100 to 599; 0 before it was received.
    #[must_use]
    pub const fn status(&self) -> u16 {
        self.status
    }

    /// Returns whether the HTTP status is a success, 200 to 299.
    #[must_use]
    pub const fn is_success(&self) -> bool {
        self.status >= 200 && self.status < 300
    }

    /// Returns the extracted JSON member; `None` if the body is not a JSON text that has it.
    #[must_use]
    pub fn value(&self) -> Option<Value<'_>> {
        self.json.value()
    }

    /// Returns up to 200 bytes of the response body, from its first byte that is not white space, without white space
    /// at their end.
    #[must_use]
    pub fn excerpt(&self) -> &[u8] {
        self.excerpt.trim_ascii()
    }

    /// Returns the oldest controller software that has the API version that this response contains; `None` if the
    /// extracted member is not a version or the status is no success.
    #[must_use]
    pub fn software(&self) -> Option<SoftwareVersion> {
        match self.value()? {
            Value::Text { bytes, .. } if self.is_success() => software(bytes),
            Value::Text { .. } | Value::Null => None,
        }
    }

    fn byte(&mut self, byte: u8) -> Result<(), HttpError> {
        match self.part {
            Part::Body(left) => {
                self.content(byte)?;
                self.part = if left > 1 { Part::Body(left.saturating_sub(1)) } else { Part::Whole };
            }
            Part::Rest => self.content(byte)?,
            Part::Chunk(left) => {
                self.content(byte)?;
                self.part = if left > 1 { Part::Chunk(left.saturating_sub(1)) } else { Part::ChunkEnd };
            }
            Part::Status | Part::Header | Part::ChunkSize | Part::ChunkEnd | Part::Trailer if byte != b'\n' => {
                self.head = self.head.saturating_add(1);
                self.long |= self.line.push(byte).is_err();
                if self.head > HEAD {
                    return Err(HttpError::HeadTooLong);
                }
                if self.part == Part::Status && !b"HTTP/1.".iter().zip(&self.line).all(|(a, b)| a == b) {
                    return Err(HttpError::NotHttp);
                }
            }
            Part::Status | Part::Header | Part::ChunkSize | Part::ChunkEnd | Part::Trailer => {
                let line = core::mem::take(&mut self.line);
                let long = core::mem::take(&mut self.long);
                let line = line.strip_suffix(b"\r").unwrap_or(&line);
                self.part = self.end_of_line(line, long)?;
            }
            Part::Whole => {}
        }
        Ok(())
    }

    fn end_of_line(&mut self, line: &[u8], long: bool) -> Result<Part, HttpError> {
        Ok(match self.part {
            Part::Status => {
                let mut words = line.split(|byte| *byte == b' ').skip(1);
                let status = words.next().and_then(|digits| number(digits, 10));
                let status = status.and_then(|status| u16::try_from(status).ok());
                self.status = status.filter(|status| (100..600).contains(status)).ok_or(HttpError::NotHttp)?;
                if self.status >= 300 {
                    self.json = Scanner::new(super::REFUSAL);
                }
                Part::Header
            }
            Part::Header if !line.is_empty() || long => {
                self.header(line, long)?;
                Part::Header
            }
            // The final response follows an informational one.
            Part::Header if self.status < 200 => {
                (self.length, self.chunked) = (None, false);
                Part::Status
            }
            Part::Header => match (self.chunked, self.length) {
                _ if matches!(self.status, 204 | 304) => Part::Whole,
                (true, Some(_)) => return Err(HttpError::BadLength),
                (true, None) => {
                    self.head = 0;
                    Part::ChunkSize
                }
                (false, Some(0)) => Part::Whole,
                (false, Some(length)) if length > BODY => return Err(HttpError::BodyTooLong),
                (false, Some(length)) => Part::Body(length),
                (false, None) => Part::Rest,
            },
            Part::ChunkSize => {
                let digits = line.split(|byte| *byte == b';').next().unwrap_or_default();
                self.head = 0;
                match number(digits.trim_ascii(), 16).ok_or(HttpError::BadChunk)? {
                    0 => Part::Trailer,
                    size => Part::Chunk(size),
                }
            }
            Part::ChunkEnd if line.is_empty() && !long => Part::ChunkSize,
            Part::ChunkEnd => return Err(HttpError::BadChunk),
            Part::Trailer if line.is_empty() && !long => Part::Whole,
            part => part,
        })
    }

    fn header(&mut self, line: &[u8], long: bool) -> Result<(), HttpError> {
        let mut parts = line.splitn(2, |byte| *byte == b':');
        let (name, value) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default().trim_ascii());
        if name.eq_ignore_ascii_case(b"content-length") {
            let length = number(value, 10).filter(|_| !long).ok_or(HttpError::BadLength)?;
            if self.length.replace(length).is_some_and(|before| before != length) {
                return Err(HttpError::BadLength);
            }
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            if long || !value.eq_ignore_ascii_case(b"chunked") {
                return Err(HttpError::Encoding);
            }
            self.chunked = true;
        }
        Ok(())
    }

    fn content(&mut self, byte: u8) -> Result<(), HttpError> {
        self.body = self.body.saturating_add(1);
        if self.body > BODY {
            return Err(HttpError::BodyTooLong);
        }
        // Leading white space is skipped; bytes beyond the capacity are dropped.
        if !self.excerpt.is_empty() || !byte.is_ascii_whitespace() {
            let _ = self.excerpt.push(byte);
        }
        self.json.take(byte);
        Ok(())
    }
}

/// Reads a number that consists of digits of this radix only; `None` for any other bytes.
fn number(digits: &[u8], radix: u32) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |number, byte| {
        let digit = char::from(*byte).to_digit(radix)?;
        number.checked_mul(radix.into())?.checked_add(digit.into())
    })
}
