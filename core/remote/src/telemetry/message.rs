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

/// The content of one datagram, of an arm with `N` joints. `S` and `E` are what only this kind of controller has to show and to
/// report: [`ControllerKind::Status`](outrigger_core::engine::ControllerKind::Status) and [`ControllerKind::Event`](outrigger_core::engine::ControllerKind::Event).
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
#[expect(clippy::large_enum_variant, reason = "one exists at a time, and there is no heap to put the large ones on")]
pub enum Message<'a, const N: usize, S, E> {
    /// The device; once a second.
    #[serde(borrow)]
    Hello(Hello<'a>),
    /// The state of the session; repeated.
    Status(Status<S>),
    /// The input and output of the law; repeated.
    Motion(Motion<N>),
    /// One histogram of the real-time link; each once in a while.
    Histogram(HistogramReport),
    /// Something happened, once.
    Event(Event<E>),
    /// The port's own observations; once a second.
    #[serde(borrow)]
    Port(PortReport<'a>),
    /// A piece of the settings in force; repeated.
    #[serde(borrow)]
    Settings(Chunk<'a>),
    /// A piece of the recording of a fallback, or of the run before; repeated a few times.
    #[serde(borrow)]
    Recording(Recording<'a>),
    /// The history of the device's start; once a second.
    #[serde(borrow)]
    Boot(Boot<'a>),
}

/// The device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Hello<'a> {
    /// The board's name, in the words of its firmware.
    pub board: &'a str,
    /// The build: what distinguishes two firmwares of one board.
    pub build: &'a str,
    /// Version of Outrigger's core.
    pub version: &'a str,
}

/// The state of the session.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Status<S> {
    /// Mode of the machine.
    pub mode: Mode,
    /// Since when.
    pub since: Instant,
    /// The epoch that intents from outside must carry.
    pub epoch: Epoch,
    /// The first reason since the last acknowledge.
    pub latch: Option<Reason>,
    /// Every reason since then.
    pub reasons: ReasonSet,
    /// All reasons for which a request would be refused.
    pub unmet: ReasonSet,
    /// The arm was last seen moving, and its rest was not measured since.
    pub motion_unknown: bool,
    /// The next command overrides a stop at the pendant.
    pub overrides_pendant: bool,
    /// Good cycles in a row, while arming.
    pub good_cycles: u32,
    /// The proof that commands are accepted.
    pub accepted_by: Option<Proof>,
    /// The facts that decisions rest on, each with the instant when it was learned.
    pub evidence: Evidence,
    /// Figures of the link that states come from.
    pub link: Figures,
    /// The counts of each sensor, in the order of the settings.
    pub sources: Vec<SourceFigures, MAX_SOURCES>,
    /// Readings of sensors that nobody configured.
    pub unknown_readings: u32,
    /// Entries that the recorder had no room for.
    pub recorder_lost: u32,
    /// Events that found no room in telemetry.
    pub events_lost: u32,
    /// The state that only this kind of controller has.
    pub peer: S,
}

/// The input and output of the law.
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

/// The name of a histogram.
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

    /// Returns the name used in reports.
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
    /// The histogram's name.
    pub kind: HistogramKind,
    /// The longest span.
    pub longest: Duration,
    /// The number of spans in each bin, shortest first; bins behind the last are empty. Edges: [`Histogram`].
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

/// The port's own observations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PortReport<'a> {
    /// The counts of all sensors' readings, and of input that was no reading.
    pub sensors: sensor::Figures,
    /// Datagrams and connections of others that were refused.
    pub strangers: u32,
    /// Datagrams of telemetry that could not be sent.
    pub unsent: u32,
    /// The reason for which each link is not connected, in the port's words.
    #[serde(borrow)]
    pub troubles: [Option<&'a str>; LinkId::MOST],
    /// Transfers from sensors that failed: the port, the bus or the converter reported an error.
    pub sensor_faults: u32,
    /// The counts of its network controller.
    pub network: NetworkCounts,
    /// Bytes of the device's stack that were never used, where it knows.
    pub stack_unused: Option<u32>,
    /// Frames of the network that came in, whole, to anybody.
    pub frames: u32,
    /// Starts of the network controller that were made because nothing came in any more.
    pub interface_restarts: u32,
    /// The traffic from the robot's address.
    pub activity: LinkActivity,
    /// The outcome of the last rise of the line that asks for the brakes to be released, in the port's words.
    pub brake_release: Option<&'a str>,
}

/// Counts of a device's network controller and its driver since the device was started. Each number stays at its end where it
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

/// Traffic from the robot's address since the device was started: how far a connection that fails has got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum LinkActivity {
    /// No frame at all has come in, from anybody.
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
    /// Returns a clause for people that starts in lower case.
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

/// A stage of a device's start.
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

    /// Returns what the device did in it, in lower case.
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

/// The cause of a device's reset, as its chip reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ResetCause {
    /// The chip does not say.
    Unknown,
    /// A supply that was switched on.
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
    /// Returns the name, in lower case.
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

/// The end of the run before, where the program itself recorded it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum CrashReport<'a> {
    /// A panic, by the last bytes of the file's path, and the line.
    Panic {
        /// The end of the path of the source file.
        file: &'a str,
        /// From 1.
        line: u32,
    },
    /// A fault of the processor.
    Fault {
        /// Address of the instruction.
        at: u32,
        /// The address that its function returns to.
        from: u32,
    },
    /// The stack was used up.
    StackOverflow(Option<Place>),
}

/// A place in the program. On a stack that is used up the processor has no room for it: then it is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Place {
    /// Address of the instruction.
    pub at: u32,
    /// The address that its function returns to.
    pub from: u32,
}

/// The history of the device's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Boot<'a> {
    /// The cause of the reset.
    pub cause: ResetCause,
    /// Starts since it was powered, this one among them.
    pub starts: u32,
    /// The last stage of the run before; `None` where no record of one is left.
    pub before: Option<Stage>,
    /// The end of that run, where its program recorded it.
    #[serde(borrow)]
    pub crash: Option<CrashReport<'a>>,
    /// The stage of this run.
    pub stage: Stage,
    /// Rate of the processor \[Hz\].
    pub clock: u32,
    /// The processor runs on the configured clock, not on the chip's fallback.
    pub is_clock_as_meant: bool,
    /// The reason for which the newest settings in flash do not run; `None` where they run, or there are none.
    pub refused: Option<&'a str>,
}

/// A piece of something longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Chunk<'a> {
    /// Length of the whole \[B\].
    pub length: u32,
    /// The offset of this piece \[B\].
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
    /// The cause of the fallback; `None` for what the run before left: [`Boot`] says why that ended.
    pub reason: Option<Reason>,
    /// The number of the pass in which it is sent, from 0.
    pub pass: u8,
    /// The piece.
    #[serde(borrow)]
    pub chunk: Chunk<'a>,
}
