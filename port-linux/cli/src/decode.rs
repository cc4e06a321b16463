//! The command `outrigger decode`: prints recorded traffic as one JSON object per message.
//!
//! Messages are separated and decoded by the core, as in a session; this module only prints them. The Python package
//! uses the same decoders.

mod rtde;

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use outrigger_wire::WireError;
use outrigger_wire::fields::{FieldVisitor, Value};
use outrigger_wire::frame::{Assembler, FrameError, Framing, MAX_PRIMARY_SIZE};
use outrigger_wire::primary::{self, MessageKind, RobotMessagePayload};
use outrigger_wire::robot::SoftwareVersion;
use outrigger_wire::{fri, realtime};

use crate::args::DecodeArgs;
use outrigger::exit::{Failure, Outcome, output_closed};
use outrigger::feed::recorded::{each_raw, is_none, is_recording};
use outrigger::feed::{Conversation, WireFormat, name_of};
use outrigger::json::fields::Fields;

/// The size of the memory for decoding one stream \[B\].
pub const MEMORY: usize = 2 * MAX_PRIMARY_SIZE;

/// Runs `outrigger decode`.
///
/// # Errors
/// [`Failure::BadInput`] if the file cannot be read or does not contain what the port sends; [`Failure::Usage`] for
/// `--recipe` with another port than 30004.
pub(crate) fn run(args: &DecodeArgs) -> Outcome {
    if args.recipe.is_some() && args.port.framing() != Framing::Rtde {
        return Err(Failure::Usage("--recipe is for --port 30004: other messages have names".into()));
    }
    if is_recording(&args.file) {
        return decode_recording(args, BufWriter::new(io::stdout().lock()));
    }
    is_none(&args.file).map_or(Ok(()), Err)?;
    let input: Box<dyn Read> = if args.file == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        let file = File::open(&args.file)
            .map_err(|error| Failure::BadInput(format!("cannot open {}: {error}", args.file.display())))?;
        Box::new(file)
    };
    decode(args.port, args.recipe.as_deref(), input, BufWriter::new(io::stdout().lock()))
}

/// Prints every message of `input` to `output`, until the end or the first malformed message. `recipe` names the
/// variables of 30004.
///
/// # Errors
/// [`Failure::BadInput`] with the byte offset of the fault; everything before it has been printed.
pub(crate) fn decode(
    stream: WireFormat,
    recipe: Option<&str>,
    mut input: impl Read,
    mut output: impl Write,
) -> Outcome {
    let mut memory = vec![0; MEMORY];
    let mut messages = Decoder::new(stream, recipe, &mut memory)?;
    let mut line = Fields::default();
    loop {
        let got = match input.read(messages.assembler.window()) {
            Ok(got) => got,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                flush(&mut output)?;
                return Err(Failure::BadInput(format!("cannot read the input: {error}")));
            }
        };
        messages.commit(got);
        if !print(&mut messages, &mut line, &mut output)? {
            return Ok(());
        }
        // The input may be a live stream: everything complete is printed before waiting for more.
        flush(&mut output)?;
        if got == 0 {
            return messages.finish().map_err(Failure::from);
        }
    }
}

/// Prints the messages in a recording that have the wire format `args.port` (that of 30001 and 30002 is the same), in
/// the order of the file. Sent data is printed only if it has this format, too, as with FRI; a message that is cut
/// off by the end of a connection is left out.
fn decode_recording(args: &DecodeArgs, mut output: impl Write) -> Outcome {
    let ports = args.port.ports();
    let mut memory = vec![0; MEMORY];
    let mut stream = RecordedStream::new(args.port, args.recipe.as_deref(), &mut memory)?;
    let (mut line, mut wanted, mut found) = (Fields::default(), true, false);
    let read = each_raw(&args.file, ports, |raw| {
        if !wanted {
            return Ok(());
        }
        found |= stream.has_messages(raw.sent);
        wanted = stream.take(raw.sent, raw.bytes, |messages| print(messages, &mut line, &mut output))?;
        Ok(())
    });
    flush(&mut output)?;
    read?;
    if !found {
        let (file, ports) = (args.file.display(), ports.iter().copied().map(name_of).collect::<Vec<_>>().join(" or "));
        return Err(Failure::BadInput(format!("{file}: nothing came from port {ports}")));
    }
    Ok(())
}

fn flush(output: &mut impl Write) -> Outcome {
    output.flush().or_else(|error| output_closed(&error))
}

/// Prints every complete message that was received. Returns `false` if the reader of the output has closed it.
fn print(messages: &mut Decoder<'_>, line: &mut Fields, output: &mut impl Write) -> Result<bool, Failure> {
    loop {
        match line.object(|line| messages.next(line)) {
            Ok(true) => {
                if let Err(error) = writeln!(output, "{}", line.as_str()) {
                    return output_closed(&error).map(|()| false);
                }
            }
            Ok(false) => return Ok(true),
            Err(undecoded) => {
                flush(output)?;
                return Err(undecoded.into());
            }
        }
    }
}

/// A place in a stream where the bytes cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undecoded {
    /// The offset of the place in the stream \[B\].
    pub at: u64,
    /// A description of what was found and expected there.
    pub problem: String,
    /// `true` if no message starts there, `false` if the next message can be decoded.
    pub is_lost: bool,
}

impl From<Undecoded> for Failure {
    fn from(Undecoded { at, problem, is_lost }: Undecoded) -> Self {
        let advice = if is_lost { "; is --port right?" } else { "" };
        Self::BadInput(format!("byte {at}: {problem}{advice}"))
    }
}

/// A decoder of one stream of a recording, in both directions. What was sent names the variables of RTDE.
pub struct RecordedStream<'m> {
    messages: Decoder<'m>,
    asked: Conversation,
    is_named: bool,
}

impl<'m> RecordedStream<'m> {
    /// Creates a decoder of a stream that begins now, with the arguments of [`Decoder::new`].
    ///
    /// # Errors
    /// Returns the errors of [`Decoder::new`].
    pub fn new(stream: WireFormat, recipe: Option<&str>, memory: &'m mut [u8]) -> Result<Self, Failure> {
        let messages = Decoder::new(stream, recipe, memory)?;
        Ok(Self { messages, asked: Conversation::default(), is_named: recipe.is_some() })
    }

    /// Returns `true` if bytes of this direction contain messages that are decoded.
    #[must_use]
    pub fn has_messages(&self, sent: bool) -> bool {
        // If commands are messages as well, both directions are decoded.
        !sent || self.messages.stream.commands().is_some()
    }

    /// Processes recorded bytes, none at the start of a connection. Calls `each` whenever messages may be complete,
    /// until it returns `false` or an error, and returns its last result.
    ///
    /// # Errors
    /// Returns the errors of `each`.
    pub fn take<E>(
        &mut self,
        sent: bool,
        bytes: &[u8],
        mut each: impl FnMut(&mut Decoder<'m>) -> Result<bool, E>,
    ) -> Result<bool, E> {
        let Self { messages, asked, is_named } = self;
        if sent && messages.stream.commands().is_none() {
            asked.sent(bytes);
            if !*is_named && !asked.names().is_empty() {
                messages.exchange = rtde::Exchange::new(Some(&asked.names().join(",")));
            }
            return Ok(true);
        }
        if bytes.is_empty() {
            messages.begin();
            *asked = Conversation::default();
        }
        let (mut rest, mut wanted) = (bytes, true);
        while !rest.is_empty() && wanted {
            let window = messages.assembler.window();
            let (now, later) = rest.split_at(window.len().min(rest.len()));
            window[..now.len()].copy_from_slice(now);
            rest = later;
            messages.commit(now.len());
            wanted = each(messages)?;
        }
        Ok(wanted)
    }

    /// Checks at the end of the recording that no incomplete message is left.
    ///
    /// # Errors
    /// Returns the place of the incomplete message.
    pub fn finish(&self) -> Result<(), Undecoded> {
        self.messages.finish()
    }
}

/// A decoder of the messages in one recorded stream of bytes.
pub struct Decoder<'m> {
    stream: WireFormat,
    assembler: Assembler<'m>,
    /// The offset of the next message \[B\].
    offset: u64,
    /// The number of bytes received so far.
    received: u64,
    software: Option<SoftwareVersion>,
    exchange: rtde::Exchange,
}

impl<'m> Decoder<'m> {
    /// Creates a decoder of a stream that begins now, in `memory` of [`MEMORY`] bytes. `recipe` names the variables of
    /// 30004.
    ///
    /// # Errors
    /// [`Failure::BadInput`] if the memory is too small.
    fn new(stream: WireFormat, recipe: Option<&str>, memory: &'m mut [u8]) -> Result<Self, Failure> {
        let assembler =
            Assembler::new(stream.framing(), memory).map_err(|error| Failure::BadInput(error.to_string()))?;
        Ok(Self { stream, assembler, offset: 0, received: 0, software: None, exchange: rtde::Exchange::new(recipe) })
    }

    fn commit(&mut self, count: usize) {
        self.assembler.commit(count);
        self.received = self.received.saturating_add(count as u64);
    }

    /// Passes the offset and the fields of the next message to `fields`. Returns `false` if more bytes are needed.
    ///
    /// # Errors
    /// Returns the place that cannot be decoded. A further call continues after it.
    pub fn next(&mut self, fields: &mut dyn FieldVisitor) -> Result<bool, Undecoded> {
        let offset = self.offset;
        let message = match self.assembler.next_frame() {
            None => return Ok(false),
            Some(Ok(message)) => message,
            Some(Err(error)) => {
                let skipped = match error {
                    FrameError::Oversize { size } => size,
                    FrameError::Resynchronised { skipped } => skipped,
                    FrameError::LostSync { .. } => 0,
                };
                self.offset = offset.saturating_add(skipped.into());
                return Err(Undecoded { at: offset, problem: error.to_string(), is_lost: true });
            }
        };
        self.offset = offset.saturating_add(message.len() as u64);
        let wire = |error: WireError| (error.at, error.to_string());
        fields.field("offset", Value::Unsigned(offset));
        let visited = match self.stream {
            WireFormat::Realtime => visit_realtime(message, fields).map_err(wire),
            WireFormat::Primary => visit_primary(message, &mut self.software, fields).map_err(wire),
            WireFormat::Fri => visit_fri(message, fields).map_err(wire),
            WireFormat::Rtde | WireFormat::Variables => {
                self.exchange.visit(message, fields).map_err(|problem| (0, problem))
            }
        };
        visited.map(|()| true).map_err(|(at, problem)| {
            let problem = format!("in the message that starts at byte {offset}, {problem}");
            Undecoded { at: offset.saturating_add(u64::from(at)), problem, is_lost: false }
        })
    }

    /// Begins with a new connection of the recording; an incomplete message of the previous one is dropped.
    fn begin(&mut self) {
        self.offset = self.received;
        self.assembler.reset();
        self.exchange.begin();
    }

    fn finish(&self) -> Result<(), Undecoded> {
        match self.assembler.buffered() {
            0 => Ok(()),
            left => {
                let problem = format!("the input ends inside a message, {left} bytes after its start");
                Err(Undecoded { at: self.offset, problem, is_lost: false })
            }
        }
    }
}

fn visit_realtime(message: &[u8], fields: &mut dyn FieldVisitor) -> Result<(), WireError> {
    let packet = realtime::Packet::new_checked(message)?;
    packet.visit(fields);
    Ok(())
}

/// Passes the fields of a datagram of the Fast Research Interface. A recording may contain both
/// directions; the header distinguishes them.
fn visit_fri(message: &[u8], fields: &mut dyn FieldVisitor) -> Result<(), WireError> {
    let header = message.first_chunk().map_or(Ok(fri::Datagram::Measurement), fri::Datagram::of)?;
    match header {
        fri::Datagram::Measurement => {
            fields.field("message", Value::Text(b"measurement"));
            fri::Measurement::new_checked(message)?.visit(fields);
        }
        fri::Datagram::Command => {
            fields.field("message", Value::Text(b"command"));
            fri::Command::new_checked(message)?.visit(fields);
        }
    }
    Ok(())
}

/// Passes the fields of a message of the primary interface. Forms that depend on the software are decoded from the
/// version message on, and passed as raw bytes before it.
fn visit_primary(
    message: &[u8],
    software: &mut Option<SoftwareVersion>,
    fields: &mut dyn FieldVisitor,
) -> Result<(), WireError> {
    let message = primary::Message::new_checked(message)?;
    if let MessageKind::RobotMessage(robot_message) = message.kind()
        && let RobotMessagePayload::Version(version) = robot_message.payload(None)?
    {
        *software = Some(version.software());
    }
    message.visit(*software, fields)
}
