//! What a board told by telemetry, read with the core's decoder, and its recordings run again on this machine.

use std::collections::{BTreeMap, BTreeSet};

use outrigger_core::engine::krc::{Krc, KrcStatus};
use outrigger_core::engine::ur::rtde::RtdeMemory;
use outrigger_core::engine::ur::{LINKS, Memory, Next, Ur, UrEvent, UrStatus, link_name};
use outrigger_core::engine::{Event, LinkId, ReplayError, Replayed, replay};
use outrigger_core::law::{AnyLaw, JointServo, JointServoConfig, Reference};
use outrigger_core::mode::Mode;
use outrigger_core::robot::Reason;
use outrigger_remote::telemetry::{
    Chunk, CrashReport, Datagram as Sent, LinkActivity, Message, Motion, PeerDatagram, ResetCause, Stage, Status,
    TelemetryError,
};
use outrigger_wire::frame::StreamCounts;
use outrigger_wire::sensor::Figures;

use crate::peer::Datagram;

/// At least what any board receives into.
const WINDOW: usize = 64 * 1024;

/// Everything of a run.
#[derive(Clone, Debug, Default)]
pub struct Telemetry {
    /// Datagrams that say something.
    pub datagrams: usize,
    /// Those that could not be read.
    pub unreadable: usize,
    /// Those that are missing by their numbers.
    pub missing: u32,
    /// Starts of the board that it tells of.
    pub boots: usize,
    /// Who speaks.
    pub board: String,
    /// The modes it was in.
    pub modes: BTreeSet<&'static str>,
    /// The newest count of what sensors sent.
    pub sensors: Figures,
    /// Where states came from, each as often as a session began with it.
    pub states: Vec<LinkId>,
    /// Links that were given up before anything came of them, and the session went on without.
    pub without: BTreeSet<&'static str>,
    /// The newest counts of each connection's messages.
    pub streams: [StreamCounts; LINKS.len()],
    /// How a session beside a KRC stood last.
    pub krc: Option<Status<KrcStatus>>,
    /// How its arm moved last.
    pub krc_motion: Option<Motion<7>>,
    /// How it came to run, each start once: cause, starts since power, how far the run before came, and where that one panicked, or `stack overflow`.
    pub starts: Vec<(ResetCause, u32, Option<Stage>, Option<String>)>,
    /// What was heard from the robot's address, at last.
    pub activity: LinkActivity,
    /// Fallbacks by their number: why, and the recording as far as it came.
    pub recordings: BTreeMap<u32, (Reason, Recording)>,
    /// What a run left that ended in a reset, by the number of the start after it, of those that were heard.
    pub left: BTreeMap<usize, Recording>,
}

/// A recording in pieces.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    bytes: Vec<Option<u8>>,
}

impl Recording {
    fn take(&mut self, chunk: &Chunk<'_>) {
        let (length, offset) = (chunk.length as usize, chunk.offset as usize);
        self.bytes.resize(length, None);
        for (slot, byte) in self.bytes.iter_mut().skip(offset).zip(chunk.bytes) {
            *slot = Some(*byte);
        }
    }

    /// All of it, if every piece came.
    #[must_use]
    pub fn whole(&self) -> Option<Vec<u8>> {
        self.bytes.iter().copied().collect::<Option<Vec<u8>>>().filter(|bytes| !bytes.is_empty())
    }

    /// Runs the engine again through it: the same inputs must give the same transitions and the same bytes.
    ///
    /// # Errors
    /// The first difference. `None` where pieces are missing.
    #[must_use]
    pub fn replayed(&self) -> Option<Result<Replayed, ReplayError>> {
        let dump = self.whole()?;
        let (mut primary, mut realtime) = (vec![0; WINDOW], vec![0; WINDOW]);
        let mut rtde = Box::<RtdeMemory<'_, WINDOW, 1>>::default();
        let memory = Memory { primary: &mut primary, realtime: &mut realtime, rtde: Some(&mut *rtde) };
        // Which law it was is in the recording.
        let law = AnyLaw::JointServo(JointServo::<6>::new(Reference::Hold, JointServoConfig::default()));
        Some(replay::<6, Ur<'_>, _>(&dump, law, memory))
    }
}

impl Telemetry {
    /// Of everything that arrived.
    #[must_use]
    pub fn of(datagrams: &[Datagram]) -> Self {
        let mut telemetry = Self::default();
        let mut boots = BTreeMap::new();
        for datagram in datagrams {
            match PeerDatagram::<6, Ur<'_>>::decode(&datagram.bytes) {
                Ok(sent) => {
                    telemetry.count(&sent, &mut boots);
                    telemetry.take_of_ur(&sent.message);
                    telemetry.take(&sent.message);
                }
                Err(TelemetryError::OtherKind) => match PeerDatagram::<7, Krc>::decode(&datagram.bytes) {
                    Ok(sent) => {
                        telemetry.count(&sent, &mut boots);
                        match &sent.message {
                            Message::Status(status) => telemetry.krc = Some(status.clone()),
                            Message::Motion(motion) => telemetry.krc_motion = Some(motion.clone()),
                            other => telemetry.take(other),
                        }
                    }
                    Err(_) => telemetry.unreadable += 1,
                },
                Err(_) => telemetry.unreadable += 1,
            }
        }
        telemetry
    }

    fn count<const N: usize, S, E>(&mut self, sent: &Sent<'_, N, S, E>, boots: &mut BTreeMap<u32, u32>) {
        self.datagrams += 1;
        let next = boots.insert(sent.boot, sent.sequence.wrapping_add(1)).unwrap_or(sent.sequence);
        self.boots = boots.len();
        self.missing += sent.sequence.wrapping_sub(next);
    }

    fn take_of_ur(&mut self, message: &Message<'_, 6, UrStatus, UrEvent>) {
        match message {
            Message::Status(status) => self.streams = status.peer.streams,
            Message::Event(Event::Peer(UrEvent::Established(identity))) => self.states.push(identity.states),
            Message::Event(Event::Peer(UrEvent::Down { link, next: Next::Without, .. })) => {
                self.without.insert(link_name(*link));
            }
            _ => {}
        }
    }

    fn take<const N: usize, S, E>(&mut self, message: &Message<'_, N, S, E>) {
        match message {
            Message::Hello(hello) => self.board = format!("{} {}", hello.board, hello.build),
            Message::Status(status) => {
                self.modes.insert(Mode::name(status.mode));
            }
            Message::Port(port) => {
                self.sensors = port.sensors;
                self.activity = port.activity;
            }
            Message::Boot(boot) => {
                let place = match boot.crash {
                    Some(CrashReport::Panic { file, line }) => Some(format!("{file}:{line}")),
                    Some(CrashReport::StackOverflow(_)) => Some("stack overflow".into()),
                    _ => None,
                };
                let start = (boot.cause, boot.starts, boot.before, place);
                if self.starts.last() != Some(&start) {
                    self.starts.push(start);
                }
            }
            Message::Recording(recording) => {
                let whole = match recording.reason {
                    Some(reason) => {
                        &mut self.recordings.entry(recording.number).or_insert_with(|| (reason, Recording::default())).1
                    }
                    None => self.left.entry(self.boots).or_default(),
                };
                whole.take(&recording.chunk);
            }
            _ => {}
        }
    }
}
