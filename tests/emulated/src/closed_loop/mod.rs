//! A closed loop: *sensor → UART → firmware in QEMU → speedj → simulated arm → sensor*. It is disturbed twice and then
//! checked.
//!
//! The board holds its tool 50 mm over a workpiece that heaves and has waves. First the link stalls, then the sensor is
//! unplugged. Each time the board must fall back for the correct reason, bring the arm to rest in time, and remain at
//! rest until an operator has acknowledged and requested command again.

mod report;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use outrigger_core::robot::Reason;
use outrigger_sim::controller::{Controller, Options};
use outrigger_sim::time::SimTime;
use outrigger_wire::robot::SoftwareVersion;

use crate::bench::{Armed, Bench, REST, Record, Setup, Teller};
use crate::qemu::{Exit, Firmware};
use crate::sensor::{Plug, Sensor, workpiece};
use crate::tries::{Verdict, nobodys_fallback};
pub use report::{Check, Report};

/// The distance between tool and workpiece that the board is configured to hold \[m\], as in `boards/standoff.toml`.
pub const DISTANCE: f64 = 0.05;
/// The initial distance from the tool to the workpiece \[m\].
const START: f64 = 0.07;
/// The period of the sensor's readings.
const READING: Duration = Duration::from_millis(4);
/// The duration of the link stall.
const STALL: Duration = Duration::from_millis(300);
/// The longest wait for each step of the test: connecting, arming, a fallback, rest, and the end of the board.
const PATIENCE: Duration = Duration::from_secs(10);
/// The time after the board began to command by which the distance to the workpiece must have settled.
const SETTLING: Duration = Duration::from_secs(3);
/// The time for which the operator waits after the arm is at rest, and again after the acknowledgement.
const LOOK: Duration = Duration::from_millis(700);
/// The highest number of fallbacks without a disturbance after which the operator requests command again.
const ATTEMPTS: usize = 10;
/// The time that [`looked_back`] adds for the delays from a standstill of this machine to the fallback that it causes,
/// and from the fallback to its line in the log.
const LOGGED: Duration = Duration::from_millis(60);

/// A disturbance that the test causes in the board's surroundings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The wire transmits nothing for a while, then delivers everything at once.
    LinkStall,
    /// The sensor's cable is pulled.
    SensorCable,
}

impl Trouble {
    /// Returns a description of the disturbance.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::LinkStall => "nothing crosses the wire for 300 ms",
            Self::SensorCable => "the sensor's cable is pulled",
        }
    }

    /// Returns the reasons with which commanding may end during the disturbance. A stalled link is detected by the
    /// age of the states, by their absence or by bytes that are not acknowledged, whichever limit is reached first.
    #[must_use]
    pub const fn expected(self) -> &'static [Reason] {
        match self {
            Self::LinkStall => &[Reason::StateStale, Reason::StatesMissed, Reason::Unacknowledged],
            Self::SensorCable => &[Reason::SourceStale],
        }
    }

    /// Returns the time by which the board must detect the disturbance: the default threshold, which
    /// `boards/standoff.toml` leaves unchanged, plus four periods of the controller.
    fn seen_within(self, period: Duration) -> Duration {
        let threshold = match self {
            Self::LinkStall => Duration::from_millis(40),
            Self::SensorCable => Duration::from_millis(100),
        };
        threshold + period * 4
    }
}

/// A disturbance and the board's reaction to it.
#[derive(Clone, Debug)]
pub struct Round {
    /// The kind of the disturbance.
    pub trouble: Trouble,
    /// The time at which the disturbance began.
    pub at: SimTime,
    /// The speed of the fastest joint when the disturbance began \[rad/s\].
    pub speed: f64,
    /// The time and the text of the line about the fallback in the board's log.
    pub fallback: Option<(SimTime, String)>,
    /// The time from the start of the disturbance until the arm was at rest, up to the end of the disturbance; `None`
    /// if it did not come to rest.
    pub rest: Option<Duration>,
    /// The time at which the link stall ended; for the sensor's cable, the time at which the arm was reported at rest,
    /// shortly before the cable was plugged in again.
    pub over: SimTime,
    /// The time from the end of the disturbance until the arm was at rest for good. Text that was on its way while the
    /// wire stalled arrives late and may move the arm. `None` if it did not come to rest.
    pub late: Option<Duration>,
    /// The number of commands to move, and of cycles in which the arm moved, between rest and the next request.
    pub unasked: usize,
    /// The time at which the board commanded again; `None` if it did not.
    pub armed_again: Option<SimTime>,
}

/// The parameters of a run of the closed loop.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The controller's software version.
    pub software: SoftwareVersion,
    /// The time for which the board is on.
    pub span: Duration,
    /// The seed of all random numbers of the run.
    pub seed: u64,
}

/// The course of a run of the closed loop: the events that are not in its [`Record`].
#[derive(Clone, Debug, Default)]
pub struct Story {
    /// The time and the text of the line in the board's log that reports the connection to the controller.
    pub connected: Option<(SimTime, String)>,
    /// The time at which the board first commanded.
    pub armed: Option<SimTime>,
    /// The spans in which the board commanded and the distance had settled.
    pub settled: Vec<(SimTime, SimTime)>,
    /// The spans from a request to the end of commanding.
    pub commanding: Vec<(SimTime, SimTime)>,
    /// The disturbances, in order.
    pub rounds: Vec<Round>,
    /// The time and the text in the board's log of each fallback that no disturbance caused.
    pub unplanned: Vec<(SimTime, String)>,
    /// The way in which the board ended; `None` if it did not end.
    pub exit: Option<Exit>,
}

/// Returns the path of the configuration for the firmware: with the default thresholds for software that sends 125
/// states a second, with wider thresholds for 500 states a second.
#[must_use]
pub fn configuration(software: SoftwareVersion) -> PathBuf {
    let name = if software.at_least(5, 0) { "standoff-500hz.toml" } else { "standoff.toml" };
    Path::new(env!("CARGO_MANIFEST_DIR")).join("boards").join(name)
}

/// Returns the age of a state that is too old for commanding, as the file of [`configuration`] sets it.
#[must_use]
pub fn stale_after(software: SoftwareVersion) -> Duration {
    Duration::from_millis(if software.at_least(5, 0) { 100 } else { 40 })
}

/// Returns the shortest standstill of this machine that can make the board end commanding: half of [`stale_after`]. The
/// other half covers the age of a state at the start of the standstill and the time that the emulator takes to catch
/// up.
#[must_use]
pub fn ending_standstill(software: SoftwareVersion) -> Duration {
    stale_after(software) / 2
}

/// Returns the length of the time span, before a fallback in the log, in which the cause of the fallback is searched
/// for: a standstill of this machine.
#[must_use]
pub fn looked_back(software: SoftwareVersion) -> Duration {
    stale_after(software) * 2 + LOGGED
}

/// Judges a fallback that no disturbance caused, by the standstills of this machine before it.
#[must_use]
pub fn unplanned(bench: &Bench<'_>, software: SoftwareVersion, at: SimTime, said: &str) -> Verdict {
    nobodys_fallback(said, bench.window_before(at, looked_back(software)), ending_standstill(software))
}

/// Returns the simulated surroundings of the board: controller, sensor and workpiece.
///
/// # Panics
/// If there is no controller with this software version.
#[must_use]
pub fn setup(plan: &Plan) -> Setup {
    let options = Options { seed: plan.seed, ..Options::for_software(plan.software) };
    let controller = Controller::new(options.clone()).expect("a controller that existed");
    let surface = workpiece(&controller, START);
    let mut setup = Setup::new(options);
    setup.sensor = Some(Sensor::of_distance(surface.clone(), READING, plan.seed));
    setup.surface = Some(surface);
    setup
}

/// Runs the closed-loop test on a board with this firmware, and reports on it; `teller` receives the events as they
/// happen.
///
/// # Errors
/// Returns an error if the board cannot be started.
pub fn play<'f>(firmware: &'f Firmware, plan: &Plan, teller: Teller<'f>) -> io::Result<Report> {
    let mut setup = setup(plan);
    setup.options.push(format!("seconds={}", plan.span.as_secs()));
    setup.limit = plan.span + PATIENCE * 3;
    let mut bench = Bench::start(firmware, setup)?;
    bench.tell(teller);
    let mut player = Player { bench: &mut bench, story: Story::default() };
    player.play(plan.span);
    let mut story = player.story;
    story.exit = bench.exit();
    Ok(Report::new(plan, firmware.machine(), &story, &bench))
}

struct Player<'b, 'f> {
    bench: &'b mut Bench<'f>,
    story: Story,
}

impl Player<'_, '_> {
    /// Runs the steps of the closed-loop test as far as possible, for `span`, and then up to [`PATIENCE`] longer until
    /// the board ends.
    fn play(&mut self, span: Duration) {
        let _ = self.scenes(span);
        // The firmware ends by itself when the arm is at rest.
        let left = (SimTime::ZERO + span).since(self.bench.now());
        self.bench.run_until(left + PATIENCE, |bench| bench.exit().is_some());
    }

    fn scenes(&mut self, span: Duration) -> Option<()> {
        let at = |share: f64| SimTime::ZERO + span.mul_f64(share);
        let connected = self.bench.hear(SimTime::ZERO, &["connected"], PATIENCE)?;
        self.story.connected = Some((connected.at, connected.text));
        let armed = self.bench.arm(PATIENCE)?;
        self.story.armed = Some(armed.at);
        self.work(armed, at(0.35))?;
        let armed = self.trouble(Trouble::LinkStall)?;
        self.work(armed, at(0.65))?;
        let armed = self.trouble(Trouble::SensorCable)?;
        self.work(armed, at(1.0))
    }

    /// Lets the board follow its law until `end`. After a fallback without a disturbance, the operator acknowledges and
    /// requests command again. Returns `None` if that fails or is needed too often.
    fn work(&mut self, mut armed: Armed, end: SimTime) -> Option<()> {
        loop {
            let left = end.since(self.bench.now());
            let fallen = self.bench.hear(armed.at, &["fallback", "released"], left);
            let until = fallen.as_ref().map_or(self.bench.now(), |line| line.at);
            self.story.commanding.push((armed.asked, until));
            if armed.at + SETTLING < until {
                self.story.settled.push((armed.at + SETTLING, until));
            }
            let Some(fallen) = fallen.filter(|line| line.text.starts_with("fallback")) else { return Some(()) };
            self.story.unplanned.push((fallen.at, fallen.text));
            if self.story.unplanned.len() > ATTEMPTS {
                return None;
            }
            rested(self.bench, armed.at)?;
            self.bench.run_for(LOOK);
            self.bench.acknowledge();
            self.bench.run_for(LOOK);
            armed = self.bench.arm(PATIENCE)?;
        }
    }

    fn trouble(&mut self, trouble: Trouble) -> Option<Armed> {
        let at = self.bench.now();
        self.bench.say(&format!("fault: {}", trouble.text()));
        let speed = self.bench.record().motion.last().map_or(0.0, |motion| motion.speed);
        match trouble {
            Trouble::LinkStall => {
                self.bench.up.stall(at, at + STALL);
                self.bench.down.stall(at, at + STALL);
            }
            Trouble::SensorCable => self.bench.plug(Plug::Out),
        }
        let fallback = self.bench.hear(at, &["fallback"], PATIENCE).map(|line| (line.at, line.text));
        let (rest, late) = (None, None);
        let round = Round { trouble, at, speed, fallback, rest, over: at, late, unasked: 0, armed_again: None };
        self.story.rounds.push(round);
        let rest = rested(self.bench, at)?;
        self.bench.run_for(LOOK);
        self.bench.plug(Plug::In);
        self.bench.acknowledge();
        self.bench.run_for(LOOK);
        // No request for command has been made up to here.
        let now = self.bench.now();
        let record = self.bench.record();
        let round = self.story.rounds.last_mut()?;
        let over = if trouble == Trouble::LinkStall { at + STALL } else { rest };
        round.over = over;
        round.rest = record.rest_after(at, over);
        round.late = record.rest_after(over, now);
        round.unasked = unasked(record, rest, now);
        let armed = self.bench.arm(PATIENCE)?;
        self.story.rounds.last_mut()?.armed_again = Some(armed.at);
        Some(armed)
    }
}

/// Runs until the board logs that the arm is at rest, or that it has reconnected without knowing the arm to be at rest:
/// queued text is dropped with the connection. Returns the time; `None` if neither is logged in time.
pub fn rested(bench: &mut Bench<'_>, since: SimTime) -> Option<SimTime> {
    let line = bench.hear(since, &["at rest", "standstill not measured"], PATIENCE)?;
    if !line.text.starts_with("at rest") {
        bench.hear(line.at, &["connected"], PATIENCE)?;
    }
    Some(bench.now())
}

/// Counts the `speedj` commands, and the cycles in which the arm moved, from `from` until `until`.
fn unasked(record: &Record, from: SimTime, until: SimTime) -> usize {
    let commands = record.commands(from, until).iter().filter(|command| command.speeds.is_some()).count();
    commands + record.motion(from, until).iter().filter(|motion| motion.speed > REST).count()
}
