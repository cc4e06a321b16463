//! What carries requests to a controller, whichever of its services answers them.

use crate::client::Output;
use outrigger_wire::dashboard::{Reply, Request, RequestKind};
use outrigger_wire::frame::FrameError;
use outrigger_wire::primary::Text;
use outrigger_wire::robot_api::HttpError;
use outrigger_wire::time::{Duration, Instant};

/// How long each kind of answer may take. Defaults: opening 5 s, greeting 2 s, ordinary 1 s, power 10 s, program 60 s,
/// report 900 s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Making a connection.
    pub opening: Duration,
    /// The greeting of a new connection, or the description of a Robot API.
    pub greeting: Duration,
    /// Whatever is not named below.
    pub ordinary: Duration,
    /// Power and brakes: `power on`, `brake release`, `unlock protective stop`, `restart safety` and the like.
    pub power: Duration,
    /// `load`, `load installation`, `play`: from CB3 3.3 on they answer when it is done.
    pub program: Duration,
    /// Flight reports and support files.
    pub report: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            opening: Duration::from_secs(5),
            greeting: Duration::from_secs(2),
            ordinary: Duration::from_secs(1),
            power: Duration::from_secs(10),
            program: Duration::from_secs(60),
            report: Duration::from_secs(900),
        }
    }
}

impl Timeouts {
    /// The longest wait for the answer to this request.
    #[must_use]
    pub const fn of(&self, request: RequestKind) -> Duration {
        match request {
            RequestKind::Load | RequestKind::LoadInstallation | RequestKind::Play => self.program,
            RequestKind::PowerOn
            | RequestKind::PowerOff
            | RequestKind::BrakeRelease
            | RequestKind::UnlockProtectiveStop
            | RequestKind::RestartSafety
            | RequestKind::Pause
            | RequestKind::Stop => self.power,
            RequestKind::GenerateFlightReport | RequestKind::GenerateSupportFile | RequestKind::SaveLog => self.report,
            _ => self.ordinary,
        }
    }
}

/// A service of a controller that answers requests: its dashboard server ([`Client`](super::Client)), or the Robot API
/// of PolyScope X ([`robot_api::Client`](crate::client::robot_api::Client)). Strictly a request, then its answer.
///
/// One input, then drain [`poll_output`](Self::poll_output) and [`poll_event`](Self::poll_event) until both are `None`,
/// then sleep until [`poll_timeout`](Self::poll_timeout).
pub trait Service {
    /// Takes one input at `now`, which never goes back.
    fn handle(&mut self, now: Instant, input: Input<'_>);

    /// Where the next bytes received go. Empty only while events wait that nobody took.
    fn receive_window(&mut self) -> &mut [u8];

    /// `count` bytes were received into the window.
    fn commit(&mut self, count: usize, now: Instant);

    /// The next thing that the port must do; `None` once all is done.
    fn poll_output(&mut self) -> Option<Output<'_>>;

    /// The next event; `None` once all are taken.
    fn poll_event(&mut self) -> Option<Event<'_>>;

    /// When [`Input::Tick`] is due at the latest; `None` while nothing is waited for.
    fn poll_timeout(&self) -> Option<Instant>;
}

/// What happened outside a [`Service`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input<'a> {
    /// Connect, unless that is done: tells whether the service is there.
    Start,
    /// The connection asked for by [`Output::Open`] stands.
    Opened,
    /// The connection asked for by [`Output::Open`] was refused or could not be made.
    Refused,
    /// The peer, or the network stack, closed the connection. Not reported after [`Output::Close`].
    Closed,
    /// Put this request. Where there is no connection, one is made first.
    Request(Request<'a>),
    /// Time has passed: the instant of `poll_timeout` is here. Always harmless.
    Tick,
}

/// What came of it. Each request ends in exactly one event that names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The service answers: this connection is one with it.
    Ready,
    /// The answer.
    Replied {
        /// To this.
        request: RequestKind,
        /// What it says.
        reply: Reply<'a>,
        /// As it came.
        line: Text<'a>,
    },
    /// There is no connection: refused, or not made in time.
    NotConnected {
        /// What was asked.
        request: Option<RequestKind>,
        /// The wait that is over; none where the connection was refused.
        waited: Option<Duration>,
    },
    /// No answer in time, to a request or, where there is none, to the connection. It is closed, for an answer that
    /// comes late would be taken for the next one's.
    Silent {
        /// What was asked.
        request: Option<RequestKind>,
        /// How long it was waited for.
        waited: Duration,
    },
    /// The connection ended before the answer.
    Closed {
        /// What was asked.
        request: Option<RequestKind>,
    },
    /// Something else than this service answers.
    WrongService {
        /// What was asked.
        request: Option<RequestKind>,
        /// How its answer begins.
        text: Text<'a>,
    },
    /// The web server has no Robot API: this is the status of the answer for its description.
    NoRobotApi {
        /// What was asked.
        request: Option<RequestKind>,
        /// By HTTP, 200 to 599.
        status: u16,
    },
    /// What answers is no web server, or not understood.
    BadAnswer {
        /// What was asked.
        request: Option<RequestKind>,
        /// Why.
        error: HttpError,
    },
    /// A line that nobody had asked for.
    Unasked(Text<'a>),
    /// A line that is longer than the memory. Where it was an answer, `request` goes without.
    TooLong {
        /// What was asked.
        request: Option<RequestKind>,
        /// Its length.
        error: FrameError,
    },
    /// Another answer is awaited: this request was not put.
    Busy(RequestKind),
}
