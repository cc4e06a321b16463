//! The client of a dashboard server: one connection at a time, one request at a time.

use super::service_interface::{Event, Input, Service, Timeouts};
use crate::client::Output;
use outrigger_wire::dashboard::{PORT, Refusal, Reply, Request, RequestKind, is_greeting};
use outrigger_wire::frame::LineAssembler;
use outrigger_wire::primary::Text;
use outrigger_wire::time::{Duration, Instant};

/// The state of the connection to the dashboard server.
#[derive(Clone, Copy, Debug)]
enum State {
    Closed,
    Opening {
        since: Instant,
    },
    Greeting {
        since: Instant,
    },
    Ready,
    /// A request was sent to the dashboard server, whose reply is awaited.
    Waiting {
        request: RequestKind,
        since: Instant,
    },
}

/// The client of one dashboard server (`core/docs/protocol/ur-dashboard.md`).
///
/// | state | continues with | otherwise |
/// |---|---|---|
/// | closed | `Start` or `Request`: [`Output::Open`] | |
/// | opening | `Opened` | `Refused`, or timeout: [`Event::NotConnected`] |
/// | greeting | the greeting: [`Event::Ready`] | another line: [`Event::WrongService`]; timeout: [`Event::Silent`] |
/// | ready | `Request`: [`Output::Transmit`] | |
/// | waiting | a line: [`Event::Replied`] | timeout: [`Event::Silent`] |
///
/// The connection is closed if the controller replies that it needs remote control, because the permissions of a
/// connection are determined when it is made.
#[derive(Debug)]
pub struct Client<'m> {
    lines: LineAssembler<'m>,
    timeouts: Timeouts,
    state: State,
    /// The time of the newest input that the client processed.
    now: Instant,
    line: [u8; Request::MAX_LEN],
    /// The number of bytes \[B\] of the request that is stored in `line`.
    size: usize,
    /// The request in `line` that waits for the dashboard server's greeting before it is sent; `None` if none waits.
    wanted: Option<RequestKind>,
    open: bool,
    transmit: bool,
    close: bool,
    /// The event caused by an input other than received bytes, until it is polled; events of received lines are not
    /// stored.
    event: Option<Event<'static>>,
}

impl<'m> Client<'m> {
    /// Creates an unconnected client. `memory` holds received bytes: at least the longest reply, a few hundred bytes.
    #[must_use]
    pub fn new(memory: &'m mut [u8], timeouts: Timeouts) -> Self {
        Self {
            lines: LineAssembler::new(memory),
            timeouts,
            state: State::Closed,
            now: Instant::ZERO,
            line: [0; Request::MAX_LEN],
            size: 0,
            wanted: None,
            open: false,
            transmit: false,
            close: false,
            event: None,
        }
    }

    /// Returns whether the dashboard server has greeted on the connection, and no reply is awaited.
    #[must_use]
    pub const fn is_ready(&self) -> bool {
        matches!(self.state, State::Ready)
    }

    fn start(&mut self) {
        if let State::Closed = self.state {
            self.state = State::Opening { since: self.now };
            self.open = true;
        }
    }

    fn request(&mut self, request: &Request<'_>) {
        let kind = request.kind();
        if self.wanted.is_some() || matches!(self.state, State::Waiting { .. }) {
            self.event = Some(Event::Busy(kind));
            return;
        }
        // The buffer is large enough for every request.
        self.size = request.emit(&mut self.line).unwrap_or(0);
        if let State::Ready = self.state {
            self.transmit = true;
            self.state = State::Waiting { request: kind, since: self.now };
        } else {
            self.wanted = Some(kind);
            self.start();
        }
    }

    /// Ends the connection to the server. Returns the request that remains without a reply; `None` if none was pending.
    fn end(&mut self) -> Option<RequestKind> {
        let wanted = self.wanted.take();
        let request = match self.state {
            State::Waiting { request, .. } => Some(request),
            State::Closed | State::Opening { .. } | State::Greeting { .. } | State::Ready => wanted,
        };
        self.state = State::Closed;
        self.open = false;
        self.transmit = false;
        request
    }

    fn deadline(&self) -> Option<(Instant, Duration)> {
        match self.state {
            State::Closed | State::Ready => None,
            State::Opening { since } => Some((since, self.timeouts.opening)),
            State::Greeting { since } => Some((since, self.timeouts.greeting)),
            State::Waiting { request, since } => Some((since, self.timeouts.of(request))),
        }
    }

    fn tick(&mut self) {
        let Some((since, waited)) = self.deadline() else { return };
        if self.now < since + waited {
            return;
        }
        let opening = matches!(self.state, State::Opening { .. });
        let request = self.end();
        self.close = true;
        self.event = Some(if opening {
            Event::NotConnected { request, waited: Some(waited) }
        } else {
            Event::Silent { request, waited }
        });
    }
}

impl Service for Client<'_> {
    fn handle(&mut self, now: Instant, input: Input<'_>) {
        self.now = now;
        match (input, self.state) {
            (Input::Start, _) => self.start(),
            (Input::Request(request), _) => self.request(&request),
            (Input::Opened, State::Opening { .. }) => {
                self.lines.reset();
                self.state = State::Greeting { since: now };
            }
            (Input::Refused, State::Opening { .. }) => {
                let request = self.end();
                self.event = Some(Event::NotConnected { request, waited: None });
            }
            (Input::Closed, State::Greeting { .. } | State::Ready | State::Waiting { .. }) => {
                let request = self.end();
                self.event = Some(Event::Closed { request });
            }
            (Input::Opened | Input::Refused | Input::Closed, _) => {}
            (Input::Tick, _) => self.tick(),
        }
    }

    fn receive_window(&mut self) -> &mut [u8] {
        self.lines.window()
    }

    fn commit(&mut self, count: usize, now: Instant) {
        self.now = now;
        self.lines.commit(count);
    }

    fn poll_output(&mut self) -> Option<Output<'_>> {
        if core::mem::take(&mut self.close) {
            return Some(Output::Close);
        }
        if core::mem::take(&mut self.open) {
            return Some(Output::Open { port: PORT });
        }
        if core::mem::take(&mut self.transmit) {
            return self.line.get(..self.size).map(Output::Transmit);
        }
        None
    }

    fn poll_event(&mut self) -> Option<Event<'_>> {
        if let Some(event) = self.event.take() {
            return Some(event);
        }
        // Lines received before the connection was closed answer nothing any more.
        if let State::Closed | State::Opening { .. } = self.state {
            return None;
        }
        let line = match self.lines.next_line()? {
            Ok(line) => line,
            Err(error) => {
                let request = match self.state {
                    State::Waiting { request, .. } => Some(request),
                    State::Closed | State::Opening { .. } | State::Greeting { .. } | State::Ready => None,
                };
                if request.is_some() {
                    self.state = State::Ready;
                }
                return Some(Event::TooLong { request, error });
            }
        };
        match self.state {
            State::Greeting { .. } if is_greeting(line) => {
                self.state = match self.wanted.take() {
                    Some(request) => {
                        self.transmit = true;
                        State::Waiting { request, since: self.now }
                    }
                    None => State::Ready,
                };
                Some(Event::Ready)
            }
            State::Greeting { .. } => {
                let request = self.wanted.take();
                self.state = State::Closed;
                self.close = true;
                Some(Event::WrongService { request, text: Text(line) })
            }
            State::Waiting { request, .. } => {
                let reply = Reply::parse(request, line);
                // The permissions of a connection are determined when it is made; and after `quit` the server closes
                // it.
                let anew = matches!(reply, Reply::Refused(Refusal::NeedsRemoteControl));
                let over = request == RequestKind::Quit && matches!(reply, Reply::Done(_));
                self.close = anew || over;
                self.state = if self.close { State::Closed } else { State::Ready };
                Some(Event::Replied { request, reply, line: Text(line) })
            }
            State::Ready | State::Closed | State::Opening { .. } => Some(Event::Unasked(Text(line))),
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.deadline().map(|(since, waits)| since + waits)
    }
}
