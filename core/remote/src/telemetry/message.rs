//! The messages. Fields are encoded in the order in which they stand here.

use heapless::Vec;

use outrigger_core::command::{MAX_SOURCES, SourceFigures};
use outrigger_core::engine::{Event, LinkId};
use outrigger_core::link::{BINS, Figures, Histogram};
use outrigger_core::mode::{Epoch, Evidence, Mode, Proof};
use outrigger_core::robot::{Reason, ReasonSet};
use outrigger_wire::robot::{ControllerTime, JointPositions, JointVelocities, Pose};
use outrigger_wire::sensor;
use outrigger_wire::sensor::Sample;
use outrigger_wire::time::{Duration, Instant};

/// Most bytes of one [`Chunk`].
pub const CHUNK_MAX: usize = 1024;

/// What one datagram says, of an arm with `N` joints. `S` and `E` are what only this kind of controller has to show and to
/// report: [`Peer::Status`](outrigger_core::engine::Peer::Status) and [`Peer::Event`](outrigger_core::engine::Peer::Event).
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
#[expect(clippy::large_enum_variant, reason = "one exists at a time, and there is no heap to put the large ones on")]
pub enum Message<'a, const N: usize, S, E> {
    /// Who speaks; once a second.
    #[serde(borrow)]
    Hello(Hello<'a>),
    /// Where the session stands; repeated.
    Status(Status<S>),
    /// What goes into the law and what comes out; repeated.
    Motion(Motion<N>),
    /// One histogram of the real-time link; each once in a while.
    Histogram(HistogramReport),
    /// Something happened, once.
    Event(Event<E>),
    /// What the port itself sees; once a second.
    #[serde(borrow)]
    Port(PortReport<'a>),
    /// A piece of the settings in force; repeated.
    #[serde(borrow)]
    Settings(Chunk<'a>),
    /// A piece of the recording of a fallback, or of the run before; repeated a few times.
    #[serde(borrow)]
    Recording(Recording<'a>),
    /// How the device came to run; once a second.
    #[serde(borrow)]
    Boot(Boot<'a>),
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Hello<'a> {
    /// Which board, in the words of its firmware.
    pub board: &'a str,
    /// Which build: what distinguishes two firmwares of one board.
    pub build: &'a str,
    /// Version of Outrigger's core.
    pub version: &'a str,
}

/// Where the session stands.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Status<S> {
    /// Mode of the machine.
    pub mode: Mode,
    /// Since when.
    pub since: Instant,
    /// What intents from outside must carry.
    pub epoch: Epoch,
    /// The first reason since the last acknowledge.
    pub latch: Option<Reason>,
    /// Every reason since then.
    pub reasons: ReasonSet,
    /// Everything that a request would be refused for.
    pub unmet: ReasonSet,
    /// Whether the arm was last seen moving, and its rest was not measured since.
    pub motion_unknown: bool,
    /// The next command overrides a stop at the pendant.
    pub overrides_pendant: bool,
    /// Good cycles in a row, while arming.
    pub good_cycles: u32,
    /// What shows that commands are accepted.
    pub accepted_by: Option<Proof>,
    /// What is decided by, each fact with the instant when it was learned.
    pub evidence: Evidence,
    /// Figures of the link that states come from.
    pub link: Figures,
    /// What was counted of each sensor, in the order of the settings.
    pub sources: Vec<SourceFigures, MAX_SOURCES>,
    /// Readings of sensors that nobody configured.
    pub unknown_readings: u32,
    /// Entries that the recorder had no room for.
    pub recorder_lost: u32,
    /// Events that found no room in telemetry.
    pub events_lost: u32,
    /// What only this kind of controller has to show.
    pub peer: S,
}

/// What goes into the law and what comes out.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Motion<const N: usize> {
    /// The controller's clock.
    pub controller_time: ControllerTime,
    /// Measured joint angles \[rad\].
    pub positions: JointPositions<N>,
    /// Measured joint speeds \[rad/s\].
    pub velocities: JointVelocities<N>,
    /// Joint speeds that the controller steers to \[rad/s\].
    pub target_velocities: JointVelocities<N>,
    /// Joint speeds that were approved last \[rad/s\]; `None` unless commanding.
    pub approved: Option<JointVelocities<N>>,
    /// Joint speeds that are commanded \[rad/s\]: the approved ones, or those of a target that is being braked.
    pub commanded: JointVelocities<N>,
    /// Pose of the tool in the base frame.
    pub tcp_pose: Option<Pose>,
    /// Factor on speeds, 0 … 1.
    pub speed_scaling: Option<f32>,
    /// Digital inputs of the robot, bit 0 the first.
    pub digital_inputs: u64,
    /// The newest reading of each sensor, in SI units.
    pub samples: Vec<Sample, MAX_SOURCES>,
}

/// Which histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum HistogramKind {
    /// Time between accepted states.
    Interval,
    /// Age of accepted states on arrival.
    Age,
    /// From the arrival of a state to the answer to it.
    Turnaround,
}

impl HistogramKind {
    /// Every histogram, in the order of its number.
    pub const ALL: [Self; 3] = [Self::Interval, Self::Age, Self::Turnaround];

    /// The name used in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Interval => "interval",
            Self::Age => "age",
            Self::Turnaround => "turnaround",
        }
    }
}

/// One histogram, over the life of the session.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct HistogramReport {
    /// Which.
    pub kind: HistogramKind,
    /// The longest span.
    pub longest: Duration,
    /// How many spans in each bin, shortest first; bins behind the last are empty. Edges: [`Histogram`].
    pub bins: Vec<u32, BINS>,
}

impl HistogramReport {
    pub(super) fn of(kind: HistogramKind, histogram: &Histogram) -> Self {
        let mut bins: Vec<u32, BINS> = as_many_as_fit(histogram.bins().map(|bin| bin.count));
        let used = bins.iter().rposition(|count| *count > 0).map_or(0, |last| last.saturating_add(1));
        bins.truncate(used);
        Self { kind, longest: histogram.longest(), bins }
    }
}

/// The items; a list that collects itself panics where it is full.
pub(super) fn as_many_as_fit<T, const N: usize>(items: impl Iterator<Item = T>) -> Vec<T, N> {
    let mut list = Vec::new();
    for item in items.take(N) {
        let _ = list.push(item);
    }
    list
}

/// What the port itself sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PortReport<'a> {
    /// What came from all sensors, and what of it was no reading.
    pub sensors: sensor::Figures,
    /// Datagrams and connections of others that were refused.
    pub strangers: u32,
    /// Datagrams of telemetry that could not be sent.
    pub unsent: u32,
    /// Why each link is not connected, in the port's words.
    #[serde(borrow)]
    pub troubles: [Option<&'a str>; LinkId::MOST],
    /// Transfers from sensors that failed: the port, the bus or the converter reported an error.
    pub sensor_faults: u32,
    /// What its network controller counts.
    pub network: NetworkCounts,
    /// Bytes of the device's stack that were never used, where it knows.
    pub stack_unused: Option<u32>,
    /// Frames of the network that came in, whole, to anybody.
    pub frames: u32,
    /// Starts of the network controller that were made because nothing came in any more.
    pub interface_restarts: u32,
    /// What was heard from the robot's address.
    pub activity: LinkActivity,
    /// What came of the last rise of the line that asks for the brakes to be released, in the port's words.
    pub brake_release: Option<&'a str>,
}

/// What a device's network controller and its driver counted since the device was started. Each number stays at its end where it
/// would exceed it; what a controller does not count is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct NetworkCounts {
    /// Received frames that the device could not use: too short, too long, damaged, or lost in a full memory.
    pub bad: u32,
    /// Frames of the device that were thrown away: there was no link, or the controller was being started.
    pub unsent: u32,
    /// Times that the link was lost.
    pub link_losses: u32,
    /// Bounded waits for the controller, or for its transceiver, that ran out.
    pub timeouts: u32,
    /// Errors on the way between processor and controller: transfers that failed, settings that were lost.
    pub bus_errors: u32,
    /// Starts of the controller after the first, whatever for.
    pub restarts: u32,
}

/// What was heard from the robot's address since the device was started: how far a connection that does not come about has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum LinkActivity {
    /// Nothing, from nobody: no frame at all has come in.
    #[default]
    Silence,
    /// Frames of others, none of it.
    Others,
    /// An answer to ARP: something has that address.
    Address,
    /// Packets of IP.
    Packets,
}

impl LinkActivity {
    /// What is known by it, as a clause that starts in lower case.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Silence => "not a single frame has come in since the start",
            Self::Others => "nobody answers ARP for it, others are heard",
            Self::Address => "something has this address (it answers ARP), and sends nothing else",
            Self::Packets => "it sends packets",
        }
    }
}

/// How far a device has come since it was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Stage {
    /// Its first instruction, and its clocks.
    Clocks,
    /// Its settings are read.
    Settings,
    /// Its network controller is started.
    Interface,
    /// Memory, sensors and tasks are made ready.
    Tasks,
    /// The control loop runs.
    Running,
}

impl Stage {
    /// Every stage, in order.
    pub const ALL: [Self; 5] = [Self::Clocks, Self::Settings, Self::Interface, Self::Tasks, Self::Running];

    /// What the device did in it, in lower case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Clocks => "starting its clocks",
            Self::Settings => "reading its settings",
            Self::Interface => "starting its network controller",
            Self::Tasks => "preparing memory, sensors and tasks",
            Self::Running => "running",
        }
    }
}

/// Why a device was reset, as its chip says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ResetCause {
    /// The chip does not say.
    Unknown,
    /// It was powered.
    Power,
    /// Its supply fell too low for a moment.
    BrownOut,
    /// The reset pin, by a button or a debugger.
    Pin,
    /// The watchdog: the control loop hung.
    Watchdog,
    /// Its program asked for it.
    Software,
}

impl ResetCause {
    /// In lower case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "a cause that its chip does not tell",
            Self::Power => "power",
            Self::BrownOut => "a supply that fell too low (brown-out)",
            Self::Pin => "the reset pin or a debugger",
            Self::Watchdog => "the watchdog",
            Self::Software => "its own program",
        }
    }
}

/// What ended the run before, where the program itself saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum CrashReport<'a> {
    /// A panic, by the last bytes of the file's path, and the line.
    Panic {
        /// Of the program's sources.
        file: &'a str,
        /// From 1.
        line: u32,
    },
    /// A fault of the processor.
    Fault {
        /// Address of the instruction.
        at: u32,
        /// Where its function returns to.
        from: u32,
    },
    /// The stack was used up.
    StackOverflow(Option<Place>),
}

/// Where the processor was. What it has no room for on the stack that is used up is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Place {
    /// Address of the instruction.
    pub at: u32,
    /// Where its function returns to.
    pub from: u32,
}

/// How the device came to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Boot<'a> {
    /// Why it was reset.
    pub cause: ResetCause,
    /// Starts since it was powered, this one among them.
    pub starts: u32,
    /// How far the run before had come; `None` where nothing is kept of one.
    pub before: Option<Stage>,
    /// What ended that run, where its program saw it.
    #[serde(borrow)]
    pub crash: Option<CrashReport<'a>>,
    /// How far this run has come.
    pub stage: Stage,
    /// Rate of the processor \[Hz\].
    pub clock: u32,
    /// Whether the clock is the one that was meant to be used, and not what the chip has instead.
    pub is_clock_as_meant: bool,
    /// Why the settings that it was told last are not the ones that it runs; `None` where they are, or it was told none.
    pub refused: Option<&'a str>,
}

/// A piece of something longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Chunk<'a> {
    /// Length of the whole \[B\].
    pub length: u32,
    /// Where this piece begins \[B\].
    pub offset: u32,
    /// The piece, at most [`CHUNK_MAX`] bytes.
    pub bytes: &'a [u8],
}

/// A piece of the recording of a fallback, or of what the run before the last reset left. The whole is a dump for
/// [`replay`](outrigger_core::engine::replay).
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Recording<'a> {
    /// Number of the fallback since the start, from 1; 0 for what the run before left.
    pub number: u32,
    /// Why it fell back; `None` for what the run before left: [`Boot`] says why that ended.
    pub reason: Option<Reason>,
    /// Which time it is sent, from 0.
    pub pass: u8,
    /// The piece.
    #[serde(borrow)]
    pub chunk: Chunk<'a>,
}
