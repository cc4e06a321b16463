//! Commands by a program of ours on the controller, which connects to us (`core/docs/protocol/outrigger-programs.md`).
//!
//! | stage | goes on |
//! |---|---|
//! | `Away` | a first zero velocity is due: its text goes out over 30003, `Called` |
//! | `Called` | it connects: `Greeting`; not within [`start_timeout`](super::ProgramConfig::start_timeout): its text goes out again |
//! | `Greeting` | it says whose it is: `Ready`; another one, or nothing in time: it is hung up on |
//! | `Ready` | an order in each cycle, mirrored by the program; told to end: `Ending` |
//! | `Ending` | it closes the connection: `Away`; not within [`end_timeout`](super::ProgramConfig::end_timeout): `stopj` over 30003 |
//!
//! Whoever connects from another address than the controller's, or while nobody is expected, is counted and turned away.

mod door;
mod fetch;
mod positions;
mod text;

use core::net::{IpAddr, Ipv4Addr, SocketAddr};

use heapless::Deque;

use self::door::Door;
use self::fetch::Fetch;
use self::positions::Positions;
use self::text::Made;
use super::config::{UrConfig, UrOptions};
use super::event::ProgramNews;
use super::outbox::Outbox;
use super::path::{CommandPath, Delivery, ProgramConfig};
use crate::command::{Approved, Limits};
use crate::engine::cycle::{Resident, Verdict};
use crate::engine::io::{LinkId, Output};
use crate::link::{AnswerFigures, Answers};
use crate::mode::{Held, Mode};
#[cfg(feature = "postcard")]
use crate::recorder::{Loader, Saver};
use crate::robot::{JointVelocities, Reason, SoftwareVersion, State};
use crate::time::{Duration, Instant, earliest};
use crate::wire::external_control::{ControlMode, ControlRepr};
use crate::wire::program::{Ending, Hello, Kind, Order, OrderRepr, Report, What};

/// A program that has connected says whose it is within this time.
const GREETING: Duration = Duration::from_secs(1);
/// A program that was told to end, and whose connection still stands, is hung up on.
const HANG_UP: Duration = Duration::from_secs(1);
/// Bytes of its text that go out at a time: to a URCap all of it, which takes what comes in pieces for the end.
const PIECE: usize = if cfg!(feature = "urcap") { text::LONGEST } else { 256 };
/// So long a program of External Control waits for the next message while nothing is commanded.
const IDLE: Duration = Duration::from_secs(1);
/// A program that stays is told so often that we are there, while nothing is commanded.
const STAY: Duration = Duration::from_millis(100);
/// Orders that may wait to be mirrored.
const UNANSWERED: usize = 8;

/// How far a program of ours has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
enum Stage {
    Away,
    Called(Instant),
    Greeting(Instant),
    Ready,
    /// Since when, and whether `stopj` was sent for it.
    Ending(Instant, bool),
}

/// The connection of a program of ours, and what goes over it.
#[derive(Debug)]
pub(super) struct Reverse {
    door: Door,
    fetch: Option<Fetch>,
    stage: Stage,
    /// When the newest order was made.
    spoke: Instant,
    /// What the session is for, while it stands.
    software: Option<SoftwareVersion>,
    /// What was sent last as a program, and how much of it the port has.
    made: Option<Made>,
    sent: Option<usize>,
    piece: [u8; PIECE],
    /// How much of it is to be transmitted.
    fetched: usize,
    window: [u8; 64],
    unread: [u8; 16],
    filled: usize,
    /// Of the next order.
    counter: u16,
    /// When each order was made that is not mirrored yet, oldest first, and the counter of that one.
    waiting: Deque<Instant, UNANSWERED>,
    oldest: u16,
    /// Whether the program mirrors, and when it last did.
    mirrors: Held<bool>,
    ending: Ending,
    answers: Answers<u16>,
    order: Outbox<{ Order::LEN }>,
    tokens: u16,
    called: bool,
    path: CommandPath,
    kind: Kind,
    /// For how long a command holds without a successor.
    hold: Duration,
    /// Connections that a program of External Control makes beside: for trajectories, and for commands.
    beside: [Door; 2],
    config: ProgramConfig,
    limits: Limits<6>,
    /// Of a program that takes positions.
    positions: Positions,
    /// How many points wait in the ring, as it said last, and how many are to.
    lag: u16,
    fill: u16,
    /// Of the states.
    period: Duration,
    /// What a verdict is carried out by.
    moment: Moment,
}

/// What is known when a verdict is carried out.
#[derive(Clone, Copy, Debug)]
struct Moment {
    now: Instant,
    mode: Mode,
    /// The newest state, for a program that takes positions.
    state: Option<State<6>>,
    /// The program was paused, and takes nothing before it goes on.
    paused: bool,
}

/// The program's connection, where one is to carry commands.
#[cfg(feature = "reverse")]
pub(super) type Carrier = Reverse;
/// Never: without the feature `reverse` text carries them.
#[cfg(not(feature = "reverse"))]
pub(super) type Carrier = Absent;

/// What nobody has.
#[cfg(not(feature = "reverse"))]
#[derive(Debug)]
pub(super) enum Absent {}

#[cfg(not(feature = "reverse"))]
impl core::ops::Deref for Absent {
    type Target = Reverse;

    fn deref(&self) -> &Reverse {
        match *self {}
    }
}

#[cfg(not(feature = "reverse"))]
impl core::ops::DerefMut for Absent {
    fn deref_mut(&mut self) -> &mut Reverse {
        match *self {}
    }
}

/// The connection, to be looked at.
pub(super) fn shared(carrier: &Option<Carrier>) -> Option<&Reverse> {
    #[cfg(feature = "reverse")]
    let reverse = carrier.as_ref();
    #[cfg(not(feature = "reverse"))]
    let reverse = carrier.as_deref();
    reverse
}

/// The connection, to be changed.
pub(super) fn exclusive(carrier: &mut Option<Carrier>) -> Option<&mut Reverse> {
    #[cfg(feature = "reverse")]
    let reverse = carrier.as_mut();
    #[cfg(not(feature = "reverse"))]
    let reverse = carrier.as_deref_mut();
    reverse
}

/// The connection, where the path is one of a program.
#[cfg(feature = "reverse")]
pub(super) fn carrier(options: &UrOptions, limits: &Limits<6>) -> Option<Carrier> {
    options.path.is_resident().then(|| Reverse::new(options, *limits))
}

/// None.
#[cfg(not(feature = "reverse"))]
pub(super) fn carrier(_: &UrOptions, _: &Limits<6>) -> Option<Carrier> {
    None
}

/// What becomes of a verdict.
pub(super) enum Wrote {
    /// An order, or nothing.
    Order(bool),
    /// `stopj` is to go out as text.
    StopText,
}

impl Reverse {
    pub(super) fn new(options: &UrOptions, limits: Limits<6>) -> Self {
        Self {
            door: Door::default(),
            fetch: (options.program.by == Delivery::UrCap).then(Fetch::default),
            stage: Stage::Away,
            spoke: Instant::ZERO,
            software: None,
            made: None,
            sent: None,
            piece: [0; PIECE],
            fetched: 0,
            window: [0; 64],
            unread: [0; 16],
            filled: 0,
            counter: 0,
            waiting: Deque::new(),
            oldest: 0,
            mirrors: Held::new(false, Instant::ZERO),
            ending: Ending::None,
            answers: Answers::new(Duration::ZERO),
            order: Outbox::EMPTY,
            tokens: 0,
            called: false,
            path: options.path,
            kind: match options.path {
                CommandPath::Text | CommandPath::ReverseSpeedJ | CommandPath::ExternalControl => Kind::SpeedJ,
                CommandPath::ReverseServoJ => Kind::ServoJ,
                CommandPath::Buffered => Kind::Buffered,
            },
            hold: options.text.hold,
            beside: [Door::default(); 2],
            config: options.program,
            limits,
            positions: Positions::UNKNOWN,
            lag: 0,
            fill: u16::MAX,
            period: Duration::ZERO,
            moment: Moment { now: Instant::ZERO, mode: Mode::Offline, state: None, paused: false },
        }
    }

    /// Whether the program speaks the wire of External Control, and answers nothing.
    fn is_foreign(&self) -> bool {
        self.path == CommandPath::ExternalControl
    }

    /// Whether the program stays when commanding is over.
    fn stays(&self) -> bool {
        self.config.stays(self.path)
    }

    /// Whether a program of ours carries the commands of this session.
    pub(super) const fn is_chosen(&self) -> bool {
        self.software.is_some()
    }

    /// A session with this software, in this period.
    pub(super) fn open(&mut self, software: SoftwareVersion, period: Duration, config: &UrConfig) {
        let path = config.peer.path;
        if path.is_resident() && path.fits(software) {
            self.software = Some(software);
            self.answers = Answers::new(period.percent(150));
            self.period = period;
            self.fill = self.config.fill(period);
            self.door.open(self.config.port);
            self.fetch.iter_mut().for_each(|fetch| fetch.door.open(self.config.script_port));
            if self.is_foreign() {
                let [trajectory, command] = &mut self.beside;
                trajectory.open(self.config.trajectory_port);
                command.open(self.config.command_port);
            }
        }
    }

    /// The session is over: the program ends where nobody speaks to it.
    pub(super) fn close(&mut self) {
        self.door.close();
        self.fetch.iter_mut().for_each(Fetch::close);
        self.beside.iter_mut().for_each(Door::close);
        self.software = None;
        self.sent = None;
        self.hang_up(Stage::Away);
    }

    /// The two ends of our connection to the controller.
    pub(super) fn ends(&mut self, ours: IpAddr, theirs: IpAddr) {
        self.door.ends(ours, theirs);
        self.fetch.iter_mut().for_each(|fetch| fetch.door.ends(ours, theirs));
        self.beside.iter_mut().for_each(|door| door.ends(ours, theirs));
    }

    /// Whether a program could be made and could connect, or has.
    pub(super) fn is_open(&self) -> bool {
        self.is_chosen() && self.door.is_open() && self.address().is_some()
    }

    /// Whether somebody at the robot has to start it first.
    pub(super) fn is_away(&self) -> bool {
        self.is_chosen() && self.config.by != Delivery::Text && !self.is_ready()
    }

    fn address(&self) -> Option<Ipv4Addr> {
        self.config.address.or_else(|| self.door.ours())
    }

    pub(super) fn accepted(&mut self, link: LinkId, from: SocketAddr, now: Instant) -> Option<ProgramNews> {
        if let (LinkId::SCRIPT, Some(fetch)) = (link, &mut self.fetch) {
            return fetch.accepted(from, now).map(ProgramNews::Stranger);
        }
        let door = self.door_mut(link);
        if !door.accepted(from) {
            door.turn_away();
            return Some(ProgramNews::Stranger(door.strangers()));
        }
        if link != LinkId::REVERSE {
            return None;
        }
        self.filled = 0;
        self.stage = Stage::Greeting(now);
        if self.is_foreign() {
            self.begin(now);
            return Some(ProgramNews::Connected);
        }
        None
    }

    fn door_mut(&mut self, link: LinkId) -> &mut Door {
        let Self { door, beside: [trajectory, command], .. } = self;
        match link {
            LinkId::TRAJECTORY => trajectory,
            LinkId::COMMAND => command,
            _ => door,
        }
    }

    /// The program takes orders from now on.
    fn begin(&mut self, now: Instant) {
        self.stage = Stage::Ready;
        (self.counter, self.oldest, self.ending) = (0, 0, Ending::None);
        self.waiting.clear();
        self.answers.clear();
        self.mirrors = Held::new(false, now);
        self.lag = 0;
    }

    /// The port could not listen: after how long it is tried again.
    pub(super) fn refused(&mut self, link: LinkId, now: Instant) -> Duration {
        match &mut self.fetch {
            Some(fetch) if link == LinkId::SCRIPT => fetch.door.refused(now),
            _ => self.door_mut(link).refused(now),
        }
    }

    /// A connection is gone that is nothing but there.
    pub(super) fn closed_beside(&mut self, link: LinkId) {
        self.door_mut(link).closed();
    }

    /// What the URCap says, or that it has read and left.
    pub(super) fn asked(&mut self, count: usize, now: Instant) {
        let complete = self.fetch.as_mut().is_some_and(|fetch| fetch.commit(count));
        if complete {
            self.make(now);
        }
    }

    /// The URCap has left.
    pub(super) fn answered(&mut self) {
        self.fetch.iter_mut().for_each(Fetch::closed);
    }

    pub(super) fn asking_window(&mut self) -> &mut [u8] {
        self.fetch.as_mut().map(Fetch::window).unwrap_or_default()
    }

    /// The program ends, with the arm at rest; whether there is one that stays.
    pub(super) fn hand_back(&mut self, now: Instant) -> bool {
        self.is_ready() && self.end(now)
    }

    /// The program is sent again, to stay; whether it can be.
    pub(super) fn resend(&mut self, now: Instant) -> bool {
        let can = self.config.resident && self.fetch.is_none() && matches!(self.stage, Stage::Away | Stage::Called(_));
        if can {
            self.stage = Stage::Away;
            self.call(now);
        }
        can
    }

    /// It acknowledges nothing.
    pub(super) fn hang_up_now(&mut self) {
        self.hang_up(Stage::Away);
    }

    /// The program has closed its connection, or the network has.
    pub(super) fn closed(&mut self) -> Option<ProgramNews> {
        let told = matches!(self.stage, Stage::Ready | Stage::Ending(..)).then_some(self.ending);
        self.door.closed();
        self.forget();
        told.map(ProgramNews::Ended)
    }

    /// Nothing is known of a program any more.
    fn forget(&mut self) {
        self.stage = Stage::Away;
        self.order.clear();
        self.waiting.clear();
        self.mirrors.value = false;
    }

    /// The connection is reset, and the next one is waited for.
    fn hang_up(&mut self, stage: Stage) {
        if matches!(self.stage, Stage::Greeting(_) | Stage::Ready | Stage::Ending(..)) {
            self.door.hang_up();
        }
        self.forget();
        self.stage = stage;
    }

    pub(super) fn is_connected(&self) -> bool {
        matches!(self.stage, Stage::Greeting(_) | Stage::Ready | Stage::Ending(..))
    }

    /// Everything written to it would be a program's.
    pub(super) fn is_ready(&self) -> bool {
        matches!(self.stage, Stage::Ready)
    }

    /// Whether the connection carries orders.
    pub(super) fn carries(&self) -> bool {
        matches!(self.stage, Stage::Ready | Stage::Ending(..))
    }

    pub(super) fn window(&mut self) -> &mut [u8] {
        self.window.get_mut(self.filled..).unwrap_or_default()
    }

    /// Room for what nobody reads.
    pub(super) const fn ignored(&mut self) -> &mut [u8] {
        &mut self.unread
    }

    /// Bytes of the program, which arrived at `arrival`.
    pub(super) fn commit(&mut self, count: usize, arrival: Instant, mut tell: impl FnMut(ProgramNews)) {
        self.filled = self.filled.saturating_add(count).min(self.window.len());
        let window = self.window;
        let mut rest = window.get(..self.filled).unwrap_or_default();
        loop {
            let (one, behind) = match self.stage {
                Stage::Greeting(_) => match rest.split_at_checked(Hello::LEN) {
                    Some((hello, behind)) => {
                        self.greet(hello, arrival, &mut tell);
                        (true, behind)
                    }
                    None => (false, rest),
                },
                // It has nothing to say.
                Stage::Ready | Stage::Ending(..) if self.is_foreign() => (false, &[][..]),
                Stage::Ready | Stage::Ending(..) => match rest.split_first_chunk() {
                    Some((report, behind)) => {
                        self.take(Report::from_bytes(*report), arrival);
                        (true, behind)
                    }
                    None => (false, rest),
                },
                // What a program says that is hung up on.
                Stage::Away | Stage::Called(_) => (false, &[][..]),
            };
            rest = behind;
            if !one {
                break;
            }
        }
        self.window.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        self.filled = rest.len();
    }

    fn greet(&mut self, hello: &[u8], arrival: Instant, tell: &mut impl FnMut(ProgramNews)) {
        let ours = self.made.map(|made| (made.kind, made.token));
        match Hello::new_checked(hello).map(Hello::repr) {
            Ok(hello) if hello.version == Hello::VERSION && ours == Some((hello.kind, hello.token)) => {
                self.begin(arrival);
                tell(ProgramNews::Connected);
            }
            Ok(hello) => {
                tell(ProgramNews::Other { version: hello.version });
                self.hang_up(Stage::Away);
            }
            Err(_) => {
                tell(ProgramNews::Other { version: 0 });
                self.hang_up(Stage::Away);
            }
        }
    }

    /// What the program says of an order.
    fn take(&mut self, report: Report, arrival: Instant) {
        if report.ending != Ending::None {
            self.ending = report.ending;
        }
        self.lag = report.lag;
        let mirrored = report.counter.wrapping_sub(self.oldest);
        if usize::from(mirrored) < self.waiting.len() {
            for _ in 0..=mirrored {
                self.waiting.pop_front();
                self.oldest = self.oldest.wrapping_add(1);
            }
            self.answers.reflected(report.counter, arrival);
            self.mirrors = Held::new(true, arrival);
        }
    }

    /// For how long the oldest order waits to be mirrored; zero where none does.
    fn unmirrored(&self, now: Instant) -> Duration {
        self.waiting.front().map(|at| now.since(*at)).unwrap_or_default()
    }

    /// Time has passed; what ends commanding.
    pub(super) fn wake(&mut self, stale: Duration, now: Instant, tell: impl FnOnce(ProgramNews)) -> Option<Reason> {
        #[cfg(feature = "postcard")]
        self.order.begin();
        self.door.wake(now);
        self.beside.iter_mut().for_each(|door| door.wake(now));
        self.fetch.iter_mut().for_each(|fetch| fetch.wake(now));
        match self.stage {
            Stage::Greeting(since) if now.since(since) > GREETING => {
                self.hang_up(Stage::Away);
                tell(ProgramNews::Other { version: 0 });
            }
            Stage::Ending(since, _) if now.since(since) > HANG_UP => self.hang_up(Stage::Away),
            _ => {}
        }
        // What a program that is paused does not answer is nobody's fault while nothing is commanded.
        let stays = matches!(self.moment.mode, Mode::Monitor | Mode::Offline);
        (self.is_ready() && !stays && self.unmirrored(now) > stale).then_some(Reason::NotMirrored)
    }

    /// What is known of the program at `now`.
    pub(super) fn resident(&self, now: Instant) -> Option<Resident> {
        let mirrors = match self.mirrors {
            // Nothing but its connection, and that the controller's target follows, tells of it.
            _ if self.is_foreign() => Held::new(self.is_ready(), now),
            Held { value: true, at } => Held::new(true, at),
            Held { value: false, .. } => Held::new(false, now),
        };
        self.is_chosen().then(|| Resident { connected: self.is_ready(), mirrors })
    }

    pub(super) fn figures(&self, now: Instant) -> Option<AnswerFigures> {
        (self.is_ready() && !self.is_foreign()).then(|| self.answers.figures(now))
    }

    /// What the next verdict is carried out by. A program that is `paused` takes nothing before it goes on.
    pub(super) fn prepare(&mut self, now: Instant, mode: Mode, state: Option<&State<6>>, paused: bool) {
        let state = if self.takes_positions() { state.copied() } else { None };
        self.moment = Moment { now, mode, state, paused };
    }

    const fn takes_positions(&self) -> bool {
        matches!(self.kind, Kind::ServoJ | Kind::Buffered)
    }

    /// Carries out a verdict.
    ///
    /// # Errors
    /// What ends commanding instead.
    pub(super) fn write(&mut self, verdict: Verdict<'_, 6>) -> Result<Wrote, Reason> {
        let Moment { now, mode, state, paused } = self.moment;
        let made = match verdict {
            Verdict::Silent | Verdict::Mirror | Verdict::Start(..) | Verdict::Keep | Verdict::Cancel(_) => false,
            Verdict::Hold if !self.is_ready() => {
                if mode == Mode::Arming {
                    self.positions.forget();
                    self.call(now);
                }
                false
            }
            // A target that stands still at once would be a jerk; its program brakes.
            Verdict::Hold if mode == Mode::Stopping && self.takes_positions() && !self.stays() => self.end(now),
            Verdict::Hold if mode == Mode::Stopping && self.takes_positions() => self.rest(now),
            Verdict::Hold => {
                let values = state.map_or([0; 6], |state| match mode {
                    Mode::Command => self.positions.settle(&state, &self.limits),
                    _ => self.positions.hold(&state),
                });
                let what = if self.is_full() { What::Keep } else { What::Values };
                self.order(what, 1, values, now)
            }
            Verdict::Move(_) if !self.is_ready() => false,
            Verdict::Move(approved) => match &state {
                Some(state) => {
                    let full = self.is_full();
                    let ring =
                        matches!(self.kind, Kind::Buffered).then_some(if full { Duration::ZERO } else { self.period });
                    let step = self.positions.advance(approved, state, &self.limits, self.config.divergence, ring)?;
                    let what = if full { What::Keep } else { What::Values };
                    self.order(what, step.cycles, step.to, now)
                }
                None => {
                    let values = speeds(approved);
                    self.order(What::Values, 1, values, now)
                }
            },
            // The zero velocities went before it.
            Verdict::Stop if self.is_ready() && !paused && self.stays() => self.order(What::Rest, 1, [0; 6], now),
            Verdict::Stop if self.is_ready() && !paused => self.end(now),
            // A text would end the program of the pendant around it, and nothing of ours moves on.
            Verdict::Stop if self.fetch.is_some() => false,
            Verdict::Stop if matches!(self.stage, Stage::Ending(..)) && !paused => false,
            Verdict::Stop => return Ok(Wrote::StopText),
        };
        Ok(Wrote::Order(made))
    }

    /// Whether the ring has as many points as are to wait there: our own time stands still then.
    fn is_full(&self) -> bool {
        self.lag > self.fill
    }

    /// The program is to come to rest and to end.
    fn end(&mut self, now: Instant) -> bool {
        self.stage = Stage::Ending(now, false);
        if self.is_foreign() {
            return self.control(ControlMode::Stopped, [0; 6]);
        }
        let order = OrderRepr { counter: self.counter, what: What::End, cycles: 1, values: [0; 6] };
        self.order.put(|out| order.emit(out)).is_ok_and(|len| len > 0)
    }

    /// The program is to come to rest, and to stay.
    fn rest(&mut self, now: Instant) -> bool {
        self.positions.forget();
        self.order(What::Rest, 1, [0; 6], now)
    }

    /// The same on the wire of External Control.
    fn control(&mut self, mode: ControlMode, values: [i32; 6]) -> bool {
        let timeout = if mode == ControlMode::SpeedJ { self.hold } else { IDLE };
        let timeout = i32::try_from(timeout.as_millis()).unwrap_or(i32::MAX);
        let control = ControlRepr { timeout, values, mode };
        self.order.put(|out| control.emit(out)).is_ok_and(|len| len > 0)
    }

    fn order(&mut self, what: What, cycles: u16, values: [i32; 6], now: Instant) -> bool {
        if self.is_foreign() {
            self.spoke = now;
            let mode = if what == What::Rest { ControlMode::Idle } else { ControlMode::SpeedJ };
            return self.control(mode, values);
        }
        if self.waiting.len() >= usize::from(self.config.unanswered) || self.waiting.push_back(now).is_err() {
            return false;
        }
        let order = OrderRepr { counter: self.counter, what, cycles, values };
        self.answers.sent(self.counter, now);
        self.spoke = now;
        self.counter = self.counter.wrapping_add(1);
        self.order.put(|out| order.emit(out)).is_ok_and(|len| len > 0)
    }

    /// A program of ours is to be sent, unless one is waited for.
    fn call(&mut self, now: Instant) {
        let due = match self.stage {
            Stage::Away => true,
            Stage::Called(since) => now.since(since) > self.config.start_timeout,
            Stage::Greeting(_) | Stage::Ready | Stage::Ending(..) => false,
        };
        if !due {
            return;
        }
        // Where the URCap fetches it, somebody at the robot starts it.
        if self.config.by == Delivery::Text {
            self.make(now);
        }
    }

    /// The text of a program goes out.
    fn make(&mut self, now: Instant) {
        let (Some(software), Some(address)) = (self.software, self.address()) else { return };
        self.tokens = self.tokens.wrapping_add(1);
        // Another one after each start of ours, as far as the clock tells, and after each call.
        let token = (now.as_micros() as i32 & 0x7FFF_0000) | i32::from(self.tokens);
        self.made = Some(Made { path: self.path, kind: self.kind, software, address, port: self.config.port, token });
        self.sent = Some(0);
        self.hang_up(Stage::Called(now));
        self.called = true;
    }

    /// What the mode asks for beside verdicts; whether `stopj` is to go out as text.
    pub(super) fn conclude(&mut self, mode: Mode, now: Instant) -> bool {
        match (mode, self.stage) {
            (Mode::Offline | Mode::Monitor, Stage::Ready) if self.stays() => {
                if now.since(self.spoke) >= STAY {
                    self.rest(now);
                }
                false
            }
            (Mode::Offline | Mode::Monitor, Stage::Ready) => {
                self.end(now);
                false
            }
            (Mode::Stopping, Stage::Ending(since, false)) if now.since(since) > self.config.end_timeout => {
                self.stage = Stage::Ending(since, true);
                true
            }
            _ => false,
        }
    }

    /// Whether its text has begun to go out.
    pub(super) fn was_called(&mut self) -> bool {
        core::mem::take(&mut self.called)
    }

    /// Whether nothing is waited for after a shutdown, with the arm at rest since then.
    pub(super) fn has_left(&self, rest: Instant, now: Instant) -> bool {
        !self.is_connected() || now.since(rest) > HANG_UP
    }

    pub(super) fn has_link_output(&self) -> bool {
        let fetch = self.fetch.as_ref().is_some_and(|fetch| fetch.door.has_output());
        self.door.has_output() || fetch || self.beside.iter().any(Door::has_output)
    }

    pub(super) const fn is_sending(&self) -> bool {
        self.sent.is_some()
    }

    pub(super) fn is_waiting(&self) -> bool {
        self.has_link_output() || self.sent.is_some() || !self.order.is_empty()
    }

    /// Whether there is something for [`poll_output`](Self::poll_output): the next piece of a text is made for it.
    pub(super) fn fetch(&mut self, config: &UrConfig) -> bool {
        if !self.has_link_output() && self.order.is_empty() {
            self.fetched = self.next_piece(config).unwrap_or_default();
        }
        self.has_link_output() || !self.order.is_empty() || self.fetched > 0
    }

    /// The next thing for the port to do.
    pub(super) fn poll_output(&mut self) -> Option<Output<'_>> {
        let link = LinkId::REVERSE;
        if let Some(output) = self.door.poll_output(link) {
            return Some(output);
        }
        if let Some(output) = self.fetch.as_mut().and_then(|fetch| fetch.door.poll_output(LinkId::SCRIPT)) {
            return Some(output);
        }
        let beside = [LinkId::TRAJECTORY, LinkId::COMMAND].into_iter().zip(&mut self.beside);
        if let Some(output) = beside.into_iter().find_map(|(link, door)| door.poll_output(link)) {
            return Some(output);
        }
        if !self.order.is_empty() {
            return Some(Output::Transmit { link, to: None, bytes: self.order.take() });
        }
        let count = core::mem::take(&mut self.fetched);
        let bytes = self.piece.get(..count).filter(|bytes| !bytes.is_empty())?;
        let link = if self.fetch.is_some() { LinkId::SCRIPT } else { LinkId::REALTIME };
        Some(Output::Transmit { link, to: None, bytes })
    }

    /// The next piece of the text: its length.
    fn next_piece(&mut self, config: &UrConfig) -> Option<usize> {
        let (made, sent) = (self.made?, self.sent?);
        let piece = &mut self.piece;
        let read = made.with_text(config, self.fetch.is_some(), |mut text| {
            // What has gone out is passed over: a place in a text that borrows its values cannot be kept.
            let mut left = sent;
            while left > 0 {
                let room = left.min(PIECE);
                let read = text.read(piece.get_mut(..room).unwrap_or_default());
                left = if read == 0 { 0 } else { left.saturating_sub(read) };
            }
            text.read(piece)
        });
        let count = read.filter(|count| *count > 0);
        self.sent = count.map(|count| sent.saturating_add(count));
        count
    }

    pub(super) fn next_deadline(&self, stale: Duration, now: Instant) -> Option<Instant> {
        // What is over has been acted on, or is nobody's in this mode.
        let past =
            |since: Instant, limit: Duration| Some(since + limit + Duration::from_micros(1)).filter(|at| *at > now);
        let stage = match self.stage {
            Stage::Greeting(since) => past(since, GREETING),
            Stage::Ending(since, _) => past(since, self.config.end_timeout).or(past(since, HANG_UP)),
            Stage::Ready if self.stays() && matches!(self.moment.mode, Mode::Monitor | Mode::Offline) => {
                Some(self.spoke + STAY).filter(|at| *at > now)
            }
            Stage::Ready => self.waiting.front().and_then(|at| past(*at, stale)),
            Stage::Away | Stage::Called(_) => None,
        };
        let fetch = self.fetch.as_ref().and_then(Fetch::next_deadline);
        let [trajectory, command] = &self.beside;
        earliest(&[stage, self.door.next_deadline(), fetch, trajectory.next_deadline(), command.next_deadline()])
    }

    pub(super) const fn strangers(&self) -> u32 {
        self.door.strangers()
    }

    /// The order that was made in this call.
    #[cfg(feature = "postcard")]
    pub(super) fn made(&self) -> &[u8] {
        self.order.made()
    }

    /// The next order that waits, with everything else left out.
    #[cfg(feature = "postcard")]
    pub(super) fn next_made(&mut self) -> Option<&[u8]> {
        while self.door.poll_output(LinkId::REVERSE).is_some() {}
        if let Some(fetch) = &mut self.fetch {
            while fetch.door.poll_output(LinkId::SCRIPT).is_some() {}
        }
        for (door, link) in self.beside.iter_mut().zip([LinkId::TRAJECTORY, LinkId::COMMAND]) {
            while door.poll_output(link).is_some() {}
        }
        self.sent = None;
        (!self.order.is_empty()).then(|| self.order.take())
    }

    /// Bytes that were received into the window.
    #[cfg(feature = "postcard")]
    pub(super) fn received(&mut self, count: usize) -> &[u8] {
        self.window().get(..count).unwrap_or_default()
    }

    #[cfg(feature = "postcard")]
    pub(super) fn save(&self, to: &mut Saver<'_>) -> Option<()> {
        to.put(&(self.door, self.beside, &self.fetch, self.spoke, self.stage, self.software, self.made, self.tokens))?;
        to.put(&(self.counter, &self.waiting, self.oldest, self.mirrors, self.ending))?;
        to.put(&(&self.positions, self.lag))?;
        to.put(&(self.filled, self.window.first_chunk::<32>(), self.window.last_chunk::<32>()))?;
        to.put(&self.answers)
    }

    #[cfg(feature = "postcard")]
    pub(super) fn load(&mut self, from: &mut Loader<'_>) -> Option<()> {
        (self.door, self.beside, self.fetch, self.spoke, self.stage, self.software, self.made, self.tokens) =
            from.take()?;
        (self.counter, self.waiting, self.oldest, self.mirrors, self.ending) = from.take()?;
        (self.positions, self.lag) = from.take()?;
        let (filled, low, high): (usize, Option<[u8; 32]>, Option<[u8; 32]>) = from.take()?;
        self.filled = filled.min(self.window.len());
        self.window.iter_mut().zip(low?.iter().chain(&high?)).for_each(|(to, from)| *to = *from);
        self.answers = from.take()?;
        (self.sent, self.order) = (None, Outbox::EMPTY);
        Some(())
    }
}

/// The approved speeds in the program's unit: the only function that makes an order of them.
fn speeds(approved: Approved<'_, 6>) -> [i32; 6] {
    let (JointVelocities(speeds), _authority) = approved.into_parts();
    speeds.map(|speed| {
        let micro = speed * 1e6;
        (micro + 0.5_f32.copysign(micro)) as i32
    })
}
