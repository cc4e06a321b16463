//! The interface of the services that carry requests to a controller: dashboard server or Robot API.

use crate::client::Output;
use outrigger_wire::dashboard::{Reply, Request, RequestKind};
use outrigger_wire::frame::FrameError;
use outrigger_wire::primary::Text;
use outrigger_wire::robot_api::HttpError;
use outrigger_wire::time::{Duration, Instant};

/// The longest waits of a dashboard server's or Robot API's client for the connection and for each kind of reply.
/// Defaults: opening 5 s, greeting 2 s, ordinary 1 s, power 10 s, program 60 s, report 900 s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// The longest wait for a connection to a dashboard server. A call of a Robot API connects within the wait for its
    /// reply.
    pub opening: Duration,
    /// The longest wait for the greeting of a new connection, or for the description of a Robot API.
    pub greeting: Duration,
    /// The longest wait for the reply to each request without a timeout of its own here.
    pub ordinary: Duration,
    /// The longest wait for the reply to requests about power, brakes and stops: `power on`, `power off`, `brake
    /// release`, `unlock protective stop`, `restart safety`; also to `pause` and `stop`.
    pub power: Duration,
    /// The longest wait for the reply to `load`, `load installation`, `play`: from CB3 3.3 on the reply is sent when
    /// the request is completed.
    pub program: Duration,
    /// The longest wait for the reply to a request for a flight report, a support file or a saved log.
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
    /// Returns the longest wait for the controller's reply to a request of this kind.
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
/// of PolyScope X ([`robot_api::Client`](crate::client::robot_api::Client)). Only one request at a time; each is
/// followed by its reply.
///
/// Pass one input, then drain [`poll_output`](Self::poll_output) and [`poll_event`](Self::poll_event) until both are
/// `None`, then sleep until [`poll_timeout`](Self::poll_timeout).
pub trait Service {
    /// Processes one input of the service's client at `now`, which must never decrease.
    fn handle(&mut self, now: Instant, input: Input<'_>);

    /// Returns the buffer for the next bytes received. Empty only while there are events that were not taken.
    fn receive_window(&mut self) -> &mut [u8];

    /// Records that `count` bytes were received into the receive window at `now`.
    fn commit(&mut self, count: usize, now: Instant);

    /// Returns the next action that the caller has to carry out on the connection; `None` if there is none.
    fn poll_output(&mut self) -> Option<Output<'_>>;

    /// Returns the next event of the service; `None` if there is none.
    fn poll_event(&mut self) -> Option<Event<'_>>;

    /// Returns the latest time of the next [`Input::Tick`]; `None` while no deadline runs.
    fn poll_timeout(&self) -> Option<Instant>;
}

/// An input of a [`Service`]: a request, a change of its connection, or the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input<'a> {
    /// The order to connect to the service, if there is no connection yet, to find out whether it is available.
    Start,
    /// The connection requested by [`Output::Open`] is established.
    Opened,
    /// The connection requested by [`Output::Open`] was refused or could not be made.
    Refused,
    /// The peer, or the network stack, closed the connection. Not reported after [`Output::Close`].
    Closed,
    /// The order to send this request to the controller. If there is no connection, one is made first.
    Request(Request<'a>),
    /// The time returned by `poll_timeout` has come: passed deadlines are processed. Permitted at any time.
    Tick,
}

/// An event of a [`Service`]. Each request ends in exactly one event that names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The service is available for requests: the dashboard server has sent its greeting on this connection, or the
    /// description of the Robot API is known.
    Ready,
    /// The service's reply to a request was received.
    Replied {
        /// The kind of the request that was replied to.
        request: RequestKind,
        /// The parsed reply of the service.
        reply: Reply<'a>,
        /// The line of a dashboard server's reply as it was received; for the Robot API, its reply as such a line.
        line: Text<'a>,
    },
    /// No connection to the service: it was refused, or not made in time.
    NotConnected {
        /// The kind of the request that waited for the connection; `None` if none did.
        request: Option<RequestKind>,
        /// The time waited for the connection; `None` if it was refused.
        waited: Option<Duration>,
    },
    /// No reply to a request in time or, if `request` is `None`, no greeting of the server or description of the Robot
    /// API. The connection is closed, because a late reply would be taken for that of the next request.
    Silent {
        /// The request to the service that remains without a reply; `None` if none was pending.
        request: Option<RequestKind>,
        /// The time waited for the service's reply.
        waited: Duration,
    },
    /// The connection to the service ended; a pending request remains without a reply.
    Closed {
        /// The request to the service that remains without a reply; `None` if none was pending.
        request: Option<RequestKind>,
    },
    /// Another kind of service than the expected one is listening on this port.
    WrongService {
        /// The request to the service that remains without a reply; `None` if none was pending.
        request: Option<RequestKind>,
        /// The beginning of the text that the service sent.
        text: Text<'a>,
    },
    /// The web server has no Robot API: it answered the request for the description with this status.
    NoRobotApi {
        /// The request to the Robot API that remains without a reply; `None` if none was pending.
        request: Option<RequestKind>,
        /// The HTTP status code of the web server's reply, 200 to 599.
        status: u16,
    },
    /// The Robot API's reply is not HTTP, or not understood.
    BadAnswer {
        /// The request to the Robot API that remains without a reply; `None` if none was pending.
        request: Option<RequestKind>,
        /// The error in the HTTP reply of the Robot API.
        error: HttpError,
    },
    /// A line that a dashboard server sent although no request was waiting for a reply.
    Unasked(Text<'a>),
    /// A line was received that is longer than the client's receive memory. If the line was a reply, `request` remains
    /// without a reply.
    TooLong {
        /// The request to the service that remains without a reply; `None` if none was pending.
        request: Option<RequestKind>,
        /// The error, [`FrameError::Oversize`], which contains the length of the line.
        error: FrameError,
    },
    /// The reply to another request is awaited: this request was not sent.
    Busy(RequestKind),
}
