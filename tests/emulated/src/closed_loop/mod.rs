//! A closed loop: *sensor → UART → firmware in QEMU → speedj → simulated arm → sensor*, hurt twice, and judged.
//!
//! The board holds its tool 50 mm over a workpiece that heaves and has waves. Then the link stalls, then the sensor is
//! unplugged. Each time the board has to fall back for the right reason, bring the arm to rest in time, and stay there
//! until an operator has acknowledged and asked again.

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

/// The distance that the board holds \[m\]; `boards/standoff.toml` says the same.
pub const DISTANCE: f64 = 0.05;
/// How far the tool begins from the workpiece \[m\].
const START: f64 = 0.07;
/// The sensor's pace.
const READING: Duration = Duration::from_millis(4);
/// How long nothing crosses the wire.
const STALL: Duration = Duration::from_millis(300);
/// How long every step of the story may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long the distance may take to settle.
const SETTLING: Duration = Duration::from_secs(3);
/// How long an operator looks at a fallback, and then again after it is acknowledged.
const LOOK: Duration = Duration::from_millis(700);
/// How often a machine that stood still is given another chance.
const ATTEMPTS: usize = 10;
/// How much later than it happened a fallback may be in the log, and what causes it begin before.
const LOGGED: Duration = Duration::from_millis(60);

/// What is done to the board's surroundings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Nothing crosses the wire for a while; then everything at once.
    LinkStall,
    /// The sensor's cable is pulled.
    SensorCable,
}

impl Trouble {
    /// In words.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::LinkStall => "nothing crosses the wire for 300 ms",
            Self::SensorCable => "the sensor's cable is pulled",
        }
    }

    /// What commanding may end with: a stalled link is seen by the age of states, by their absence, or by bytes that
    /// are not acknowledged, whichever limit is reached first.
    #[must_use]
    pub const fn expected(self) -> &'static [Reason] {
        match self {
            Self::LinkStall => &[Reason::StateStale, Reason::StatesMissed, Reason::Unacknowledged],
            Self::SensorCable => &[Reason::SourceStale],
        }
    }

    /// By when the board has to see it: the threshold of `boards/standoff.toml` and two cycles.
    fn seen_within(self, period: Duration) -> Duration {
        let threshold = match self {
            Self::LinkStall => Duration::from_millis(40),
            Self::SensorCable => Duration::from_millis(100),
        };
        threshold + period * 4
    }
}

/// One trouble and what followed.
#[derive(Clone, Debug)]
pub struct Round {
    /// What was done.
    pub trouble: Trouble,
    /// When.
    pub at: SimTime,
    /// Speed of the fastest joint then \[rad/s\].
    pub speed: f64,
    /// What the log says of the fallback, and when.
    pub fallback: Option<(SimTime, String)>,
    /// From the trouble until the arm was at rest, for as long as the trouble lasted.
    pub rest: Option<Duration>,
    /// The end of the trouble.
    pub over: SimTime,
    /// What was under way when the wire stood still arrives late. From the end of the trouble until the arm was at rest
    /// for good.
    pub late: Option<Duration>,
    /// Commands that moved the arm, or would have, between rest and the next request.
    pub unasked: usize,
    /// When the board commanded again.
    pub armed_again: Option<SimTime>,
}

/// What a run is made from.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The controller's software.
    pub software: SoftwareVersion,
    /// How long the board is on.
    pub span: Duration,
    /// Where chance comes from.
    pub seed: u64,
}

/// What became of a run, apart from its record.
#[derive(Clone, Debug, Default)]
pub struct Story {
    /// What the log says of the controller.
    pub connected: Option<(SimTime, String)>,
    /// When the board commanded first.
    pub armed: Option<SimTime>,
    /// When it commanded, and its distance had settled.
    pub settled: Vec<(SimTime, SimTime)>,
    /// From when it was asked to command until it no longer did.
    pub commanding: Vec<(SimTime, SimTime)>,
    /// The troubles.
    pub rounds: Vec<Round>,
    /// What it says of fallbacks that nobody caused.
    pub unplanned: Vec<(SimTime, String)>,
    /// How it ended.
    pub exit: Option<Exit>,
}

/// The configuration that the firmware is built with: the shipped thresholds at 125 states a second, wider ones, named in
/// the file, at 500.
#[must_use]
pub fn configuration(software: SoftwareVersion) -> PathBuf {
    let name = if software.at_least(5, 0) { "standoff-500hz.toml" } else { "standoff.toml" };
    Path::new(env!("CARGO_MANIFEST_DIR")).join("boards").join(name)
}

/// How old a state may be while commanding, by that configuration.
#[must_use]
pub fn stale_after(software: SoftwareVersion) -> Duration {
    Duration::from_millis(if software.at_least(5, 0) { 100 } else { 40 })
}

/// The shortest standstill of this machine that ends commanding: the other half is what a state is old when it begins, and
/// what an emulator takes to catch up.
#[must_use]
pub fn ending_standstill(software: SoftwareVersion) -> Duration {
    stale_after(software) / 2
}

/// How long before a fallback in the log such a standstill is looked for.
#[must_use]
pub fn looked_back(software: SoftwareVersion) -> Duration {
    stale_after(software) * 2 + LOGGED
}

/// What a fallback that nobody caused means.
#[must_use]
pub fn unplanned(bench: &Bench<'_>, software: SoftwareVersion, at: SimTime, said: &str) -> Verdict {
    nobodys_fallback(said, bench.window_before(at, looked_back(software)), ending_standstill(software))
}

/// What is around the board.
///
/// # Panics
/// Where there never was such a controller.
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

/// Plays the story on a board with this firmware, and tells what happens as it does.
///
/// # Errors
/// Where there is no board to play it with.
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
    /// The story, as far as it comes.
    fn play(&mut self, span: Duration) {
        let _ = self.scenes(span);
        // The firmware ends by itself, with the arm at rest.
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

    /// Lets the board work until `end`. What falls back without a trouble is armed again.
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
        // Until here nobody has asked for anything.
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

/// Lives on until the board has said that the arm rests, or that it stands before it anew: text that waited in the network is
/// dropped with the connection, and rest is measured on the next one.
pub fn rested(bench: &mut Bench<'_>, since: SimTime) -> Option<SimTime> {
    let line = bench.hear(since, &["at rest", "not known to be at rest"], PATIENCE)?;
    if !line.text.starts_with("at rest") {
        bench.hear(line.at, &["connected"], PATIENCE)?;
    }
    Some(bench.now())
}

/// Commands that ask for motion, and cycles in which the arm moved, from `from` until `until`.
fn unasked(record: &Record, from: SimTime, until: SimTime) -> usize {
    let commands = record.commands(from, until).iter().filter(|command| command.speeds.is_some()).count();
    commands + record.motion(from, until).iter().filter(|motion| motion.speed > REST).count()
}
