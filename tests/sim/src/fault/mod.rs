//! The faults that can be injected, with their time and place: `kind[/selector]…@start[:duration][:argument]`.
//!
//! `stall@5s:200ms` stalls every connection for 200 ms; `delay/30003/up@0::4ms` permanently delays bytes that clients
//! send to 30003. [`Fault::help`] returns the table below for a terminal.

mod parse;
mod schedule;

use std::time::Duration;

pub use parse::{FaultError, Problem};
pub(crate) use parse::{nearest_of, span};
pub(crate) use schedule::{Edge, Schedule};

use crate::port::Port;
use crate::service::Service;
use crate::time::SimTime;

/// One fault of the simulation with its time span and the connections that it affects.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fault {
    /// The kind of the fault, with its argument.
    pub kind: FaultKind,
    /// The port whose connections the fault affects; `None` for all of them.
    pub port: Option<Port>,
    /// The direction that a network fault affects; `None` for both.
    pub direction: Option<Direction>,
    /// The virtual time at which the fault begins.
    pub start: SimTime,
    /// The duration of the fault; `None` for a permanent one.
    pub duration: Option<Duration>,
}

/// One direction of a network connection of the controller, or of the KRC's link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The direction to the controller or the KRC.
    Up,
    /// The direction from the controller or the KRC.
    Down,
}

impl Direction {
    /// Returns the selector of the direction, as it is written in a fault's name.
    pub(crate) const fn selector(self) -> &'static str {
        match self {
            Self::Up => "/up",
            Self::Down => "/down",
        }
    }
}

/// The effect of a fault of the simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FaultKind {
    /// Segments of TCP data are cut into pieces of this many bytes.
    Split(usize),
    /// The number of messages that a network fault makes arrive together as one TCP segment.
    Coalesce(usize),
    /// Data on the network arrive this much later.
    Delay(Duration),
    /// Data on the network arrive later by a random time of at most this.
    Jitter(Duration),
    /// No data arrive until the end of the fault, then all at once.
    Stall,
    /// A queue in the network delays data by this time; it empties after the fault's end.
    Backlog(Duration),
    /// The controller uses Nagle's algorithm, and clients acknowledge after this time.
    Nagle(Duration),
    /// This share of the segments is lost and arrives 200 ms later: retransmitted after a timeout.
    Loss(f64),
    /// This share of the segments is lost and arrives four control cycles later: retransmitted because three later
    /// ones arrived.
    QuickLoss(f64),
    /// Clients' connections are closed, and refused until the fault's end.
    Drop,
    /// Messages end this many bytes early; the length in their header is consistent with that.
    Truncated(usize),
    /// An extra message of this many bytes: on the client interfaces a message of type 25 before every state message,
    /// on 30004 a package of unknown type before the data; the dashboard and the Robot API send a line or a body of
    /// that length instead of their answers.
    Oversize(usize),
    /// A message and a sub-package of unknown type are sent with every state message; on 30004, packages of unknown
    /// type with the data.
    Unknown,
    /// Every sub-package, real-time packet and RTDE data package is longer by this many bytes than in the simulated
    /// software version.
    Extended(usize),
    /// In every n-th control cycle a robot state message and a message of 9 bytes follow the real-time packet, and a
    /// text message precedes the data of 30004; an unsolicited line follows every n-th answer of the dashboard.
    Polluted(u64),
    /// Every n-th control cycle is not published on the ports 30003, 30013 and 30004.
    Skip(u64),
    /// The real-time packet and the RTDE data package of every n-th control cycle are published twice.
    Repeat(u64),
    /// On 30004 the reply to every set-up of a recipe (list of variables) names a wrong type for the first variable.
    WrongType,
    /// On 30004 every n-th data package has a recipe number that no client has received.
    WrongRecipe(u64),
    /// The controller's clock jumps by this many µs.
    ClockJump(i64),
    /// The controller restarts: connections are closed, its clock starts from zero, power is off. It refuses
    /// connections for the fault's duration, or for 2 s if there is none.
    Restart,
    /// An emergency stop button is pressed, and released at the fault's end.
    Estop,
    /// A protective stop occurs, and is unlocked at the fault's end.
    ProtectiveStop,
    /// The safeguard input opens, and closes at the fault's end.
    Safeguard,
    /// A safety limit is violated. At the fault's end the safety system is restarted, and the arm has no power.
    Violation,
    /// The safety system detects a fault. At the end of the injected fault the safety system is restarted, and the arm
    /// has no power.
    SafetyFault,
    /// The pendant is switched to local control, and to remote control at the fault's end.
    Local,
    /// A service is switched off in the security settings, and on at the fault's end.
    ServiceOff(Service),
    /// The arm's power is switched off; at the fault's end it is switched on and the brakes are released.
    PowerOff,
    /// The speed slider goes to this value, 0 … 1, and to 1 at the fault's end.
    Slider(f64),
    /// The trajectory limiter permits this share of the speed, 0 … 1, and all of it at the fault's end.
    Limiter(f64),
    /// The running program is paused, and resumed at the fault's end.
    Pause,
    /// The program that runs when the fault begins is stopped.
    Stop,
    /// Program text, and requests on the ports 29999, 30004, 30020 and 80, are accepted and silently ignored.
    Mute,
    /// The dashboard and the Robot API send wrong answers or bytes that are no text; on 30004 noise replaces the
    /// data.
    Garbage,
    /// The dashboard and the Robot API close the connection instead of answering.
    HangUp,
    /// A client that closes before it has read 79 bytes, or with unread bytes, loses a program that has not started.
    EarlyClose,
    /// A second client streams `speedj` with this speed on the last joint \[rad/s\], every 100 ms.
    SecondCommander(f64),
    /// A third-party program runs and moves the last joint back and forth with this speed \[rad/s\]; with 0 it moves
    /// nothing.
    ForeignProgram(f64),
    /// The digital input with this number is high, and low at the fault's end, as if a person pressed a button.
    DigitalInput(u8),
    /// A person's hand pushes the tool down with this force \[N\].
    Hand(f64),
}

/// The kind of argument that a fault takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Argument {
    None,
    /// An argument of a fault that is a whole number of at least 1.
    Count,
    /// An argument that is a whole number of bytes of at least 1.
    Bytes,
    /// An argument that is the number of a digital input, 0 … 7.
    Input,
    Time,
    SignedTime,
    /// An argument that is a share, 0 … 1, or a percentage.
    Share,
    /// An argument of a fault that is a speed \[rad/s\].
    Speed,
    /// An argument of a fault that is a force \[N\].
    Force,
    /// An argument of a fault that is the name of a service.
    Service,
}

/// The meaning of the duration that a fault's text gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lasting {
    /// The fault lasts from its start to its end; without a duration it is permanent.
    Span,
    /// The fault occurs at one moment; if a duration is given, it lasts for that.
    Brief,
    /// The fault occurs at one moment; no duration is allowed.
    Moment,
}

/// One kind of fault in the table of kinds.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) argument: Argument,
    /// The argument that is used if the fault's text gives none; empty if the kind takes no argument.
    pub(crate) default: &'static str,
    pub(crate) lasting: Lasting,
    /// The selectors, `/port` and `/up` or `/down`, that the kind of fault accepts.
    pub(crate) selectors: Selectors,
    pub(crate) what: &'static str,
    pub(crate) make: fn(Value) -> FaultKind,
}

/// The selectors in a fault's text, `/port` and `/up` or `/down`, that a kind accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Selectors {
    None,
    Port,
    PortAndDirection,
}

/// A parsed argument of a fault. Each kind reads the field that belongs to its kind of argument.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Value {
    pub(crate) count: u64,
    pub(crate) micros: i64,
    pub(crate) number: f64,
    pub(crate) service: Option<Service>,
}

impl Value {
    fn bytes(self) -> usize {
        usize::try_from(self.count).unwrap_or(usize::MAX)
    }

    fn span(self) -> Duration {
        Duration::from_micros(self.micros.unsigned_abs())
    }
}

macro_rules! rows {
    ($($name:literal $argument:ident $default:literal $lasting:ident $selectors:ident $what:literal => $make:expr;)+) => {
        &[$(Row {
            name: $name,
            argument: Argument::$argument,
            default: $default,
            lasting: Lasting::$lasting,
            selectors: Selectors::$selectors,
            what: $what,
            make: $make,
        }),+]
    };
}

/// Every kind of fault: name, argument, its default, duration, selectors, meaning.
pub(crate) const TABLE: &[Row] = rows! {
    "split" Bytes "7" Span PortAndDirection "segments cut into pieces of N bytes" => |v| FaultKind::Split(v.bytes());
    "coalesce" Count "4" Span PortAndDirection "N messages arrive as one segment" => |v| FaultKind::Coalesce(v.bytes());
    "delay" Time "20ms" Span PortAndDirection "everything arrives TIME later" => |v| FaultKind::Delay(v.span());
    "jitter" Time "10ms" Span PortAndDirection "everything arrives up to TIME later" => |v| FaultKind::Jitter(v.span());
    "stall" None "" Span PortAndDirection "no data until the end, then all at once" => |_| FaultKind::Stall;
    "backlog" Time "300ms" Span PortAndDirection "everything TIME late, then catching up" => |v| FaultKind::Backlog(v.span());
    "nagle" Time "16ms" Span Port "old firmware's pairs: acknowledgements take TIME" => |v| FaultKind::Nagle(v.span());
    "loss" Share "1%" Span PortAndDirection "segments lost, retransmitted 200 ms later" => |v| FaultKind::Loss(v.number);
    "quick-loss" Share "1%" Span PortAndDirection "segments lost, retransmitted 4 cycles later" => |v| FaultKind::QuickLoss(v.number);
    "drop" None "" Brief Port "connections closed, refused until the end" => |_| FaultKind::Drop;
    "truncated" Bytes "8" Span Port "messages N bytes short, their length agrees" => |v| FaultKind::Truncated(v.bytes());
    "oversize" Bytes "20000" Span Port "messages of N bytes; 29999, 80: answers of N bytes" => |v| FaultKind::Oversize(v.bytes());
    "unknown" None "" Span Port "messages and sub-packages of unknown type" => |_| FaultKind::Unknown;
    "extended" Bytes "4" Span Port "sub-packages N bytes longer than known" => |v| FaultKind::Extended(v.bytes());
    "polluted" Count "17" Span Port "other messages between every N packets" => |v| FaultKind::Polluted(v.count);
    "skip" Count "10" Span Port "every Nth cycle is not published on 30003, 30004" => |v| FaultKind::Skip(v.count);
    "repeat" Count "10" Span Port "every Nth cycle is published twice on 30003, 30004" => |v| FaultKind::Repeat(v.count);
    "wrong-type" None "" Span Port "30004: set-ups name another type first" => |_| FaultKind::WrongType;
    "wrong-recipe" Count "10" Span Port "30004: every Nth data has an unknown recipe" => |v| FaultKind::WrongRecipe(v.count);
    "clock-jump" SignedTime "5s" Moment None "the controller's clock jumps by TIME" => |v| FaultKind::ClockJump(v.micros);
    "restart" None "" Brief None "controller restarts, refuses until the end" => |_| FaultKind::Restart;
    "estop" None "" Span None "emergency stop, released at the end" => |_| FaultKind::Estop;
    "protective-stop" None "" Span None "protective stop, unlocked at the end" => |_| FaultKind::ProtectiveStop;
    "safeguard" None "" Span None "safeguard stop, reset at the end" => |_| FaultKind::Safeguard;
    "violation" None "" Span None "safety violation, restarted at the end" => |_| FaultKind::Violation;
    "safety-fault" None "" Span None "fault of the safety system, restarted at the end" => |_| FaultKind::SafetyFault;
    "local" None "" Span None "local control, remote again at the end" => |_| FaultKind::Local;
    "service-off" Service "rtde" Span None "from 5.10 on: NAME of --service-off is off" => |v| FaultKind::ServiceOff(v.service.unwrap_or(Service::Rtde));
    "power-off" None "" Span None "arm power off, on and released at the end" => |_| FaultKind::PowerOff;
    "slider" Share "50%" Span None "speed slider at X, at 1 from the end" => |v| FaultKind::Slider(v.number);
    "limiter" Share "0" Span None "trajectory limiter at X, at 1 from the end" => |v| FaultKind::Limiter(v.number);
    "pause" None "" Span None "program paused, resumed at the end" => |_| FaultKind::Pause;
    "stop" None "" Moment None "program stopped at the pendant" => |_| FaultKind::Stop;
    "mute" None "" Span Port "text and requests silently ignored" => |_| FaultKind::Mute;
    "garbage" None "" Span Port "29999, 80: no answers; 30004: noise for data" => |_| FaultKind::Garbage;
    "hang-up" None "" Span Port "29999, 80: closed instead of answering" => |_| FaultKind::HangUp;
    "early-close" None "" Span Port "who closes before reading 79 bytes, or leaves some unread, loses its program" => |_| FaultKind::EarlyClose;
    "second-commander" Speed "0.1" Span None "another client streams speedj at V rad/s" => |v| FaultKind::SecondCommander(v.number);
    "foreign-program" Speed "0" Span None "another program runs, last joint at V rad/s" => |v| FaultKind::ForeignProgram(v.number);
    "digital-input" Input "0" Span None "digital input N is high" => |v| FaultKind::DigitalInput(v.count as u8);
    "hand" Force "20" Span None "the tool is pushed down with N newtons" => |v| FaultKind::Hand(v.number);
};

impl Fault {
    /// Returns a fault on every connection, from `start` on.
    #[must_use]
    pub fn new(kind: FaultKind, start: SimTime, duration: Option<Duration>) -> Self {
        Self { kind, port: None, direction: None, start, duration }
    }

    /// Returns the time at which the fault ends; [`SimTime::MAX`] without a duration.
    #[must_use]
    pub fn end(&self) -> SimTime {
        self.duration.map_or(SimTime::MAX, |duration| self.start + duration)
    }

    /// Returns whether the fault is active at `now`.
    #[must_use]
    pub fn active(&self, now: SimTime) -> bool {
        self.start <= now && now < self.end()
    }

    /// Returns the fault's kind and selectors in the notation that users write: `stall/30003/up`.
    #[must_use]
    pub fn name(&self) -> String {
        let kind = std::mem::discriminant(&self.kind);
        let row = TABLE.iter().find(|row| std::mem::discriminant(&(row.make)(Value::default())) == kind);
        let port = self.port.map(|port| format!("/{}", port.number()));
        let direction = self.direction.map(Direction::selector);
        [row.map(|row| row.name.to_owned()), port, direction.map(str::to_owned)].into_iter().flatten().collect()
    }

    /// Returns the names of all kinds of faults.
    pub fn kinds() -> impl Iterator<Item = &'static str> {
        TABLE.iter().map(|row| row.name)
    }

    /// Returns a description of all kinds of faults and of their notation, for a terminal.
    #[must_use]
    pub fn help() -> String {
        let mut text = String::from(
            "KIND[/PORT][/up|/down]@START[:DURATION][:ARGUMENT], e.g. stall@5s:200ms, delay/30003@0::4ms\n\
             times: 200ms, 5s, 1m; no DURATION: permanent (drop, restart: a moment); an empty DURATION keeps the\n\
             ARGUMENT's place\n",
        );
        for row in TABLE {
            let argument = match row.argument {
                Argument::None => "",
                Argument::Count | Argument::Bytes | Argument::Input | Argument::Force => "N",
                Argument::Time | Argument::SignedTime => "TIME",
                Argument::Share => "X",
                Argument::Speed => "V",
                Argument::Service => "NAME",
            };
            let default = if row.default.is_empty() { String::new() } else { format!(" [{}]", row.default) };
            text += &format!("  {:<17}{argument:<6}{}{default}\n", row.name, row.what);
        }
        text
    }
}
