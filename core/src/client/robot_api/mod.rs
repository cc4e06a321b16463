//! The client of PolyScope X's Robot API (`core/docs/protocol/ur-dashboard.md 6`), which accepts the same requests as
//! the client of a dashboard server.
//!
//! ```
//! use outrigger_core::client::Output;
//! use outrigger_core::client::dashboard::{Input, Service, Timeouts};
//! use outrigger_core::client::robot_api::Client;
//! use outrigger_wire::time::Instant;
//!
//! let mut window = [0; 512];
//! let mut client = Client::new(&mut window, "192.168.56.101", Timeouts::default());
//! client.handle(Instant::ZERO, Input::Start);
//! assert_eq!(client.poll_output(), Some(Output::Open { port: 80 }));
//! client.handle(Instant::ZERO, Input::Opened);
//! let Some(Output::Transmit(request)) = client.poll_output() else { panic!("the API's description is asked for") };
//! assert!(request.starts_with(b"GET /universal-robots/robot-api/openapi.json HTTP/1.1\r\n"));
//! ```

#[cfg(test)]
mod tests;

use heapless::{String, Vec};

use crate::client::Output;
use crate::client::dashboard::{Event, Input, Service, Timeouts};
use outrigger_wire::dashboard::{Argument, Refusal, Reply, Request, RequestKind};
use outrigger_wire::primary::Text;
use outrigger_wire::robot::SoftwareVersion;
use outrigger_wire::robot_api::{Call, FIRST, HttpError, PORT, Response, VERSION, Value, member};
use outrigger_wire::time::{Duration, Instant};

/// The size of the longest reply in the form of a dashboard's, and of the longest refusal \[B\].
const LINE: usize = 560;
/// The text before the program's name in a dashboard server's reply to the query for the loaded program
/// (`core/docs/protocol/ur-dashboard.md 3`).
const LOADED: &[u8] = b"Loaded program: ";

/// The purpose of an HTTP call to the Robot API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// Queries the description of the Robot API, which contains its version.
    Description,
    /// Queries whether the program is paused, because resuming it is another call than starting it.
    Look,
    /// Makes the HTTP call that carries out the request itself.
    Request,
    /// Queries the control mode after the refusal of a request: it may have been refused for lack of remote control.
    Control,
}

/// The outcome of a request to the Robot API: a reply in the form of a dashboard server's, a refusal, or an event
/// without a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Event(Event<'static>),
    Done,
    /// The reply of the Robot API is in `line`, in the form of a dashboard server's.
    Line,
    /// The reply of the Robot API is unknown; its beginning is reported.
    Other,
    LocalControl,
    /// The server refused the request; the text of the refusal is in `line`.
    Refused,
    /// The Robot API has no call for the request.
    NotOffered,
}

/// An HTTP call to the Robot API, on a connection of its own.
#[derive(Clone, Copy, Debug)]
struct Exchange {
    purpose: Purpose,
    since: Instant,
    limit: Duration,
    connected: bool,
}

/// The client of the Robot API (HTTP, PolyScope X) of one controller, with a connection for each call.
///
/// The description is requested first: it contains the version of the API. The replies have the form of a dashboard's,
/// as [`Reply`]. `play` first queries whether the program is paused, and then resumes it; after the refusal of a
/// request that needs remote control the control mode is queried, if the software supports it. The client requests no
/// compressed replies; it accepts chunked ones.
#[derive(Debug)]
pub struct Client<'m> {
    window: &'m mut [u8],
    host: &'m str,
    timeouts: Timeouts,
    software: Option<SoftwareVersion>,
    /// The time of the newest input that the client processed.
    now: Instant,
    exchange: Option<Exchange>,
    /// The present request to the Robot API, and its argument; `None` between requests.
    request: Option<RequestKind>,
    argument: String<{ Argument::MAX_LEN }>,
    response: Response,
    line: Vec<u8, LINE>,
    call: [u8; Call::MAX_LEN],
    /// The number of bytes of the HTTP call that is stored in `call`.
    size: usize,
    open: bool,
    transmit: bool,
    close: bool,
    outcome: Option<Outcome>,
}

impl<'m> Client<'m> {
    /// Creates an unconnected client. `window` is the receive buffer, of any size but 0; `host` is the controller as in
    /// a URL, at most 64 bytes: `192.168.56.101`, or with a port.
    #[must_use]
    pub const fn new(window: &'m mut [u8], host: &'m str, timeouts: Timeouts) -> Self {
        Self {
            window,
            host,
            timeouts,
            software: None,
            now: Instant::ZERO,
            exchange: None,
            request: None,
            argument: String::new(),
            response: Response::new(VERSION),
            line: Vec::new(),
            call: [0; Call::MAX_LEN],
            size: 0,
            open: false,
            transmit: false,
            close: false,
            outcome: None,
        }
    }

    /// Returns the oldest software version that has this version of the Robot API; `None` before [`Event::Ready`].
    #[must_use]
    pub const fn software(&self) -> Option<SoftwareVersion> {
        self.software
    }

    fn request(&mut self, request: &Request<'_>) {
        let kind = request.kind();
        if self.request.is_some() {
            self.outcome = Some(Outcome::Event(Event::Busy(kind)));
            return;
        }
        self.request = Some(kind);
        self.argument.clear();
        // The buffer is large enough for every argument.
        let _ = self.argument.push_str(request.argument().unwrap_or_default());
        // If the description is being requested, its reply continues with the request.
        if self.exchange.is_none() {
            self.go_on();
        }
    }

    /// Begins the HTTP call for the description of the API if it is not known yet, otherwise the first call that the
    /// present request needs.
    fn go_on(&mut self) {
        match (self.software, self.request) {
            (None, _) => self.begin(Purpose::Description),
            (Some(_), Some(RequestKind::Play)) => self.begin(Purpose::Look),
            (Some(_), Some(_)) => self.begin(Purpose::Request),
            (Some(_), None) => {}
        }
    }

    fn begin(&mut self, purpose: Purpose) {
        let paused = self.exchange.is_some_and(|before| before.purpose == Purpose::Look) && self.is_paused();
        let of = |asked| self.timeouts.of(asked);
        let request = self.request.unwrap_or(RequestKind::ProgramState);
        let software = self.software.unwrap_or(FIRST);
        let (call, wanted, limit) = match purpose {
            Purpose::Description => (Some(Call::DESCRIPTION), Some(VERSION), self.timeouts.greeting),
            Purpose::Look => {
                let asked = RequestKind::ProgramState;
                (Some(Call::PROGRAM_STATE), member(asked), of(asked))
            }
            Purpose::Request if paused => (Some(Call::RESUME), None, of(request)),
            Purpose::Request => (Call::of(request, &self.argument, software), member(request), of(request)),
            Purpose::Control => {
                let asked = RequestKind::IsInRemoteControl;
                (Some(Call::CONTROL_MODE), member(asked), of(asked))
            }
        };
        let Some(call) = call else { return self.end(Outcome::NotOffered) };
        // The buffer is large enough for every call; a host that is too long leaves nothing to send, and so there is no
        // reply.
        self.size = call.emit(self.host, &mut self.call).unwrap_or(0);
        self.response = Response::new(wanted.unwrap_or(VERSION));
        self.exchange = Some(Exchange { purpose, since: self.now, limit, connected: false });
        self.open = true;
        self.transmit = false;
    }

    fn is_paused(&self) -> bool {
        matches!(self.response.value(), Some(Value::Text { bytes, .. })
            if self.response.is_success() && bytes.eq_ignore_ascii_case(b"PAUSED"))
    }

    /// Ends the request to the Robot API with this outcome, without further HTTP calls.
    fn end(&mut self, outcome: Outcome) {
        self.exchange = None;
        self.outcome = Some(outcome);
    }

    /// Ends the request whose HTTP `exchange` has no reply: with this `event`, or as refused if it was refused before.
    fn fail(&mut self, exchange: Exchange, event: Event<'static>) {
        self.open = false;
        self.transmit = false;
        match exchange.purpose {
            // The refusal stands, whether the control mode is known or not.
            Purpose::Control => self.end(Outcome::Refused),
            Purpose::Description | Purpose::Look | Purpose::Request => self.end(Outcome::Event(event)),
        }
    }

    /// Processes a complete HTTP reply, and continues with the next call or ends the request.
    fn answered(&mut self, exchange: Exchange) {
        match exchange.purpose {
            Purpose::Description => match self.response.software() {
                Some(software) => {
                    self.software = Some(software);
                    self.end(Outcome::Event(Event::Ready));
                    self.go_on();
                }
                None => {
                    let (request, status) = (self.request, self.response.status());
                    self.end(Outcome::Event(Event::NoRobotApi { request, status }));
                }
            },
            Purpose::Look => self.begin(Purpose::Request),
            Purpose::Request if self.response.is_success() => {
                let outcome = self.read();
                self.end(outcome);
            }
            Purpose::Request => {
                self.refused();
                let request = self.request.filter(|request| request.needs_remote_control());
                let asks = |software| RequestKind::IsInRemoteControl.check(software).is_ok();
                if request.is_some() && self.software.is_some_and(asks) {
                    self.begin(Purpose::Control);
                } else {
                    self.end(Outcome::Refused);
                }
            }
            Purpose::Control => {
                let local = match self.response.value() {
                    Some(Value::Text { bytes, .. }) => {
                        self.response.is_success() && !bytes.eq_ignore_ascii_case(b"REMOTE")
                    }
                    Some(Value::Null) | None => false,
                };
                self.end(if local { Outcome::LocalControl } else { Outcome::Refused });
            }
        }
    }

    /// Converts the HTTP reply to a completed request or a query to the form of a dashboard server's reply.
    fn read(&mut self) -> Outcome {
        let Some(request) = self.request else { return Outcome::Other };
        self.line.clear();
        if member(request).is_none() {
            return Outcome::Done;
        }
        let words: [&[u8]; 2] = match (request, self.response.value()) {
            (RequestKind::LoadedProgram, Some(Value::Null | Value::Text { bytes: b"", .. })) => {
                [b"No program loaded", b""]
            }
            (_, Some(Value::Null | Value::Text { cut: true, .. }) | None) => return Outcome::Other,
            (RequestKind::LoadedProgram, Some(Value::Text { bytes, .. })) => [LOADED, bytes],
            (RequestKind::IsInRemoteControl, Some(Value::Text { bytes, .. })) => {
                [if bytes.eq_ignore_ascii_case(b"REMOTE") { b"true" } else { b"false" }, b""]
            }
            (_, Some(Value::Text { bytes, .. })) => [bytes, b""],
        };
        let fits = words.into_iter().all(|part| self.line.extend_from_slice(part).is_ok());
        if fits && !self.line.is_empty() { Outcome::Line } else { Outcome::Other }
    }

    /// Stores the text of the server's refusal in `line`, with the HTTP status.
    fn refused(&mut self) {
        use core::fmt::Write as _;
        let words = match self.response.value() {
            Some(Value::Text { bytes, .. }) => bytes,
            Some(Value::Null) | None => self.response.excerpt(),
        };
        let mut status = String::<20>::new();
        // The string is long enough for three digits.
        let _ = if words.is_empty() {
            write!(status, "status {}", self.response.status())
        } else {
            write!(status, " (status {})", self.response.status())
        };
        self.line.clear();
        // The line is long enough for the longest value followed by the status.
        let _ = self.line.extend_from_slice(words).and_then(|()| self.line.extend_from_slice(status.as_bytes()));
    }

    fn received(&mut self, count: usize) {
        let Some(exchange) = self.exchange.filter(|exchange| exchange.connected) else { return };
        let bytes = self.window.get(..count).unwrap_or_default();
        match self.response.take(bytes) {
            Ok(false) => {}
            Ok(true) => {
                self.close = true;
                self.answered(exchange);
            }
            Err(error) => self.bad(exchange, error),
        }
    }

    fn bad(&mut self, exchange: Exchange, error: HttpError) {
        self.close = true;
        self.fail(exchange, Event::BadAnswer { request: self.request, error });
    }

    fn closed(&mut self, exchange: Exchange) {
        match self.response.end() {
            Ok(()) => self.answered(exchange),
            Err(_) if self.response.status() == 0 => self.fail(exchange, Event::Closed { request: self.request }),
            Err(error) => self.fail(exchange, Event::BadAnswer { request: self.request, error }),
        }
    }

    fn tick(&mut self, exchange: Exchange) {
        if self.now < exchange.since + exchange.limit {
            return;
        }
        let (request, waited) = (self.request, exchange.limit);
        self.close = true;
        self.fail(
            exchange,
            if exchange.connected {
                Event::Silent { request, waited }
            } else {
                Event::NotConnected { request, waited: Some(waited) }
            },
        );
    }
}

impl Service for Client<'_> {
    fn handle(&mut self, now: Instant, input: Input<'_>) {
        self.now = now;
        match (input, self.exchange) {
            (Input::Start, None) if self.software.is_some() => self.outcome = Some(Outcome::Event(Event::Ready)),
            (Input::Start, None) => self.begin(Purpose::Description),
            (Input::Request(request), _) => self.request(&request),
            (Input::Opened, Some(exchange)) if !exchange.connected => {
                self.exchange = Some(Exchange { connected: true, ..exchange });
                self.transmit = true;
            }
            (Input::Refused, Some(exchange)) if !exchange.connected => {
                self.fail(exchange, Event::NotConnected { request: self.request, waited: None });
            }
            (Input::Closed, Some(exchange)) if exchange.connected => self.closed(exchange),
            (Input::Tick, Some(exchange)) => self.tick(exchange),
            (Input::Start | Input::Opened | Input::Refused | Input::Closed | Input::Tick, _) => {}
        }
    }

    fn receive_window(&mut self) -> &mut [u8] {
        self.window
    }

    fn commit(&mut self, count: usize, now: Instant) {
        self.now = now;
        self.received(count);
    }

    fn poll_output(&mut self) -> Option<Output<'_>> {
        if core::mem::take(&mut self.close) {
            return Some(Output::Close);
        }
        if core::mem::take(&mut self.open) {
            return Some(Output::Open { port: PORT });
        }
        if core::mem::take(&mut self.transmit) {
            return self.call.get(..self.size).map(Output::Transmit);
        }
        None
    }

    fn poll_event(&mut self) -> Option<Event<'_>> {
        let outcome = self.outcome.take()?;
        let (request, line) = (self.request, Text(&self.line));
        let reply = match outcome {
            Outcome::Event(event) => {
                if !matches!(event, Event::Ready | Event::Busy(_)) {
                    self.request = None;
                }
                return Some(event);
            }
            Outcome::Done => Reply::Done(Text(b"")),
            Outcome::Line => Reply::parse(request?, line.0),
            Outcome::Other => Reply::Other(Text(self.response.excerpt())),
            Outcome::LocalControl => Reply::Refused(Refusal::NeedsRemoteControl),
            Outcome::Refused => Reply::Refused(Refusal::Failed(line)),
            Outcome::NotOffered => Reply::Refused(Refusal::NotUnderstood(Text(b"the Robot API has no call for it"))),
        };
        self.request = None;
        Some(Event::Replied { request: request?, reply, line })
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.exchange.map(|exchange| exchange.since + exchange.limit)
    }
}
