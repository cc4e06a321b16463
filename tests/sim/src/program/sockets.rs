//! The sockets of programs: connections to external servers (`core/docs/protocol/ur-external-control.md 5.1`).
//!
//! A call that waits for the peer waits in control cycles; other threads continue. Timeouts are rounded to whole
//! cycles, and one of zero or less never expires. A failure is returned as a value: `False`, 0, an empty text, or a
//! list that begins with 0. [`SocketOptions`] contains the undocumented properties.

use std::collections::{BTreeMap, VecDeque};

use outrigger_interpreter::{Call, CallResult, Value};

use super::host::{ProgramHost, done};
use crate::controller::Conn;
use crate::dial::{Dials, Phase, SocketOptions};
use crate::program_text_bytes;

/// The timeout of URScript's `socket_open` \[s\].
const OPEN: f64 = 2.0;
/// The timeout of URScript's `socket_get_var` \[s\].
const ANSWER: f64 = 2.0;
/// The largest number of values that one URScript socket read returns.
const VALUES: i32 = 30;
/// The largest length of a text that a socket read returns \[bytes\].
const TEXT: usize = 1023;

/// The sockets of the running program by name.
#[derive(Debug, Default)]
pub(crate) struct Sockets {
    pub(crate) options: SocketOptions,
    pub(crate) dials: Dials,
    by_name: BTreeMap<String, Conn>,
}

impl Sockets {
    pub(crate) fn new(options: SocketOptions, seed: u64) -> Self {
        Self { options, dials: Dials::new(seed), ..Self::default() }
    }

    /// Closes all sockets, at the end of the program.
    pub(crate) fn close_all(&mut self) {
        for (_, conn) in std::mem::take(&mut self.by_name) {
            self.dials.close(conn);
        }
    }

    fn close(&mut self, name: &str) {
        if let Some(conn) = self.by_name.remove(name) {
            self.dials.close(conn);
        }
    }

    /// Returns the connection of the program's socket with this name; `None` if the program has none. The peer may have
    /// closed the connection already, with bytes still to read.
    fn find(&self, name: &str) -> Option<Conn> {
        self.by_name.get(name).copied()
    }

    fn send(&mut self, name: &str, bytes: &[u8]) -> bool {
        self.find(name).is_some_and(|conn| self.dials.send(conn, bytes))
    }
}

/// The progress of a program's read from a socket.
enum Read {
    /// The value that the program reads from the socket is complete.
    Whole(Value),
    /// More bytes of the socket's peer are needed for the value.
    Partial,
    /// The bytes received from the socket can never form a value.
    Wrong,
}

impl ProgramHost<'_> {
    /// Executes the URScript functions `socket_…`.
    pub(super) fn socket(&mut self, call: &Call<'_>) -> Option<CallResult> {
        match call.name {
            "socket_open" => self.socket_open(call),
            "socket_close" => {
                self.plant.sockets.close(call.arg(0).text()?);
                Some(done())
            }
            "socket_send_byte" => self.send(call.arg(1), &[call.arg(0).whole()? as u8]),
            "socket_send_int" => self.send(call.arg(1), &call.arg(0).whole()?.to_be_bytes()),
            "socket_send_string" => self.send(call.arg(1), &program_text_bytes::bytes(&call.arg(0).to_string())),
            "socket_send_line" => self.send(call.arg(1), &program_text_bytes::bytes(&format!("{}\n", call.arg(0)))),
            "socket_set_var" => {
                let line = format!("SET {} {}\n", call.arg(0).text()?, call.arg(1).whole()?);
                self.send(call.arg(2), &program_text_bytes::bytes(&line)).map(|_| done())
            }
            "socket_get_var" => self.socket_get_var(call),
            "socket_read_binary_integer" => {
                let count = count(call.arg(0))?;
                self.read(call, call.arg(1), call.arg(2).number()?, failed(count, Value::Int(-1)), |bytes| {
                    binary_integers(bytes, count)
                })
            }
            "socket_read_byte_list" => {
                let count = count(call.arg(0))?;
                self.read(call, call.arg(1), call.arg(2).number()?, failed(count, Value::Int(-1)), |bytes| {
                    byte_list(bytes, count)
                })
            }
            "socket_read_ascii_float" => {
                let count = count(call.arg(0))?;
                let failure = failed(count, Value::Float(f64::NAN));
                self.read(call, call.arg(1), call.arg(2).number()?, failure, |bytes| ascii_floats(bytes, count))
            }
            "socket_read_line" => {
                let failure = Value::String(String::new());
                self.read(call, call.arg(0), call.arg(1).number()?, failure, line)
            }
            "socket_read_string" => {
                let escape = call.arg(3).truth()?;
                let (prefix, suffix) = (delimiter(call.arg(1).text()?, escape), delimiter(call.arg(2).text()?, escape));
                let failure = Value::String(String::new());
                self.read(call, call.arg(0), call.arg(4).number()?, failure, |bytes| string(bytes, &prefix, &suffix))
            }
            _ => Some(CallResult::Unknown),
        }
    }

    /// Executes `socket_open(address, port, name)`. An open socket of that name is closed first (assumed).
    fn socket_open(&mut self, call: &Call<'_>) -> Option<CallResult> {
        let (host, name) = (call.arg(0).text()?, call.arg(2).text()?);
        let port = u16::try_from(call.arg(1).whole()?).ok();
        let opened = |open| Some(CallResult::Value(Value::Bool(open)));
        let over = self.passed(call, OPEN);
        let sockets = &mut self.plant.sockets;
        if call.repeat == 0 {
            sockets.close(name);
            let Some(port) = port.filter(|_| sockets.by_name.len() < sockets.options.count) else {
                return opened(false);
            };
            let conn = sockets.dials.dial(host, port);
            sockets.by_name.insert(name.to_owned(), conn);
            return Some(CallResult::Again);
        }
        // Another thread may have closed it in the meantime.
        let phase = sockets.find(name).map_or(Phase::Over, |conn| sockets.dials.phase(conn));
        match phase {
            Phase::Open => opened(true),
            Phase::Dialling if !over => Some(CallResult::Again),
            Phase::Dialling | Phase::Closing | Phase::Over => {
                sockets.close(name);
                opened(false)
            }
        }
    }

    fn send(&mut self, name: &Value, bytes: &[u8]) -> Option<CallResult> {
        Some(CallResult::Value(Value::Bool(self.plant.sockets.send(name.text()?, bytes))))
    }

    /// Executes `socket_get_var(name, socket)`: queries the server, which answers with the name and an integer.
    /// Returns 0 if it does not answer.
    fn socket_get_var(&mut self, call: &Call<'_>) -> Option<CallResult> {
        let name = call.arg(0).text()?;
        if call.repeat == 0 {
            self.send(call.arg(1), &program_text_bytes::bytes(&format!("GET {name}\n")))?;
        }
        self.read(call, call.arg(1), ANSWER, Value::Int(0), |bytes| {
            let Read::Whole(Value::String(line)) = line(bytes) else { return Read::Partial };
            let value = line.strip_prefix(name).and_then(|value| value.trim().parse().ok());
            value.map_or(Read::Wrong, |value| Read::Whole(Value::Int(value)))
        })
    }

    /// Reads a value from a program's socket with `parse`, which removes the bytes that it uses from the front of the
    /// received ones. The result is `failure` if no valid value arrives within `timeout` \[s\], or before the peer
    /// closes.
    fn read(
        &mut self,
        call: &Call<'_>,
        name: &Value,
        timeout: f64,
        failure: Value,
        parse: impl Fn(&mut VecDeque<u8>) -> Read,
    ) -> Option<CallResult> {
        let over = timeout > 0.0 && self.passed(call, timeout);
        let sockets = &mut self.plant.sockets;
        let conn = sockets.find(name.text()?);
        let ended = conn.is_none_or(|conn| sockets.dials.phase(conn) != Phase::Open);
        let loses = sockets.options.loses_partial_reads && over;
        let waits = sockets.options.failed_reads_wait && call.repeat == 0;
        if let Some(received) = conn.and_then(|conn| sockets.dials.received(conn)) {
            match parse(received) {
                Read::Whole(value) => {
                    self.reader = Some(call.thread);
                    return Some(CallResult::Value(value));
                }
                Read::Wrong => return Some(CallResult::Value(failure)),
                Read::Partial if loses => received.clear(),
                Read::Partial => {}
            }
        }
        Some(if over || (ended && !waits) { CallResult::Value(failure) } else { CallResult::Again })
    }
}

/// Returns the number of values that a socket read requests; `None` if it is not within 1 … 30.
fn count(value: &Value) -> Option<usize> {
    usize::try_from(value.whole().filter(|count| (1..=VALUES).contains(count))?).ok()
}

/// Returns the result of a failed socket read: a list that begins with 0, followed by `filler` for each requested
/// value.
fn failed(count: usize, filler: Value) -> Value {
    let mut list = vec![filler; count + 1];
    list[0] = Value::Int(0);
    Value::List(list)
}

/// Returns the result of a complete socket read: a list that begins with the number of the following `values`.
fn counted(values: Vec<Value>) -> Read {
    let count = i32::try_from(values.len()).unwrap_or(i32::MAX);
    Read::Whole(Value::List(std::iter::once(Value::Int(count)).chain(values).collect()))
}

fn binary_integers(bytes: &mut VecDeque<u8>, count: usize) -> Read {
    const SIZE: usize = 4;
    if bytes.len() < count * SIZE {
        return Read::Partial;
    }
    let taken: Vec<u8> = bytes.drain(..count * SIZE).collect();
    let (numbers, _) = taken.as_chunks::<SIZE>();
    counted(numbers.iter().map(|number| Value::Int(i32::from_be_bytes(*number))).collect())
}

fn byte_list(bytes: &mut VecDeque<u8>, count: usize) -> Read {
    if bytes.len() < count {
        return Read::Partial;
    }
    counted(bytes.drain(..count).map(|byte| Value::Int(byte.into())).collect())
}

/// Reads `count` numbers from a text such as `(1.0, 2, -3e1)` in the received bytes. Bytes before the parenthesis are
/// skipped; a text that does not match is removed and fails.
fn ascii_floats(bytes: &mut VecDeque<u8>, count: usize) -> Read {
    let Some(end) = bytes.iter().position(|byte| *byte == b')') else {
        if bytes.len() <= TEXT {
            return Read::Partial;
        }
        bytes.clear();
        return Read::Wrong;
    };
    let text: String = bytes.drain(..=end).map(char::from).collect();
    let inner = text.trim_end_matches(')').rsplit_once('(').map(|(_, inner)| inner);
    let numbers: Option<Result<Vec<f64>, _>> =
        inner.map(|inner| inner.split(',').map(|number| number.trim().parse()).collect());
    match numbers {
        Some(Ok(numbers)) if numbers.len() == count => counted(numbers.into_iter().map(Value::Float).collect()),
        _ => Read::Wrong,
    }
}

/// Reads a text from the received bytes up to a line feed, which is removed with a carriage return before it. A longer
/// line than [`TEXT`] is cut.
fn line(bytes: &mut VecDeque<u8>) -> Read {
    let end = bytes.iter().position(|byte| *byte == b'\n');
    let Some(end) = end.filter(|end| *end <= TEXT) else {
        return cut(bytes);
    };
    let mut text: Vec<u8> = bytes.drain(..=end).collect();
    text.pop();
    text.pop_if(|last| *last == b'\r');
    Read::Whole(Value::String(text.into_iter().map(char::from).collect()))
}

/// Returns a text of [`TEXT`] bytes from the front of the received bytes; [`Read::Partial`] if fewer have arrived.
fn cut(bytes: &mut VecDeque<u8>) -> Read {
    if bytes.len() < TEXT {
        return Read::Partial;
    }
    Read::Whole(Value::String(bytes.drain(..TEXT).map(char::from).collect()))
}

/// Reads the text between `prefix` and `suffix` from the received bytes; without a suffix, all bytes that have arrived.
/// Bytes before the prefix are dropped.
fn string(bytes: &mut VecDeque<u8>, prefix: &[u8], suffix: &[u8]) -> Read {
    if !prefix.is_empty() {
        let Some(at) = find(bytes, prefix, 0) else {
            // Bytes that may be the beginning of a prefix are kept.
            let keep = bytes.len().min(prefix.len() - 1);
            bytes.drain(..bytes.len() - keep);
            return Read::Partial;
        };
        bytes.drain(..at);
    }
    let begin = prefix.len();
    let waiting = bytes.len().saturating_sub(begin);
    let (size, rest) = match find(bytes, suffix, begin) {
        Some(at) if !suffix.is_empty() => (at - begin, suffix.len()),
        _ if !suffix.is_empty() && waiting < TEXT => return Read::Partial,
        _ if waiting == 0 => return Read::Partial,
        _ => (waiting.min(TEXT), 0),
    };
    bytes.drain(..begin);
    let text = bytes.drain(..size).map(char::from).take(TEXT).collect();
    bytes.drain(..rest.min(bytes.len()));
    Read::Whole(Value::String(text))
}

fn find(bytes: &VecDeque<u8>, part: &[u8], from: usize) -> Option<usize> {
    (from..=bytes.len().checked_sub(part.len())?).find(|at| bytes.iter().skip(*at).take(part.len()).eq(part))
}

/// Returns the prefix or suffix that a socket read waits for, as bytes. With `escape`, `\n`, `\r`, `\t` and `\\` are
/// replaced by the characters they represent.
fn delimiter(text: &str, escape: bool) -> Vec<u8> {
    if !escape {
        return program_text_bytes::bytes(text);
    }
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        out.push(match c {
            '\\' => match chars.next() {
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                Some(other) => other,
                None => '\\',
            },
            c => c,
        });
    }
    program_text_bytes::bytes(&out)
}
