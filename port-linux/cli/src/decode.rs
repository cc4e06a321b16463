//! The command `outrigger decode`: prints recorded traffic as one JSON object per message.
//!
//! Messages are separated and decoded by the core, as in a session; this module only prints them.

mod rtde;

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use outrigger_wire::WireError;
use outrigger_wire::frame::{Assembler, FrameError, Framing, MAX_PRIMARY_SIZE};
use outrigger_wire::primary::{self, MessageKind, RobotMessagePayload};
use outrigger_wire::robot::SoftwareVersion;
use outrigger_wire::{fri, realtime};

use crate::args::DecodeArgs;
use outrigger::exit::{Failure, Outcome, output_closed};
use outrigger::feed::recorded::{each_raw, is_none, is_recording};
use outrigger::feed::{Conversation, WireFormat, name_of};
use outrigger::json::fields::Fields;

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
    let mut memory = vec![0; 2 * MAX_PRIMARY_SIZE];
    let mut messages = Messages::new(stream, recipe, &mut memory)?;
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
        messages.assembler.commit(got);
        if !messages.print(&mut line, &mut output)? {
            return Ok(());
        }
        // The input may be a live stream: everything complete is printed before waiting for more.
        flush(&mut output)?;
        if got == 0 {
            return messages.finish();
        }
    }
}

/// Prints the messages in a recording that have the wire format `args.port` (that of 30001 and 30002 is the same), in
/// the order of the file. Sent data is printed only if it has this format, too, as with FRI; a message that is cut
/// off by the end of a connection is left out.
fn decode_recording(args: &DecodeArgs, mut output: impl Write) -> Outcome {
    let ports = args.port.ports();
    let mut memory = vec![0; 2 * MAX_PRIMARY_SIZE];
    let mut messages = Messages::new(args.port, args.recipe.as_deref(), &mut memory)?;
    let (mut line, mut asked, mut wanted, mut found) = (Fields::default(), Conversation::default(), true, false);
    let read = each_raw(&args.file, ports, |raw| {
        if !wanted {
            return Ok(());
        }
        // If the port's commands are messages as well, both directions are printed.
        if raw.sent && args.port.commands().is_none() {
            asked.sent(raw.bytes);
            if args.recipe.is_none() && !asked.names().is_empty() {
                messages.exchange = rtde::Exchange::new(Some(&asked.names().join(",")));
            }
            return Ok(());
        }
        found = true;
        if raw.bytes.is_empty() {
            messages.begin();
            asked = Conversation::default();
        }
        let mut rest = raw.bytes;
        while !rest.is_empty() && wanted {
            let window = messages.assembler.window();
            let (now, later) = rest.split_at(window.len().min(rest.len()));
            window[..now.len()].copy_from_slice(now);
            rest = later;
            messages.assembler.commit(now.len());
            wanted = messages.print(&mut line, &mut output)?;
        }
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

/// A decoder of the messages in one recorded stream of bytes, with the byte offset of the next message.
struct Messages<'m> {
    stream: WireFormat,
    assembler: Assembler<'m>,
    offset: u64,
    software: Option<SoftwareVersion>,
    exchange: rtde::Exchange,
}

impl<'m> Messages<'m> {
    fn new(stream: WireFormat, recipe: Option<&str>, memory: &'m mut [u8]) -> Result<Self, Failure> {
        let assembler =
            Assembler::new(stream.framing(), memory).map_err(|error| Failure::BadInput(error.to_string()))?;
        Ok(Self { stream, assembler, offset: 0, software: None, exchange: rtde::Exchange::new(recipe) })
    }

    /// Writes the JSON members that describe the next message of the recorded stream into `line`. Returns `false` if
    /// more bytes are needed.
    fn next(&mut self, line: &mut Fields) -> Result<bool, Failure> {
        let offset = self.offset;
        let message = match self.assembler.next_frame() {
            None => return Ok(false),
            Some(Ok(message)) => message,
            Some(Err(error)) => return Err(Self::malformed(offset, &error)),
        };
        self.offset = offset.saturating_add(message.len() as u64);
        let wire = |error: WireError| (error.at, error.to_string());
        let printed = line.object(|line| {
            line.put("offset", &offset);
            match self.stream {
                WireFormat::Realtime => print_realtime(message, line).map_err(wire),
                WireFormat::Primary => print_primary(message, &mut self.software, line).map_err(wire),
                WireFormat::Fri => print_fri(message, line).map_err(wire),
                WireFormat::Rtde | WireFormat::Variables => {
                    self.exchange.print(message, line).map_err(|problem| (0, problem))
                }
            }
        });
        printed.map(|()| true).map_err(|(at, problem)| {
            let at = offset.saturating_add(u64::from(at));
            Failure::BadInput(format!("byte {at}: in the message that starts at byte {offset}, {problem}"))
        })
    }

    /// Prints every complete message of the recorded stream. Returns `false` if the reader of the output has closed it.
    fn print(&mut self, line: &mut Fields, output: &mut impl Write) -> Result<bool, Failure> {
        loop {
            match self.next(line) {
                Ok(true) => {
                    if let Err(error) = writeln!(output, "{}", line.as_str()) {
                        return output_closed(&error).map(|()| false);
                    }
                }
                Ok(false) => return Ok(true),
                Err(trouble) => {
                    flush(output)?;
                    return Err(trouble);
                }
            }
        }
    }

    /// Begins with a new connection of the recording; an incomplete message of the previous one is dropped.
    fn begin(&mut self) {
        self.offset = self.offset.saturating_add(self.assembler.buffered() as u64);
        self.assembler.reset();
        self.exchange.begin();
    }

    fn malformed(offset: u64, error: &FrameError) -> Failure {
        Failure::BadInput(format!("byte {offset}: {error}; is --port right?"))
    }

    /// Checks at the end of the input that no incomplete message is left.
    fn finish(&self) -> Outcome {
        match self.assembler.buffered() {
            0 => Ok(()),
            left => Err(Failure::BadInput(format!(
                "byte {}: the input ends inside a message, {left} bytes after its start",
                self.offset
            ))),
        }
    }
}

fn print_realtime(message: &[u8], line: &mut Fields) -> Result<(), WireError> {
    let packet = realtime::Packet::new_checked(message)?;
    packet.visit(line);
    Ok(())
}

/// Writes the JSON members that describe a datagram of the Fast Research Interface. A recording may contain both
/// directions; the header distinguishes them.
fn print_fri(message: &[u8], line: &mut Fields) -> Result<(), WireError> {
    let header = message.first_chunk().map_or(Ok(fri::Datagram::Measurement), fri::Datagram::of)?;
    match header {
        fri::Datagram::Measurement => {
            line.put("message", "measurement");
            fri::Measurement::new_checked(message)?.visit(line);
        }
        fri::Datagram::Command => {
            line.put("message", "command");
            fri::Command::new_checked(message)?.visit(line);
        }
    }
    Ok(())
}

/// Writes the JSON members that describe a message of the primary interface. Forms that depend on the software are
/// decoded from the version message on, and printed as raw bytes before it.
fn print_primary(message: &[u8], software: &mut Option<SoftwareVersion>, line: &mut Fields) -> Result<(), WireError> {
    let message = primary::Message::new_checked(message)?;
    if let MessageKind::RobotMessage(robot_message) = message.kind()
        && let RobotMessagePayload::Version(version) = robot_message.payload(None)?
    {
        *software = Some(version.software());
    }
    message.visit(*software, line)
}
