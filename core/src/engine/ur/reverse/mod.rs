//! Commands by a program of ours on the controller, which connects to us (`core/docs/protocol/outrigger-programs.md`).
//!
//! | stage | goes on |
//! |---|---|
//! | `Away` | a first zero velocity is due: its text goes out over 30003, `Called` |
//! | `Called` | it connects and proves itself: `Ready`; not within [`start_timeout`](super::ProgramConfig::start_timeout): its text goes out again |
//! | `Ready` | an order in each cycle, mirrored by the program; told to end: `Ending` |
//! | `Ending` | it closes the connection: `Away`; not within [`end_timeout`](super::ProgramConfig::end_timeout): `stopj` over 30003 |
//!
//! A connection changes no stage before it has proved to be of our program, by the token of the newest text (`proof`); until then
//! only its [`Door`] has it. One that proves nothing in time, or sends anything else, is closed and reported. A connection from
//! another address than the controller's, or at a time when none is expected, is counted and closed.

#[cfg(not(feature = "urcap"))]
mod absent;
mod carrier;
#[cfg(feature = "motions")]
mod convergence;
mod conversation;
mod door;
mod fetch;
#[cfg(feature = "urcap")]
mod forward;
mod guide;
mod lateness;
mod legs;
#[cfg(feature = "motions")]
mod locating;
mod orders;
mod player;
mod positions;
mod proof;
#[cfg(feature = "record")]
mod recorded;
mod text;
#[cfg(feature = "motions")]
mod tolerated;
mod units;
mod upload;

pub(super) use self::carrier::{Carrier, carrier, exclusive, shared};

use core::net::{IpAddr, Ipv4Addr};

use heapless::Deque;

#[cfg(feature = "motions")]
use self::convergence::Convergence;
use self::door::Door;
use self::fetch::Fetch;
#[cfg(feature = "urcap")]
use self::forward::Forward;
use self::lateness::Lateness;
use self::player::Player;
use self::positions::Positions;
use self::text::Made;
use super::config::{UrConfig, UrOptions};
use super::event::ProgramNews;
use super::outbox::Outbox;
use super::path::{CommandPath, Delivery, ProgramConfig};
use crate::command::Limits;
use crate::engine::cycle::Resident;
use crate::engine::io::{LinkId, Output};
use crate::link::{AnswerFigures, Answers};
use crate::mode::{Held, Mode};
use crate::robot::Reason;
use outrigger_wire::player::PlayerOrder;
use outrigger_wire::program::{Ending, Kind};
use outrigger_wire::robot::{SoftwareVersion, State};
use outrigger_wire::time::{Duration, Instant, earliest};

/// A connection proves within this time that it is of our program.
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
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
enum Stage {
    Away,
    Called(Instant),
    Ready,
    /// Since when.
    Ending(Instant),
}

/// The connection of a program of ours, and what goes over it.
#[derive(Debug)]
pub(super) struct Reverse {
    door: Door,
    fetch: Option<Fetch>,
    stage: Stage,
    /// Connections that were closed without a proof since our program connected last.
    others: u32,
    /// `stopj` went out as text since commanding ended: it is not said a second time, whether the program still ends or has ended.
    stopped: bool,
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
    order: Outbox<{ PlayerOrder::LEN }>,
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
    /// Of a program that makes moves by itself.
    player: Player,
    /// Of a program of External Control that does.
    #[cfg(feature = "urcap")]
    forward: Forward,
    /// The lag that it reported last, and how many points are to wait in a ring.
    lag: u16,
    fill: u16,
    lateness: Lateness,
    #[cfg(feature = "motions")]
    convergence: Convergence,
    /// Of the states.
    period: Duration,
    /// What a verdict is carried out by.
    moment: Moment,
    /// During a pause: the program was ordered to rest.
    rests: bool,
}

/// What is known when a verdict is carried out.
#[derive(Clone, Copy, Debug)]
struct Moment {
    now: Instant,
    mode: Mode,
    /// The newest state, for a program that takes positions.
    state: Option<State<6>>,
    pause: Pause,
}

/// The sides of a pause of the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Pause {
    /// The program is paused, or no time passes for what it executes: it does nothing before it goes on, and then what it was amid.
    pub(super) stands: bool,
    /// A program is shown as paused: nothing that is sent is read before it is resumed.
    pub(super) reads_nothing: bool,
    /// The motion is halted by the pause: the program is to rest when it goes on.
    pub(super) halts: bool,
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
            others: 0,
            stopped: false,
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
                CommandPath::ReverseTorque | CommandPath::ExternalTorque => Kind::Torque,
                CommandPath::ReverseServoJ => Kind::ServoJ,
                CommandPath::Buffered => Kind::Buffered,
                CommandPath::Player => Kind::Player,
            },
            hold: options.text.hold,
            beside: [Door::default(); 2],
            config: options.program,
            limits,
            positions: Positions::UNKNOWN,
            player: Player::default(),
            #[cfg(feature = "urcap")]
            forward: Forward::NOTHING,
            lag: 0,
            fill: u16::MAX,
            lateness: Lateness::default(),
            #[cfg(feature = "motions")]
            convergence: Convergence::new(options.buffered),
            period: Duration::ZERO,
            moment: Moment {
                now: Instant::ZERO,
                mode: Mode::Offline,
                state: None,
                pause: Pause { stands: false, reads_nothing: false, halts: false },
            },
            rests: false,
        }
    }

    /// Whether the program speaks the wire of External Control, and answers nothing but how a trajectory has ended.
    fn is_foreign(&self) -> bool {
        self.path.is_external()
    }

    /// Whether orders go out in registers, and nobody connects to us.
    pub(super) const fn by_registers(&self) -> bool {
        self.config.by_registers(self.path)
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
            if self.by_registers() {
                return;
            }
            self.door.open(self.config.port);
            let port = self.config.script_port;
            self.script_mut().into_iter().for_each(|fetch| fetch.door.open(port));
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
        self.script_mut().into_iter().for_each(|fetch| fetch.door.close());
        self.beside_mut().iter_mut().for_each(Door::close);
        self.software = None;
        // A program of this session is none of the next.
        (self.made, self.sent) = (None, None);
        self.hang_up(Stage::Away);
    }

    /// The two ends of our connection to the controller.
    pub(super) fn ends(&mut self, ours: IpAddr, theirs: IpAddr) {
        self.door.ends(ours, theirs);
        self.script_mut().into_iter().for_each(|fetch| fetch.door.ends(ours, theirs));
        self.beside_mut().iter_mut().for_each(|door| door.ends(ours, theirs));
    }

    /// Whether a program could be made and could connect, or has.
    pub(super) fn is_open(&self) -> bool {
        self.is_chosen() && (self.by_registers() || (self.door.is_open() && self.address().is_some()))
    }

    /// Whether somebody at the robot has to start it first.
    pub(super) fn is_away(&self) -> bool {
        self.is_chosen() && self.config.by != Delivery::Text && !self.is_ready()
    }

    fn address(&self) -> Option<Ipv4Addr> {
        // One that gets its orders in registers connects to nobody.
        let nobody = self.by_registers().then_some(Ipv4Addr::UNSPECIFIED);
        self.config.address.or_else(|| self.door.ours()).or(nobody)
    }

    /// For how long the oldest order waits to be mirrored; zero where none does.
    fn unmirrored(&self, now: Instant) -> Duration {
        self.waiting.front().map(|at| now.since(*at)).unwrap_or_default()
    }

    /// Time has passed; what ends commanding.
    pub(super) fn wake(&mut self, stale: Duration, now: Instant, tell: impl FnMut(ProgramNews)) -> Option<Reason> {
        #[cfg(feature = "record")]
        {
            self.order.begin();
            #[cfg(feature = "urcap")]
            self.forward.points.begin();
        }
        self.wake_unproven(now, tell);
        if let Stage::Ending(since) = self.stage
            && now.since(since) > HANG_UP
        {
            self.hang_up(Stage::Away);
        }
        // What a program that is paused does not answer is nobody's fault while nothing is commanded.
        let stays = matches!(self.moment.mode, Mode::Monitor | Mode::Offline)
            || self.player.executes
            || self.moment.pause.reads_nothing;
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

    /// Whether nothing is waited for after a shutdown, with the arm at rest since then.
    pub(super) fn has_left(&self, rest: Instant, now: Instant) -> bool {
        !self.carries() || now.since(rest) > HANG_UP
    }

    pub(super) fn has_link_output(&self) -> bool {
        let fetch = self.script().is_some_and(|fetch| fetch.door.has_output());
        self.door.has_output() || fetch || self.beside().iter().any(Door::has_output)
    }

    pub(super) const fn is_sending(&self) -> bool {
        self.sent.is_some()
    }

    pub(super) fn is_waiting(&self) -> bool {
        self.has_link_output() || self.sent.is_some() || !self.order.is_empty() || self.has_points()
    }

    /// Whether there is something for [`poll_output`](Self::poll_output): the next piece of a text is made for it.
    pub(super) fn fetch(&mut self, config: &UrConfig) -> bool {
        let speaks = self.has_link_output() || !self.order.is_empty() || self.has_points();
        if !speaks {
            self.fetched = self.next_piece(config).unwrap_or_default();
        }
        speaks || self.fetched > 0
    }

    /// The next order, as whole numbers for registers.
    #[cfg(feature = "programs")]
    pub(super) fn next_in_registers(&mut self) -> Option<[i32; 8]> {
        let waits = self.by_registers() && !self.order.is_empty();
        let words: &[[u8; 4]] = if waits { self.order.take().as_chunks().0 } else { &[] };
        let words: &[[u8; 4]; 8] = words.try_into().ok()?;
        Some(words.map(i32::from_be_bytes))
    }

    /// The next thing for the port to do.
    pub(super) fn poll_output(&mut self) -> Option<Output<'_>> {
        let link = LinkId::REVERSE;
        if let Some(output) = self.door.poll_output(link) {
            return Some(output);
        }
        if let Some(output) = self.script_mut().and_then(|fetch| fetch.door.poll_output(LinkId::SCRIPT)) {
            return Some(output);
        }
        let beside = [LinkId::TRAJECTORY, LinkId::COMMAND].into_iter().zip(self.beside_mut());
        if let Some(output) = beside.into_iter().find_map(|(link, door)| door.poll_output(link)) {
            return Some(output);
        }
        if !self.order.is_empty() {
            return Some(Output::Transmit { link, to: None, bytes: self.order.take() });
        }
        #[cfg(feature = "urcap")]
        if self.has_points() {
            let bytes = self.forward.points.take();
            return Some(Output::Transmit { link: LinkId::TRAJECTORY, to: None, bytes });
        }
        let count = core::mem::take(&mut self.fetched);
        let bytes = self.piece.get(..count).filter(|bytes| !bytes.is_empty())?;
        let link = if self.script().is_some() { LinkId::SCRIPT } else { LinkId::REALTIME };
        Some(Output::Transmit { link, to: None, bytes })
    }

    pub(super) fn next_deadline(&self, stale: Duration, now: Instant) -> Option<Instant> {
        // What is over has been acted on, or is nobody's in this mode.
        let past =
            |since: Instant, limit: Duration| Some(since + limit + Duration::from_micros(1)).filter(|at| *at > now);
        let stage = match self.stage {
            Stage::Ending(since) => past(since, self.config.end_timeout).or(past(since, HANG_UP)),
            Stage::Ready if self.stays() && matches!(self.moment.mode, Mode::Monitor | Mode::Offline) => {
                Some(self.spoke + STAY).filter(|at| *at > now)
            }
            Stage::Ready if self.player.executes => None,
            Stage::Ready => self.waiting.front().and_then(|at| past(*at, stale)),
            Stage::Away | Stage::Called(_) => None,
        };
        let fetch = self.script().and_then(Fetch::next_deadline);
        let door = self.door.next_deadline(GREETING);
        self.beside()
            .iter()
            .fold(earliest(&[stage, door, fetch]), |first, door| earliest(&[first, door.next_deadline(GREETING)]))
    }

    pub(super) const fn strangers(&self) -> u32 {
        self.door.strangers()
    }
}

#[cfg(all(test, feature = "programs"))]
mod tests;
