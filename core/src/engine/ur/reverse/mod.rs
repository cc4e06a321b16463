//! The command path by a program of ours on the controller, which connects to us
//! (`core/docs/protocol/outrigger-programs.md`).
//!
//! | stage | next stage |
//! |---|---|
//! | `Away` | a first zero velocity is due: the program's text is sent over 30003, `Called` |
//! | `Called` | the program connects and proves itself: `Ready`; otherwise its text is sent again after [`start_timeout`](super::ProgramConfig::start_timeout) |
//! | `Ready` | an order in each cycle, mirrored by the program; ordered to end: `Ending` |
//! | `Ending` | the program closes the connection: `Away`; otherwise `stopj` over 30003 after [`end_timeout`](super::ProgramConfig::end_timeout) |
//!
//! A connection changes no stage before it has proved to be of our program, by the token of the newest text
//! (`connection_proof`); until then only its [`Listener`] holds it. A connection without a proof in time, or with other
//! bytes, is closed and reported. A connection from another address than the controller's, or at a time when none is
//! expected, is counted and closed.

mod connection_proof;
mod conversation;
mod cycle_orders;
#[cfg(feature = "urcap")]
mod external_trajectory;
#[cfg(not(feature = "urcap"))]
mod external_trajectory_absent;
mod guidance_orders;
mod lag_detector;
mod listener;
#[cfg(feature = "motions")]
mod motion_end_convergence;
#[cfg(feature = "motions")]
mod move_tolerances;
mod optional_carrier;
mod order_units;
mod player_moves;
#[cfg(feature = "motions")]
mod pose_conversion;
#[cfg(feature = "record")]
mod program_checkpoints;
mod program_text;
mod script_server;
mod segment_queue;
mod speeds_to_positions;
mod upload;

pub(super) use self::optional_carrier::{Carrier, carrier, exclusive, shared};

use core::net::{IpAddr, Ipv4Addr};

use heapless::Deque;

#[cfg(feature = "urcap")]
use self::external_trajectory::Forward;
use self::lag_detector::Lateness;
use self::listener::Listener;
#[cfg(feature = "motions")]
use self::motion_end_convergence::Convergence;
use self::player_moves::Player;
use self::program_text::Made;
use self::script_server::ScriptServer;
use self::speeds_to_positions::Positions;
use super::command_path::{CommandPath, Delivery, ProgramConfig};
use super::config::{UrConfig, UrOptions};
use super::event::ProgramEvent;
use super::outbox::Outbox;
use crate::command::Limits;
use crate::engine::cycle::Resident;
use crate::engine::io::{LinkId, Output};
use crate::link::{AnswerFigures, Answers};
use crate::mode::{Mode, TimedFact};
use crate::robot::Reason;
use outrigger_wire::player_messages::PlayerOrder;
use outrigger_wire::program_messages::{Ending, Kind};
use outrigger_wire::robot::{SoftwareVersion, State};
use outrigger_wire::time::{Duration, Instant, earliest};

/// The time within which a connection must prove that it is of our program.
const GREETING: Duration = Duration::from_secs(1);
/// The time after the order to end at which the program's connection is reset if it is still open.
const HANG_UP: Duration = Duration::from_secs(1);
/// The number of bytes of the program's text that are sent at a time \[B\]. A URCap is sent all of it, because it takes
/// the end of a piece for the end of the text.
const PIECE: usize = if cfg!(feature = "urcap") { program_text::LONGEST } else { 256 };
/// The timeout of a program of External Control for the next message while nothing is commanded.
const IDLE: Duration = Duration::from_secs(1);
/// The interval of keep-alives to a resident program while nothing is commanded.
const STAY: Duration = Duration::from_millis(100);
/// The highest number of orders to a program that may wait to be mirrored (reported back by their counters).
const UNANSWERED: usize = 8;

/// The stage of a program of ours: absent, awaited, ready for orders, or ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
enum ProgramStage {
    Away,
    Called(Instant),
    Ready,
    /// The program was ordered to end at this time.
    Ending(Instant),
}

/// The connection of a program of ours, and its orders and reports.
#[derive(Debug)]
pub(super) struct Reverse {
    door: Listener,
    fetch: Option<ScriptServer>,
    stage: ProgramStage,
    /// The number of connections that were closed without a proof to be of our program, since our program connected
    /// last.
    others: u32,
    /// `true` if `stopj` was sent as text since commanding ended. It is not sent again, whether the program has ended
    /// or is still ending.
    stopped: bool,
    /// The time at which the newest order was sent to the program.
    spoke: Instant,
    /// The controller's software version; `None` without a session.
    software: Option<SoftwareVersion>,
    /// The program text that was made last; `sent` is the number of its bytes that the port has.
    made: Option<Made>,
    sent: Option<usize>,
    piece: [u8; PIECE],
    /// The number of bytes of program text in `piece` that are to be transmitted.
    fetched: usize,
    window: [u8; 64],
    unread: [u8; 16],
    filled: usize,
    /// The counter of the next order to the program.
    counter: u16,
    /// The times at which the orders were sent that the program has not mirrored (reported back) yet, oldest first;
    /// `oldest` is the counter of the first.
    waiting: Deque<Instant, UNANSWERED>,
    oldest: u16,
    /// `true` if the program mirrors (reports back) the orders that it receives, with the time when it last did.
    mirrors: TimedFact<bool>,
    ending: Ending,
    answers: Answers<u16>,
    order: Outbox<{ PlayerOrder::LEN }>,
    tokens: u16,
    called: bool,
    path: CommandPath,
    kind: Kind,
    /// The time for which a command remains in force if no other follows.
    hold: Duration,
    /// The further connections of a program of External Control: for trajectories, and for commands.
    beside: [Listener; 2],
    config: ProgramConfig,
    limits: Limits<6>,
    /// The target of a program that takes positions.
    positions: Positions,
    /// The moves of a program that executes them by itself.
    player: Player,
    /// The moves of a program of External Control that executes them by itself.
    #[cfg(feature = "urcap")]
    forward: Forward,
    /// The lag that the program reported last: periods, for a program with a ring buffer the points in it, for one that
    /// executes moves the legs that wait; `fill` is the number of points that are to wait in a ring.
    lag: u16,
    fill: u16,
    lateness: Lateness,
    #[cfg(feature = "motions")]
    convergence: Convergence,
    /// The period in which the controller sends states.
    period: Duration,
    /// The circumstances in which the next command is given to the program on the controller.
    moment: Moment,
    /// `true` if the program was ordered to rest during the present pause.
    rests: bool,
}

/// The circumstances in which a command is given to the program: the time, the engine's mode, the state of the arm, and
/// the program's pause.
#[derive(Clone, Copy, Debug)]
struct Moment {
    now: Instant,
    mode: Mode,
    /// The newest state of the arm, for a program that takes positions.
    state: Option<State<6>>,
    pause: Pause,
}

/// The findings about a pause of the program on the controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Pause {
    /// `true` if the program is paused, or no time passes for its motion. It does nothing before it is resumed, and
    /// then continues where it was.
    pub(super) stands: bool,
    /// `true` if a program is shown as paused: nothing that is sent is read before it is resumed.
    pub(super) reads_nothing: bool,
    /// `true` if the pause halts the motion: the program is to rest when it is resumed.
    pub(super) halts: bool,
}

/// The kind of output to the controller by which the command of one cycle is carried out.
pub(super) enum Wrote {
    /// An order to the program was made if this is `true`.
    Order(bool),
    /// A `stopj` is to be sent as text.
    StopText,
}

impl Reverse {
    pub(super) fn new(options: &UrOptions, limits: Limits<6>) -> Self {
        Self {
            door: Listener::default(),
            fetch: (options.program.by == Delivery::UrCap).then(ScriptServer::default),
            stage: ProgramStage::Away,
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
            mirrors: TimedFact::new(false, Instant::ZERO),
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
            beside: [Listener::default(); 2],
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

    /// Returns `true` if the program has the wire protocol of External Control, whose only answers are the results of
    /// trajectories.
    fn is_foreign(&self) -> bool {
        self.path.is_external()
    }

    /// Returns `true` if orders are sent in registers, without a connection to us.
    pub(super) const fn by_registers(&self) -> bool {
        self.config.by_registers(self.path)
    }

    /// Returns `true` if the program on the controller keeps running when commanding is over.
    fn stays(&self) -> bool {
        self.config.stays(self.path)
    }

    /// Returns `true` if a program of ours carries the commands of this session.
    pub(super) const fn is_chosen(&self) -> bool {
        self.software.is_some()
    }

    /// Opens a session with a controller of this software, whose states have this period.
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

    /// Closes the session: the program ends when its orders stop.
    pub(super) fn close(&mut self) {
        self.door.close();
        self.script_mut().into_iter().for_each(|fetch| fetch.door.close());
        self.beside_mut().iter_mut().for_each(Listener::close);
        self.software = None;
        // A program of this session does not belong to the next.
        (self.made, self.sent) = (None, None);
        self.hang_up(ProgramStage::Away);
    }

    /// Stores the two addresses of our connection to the controller: ours, and the controller's.
    pub(super) fn ends(&mut self, ours: IpAddr, theirs: IpAddr) {
        self.door.ends(ours, theirs);
        self.script_mut().into_iter().for_each(|fetch| fetch.door.ends(ours, theirs));
        self.beside_mut().iter_mut().for_each(|door| door.ends(ours, theirs));
    }

    /// Returns `true` if a program could be made and could connect, or has connected.
    pub(super) fn is_open(&self) -> bool {
        self.is_chosen() && (self.by_registers() || (self.door.is_open() && self.address().is_some()))
    }

    /// Returns `true` if the program has to be started at the robot first.
    pub(super) fn is_away(&self) -> bool {
        self.is_chosen() && self.config.by != Delivery::Text && !self.is_ready()
    }

    fn address(&self) -> Option<Ipv4Addr> {
        // A program that gets its orders in registers makes no connection.
        let nobody = self.by_registers().then_some(Ipv4Addr::UNSPECIFIED);
        self.config.address.or_else(|| self.door.ours()).or(nobody)
    }

    /// Returns the age of the oldest order that the program has not mirrored (reported back); zero if all are.
    fn unmirrored(&self, now: Instant) -> Duration {
        self.waiting.front().map(|at| now.since(*at)).unwrap_or_default()
    }

    /// Evaluates all deadlines of the program as of `now`. Returns the reason that ends commanding, if the program has not
    /// mirrored (reported back) an order for longer than `stale`.
    pub(super) fn wake(&mut self, stale: Duration, now: Instant, tell: impl FnMut(ProgramEvent)) -> Option<Reason> {
        #[cfg(feature = "record")]
        {
            self.order.begin();
            #[cfg(feature = "urcap")]
            self.forward.points.begin();
        }
        self.wake_unproven(now, tell);
        if let ProgramStage::Ending(since) = self.stage
            && now.since(since) > HANG_UP
        {
            self.hang_up(ProgramStage::Away);
        }
        // An order that a paused program does not answer is no fault while nothing is commanded.
        let stays = matches!(self.moment.mode, Mode::Monitor | Mode::Offline)
            || self.player.executes
            || self.moment.pause.reads_nothing;
        (self.is_ready() && !stays && self.unmirrored(now) > stale).then_some(Reason::NotMirrored)
    }

    /// Returns the status, as of `now`, of the program that carries the commands; `None` if none carries them in this
    /// session.
    pub(super) fn resident(&self, now: Instant) -> Option<Resident> {
        let mirrors = match self.mirrors {
            // The only evidence are its connection, and that the controller's target follows.
            _ if self.is_foreign() => TimedFact::new(self.is_ready(), now),
            TimedFact { value: true, at } => TimedFact::new(true, at),
            TimedFact { value: false, .. } => TimedFact::new(false, now),
        };
        self.is_chosen().then(|| Resident { connected: self.is_ready(), mirrors })
    }

    pub(super) fn figures(&self, now: Instant) -> Option<AnswerFigures> {
        (self.is_ready() && !self.is_foreign()).then(|| self.answers.figures(now))
    }

    /// Returns `true` if a shutdown does not wait for the end of the program any longer, with the arm at rest since
    /// `rest`.
    pub(super) fn has_left(&self, rest: Instant, now: Instant) -> bool {
        !self.carries() || now.since(rest) > HANG_UP
    }

    pub(super) fn has_link_output(&self) -> bool {
        let fetch = self.script().is_some_and(|fetch| fetch.door.has_output());
        self.door.has_output() || fetch || self.beside().iter().any(Listener::has_output)
    }

    pub(super) const fn is_sending(&self) -> bool {
        self.sent.is_some()
    }

    pub(super) fn is_waiting(&self) -> bool {
        self.has_link_output() || self.sent.is_some() || !self.order.is_empty() || self.has_points()
    }

    /// Makes the next piece of the program's text, unless another output waits. Returns `true` if
    /// [`poll_output`](Self::poll_output) has something.
    pub(super) fn fetch(&mut self, config: &UrConfig) -> bool {
        let speaks = self.has_link_output() || !self.order.is_empty() || self.has_points();
        if !speaks {
            self.fetched = self.next_piece(config).unwrap_or_default();
        }
        speaks || self.fetched > 0
    }

    /// Returns the next order to the program as integers for registers, if orders are sent there.
    #[cfg(feature = "programs")]
    pub(super) fn next_in_registers(&mut self) -> Option<[i32; 8]> {
        let waits = self.by_registers() && !self.order.is_empty();
        let words: &[[u8; 4]] = if waits { self.order.take().as_chunks().0 } else { &[] };
        let words: &[[u8; 4]; 8] = words.try_into().ok()?;
        Some(words.map(i32::from_be_bytes))
    }

    /// Returns the next action for the port, the code that does the engine's I/O: to listen, to reset a connection or
    /// to send bytes.
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
        // A deadline that has passed was acted on, or does not matter in this mode.
        let past =
            |since: Instant, limit: Duration| Some(since + limit + Duration::from_micros(1)).filter(|at| *at > now);
        let stage = match self.stage {
            ProgramStage::Ending(since) => past(since, self.config.end_timeout).or(past(since, HANG_UP)),
            ProgramStage::Ready if self.stays() && matches!(self.moment.mode, Mode::Monitor | Mode::Offline) => {
                Some(self.spoke + STAY).filter(|at| *at > now)
            }
            ProgramStage::Ready if self.player.executes => None,
            ProgramStage::Ready => self.waiting.front().and_then(|at| past(*at, stale)),
            ProgramStage::Away | ProgramStage::Called(_) => None,
        };
        let fetch = self.script().and_then(ScriptServer::next_deadline);
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
