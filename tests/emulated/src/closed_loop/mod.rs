//! A closed loop: *sensor → UART → firmware in QEMU → speedj → simulated arm → sensor*, hurt twice, and judged.
//!
//! The board holds its tool 50 mm over a workpiece that heaves and has waves. Then the link stalls, then the sensor is
//! unplugged. Each time the board has to fall back for the right reason, bring the arm to rest in time, and stay there
//! until an operator has acknowledged and asked again.

mod report;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use outrigger_core::robot::{Reason, SoftwareVersion};
use outrigger_sim::controller::{Controller, Options};
use outrigger_sim::time::SimTime;

use crate::bench::{Bench, REST, Record, Setup};
use crate::qemu::{Exit, Firmware};
use crate::sensor::{Plug, Sensor, workpiece};
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
/// How often a machine that was too busy is given another chance.
const ATTEMPTS: usize = 10;

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
    /// From the trouble until the arm was at rest for good.
    pub rest: Option<Duration>,
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
    /// When it commanded.
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

/// Plays the story on a board with this firmware, and says what happens to `tell` as it does.
///
/// # Errors
/// Where there is no board to play it with.
pub fn play(firmware: &Firmware, plan: &Plan, tell: &mut dyn FnMut(SimTime, &str)) -> io::Result<Report> {
    let mut setup = setup(plan);
    setup.options.push(format!("seconds={}", plan.span.as_secs()));
    setup.limit = plan.span + PATIENCE * 3;
    let bench = Bench::start(firmware, setup)?;
    let mut player = Player { bench, story: Story::default(), tell, told: 0 };
    player.play(plan.span);
    let Player { mut bench, mut story, .. } = player;
    story.exit = bench.exit();
    Ok(Report::new(plan, firmware.machine(), &story, &bench))
}

struct Player<'f, 't> {
    bench: Bench<'f>,
    story: Story,
    tell: &'t mut dyn FnMut(SimTime, &str),
    /// Lines of the log that were told.
    told: usize,
}

impl Player<'_, '_> {
    /// The story, as far as it comes.
    fn play(&mut self, span: Duration) {
        let _ = self.begin(span);
        // The firmware ends by itself, with the arm at rest.
        let left = (SimTime::ZERO + span).since(self.bench.now());
        self.live(left + PATIENCE, |bench| bench.exit().is_some());
    }

    fn begin(&mut self, span: Duration) -> Option<()> {
        let at = |share: f64| SimTime::ZERO + span.mul_f64(share);
        let connected = self.hear(SimTime::ZERO, &["connected"])?;
        self.story.connected = Some(connected);
        self.story.armed = Some(self.arm()?);
        self.work(at(0.35))?;
        self.trouble(Trouble::LinkStall)?;
        self.work(at(0.65))?;
        self.trouble(Trouble::SensorCable)?;
        self.work(at(1.0))
    }

    /// Lives on, telling the log.
    fn live(&mut self, limit: Duration, mut done: impl FnMut(&mut Bench<'_>) -> bool) -> bool {
        let Self { bench, tell, told, .. } = self;
        bench.run_until(limit, |bench| {
            for line in bench.record().log.get(*told..).unwrap_or_default() {
                tell(line.at, &format!("board: {}", line.text));
            }
            *told = bench.record().log.len();
            done(bench)
        })
    }

    fn hear(&mut self, since: SimTime, words: &[&str]) -> Option<(SimTime, String)> {
        let mut heard = None;
        self.live(PATIENCE, |bench| {
            heard = bench.record().said(since, words).map(|line| (line.at, line.text.clone()));
            heard.is_some()
        });
        heard
    }

    fn say(&mut self, text: &str) {
        (self.tell)(self.bench.now(), text);
    }

    /// Asks until the board commands.
    fn arm(&mut self) -> Option<SimTime> {
        for _ in 0..ATTEMPTS {
            self.say("operator: requests");
            let pressed = self.bench.now();
            self.bench.request();
            let (at, text) = self.hear(pressed, &["armed", "refused", "not armed"])?;
            if text.starts_with("armed") {
                return Some(at);
            }
            self.live(LOOK, |_| false);
            if text.starts_with("not armed") {
                self.say("operator: acknowledges");
                self.bench.acknowledge();
                self.live(LOOK, |_| false);
            }
        }
        None
    }

    /// Lets the board work until `end`. What falls back without a trouble is armed again.
    fn work(&mut self, end: SimTime) -> Option<()> {
        loop {
            let begun = self.bench.now();
            let mut fallen = None;
            self.live(end.since(begun), |bench| {
                fallen = bench.record().said(begun, &["fallback"]).map(|line| (line.at, line.text.clone()));
                fallen.is_some() || bench.exit().is_some()
            });
            let until = fallen.as_ref().map_or(self.bench.now(), |(at, _)| *at);
            self.story.commanding.push((begun, until));
            if begun + SETTLING < until {
                self.story.settled.push((begun + SETTLING, until));
            }
            let Some(fallen) = fallen else { return Some(()) };
            self.story.unplanned.push(fallen);
            if self.story.unplanned.len() > ATTEMPTS {
                return None;
            }
            self.recover(begun)?;
        }
    }

    /// Looks, acknowledges, and asks again.
    fn recover(&mut self, since: SimTime) -> Option<SimTime> {
        self.hear(since, &["at rest"])?;
        self.live(LOOK, |_| false);
        self.say("operator: acknowledges");
        self.bench.acknowledge();
        self.live(LOOK, |_| false);
        self.arm()
    }

    fn trouble(&mut self, trouble: Trouble) -> Option<()> {
        let at = self.bench.now();
        self.say(&format!("fault: {}", trouble.text()));
        let speed = self.bench.record().motion.last().map_or(0.0, |motion| motion.speed);
        match trouble {
            Trouble::LinkStall => {
                self.bench.up.stall(at, at + STALL);
                self.bench.down.stall(at, at + STALL);
            }
            Trouble::SensorCable => self.bench.plug(Plug::Out),
        }
        let fallback = self.hear(at, &["fallback"]);
        let round = Round { trouble, at, speed, fallback, rest: None, unasked: 0, armed_again: None };
        self.story.rounds.push(round);
        self.hear(at, &["at rest"])?;
        let rest = self.bench.now();
        self.live(LOOK, |_| false);
        self.bench.plug(Plug::In);
        self.say("operator: acknowledges");
        self.bench.acknowledge();
        self.live(LOOK, |_| false);
        // Until here nobody has asked for anything.
        let now = self.bench.now();
        let record = self.bench.record();
        let round = self.story.rounds.last_mut()?;
        round.rest = record.rest_after(at, now);
        round.unasked = unasked(record, rest, now);
        let armed = self.arm();
        self.story.rounds.last_mut()?.armed_again = armed;
        armed.map(|_| ())
    }
}

/// Commands that ask for motion, and cycles in which the arm moved, from `from` until `until`.
fn unasked(record: &Record, from: SimTime, until: SimTime) -> usize {
    let commands = record.commands(from, until).iter().filter(|command| command.speeds.is_some()).count();
    commands + record.motion(from, until).iter().filter(|motion| motion.speed > REST).count()
}
