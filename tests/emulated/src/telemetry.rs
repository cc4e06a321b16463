//! The telemetry of a board, decoded with the core's decoder, and its recordings, run again on this machine.

use std::collections::{BTreeMap, BTreeSet};

use outrigger_core::engine::krc::{Krc, KrcStatus};
use outrigger_core::engine::ur::rtde::RtdeMemory;
use outrigger_core::engine::ur::{LINKS, Memory, Next, Ur, UrEvent, UrStatus, link_name};
use outrigger_core::engine::{Event, LinkId, ReplayError, Replayed, replay};
use outrigger_core::law::{AnyLaw, JointServo, JointServoConfig, Reference};
use outrigger_core::mode::Mode;
use outrigger_core::robot::Reason;
use outrigger_remote::telemetry::{
    Chunk, CrashReport, Datagram as Sent, LinkActivity, Message, Motion, PeerDatagram, ResetCause, StartStage, Status,
    TelemetryError,
};
use outrigger_wire::frame::StreamCounts;
use outrigger_wire::sensor::Figures;

use crate::peer::Datagram;

/// The size of a receive window that is at least as large as that of any board \[B\].
const WINDOW: usize = 64 * 1024;

/// All telemetry that a board sent in a run.
#[derive(Clone, Debug, Default)]
pub struct Telemetry {
    /// The number of datagrams that could be decoded.
    pub datagrams: usize,
    /// The number of datagrams that could not be decoded.
    pub unreadable: usize,
    /// The number of datagrams missing according to their sequence numbers.
    pub missing: u32,
    /// The number of starts of the board in the telemetry.
    pub boots: usize,
    /// The name of the board and its build.
    pub board: String,
    /// The modes that the board's engine was in.
    pub modes: BTreeSet<&'static str>,
    /// The newest counts of the sensors' readings.
    pub sensors: Figures,
    /// The links that states came from, once per session.
    pub states: Vec<LinkId>,
    /// The links that were given up and without which a session then continued.
    pub without: BTreeSet<&'static str>,
    /// The newest counts of the messages that the board received on each connection to a UR controller.
    pub streams: [StreamCounts; LINKS.len()],
    /// The newest status of a session beside a KRC.
    pub krc: Option<Status<KrcStatus>>,
    /// The newest motion of the KRC's arm.
    pub krc_motion: Option<Motion<7>>,
    /// The starts: cause, starts since power-on, the stage that the previous run reached, and the place of its panic,
    /// or `stack overflow`. Consecutive identical starts count once.
    pub starts: Vec<(ResetCause, u32, Option<StartStage>, Option<String>)>,
    /// The newest report of what was received from the robot's address.
    pub activity: LinkActivity,
    /// The fallbacks by number: the reason, and the recording as far as it arrived.
    pub recordings: BTreeMap<u32, (Reason, Recording)>,
    /// The recordings of runs that ended in a reset, by the number of the following start, counted from the starts in
    /// the telemetry.
    pub left: BTreeMap<usize, Recording>,
}

/// A recording of a board's engine up to a fallback or a reset, assembled from the pieces in the board's telemetry.
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

    /// Returns the complete recording; `None` if a piece is missing.
    #[must_use]
    pub fn whole(&self) -> Option<Vec<u8>> {
        self.bytes.iter().copied().collect::<Option<Vec<u8>>>().filter(|bytes| !bytes.is_empty())
    }

    /// Runs the engine again on the recording: the same inputs must produce the same transitions and the same bytes.
    /// Returns `None` if pieces are missing.
    ///
    /// # Errors
    /// Returns the first difference.
    #[must_use]
    pub fn replayed(&self) -> Option<Result<Replayed, ReplayError>> {
        let dump = self.whole()?;
        let (mut primary, mut realtime) = (vec![0; WINDOW], vec![0; WINDOW]);
        let mut rtde = Box::<RtdeMemory<'_, WINDOW, 1>>::default();
        let memory = Memory { primary: &mut primary, realtime: &mut realtime, rtde: Some(&mut *rtde) };
        // The recording names the law that was used.
        let law = AnyLaw::JointServo(JointServo::<6>::new(Reference::Hold, JointServoConfig::default()));
        Some(replay::<6, Ur<'_>, _>(&dump, law, memory))
    }
}

impl Telemetry {
    /// Evaluates all telemetry datagrams that arrived in a run.
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
