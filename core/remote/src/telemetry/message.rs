//! The messages of a device's telemetry. Fields are encoded in the order of their declaration.

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

/// The most bytes of data in one [`Chunk`].
pub const CHUNK_MAX: usize = 1024;

/// The content of one telemetry datagram, for an arm with `N` joints. The times are the defaults of
/// [`Pace`](crate::telemetry::Pace). `S` and `E` are the state and events that exist only for this kind of controller:
/// [`ControllerKind::Status`](outrigger_core::engine::ControllerKind::Status) and
/// [`ControllerKind::Event`](outrigger_core::engine::ControllerKind::Event).
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
#[expect(clippy::large_enum_variant, reason = "one exists at a time, and there is no heap to put the large ones on")]
pub enum Message<'a, const N: usize, S, E> {
    /// The device's identity; sent once a second.
    #[serde(borrow)]
    Hello(Hello<'a>),
    /// The state of the session with the robot; sent every 100 ms.
    Status(Status<S>),
    /// The input and output of the control law; sent every 100 ms while there is a state of the robot.
    Motion(Motion<N>),
    /// A histogram of the real-time link's times; one of them is sent each second, in turn.
    Histogram(HistogramReport),
    /// An event of the engine; sent once.
    Event(Event<E>),
    /// The counts and observations of the port, the program that connects the engine to network and sensors; sent once
    /// a second.
    #[serde(borrow)]
    Port(PortReport<'a>),
    /// A part of the settings in force on the device; all parts are sent every 10 s.
    #[serde(borrow)]
    Settings(Chunk<'a>),
    /// A part of the recording of a fallback, which is an end of commanding after a fault, or of the run before the
    /// last reset. Sent three times; a recording of the run before the last reset also every 30 s after that.
    #[serde(borrow)]
    Recording(Recording<'a>),
    /// The history of the device's start; sent once a second.
    #[serde(borrow)]
    Boot(Boot<'a>),
}

/// The identity of the device: its board, build and version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Hello<'a> {
    /// The name of the device's board, as given by its firmware.
    pub board: &'a str,
    /// The build of the firmware: distinguishes two firmwares of one board.
    pub build: &'a str,
    /// The version of the `outrigger-core` crate in the firmware.
    pub version: &'a str,
}

/// The state of the session with the robot.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Status<S> {
    /// The present mode of the mode machine, e.g. commanding or offline.
    pub mode: Mode,
    /// The time at which the mode machine entered its present mode.
    pub since: Instant,
    /// The session's epoch, a counter of connections and losses of authority, which requests from outside must carry.
    pub epoch: Epoch,
    /// The first reason since the last acknowledgement for which arming or commanding ended; `None` if there is none.
    /// The ends that somebody requested, and those by a stop or pause of the program, are not stored here.
    pub latch: Option<Reason>,
    /// All reasons since the last acknowledgement for which arming or commanding ended.
    pub reasons: ReasonSet,
    /// All reasons for which a request to command would be refused now.
    pub unmet: ReasonSet,
    /// `true` if the arm was last observed moving, and its standstill was not measured since.
    pub motion_unknown: bool,
    /// `true` if the next command would override a stop of the arm at the pendant; only while commanding.
    pub overrides_pendant: bool,
    /// The number of consecutive control cycles with a timely state of the arm, while arming, the preparation for
    /// commanding.
    pub good_cycles: u32,
    /// The kind of proof that the controller accepts commands; `None` while there is none.
    pub accepted_by: Option<Proof>,
    /// The facts about controller and link from which the mode machine decides whether the arm may be commanded, each
    /// with the time at which it was learned.
    pub evidence: Evidence,
    /// The quality and the counts of the link that carries the robot's states.
    pub link: Figures,
    /// The counts of each sensor's readings, in the order of the settings.
    pub sources: Vec<SourceFigures, MAX_SOURCES>,
    /// The number of readings from sensors that are not configured.
    pub unknown_readings: u32,
    /// The number of entries lost because the flight recorder of the engine's inputs and outputs had no room.
    pub recorder_lost: u32,
    /// The number of the engine's events that were not sent because telemetry had no room for them.
    pub events_lost: u32,
    /// The part of the session's state that exists only for this kind of controller.
    pub peer: S,
}

/// The input and output of the control law in one cycle.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Motion<const N: usize> {
    /// The time of the robot's state on the controller's clock.
    pub controller_time: ControllerTime,
    /// The measured joint angles \[rad\].
    pub positions: JointPositions<N>,
    /// The measured joint speeds \[rad/s\].
    pub velocities: JointVelocities<N>,
    /// The joint speeds that the controller itself commands, as its state reports them \[rad/s\].
    pub target_velocities: JointVelocities<N>,
    /// The joint speeds that the governor, which checks requested speeds against the limits, approved last \[rad/s\]; `None`
    /// unless commanding.
    pub approved: Option<JointVelocities<N>>,
    /// The joint speeds commanded now \[rad/s\]: the [approved](Self::approved) ones; for a KRC those of the joint
    /// positions that are sent, also while these are braked to rest.
    pub commanded: JointVelocities<N>,
    /// The pose of the tool in the base frame \[m, rad\]; `None` if the controller sends none.
    pub tcp_pose: Option<Pose>,
    /// The robot's speed scaling, 0 … 1; `None` if the controller sends none.
    pub speed_scaling: Option<f32>,
    /// The levels of the robot's digital inputs; bit 0 is the first.
    pub digital_inputs: u64,
    /// The newest reading of each sensor that has sent one, in SI units.
    pub samples: Vec<Sample, MAX_SOURCES>,
}

/// The kind of a histogram of the real-time link's times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum HistogramKind {
    /// The time between the arrivals of accepted robot states.
    Interval,
    /// The age of accepted robot states on arrival.
    Age,
    /// The time from the arrival of a robot state until the command that answers it was written.
    Turnaround,
}

impl HistogramKind {
    /// The list of all kinds of histogram, in the order of their numbers.
    pub const ALL: [Self; 3] = [Self::Interval, Self::Age, Self::Turnaround];

    /// Returns the name of the histogram used in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Interval => "interval",
            Self::Age => "age",
            Self::Turnaround => "turnaround",
        }
    }
}

/// A histogram of times on the link that delivers the robot's states, since the present session with the controller began.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct HistogramReport {
    /// The kind of times that the histogram counts.
    pub kind: HistogramKind,
    /// The longest time counted in the histogram.
    pub longest: Duration,
    /// The number of times in each bin, shortest first; bins after the last one in the list are empty. The limits of the
    /// bins are those of [`Histogram`].
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

/// Collects as many of the items as the list holds and ignores the others; `collect` would panic if the list is full.
pub(super) fn as_many_as_fit<T, const N: usize>(items: impl Iterator<Item = T>) -> Vec<T, N> {
    let mut list = Vec::new();
    for item in items.take(N) {
        let _ = list.push(item);
    }
    list
}

/// The counts and observations of the port, the program that connects the engine to network and sensors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PortReport<'a> {
    /// The counts of all sensors' readings, and of input that is not a reading.
    pub sensors: sensor::Figures,
    /// The number of datagrams and connections that the port rejected because their address is unknown; 0 from a port that
    /// does not count them.
    pub strangers: u32,
    /// The number of telemetry datagrams that could not be sent.
    pub unsent: u32,
    /// The reason for which each link to the controller is not connected, as text of the port; `None` for a link without
    /// such a reason.
    #[serde(borrow)]
    pub troubles: [Option<&'a str>; LinkId::MOST],
    /// The number of transfers from sensors that failed: the port, the bus or the converter reported an error.
    pub sensor_faults: u32,
    /// The counts of the device's network controller and its driver.
    pub network: NetworkCounts,
    /// The number of bytes of the device's call stack that were never used; `None` if the device does not measure them.
    pub stack_unused: Option<u32>,
    /// The number of complete network frames received, whatever their destination.
    pub frames: u32,
    /// The number of restarts of the network controller because no frames were received any more.
    pub interface_restarts: u32,
    /// The kind of traffic that was received from the robot's address: how far a failing connection has got.
    pub activity: LinkActivity,
    /// The outcome of the last closing of the device's input contact that requests the release of the arm's brakes, as
    /// text of the port; `None` if there was none.
    pub brake_release: Option<&'a str>,
}

/// Counts of a device's network controller and its driver since the device was started. Each number saturates; events
/// that a controller does not count are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct NetworkCounts {
    /// The number of received frames that the device could not use: too short, too long, damaged, or lost because its
    /// memory was full.
    pub bad: u32,
    /// The number of frames of the device that were discarded: there was no link, or the network controller was being
    /// started.
    pub unsent: u32,
    /// The number of times that the device's network link was lost.
    pub link_losses: u32,
    /// The number of bounded waits for the network controller, or for its transceiver, that timed out.
    pub timeouts: u32,
    /// The number of errors between processor and network controller: failed transfers, lost settings.
    pub bus_errors: u32,
    /// The number of starts of the network controller after the first, for any reason.
    pub restarts: u32,
}

/// The traffic from the robot's address since the device was started: how far a failing connection has got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum LinkActivity {
    /// No network frame was received from any address.
    #[default]
    Silence,
    /// Network frames were received, but no ARP packet and no IP packet from the robot's address.
    Others,
    /// An ARP packet was received from the robot's address, but no IP packet: a device has that address.
    Address,
    /// IP packets were received from the robot's address.
    Packets,
}

impl LinkActivity {
    /// Returns a description of the traffic for people, as a clause that starts in lower case.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Silence => "no frame received since the start",
            Self::Others => "only other devices send",
            Self::Address => "a device has this address (its ARP packets show it), but sends no data",
            Self::Packets => "it sends packets",
        }
    }
}

/// A stage of a device's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum StartStage {
    /// The stage in which the processor executes its first instructions and sets up its clocks.
    Clocks,
    /// The stage of the start in which the device reads its settings.
    Settings,
    /// The stage of the start in which the device starts its network controller.
    Interface,
    /// The stage of the start in which the device prepares memory, sensors and tasks.
    Tasks,
    /// The last stage of the start, in which the control loop of the device runs.
    Running,
}

impl StartStage {
    /// The list of all stages of a device's start, in order.
    pub const ALL: [Self; 5] = [Self::Clocks, Self::Settings, Self::Interface, Self::Tasks, Self::Running];

    /// Returns the device's activity in this stage of its start, in lower case.
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
    /// The chip does not report the cause of the reset.
    Unknown,
    /// The device was reset because its supply was switched on.
    Power,
    /// The device was reset because its supply voltage was too low for a moment.
    BrownOut,
    /// The device was reset by a signal at its reset pin, from a button or a debugger.
    Pin,
    /// The device was reset because its watchdog expired: the control loop hung.
    Watchdog,
    /// The device was reset by its own program.
    Software,
}

impl ResetCause {
    /// Returns the name of the reset's cause, in lower case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "an unknown cause",
            Self::Power => "power",
            Self::BrownOut => "a low supply voltage (brown-out)",
            Self::Pin => "the reset pin or a debugger",
            Self::Watchdog => "the watchdog",
            Self::Software => "its own program",
        }
    }
}

/// The cause of the end of the device's previous run, if the program recorded it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum CrashReport<'a> {
    /// The previous run ended by a panic of the program, at this place in the source.
    Panic {
        /// The end of the path of the source file with the panic.
        file: &'a str,
        /// The line of the panic in the source file, from 1.
        line: u32,
    },
    /// The previous run ended by a fault exception of the processor, at this place in the program.
    Fault {
        /// The address of the instruction that caused the fault.
        at: u32,
        /// The return address of the function that contains the instruction.
        from: u32,
    },
    /// The previous run ended by a stack overflow; the place in the program is `None` if it is unknown.
    StackOverflow(Option<CodeAddress>),
}

/// A place in the program. After a stack overflow it may be unknown, because the processor has no room to store it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct CodeAddress {
    /// The address of the instruction at this place in the program.
    pub at: u32,
    /// The return address of the function that contains the instruction.
    pub from: u32,
}

/// The history of the device's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Boot<'a> {
    /// The cause of the device's last reset, as its chip reports it.
    pub cause: ResetCause,
    /// The number of starts since the device was powered, including this one.
    pub starts: u32,
    /// The last stage of its start that the previous run reached; `None` if there is no record of one.
    pub before: Option<StartStage>,
    /// The cause of the end of the device's previous run, if its program recorded it.
    #[serde(borrow)]
    pub crash: Option<CrashReport<'a>>,
    /// The stage of the device's start that this run has reached.
    pub stage: StartStage,
    /// The clock rate of the device's processor \[Hz\].
    pub clock: u32,
    /// `true` if the processor runs on the configured clock, not on the internal one that replaces it if it fails.
    pub is_clock_as_meant: bool,
    /// The reason for which the newest settings in flash are not in force; `None` if they are in force, or there are
    /// none.
    pub refused: Option<&'a str>,
}

/// A part of settings, or of a recording, that are longer than one telemetry datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Chunk<'a> {
    /// The length of the complete data \[B\].
    pub length: u32,
    /// The offset of this part in the complete data \[B\].
    pub offset: u32,
    /// The bytes of this part, at most [`CHUNK_MAX`].
    pub bytes: &'a [u8],
}

/// A part of the recording of a fallback, which is an end of commanding after a fault, or of the run before the last
/// reset. The complete data is a dump for [`replay`](outrigger_core::engine::replay).
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Recording<'a> {
    /// The number of the recorded fallback (an end of commanding after a fault) since the start, from 1; 0 for the
    /// recording of the previous run.
    pub number: u32,
    /// The cause of the recorded fallback, an end of commanding after a fault; `None` for the recording of the previous
    /// run: [`Boot`] contains why that ended.
    pub reason: Option<Reason>,
    /// The number of the repetition of the recording to which the part belongs, from 0.
    pub pass: u8,
    /// The part of the recording that this message carries.
    #[serde(borrow)]
    pub chunk: Chunk<'a>,
}
