//! The messages in bytes of a controller, from memory, a recording, or a capture of the network.
//!
//! A thread decodes, and waits while the program has not taken what is decoded: memory does not grow with the file.

mod capture;
mod sink;
mod value;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};

use outrigger::exit::Failure;
use outrigger::feed::recorded::{Unread, each_message_and_fact, is_recording, raw_topic, sent_topic};
use outrigger::feed::{WireFormat, connection_of};
use outrigger_cli::decode::{MEMORY, RecordedStream};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyDict;

use self::sink::{Item, Origin, Passed, Sink};
use self::value::dict;
use crate::connection::LOOK;
use crate::error::recording_error;
use crate::process_bound::ProcessBound;

/// The number of decoded batches that wait for the program.
const WAITING: usize = 4;
/// The number of bytes that are decoded at a time.
const PIECE: usize = 64 << 10;

/// The source of the bytes of controllers.
enum Source {
    Bytes(PyBackedBytes, WireFormat),
    File(File, WireFormat),
    Recording(PathBuf, Vec<WireFormat>),
    Capture(File, Vec<WireFormat>),
}

/// An end of decoding before the end of the source: a text and the offset in the file \[B\].
struct Stopped {
    text: String,
    at: Option<u64>,
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Self {
        Self { text: failure.told(), at: None }
    }
}

/// The messages of a source, in their order: an iterator of dicts.
///
/// Numbers are int, float or bool, several numbers an array (float64, int64, or uint8 for bytes), texts str, groups
/// dict or list. `offset` is the place of the message in the stream of its connection [bytes]. A place that cannot be
/// decoded is a dict with `offset` and `error`, and the messages after it follow where they can be found.
#[pyclass(frozen, module = "outrigger_robot")]
pub(crate) struct Messages(ProcessBound<Incoming>);

/// The batches of a thread that decodes, and the items of the one that is being taken.
struct Incoming {
    batches: Receiver<Passed>,
    now: std::vec::IntoIter<Item>,
    is_over: bool,
}

/// Decodes bytes as they came from a controller's port, from the beginning of a connection.
///
/// `port` is 30001 to 30004, "variables" or "fri"; 30003 by default. `recipe` has the names of the requested variables,
/// for 30004. The iterator decodes as it is read.
#[pyfunction]
#[pyo3(signature = (data, port = None, *, recipe = None))]
pub(crate) fn decode(
    data: PyBackedBytes,
    port: Option<&Bound<'_, PyAny>>,
    recipe: Option<Vec<String>>,
) -> PyResult<Messages> {
    let format = port.map_or(Ok(WireFormat::Realtime), format_of)?;
    Messages::start(Source::Bytes(data, format), recipe)
}

/// Decodes a capture of the network (pcap, pcapng), a recording (MCAP), or a file with the bytes of one port.
///
/// Messages of captures and recordings also have `port`, `arrival_time` [s since 1970] and, of captures, `client`: the
/// address that tells connections apart. `port` selects one of the ports; it is needed for a file of bytes. After a
/// connection whose beginning was not captured, or bytes that are missing, messages are found at the next packet that
/// begins with one. At most 64 connections at a time. RecordingError where the file is damaged, after every message
/// before that.
#[pyfunction]
#[pyo3(signature = (path, port = None, *, recipe = None))]
pub(crate) fn decode_file(
    py: Python<'_>,
    path: PathBuf,
    port: Option<&Bound<'_, PyAny>>,
    recipe: Option<Vec<String>>,
) -> PyResult<Messages> {
    let format = port.map(format_of).transpose()?;
    let shown = path.display();
    let named = |error: std::io::Error| PyErr::from(std::io::Error::new(error.kind(), format!("{shown}: {error}")));
    if !std::fs::metadata(&path).map_err(named)?.is_file() {
        return Err(recording_error(py, &format!("cannot read {shown}: it is no regular file"), None));
    }
    let formats = format.map_or(WireFormat::ALL.to_vec(), |format| vec![format]);
    let source = if is_recording(&path) {
        Source::Recording(path, formats)
    } else {
        let mut file = File::open(&path).map_err(named)?;
        let mut start = [0; 4];
        let length = read_up_to(&mut file, &mut start).map_err(named)?;
        let file = File::open(&path).map_err(named)?;
        match format {
            _ if capture::is_one(&start[..length]) => Source::Capture(file, formats),
            Some(format) => Source::File(file, format),
            None => {
                let text = format!(
                    "{shown}: expected a capture (pcap, pcapng) or a recording (MCAP); for the bytes of one port, name it: \
                     port=30003"
                );
                return Err(recording_error(py, &text, Some(0)));
            }
        }
    };
    Messages::start(source, recipe)
}

/// Returns the format of a port that Python names by a number or a word.
fn format_of(port: &Bound<'_, PyAny>) -> PyResult<WireFormat> {
    let text = port.str()?.to_string();
    WireFormat::named(&text).map_err(|expected| PyValueError::new_err(format!("port: {expected}, found {text:?}")))
}

/// Reads until the room is full, or to the end. Returns the number of bytes.
fn read_up_to(input: &mut impl Read, room: &mut [u8]) -> std::io::Result<usize> {
    let mut length = 0;
    while let Some(rest) = room.get_mut(length..).filter(|rest| !rest.is_empty()) {
        match input.read(rest) {
            Ok(0) => break,
            Ok(count) => length += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

impl Messages {
    fn start(source: Source, recipe: Option<Vec<String>>) -> PyResult<Self> {
        if let Some(wrong) = recipe.iter().flatten().find(|name| name.is_empty() || name.contains(',')) {
            return Err(PyValueError::new_err(format!("recipe: expected names of variables, found {wrong:?}")));
        }
        let recipe = recipe.map(|names| names.join(","));
        let (sender, batches) = sync_channel(WAITING);
        let work = move || {
            let mut sink = Sink::new(sender);
            let ended = run(source, recipe.as_deref(), &mut sink);
            sink.end(ended);
        };
        std::thread::Builder::new()
            .name("decode".into())
            .spawn(work)
            .map_err(|error| PyRuntimeError::new_err(format!("no thread: {error}")))?;
        let incoming = Incoming { batches, now: vec![].into_iter(), is_over: false };
        Ok(Self(ProcessBound::new(incoming)))
    }
}

#[pymethods]
impl Messages {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        loop {
            // No object of Python is made while the mutex is held.
            let next = self.0.lock("this iterator")?.as_mut().map_or(Next::Over, Incoming::next);
            match next {
                Next::Item(item) => return dict(py, item).map(Some),
                Next::Stopped(Stopped { text, at }) => return Err(recording_error(py, &text, at)),
                Next::Over => return Ok(None),
                Next::Nothing => py.detach(|| std::thread::sleep(LOOK / 5)),
            }
            py.check_signals()?;
        }
    }
}

/// The next item of an iterator.
enum Next {
    Item(Item),
    /// The source cannot be read any further.
    Stopped(Stopped),
    /// The next item is not decoded yet.
    Nothing,
    Over,
}

impl Incoming {
    fn next(&mut self) -> Next {
        loop {
            if let Some(item) = self.now.next() {
                return Next::Item(item);
            }
            if self.is_over {
                return Next::Over;
            }
            match self.batches.try_recv() {
                Ok(Passed::Batch(batch)) => self.now = batch.into_iter(),
                Ok(Passed::End(ended)) => {
                    self.is_over = true;
                    if let Err(stopped) = ended {
                        return Next::Stopped(stopped);
                    }
                }
                Err(TryRecvError::Empty) => return Next::Nothing,
                Err(TryRecvError::Disconnected) => {
                    self.is_over = true;
                    let text = "a fault in the decoder ended it: please report it with this input".into();
                    return Next::Stopped(Stopped { text, at: None });
                }
            }
        }
    }
}

/// Decodes a whole source into `sink`.
fn run(source: Source, recipe: Option<&str>, sink: &mut Sink) -> Result<(), Stopped> {
    match source {
        Source::Bytes(data, format) => one_stream(&*data, format, recipe, sink),
        Source::File(file, format) => one_stream(file, format, recipe, sink),
        Source::Recording(path, formats) => recording(&path, &formats, recipe, sink),
        Source::Capture(file, formats) => capture::decode(file, &formats, recipe, sink),
    }
}

/// Decodes the bytes of one connection.
fn one_stream(mut input: impl Read, format: WireFormat, recipe: Option<&str>, sink: &mut Sink) -> Result<(), Stopped> {
    let mut memory = vec![0; MEMORY];
    let mut stream = RecordedStream::new(format, recipe, &mut memory)?;
    let mut piece = vec![0; PIECE];
    let (mut at, origin) = (0, Origin::default());
    loop {
        let count = read_up_to(&mut input, &mut piece)
            .map_err(|error| Stopped { text: format!("cannot read the input: {error}"), at: Some(at) })?;
        if count == 0 {
            break;
        }
        at += count as u64;
        let _ = stream.take(false, &piece[..count], |messages| sink.drain(messages, &origin));
        if !sink.flush() {
            return Ok(());
        }
    }
    if let Err(undecoded) = stream.finish() {
        sink.undecoded(&undecoded, &origin);
    }
    Ok(())
}

/// Decodes the bytes of all connections in a recording.
fn recording(path: &Path, formats: &[WireFormat], recipe: Option<&str>, sink: &mut Sink) -> Result<(), Stopped> {
    let ports: Vec<_> = formats.iter().flat_map(|format| format.ports().iter().map(|port| (*port, *format))).collect();
    let mut memories = vec![vec![0; MEMORY]; ports.len()];
    let mut streams = vec![];
    for ((port, format), memory) in ports.into_iter().zip(&mut memories) {
        let stream = RecordedStream::new(format, recipe, memory)?;
        streams.push((port, [raw_topic(port), sent_topic(port)], stream));
    }
    let (mut found, mut gone) = (false, false);
    let take = |topic: &str, nanos: u64, bytes: &[u8]| {
        let Some((port, [_, sent], stream)) =
            streams.iter_mut().find(|(_, topics, _)| topics.iter().any(|t| t == topic))
        else {
            return Ok(());
        };
        let is_sent = sent == topic;
        found |= stream.has_messages(is_sent);
        let (port, connection) = connection_of(*port);
        let origin = Origin { port: Some(port), connection, time: Some(nanos as f64 / 1e9), ..Origin::default() };
        let _ = stream.take(is_sent, bytes, |messages| sink.drain(messages, &origin));
        if sink.is_full() && !sink.flush() {
            gone = true;
            return Err(Failure::Interrupted(String::new()));
        }
        Ok(())
    };
    let ended = each_message_and_fact(path, take, |_, _| {});
    if gone {
        return Ok(());
    }
    ended.map_err(|Unread { failure, at }| Stopped { text: failure.told(), at })?;
    if !found {
        return Err(nothing(&path.display().to_string(), formats));
    }
    Ok(())
}

/// Returns the error for a file without bytes of the ports in these formats.
fn nothing(file: &str, formats: &[WireFormat]) -> Stopped {
    let ports = outrigger::feed::listed(|format| formats.contains(&format), "or");
    Stopped { text: format!("{file}: nothing came from port {ports}"), at: None }
}
