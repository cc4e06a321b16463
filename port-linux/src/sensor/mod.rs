//! Reads sensors: UDP datagrams, serial devices, lines on standard input, simulated values.
//!
//! Each reading is time-stamped right after the call that received it, before it is parsed.

use std::fmt;
use std::fs::File;
use std::future::poll_fn;
use std::io::{BufRead, Read as _};
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;

use outrigger_config::{Format, SourceInput, SourceSettings};
use outrigger_core::mode::Epoch;
use outrigger_wire::sensor::{Decoder, Form, NotAReading, Reading, SampleValue, Scale, word};
use outrigger_wire::time::{Duration, Instant};
use tokio::sync::mpsc;

use crate::exit::Failure;
use crate::host::clock::Clock;
use crate::host::os::serial;
use crate::host::reactor::{self, Datagrams};
use crate::show;

/// The number of sensor readings that can wait for the engine, far more than can be fresh. If the queue is full the
/// newest is discarded, and the engine detects the source's age.
const WAITING: usize = 64;
/// The longest accepted datagram or line on standard input \[B\]. A longer line is skipped to its end, and a longer
/// datagram is no valid reading.
const LONGEST: usize = 512;

/// An input from outside the robot: a sensor's reading, or a line of the operator.
#[derive(Debug)]
pub enum Arrival {
    /// A reading of the source with the index `source` in the configuration, in SI units.
    Reading {
        /// The index of the reading's source in the configuration.
        source: usize,
        /// The sensor's reading, scaled to SI units.
        reading: Reading,
        /// The time at which the sensor's reading was received.
        at: Instant,
    },
    /// A sensor sent data that is not a valid reading.
    NotAReading {
        /// The index of the faulty data's source in the configuration.
        source: usize,
        /// The reason why the data is not a valid reading, with the invalid word.
        why: String,
    },
    /// A sensor's source has ended: its serial device was removed or cannot be read, its UDP socket has failed, or
    /// standard input was closed.
    Ended {
        /// The index of the ended sensor source in the configuration.
        source: usize,
        /// The operating system's error that ended the source. `None` if its device or standard input was closed, and
        /// for a read error of standard input.
        why: Option<std::io::Error>,
    },
    /// A line that the operator has entered on standard input.
    Line {
        /// The text of the operator's line, trimmed.
        text: String,
        /// The session's epoch, a counter of connections and losses of authority, that the operator had seen when the
        /// line was entered.
        seen: Epoch,
    },
}

/// All sensors of a configuration, opened, with the queue of their readings.
pub struct Sources {
    arrivals: mpsc::Receiver<Arrival>,
    listening: Vec<SocketAddr>,
    /// The tasks on this thread that read sensors. Other sensors are read by threads of their own.
    reading: Vec<Reader>,
}

/// A task that reads one source of sensor readings to its end.
type Reader = Pin<Box<dyn Future<Output = ()>>>;

impl fmt::Debug for Sources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sources").field("listening", &self.listening).finish_non_exhaustive()
    }
}

impl Sources {
    /// Opens every sensor of the configuration. Opens standard input if the `operator` uses its lines, or a sensor
    /// does.
    ///
    /// # Errors
    /// Returns [`Failure::BadInput`] with the source and the error of the operating system.
    pub fn open(settings: &[SourceSettings], clock: Clock, operator: bool) -> Result<Self, Failure> {
        let (sender, arrivals) = mpsc::channel(WAITING);
        let (mut listening, mut reading) = (Vec::new(), Vec::new());
        for (index, source) in settings.iter().enumerate() {
            let feed = Feed { index, settings: source.clone(), clock, sender: sender.clone(), next_seq: 0 };
            let (address, reader) =
                feed.start().map_err(|error| Failure::BadInput(format!("source \"{}\": {error}", source.name)))?;
            listening.extend(address);
            reading.extend(reader);
        }
        let stdin_source = settings.iter().position(|source| source.input == SourceInput::Stdin);
        if operator || stdin_source.is_some() {
            let feed = stdin_source.and_then(|index| {
                let settings = settings.get(index)?.clone();
                Some(Feed { index, settings, clock, sender: sender.clone(), next_seq: 0 })
            });
            spawn_named("stdin", move || read_stdin(feed, &sender))
                .map_err(|error| Failure::BadInput(format!("cannot read standard input: {error}")))?;
        }
        Ok(Self { arrivals, listening, reading })
    }

    /// Returns the local addresses that receive datagrams, in the order of their sources.
    #[must_use]
    pub fn listening(&self) -> &[SocketAddr] {
        &self.listening
    }

    /// Waits for the next arrival: a sensor's reading, faulty data or end, or an operator's line. Returns `None` when
    /// every source, and standard input if it is read, has ended. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Arrival> {
        let Self { arrivals, reading, .. } = self;
        poll_fn(|context| {
            reading.retain_mut(|reader| reader.as_mut().poll(context).is_pending());
            arrivals.poll_recv(context)
        })
        .await
    }
}

/// The connection from one sensor to the queue of readings: its settings, its decoder and the sender.
struct Feed {
    index: usize,
    settings: SourceSettings,
    clock: Clock,
    sender: mpsc::Sender<Arrival>,
    next_seq: u32,
}

impl Feed {
    /// Starts to read one sensor. Returns the sensor's local address if it is a socket, and the task that reads it,
    /// unless a thread does.
    fn start(self) -> std::io::Result<(Option<SocketAddr>, Option<Reader>)> {
        match self.settings.input.clone() {
            SourceInput::Udp { listen, from } => {
                let socket = Datagrams::bind(listen)
                    .map_err(|e| std::io::Error::new(e.kind(), format!("cannot listen on {listen}: {e}")))?;
                let address = socket.local_addr()?;
                return Ok((Some(address), Some(Box::pin(self.read_datagrams(socket, from)))));
            }
            SourceInput::Serial { device, baud } => {
                let port = serial::open(&device, baud).map_err(|e| {
                    std::io::Error::new(e.kind(), format!("cannot open {} at {baud} Bd: {e}", device.display()))
                })?;
                spawn_named("serial", move || self.read_serial(port))?;
            }
            SourceInput::Simulated { mean, amplitude, period, rate } => {
                return Ok((None, Some(Box::pin(self.simulate(mean, amplitude, period, rate)))));
            }
            // Standard input is read by one thread for sources and the operator. Requests arrive with the other
            // requests of clients.
            SourceInput::Stdin | SourceInput::Requests => {}
        }
        Ok((None, None))
    }

    async fn read_datagrams(mut self, socket: Datagrams, from: Option<IpAddr>) {
        // One byte more than the longest accepted datagram, so that a longer one is detected.
        let mut datagram = [0; LONGEST + 1];
        loop {
            let (len, sender) = match socket.next(&mut datagram).await {
                Ok(received) => received,
                // An ICMP error that another host caused must not end the source.
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => continue,
                Err(error) => return self.end(Some(error)).await,
            };
            let at = self.clock.now();
            if from.is_some_and(|only| !same_host(sender, only)) {
                continue;
            }
            let bytes = datagram.get(..len).unwrap_or_default();
            let parsed = self.datagram(bytes);
            self.deliver(parsed, at);
        }
    }

    /// Decodes a datagram. One that is longer than [`LONGEST`] is rejected, because its end is missing: a number in its
    /// last line could be cut off.
    fn datagram(&mut self, bytes: &[u8]) -> Result<Option<Reading>, String> {
        if bytes.len() > LONGEST {
            return Err(format!("found a datagram of more than {LONGEST} bytes"));
        }
        match self.settings.format {
            Format::Postcard => Reading::from_datagram(bytes).map(Some).map_err(|why| why.to_string()),
            Format::Text => self.newest_line(bytes),
        }
    }

    /// Returns the last reading of a datagram with several lines. Earlier readings are older than their arrival
    /// suggests.
    fn newest_line(&mut self, bytes: &[u8]) -> Result<Option<Reading>, String> {
        let mut newest = None;
        for line in bytes.split(|byte| *byte == b'\n') {
            newest = self.line(line)?.or(newest);
        }
        Ok(newest)
    }

    fn line(&mut self, line: &[u8]) -> Result<Option<Reading>, String> {
        let reading = Reading::from_line(line, self.next_seq).map_err(|why| explain(line, why))?;
        if let Some(reading) = &reading {
            self.next_seq = reading.seq.wrapping_add(1);
        }
        Ok(reading)
    }

    /// Reads a serial device. Only the last reading of each `read` call counts, as on a board.
    fn read_serial(self, mut port: File) {
        let mut decoder = Decoder::new(match self.settings.format {
            Format::Text => Form::Lines,
            Format::Postcard => Form::Frames,
        });
        let mut bytes = [0; 4096];
        loop {
            let count = match port.read(&mut bytes) {
                Ok(0) => break self.end_blocking(None),
                Ok(count) => count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => break self.end_blocking(Some(error)),
            };
            let at = self.clock.now();
            let mut complaint = None;
            let arrived = bytes.get(..count).unwrap_or_default();
            let newest = decoder.newest(arrived, |message, why| complaint = Some(explain(message, why)));
            if let Some(complaint) = complaint {
                self.deliver(Err(complaint), at);
            }
            self.deliver(Ok(newest), at);
        }
    }

    async fn simulate(mut self, mean: f32, amplitude: f32, period: f32, rate: f32) {
        let step = Duration::from_micros((1e6 / rate) as u64);
        let mut due = self.clock.now();
        loop {
            reactor::sleep_until(self.clock, due).await;
            let at = self.clock.now();
            due = due + step;
            let phase = at.since(Instant::ZERO).as_secs_f64() / f64::from(period) * std::f64::consts::TAU;
            let values = [mean + amplitude * phase.sin() as f32; SampleValue::CAPACITY];
            // The configuration accepts no other counts.
            let value = values.get(..self.settings.values).and_then(SampleValue::new);
            let reading = value.map(|value| Reading { seq: self.next_seq, value });
            self.next_seq = self.next_seq.wrapping_add(1);
            self.deliver(Ok(reading), at);
        }
    }

    fn deliver(&self, parsed: Result<Option<Reading>, String>, at: Instant) {
        let Some(parsed) = parsed.transpose() else { return };
        let scale = Scale { factor: self.settings.scale, offset: self.settings.offset };
        let counted =
            parsed.and_then(|reading| reading.with_count(self.settings.values).map_err(|why| why.to_string()));
        let arrival = match counted {
            Ok(reading) => Arrival::Reading { source: self.index, reading: scale.of(reading), at },
            Err(why) => Arrival::NotAReading { source: self.index, why },
        };
        // If the queue is full the engine is behind, and a waiting reading would only get older.
        let _ = self.sender.try_send(arrival);
    }

    async fn end(self, why: Option<std::io::Error>) {
        let _ = self.sender.send(Arrival::Ended { source: self.index, why }).await;
    }

    fn end_blocking(self, why: Option<std::io::Error>) {
        let _ = self.sender.blocking_send(Arrival::Ended { source: self.index, why });
    }
}

/// Describes what is wrong with a sensor's message, and in which word of it.
fn explain(message: &[u8], why: NotAReading) -> String {
    let at_fault = match why {
        NotAReading::NotANumber { word: place } => word(message, place),
        NotAReading::NotASequence => word(message, 1),
        _ => None,
    };
    at_fault.map_or_else(|| why.to_string(), |word| format!("{why}: '{}'", word.escape_ascii()))
}

/// Returns `true` if `sender` has the IP address `only`. IPv4 senders on an IPv6 socket have mapped addresses.
fn same_host(sender: SocketAddr, only: IpAddr) -> bool {
    sender.ip().to_canonical() == only.to_canonical()
}

/// Reads standard input: readings for the source that uses it, all other lines for the operator.
fn read_stdin(mut feed: Option<Feed>, sender: &mpsc::Sender<Arrival>) {
    let clock = feed.as_ref().map_or_else(Clock::start, |feed| feed.clock);
    let mut lines = Lines::new(std::io::stdin().lock());
    while let Ok(Some((line, at))) = lines.next(clock) {
        let command = line.first().is_some_and(u8::is_ascii_alphabetic) && !line.starts_with(b"seq=");
        match &mut feed {
            Some(feed) if !command => {
                let parsed = feed.line(&line);
                feed.deliver(parsed, at);
            }
            _ => {
                let text = String::from_utf8_lossy(&line).trim().to_owned();
                if sender.blocking_send(Arrival::Line { text, seen: show::seen() }).is_err() {
                    return;
                }
            }
        }
    }
    if let Some(feed) = feed {
        feed.end_blocking(None);
    }
}

/// The lines of standard input, each with the time at which it was complete. Lines longer than [`LONGEST`] are
/// skipped.
struct Lines<R> {
    reader: R,
    line: Vec<u8>,
    skipping: bool,
}

impl<R: BufRead> Lines<R> {
    const fn new(reader: R) -> Self {
        Self { reader, line: Vec::new(), skipping: false }
    }

    fn next(&mut self, clock: Clock) -> std::io::Result<Option<(Vec<u8>, Instant)>> {
        loop {
            let (used, complete) = {
                let bytes = match self.reader.fill_buf() {
                    Ok([]) => return Ok(None),
                    Ok(bytes) => bytes,
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                    Err(error) => return Err(error),
                };
                let end = bytes.iter().position(|byte| *byte == b'\n');
                let part = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
                if self.line.len() + part.len() > LONGEST {
                    self.skipping = true;
                    self.line.clear();
                } else if !self.skipping {
                    self.line.extend_from_slice(part);
                }
                (part.len() + usize::from(end.is_some()), end.is_some())
            };
            let at = clock.now();
            self.reader.consume(used);
            if complete {
                let line = std::mem::take(&mut self.line);
                if !std::mem::take(&mut self.skipping) {
                    return Ok(Some((line, at)));
                }
            }
        }
    }
}

fn spawn_named(name: &str, body: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    std::thread::Builder::new().name(format!("outrigger-{name}")).spawn(body).map(drop)
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use outrigger_core::command::SourceConfig;
    use outrigger_wire::sensor::SourceId;

    use super::*;

    #[test]
    fn lines_come_whole_and_endless_ones_are_skipped() {
        let mut bytes = b"first\n".to_vec();
        bytes.extend(std::iter::repeat_n(b'x', 10 * LONGEST));
        bytes.extend(b"\nlast\nhalf");
        // With a capacity of three bytes every line arrives in pieces.
        let mut lines = Lines::new(BufReader::with_capacity(3, bytes.as_slice()));
        let mut seen = Vec::new();
        while let Some((line, _)) = lines.next(Clock::start()).expect("memory does not fail") {
            assert!(lines.line.capacity() <= 2 * LONGEST);
            seen.push(String::from_utf8(line).expect("text"));
        }
        assert_eq!(seen, ["first", "last"]);
    }

    #[test]
    fn a_datagram_that_is_cut_off_gives_no_reading() {
        let judged = SourceConfig::new(SourceId(0), 1, -10.0, 10.0);
        let listen = SocketAddr::from(([127, 0, 0, 1], 0));
        let input = SourceInput::Udp { listen, from: None };
        let (name, format) = ("seam".into(), Format::Text);
        let settings = SourceSettings { name, input, format, values: 1, scale: 1.0, offset: 0.0, judged };
        let (sender, _arrivals) = mpsc::channel(1);
        let mut feed = Feed { index: 0, settings, clock: Clock::start(), sender, next_seq: 0 };

        // Its last line is 0.4123000e1, of which a receiver that cuts it off sees 0.4123.
        let mut datagram = vec![b'\n'; LONGEST + 1 - "0.4123".len()];
        datagram.extend(b"0.4123");
        assert_eq!(feed.datagram(&datagram).unwrap_err(), "found a datagram of more than 512 bytes");
        let reading = feed.datagram(&datagram[1..]).expect("the longest datagram").expect("a reading");
        assert_eq!(reading.value, SampleValue::new(&[0.4123]).expect("one value"));
    }

    #[test]
    fn a_complaint_names_the_word_at_fault() {
        let complaint = |line: &[u8]| Reading::from_line(line, 0).map_err(|why| explain(line, why)).unwrap_err();
        assert_eq!(complaint(b"0.05 mm"), "word 2 is not a number: 'mm'");
        assert_eq!(complaint(b"seq=-1 0.05"), "word 1 is not a sequence number: 'seq=-1'");
        assert_eq!(complaint(b"1 2 3 4 5 6 7"), "found 7 values, expected 6");
    }

    #[test]
    fn a_mapped_address_is_the_same_host() {
        let mapped: SocketAddr = "[::ffff:10.0.0.9]:5005".parse().expect("an address");
        assert!(same_host(mapped, IpAddr::from([10, 0, 0, 9])));
        assert!(!same_host(mapped, IpAddr::from([10, 0, 0, 8])));
    }
}
