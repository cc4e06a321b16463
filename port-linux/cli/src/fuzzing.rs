//! The fuzz targets for the parts of the host program that read files, used by `fuzz/host`. Compiled by cargo-fuzz
//! only; not part of the API.
//!
//! Each function takes any bytes, and panics if the reader violates a guarantee. The targets limit memory.

use std::path::Path;

use outrigger_config::{AnyConfiguration, RunsOn};
use outrigger_core::engine::krc::{KrcConfig, KrcEngine, KrcSettings};
use outrigger_core::engine::ur::{UrConfig, UrEngine, UrSettings};
use outrigger_core::law::{AnyLaw, LawConfig};

use crate::args::{CheckConfigArgs, DecodeArgs, ExportArgs, ReplayArgs};
use outrigger::boxed_law::BoxedLaw;
use outrigger::exit::{Failure, Outcome};
use outrigger::feed::recorded::{CONFIGURATION, ENGINE, LOG, raw_topic, sent_topic};
use outrigger::feed::{FRI, VARIABLES, WireFormat};
use outrigger::motion::Motion;
pub use outrigger::motion::fuzzing::motion;
use outrigger::motion::fuzzing::{assert_motion, file, scratch};
use outrigger::vendor::{krc, ur};

pub(crate) use outrigger::motion::fuzzing::assert_line;

/// A reader of fuzz input that takes values from the front of the bytes.
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl<'a> Bytes<'a> {
    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*first)
    }

    fn byte(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    /// Takes the next two bytes as a length, and returns as many bytes, or the remaining ones if there are fewer.
    /// `None` without two bytes.
    pub(crate) fn counted(&mut self) -> Option<&'a [u8]> {
        let count = usize::from(u16::from_le_bytes(self.array()?)).min(self.0.len());
        let (bytes, rest) = self.0.split_at(count);
        self.0 = rest;
        Some(bytes)
    }
}

/// Asserts that a command succeeded, or failed with an error that names its file.
fn assert_outcome(outcome: Outcome, path: &Path) {
    if let Err(failure) = outcome {
        let text = failure.to_string();
        assert_line(&text);
        assert!(text.contains(&path.display().to_string()), "no file: {text}");
    }
}

/// Reads `bytes` as a configuration file.
///
/// Asserts that problems are in the order of the document, each of one line and with a line of the document; that the
/// engine accepts each configuration that the reader accepts, with its law; that settings of a board read back as the
/// same; and that `check-config` finds no fault in it either.
pub fn configuration(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let parsed = AnyConfiguration::parse(text);
    let _ = outrigger_config::keys(text);
    let configuration = match parsed {
        Ok(configuration) => configuration,
        Err(problems) => {
            let lines = bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
            assert!(!problems.is_empty() && problems.is_sorted_by_key(|problem| problem.line), "{problems:?}");
            for problem in problems {
                assert!((1..=lines).contains(&problem.line), "{problem}");
                assert_line(&problem.to_string());
            }
            return;
        }
    };
    let _ = configuration.awaited(None).map_err(|what| assert_line(&what));
    let mut room = vec![0; 64 << 10];
    match &configuration {
        AnyConfiguration::Ur(RunsOn::Host(host)) => assert_ur(host.control.engine(), &host.control.law),
        AnyConfiguration::Ur(RunsOn::Board(board)) => {
            assert_ur(board.control.engine(), &board.control.law);
            let settings = board.settings().expect("an address");
            let length = settings.to_postcard(&mut room).expect("room");
            let again = UrSettings::from_postcard(&room[..length]).expect("what was written is read");
            let mut twice = vec![0; 64 << 10];
            let longer = again.to_postcard(&mut twice).expect("room");
            assert_eq!(room[..length], twice[..longer]);
        }
        AnyConfiguration::Krc(RunsOn::Host(krc)) => assert_krc(krc.engine, &krc.law),
        AnyConfiguration::Krc(RunsOn::Board(board)) => {
            assert_krc(board.engine, &board.law);
            let length = board.settings().to_postcard(&mut room).expect("room");
            let again = KrcSettings::from_postcard(&room[..length]).expect("what was written is read");
            let mut twice = vec![0; 64 << 10];
            let longer = again.to_postcard(&mut twice).expect("room");
            assert_eq!(room[..length], twice[..longer]);
        }
    }
    let config = file("toml", bytes);
    crate::dispatch::check_config(&CheckConfigArgs { config }).expect("it is valid");
}

fn assert_ur(config: UrConfig, law: &LawConfig<6>) {
    AnyLaw::new(law.clone()).expect("a law that can work");
    let mut windows = ur::Windows::new();
    UrEngine::new(config, BoxedLaw::idle(), windows.lend()).expect("an engine");
}

fn assert_krc(config: KrcConfig, law: &LawConfig<7>) {
    AnyLaw::new(law.clone()).expect("a law that can work");
    KrcEngine::new(config, BoxedLaw::idle(), ()).expect("an engine");
}

/// Reads a recording as `move`, `export`, `decode` and `replay` do. The first byte selects the reader, and the second
/// one the contents of the file: these bytes themselves, or a recording with messages of these bytes, complete or
/// truncated.
///
/// Asserts that an error names the file and is one line, that a motion is [one](motion), and that a table has as many
/// cells in each row.
pub fn recording(bytes: &[u8]) {
    let Some(([reader, form], rest)) = bytes.split_first_chunk() else { return };
    let recorded = if form % 4 == 0 { rest.to_vec() } else { recorded(rest, *form) };
    let path = file("mcap", &recorded);
    match reader % 16 {
        0 => motion_in::<6>(&path),
        1 => motion_in::<7>(&path),
        number @ 2..=6 => {
            let port = [None, Some(30_003), Some(30_004), Some(FRI), Some(VARIABLES)][usize::from(number) - 2];
            let csv = scratch("csv");
            let outcome =
                crate::export::run(&ExportArgs { file: path.clone(), csv: Some(csv.clone()), raw: None, port });
            if outcome.is_ok() {
                assert_table(&std::fs::read_to_string(csv).expect("a table"));
            }
            assert_outcome(outcome, &path);
        }
        7 => {
            let (raw, port) = (Some(scratch("bin")), Some(30_003));
            assert_outcome(crate::export::run(&ExportArgs { file: path.clone(), csv: None, raw, port }), &path);
        }
        number @ 8..=12 => {
            let args = DecodeArgs { port: WireFormat::ALL[usize::from(number) - 8], recipe: None, file: path };
            // An error of a message names the position in the stream, and not the file.
            let _ = crate::decode::run(&args).map_err(|failure| assert_line(&failure.to_string()));
        }
        number => {
            let again = if number % 2 == 0 { ur::replay } else { krc::replay };
            assert_outcome(crate::replay::run(&ReplayArgs { dumps: vec![path.clone()] }, again), &path);
        }
    }
}

fn motion_in<const N: usize>(path: &Path) {
    let outcome = Motion::<N>::read(path).map(|motion| assert_motion(&motion));
    assert!(!matches!(outcome, Err(Failure::Usage(_))), "no option was given");
    assert_outcome(outcome, path);
}

/// Asserts that a table has rows, each with as many cells as the first line. A cell in quotation marks may contain
/// commas.
fn assert_table(text: &str) {
    let cells = |line: &str| {
        let mut is_quoted = false;
        let mut is_comma = |c: char| {
            is_quoted ^= c == '"';
            c == ',' && !is_quoted
        };
        line.chars().filter(|c| is_comma(*c)).count()
    };
    let mut lines = text.lines();
    let names = lines.next().map(cells).expect("names of columns");
    assert!(text.lines().count() > 1 && lines.all(|line| cells(line) == names), "{text:.1000}");
}

/// Returns a recording whose messages are given by `bytes`: each by its topic, its length, and its content. `form`
/// selects a complete or a truncated file.
fn recorded(bytes: &[u8], form: u8) -> Vec<u8> {
    let ports = [30_001, 30_002, 30_003, 30_004, FRI, VARIABLES];
    let topics = ports.into_iter().flat_map(|port| [raw_topic(port), sent_topic(port)]);
    let others = [ENGINE, LOG, CONFIGURATION, "/engine/inputs"].into_iter().map(str::to_owned);
    let topics: Vec<String> = topics.chain(others).collect();
    let mut disk = std::io::Cursor::new(vec![]);
    let options = mcap::WriteOptions::new().compression(None).use_chunks(form % 4 == 2);
    let mut writer = options.create(&mut disk).expect("memory");
    let channels: Vec<u16> = topics
        .iter()
        .map(|topic| writer.add_channel(0, topic, "", &std::collections::BTreeMap::new()).expect("memory"))
        .collect();
    let (mut input, mut time) = (Bytes(bytes), 0);
    while let Some((topic, data)) = input.byte().and_then(|topic| Some((topic, input.counted()?))) {
        time += 1_000_000;
        let channel_id = channels[usize::from(topic) % channels.len()];
        let header = mcap::records::MessageHeader { channel_id, sequence: 0, log_time: time, publish_time: time };
        writer.write_to_known_channel(&header, data).expect("memory");
    }
    writer.finish().expect("memory");
    drop(writer);
    let mut recorded = disk.into_inner();
    if form % 4 == 3 {
        // The cut is within the last quarter: in the summary or in the messages.
        recorded.truncate(recorded.len() * usize::from(form / 4 + 192) / 256);
    }
    recorded
}
