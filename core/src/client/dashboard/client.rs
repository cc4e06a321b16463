//! One connection to a dashboard server at a time.

use crate::frame::{FrameError, LineAssembler};
use crate::time::{Duration, Instant};
use crate::wire::dashboard::{Refusal, Reply, Request, RequestKind, is_greeting};
use crate::wire::primary::Text;

/// How long each kind of answer may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// The greeting of a new connection.
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
            greeting: Duration::from_secs(2),
            ordinary: Duration::from_secs(1),
            power: Duration::from_secs(10),
            program: Duration::from_secs(60),
            report: Duration::from_secs(900),
        }
    }
}

impl Timeouts {
    /// That of one request.
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

/// What the port has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientOutput<'a> {
    /// Send this, all of it.
    Transmit(&'a [u8]),
    /// Close the connection; the next request needs a new one.
    Close,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientEvent<'a> {
    /// The server has greeted: it may be asked.
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
    /// Something else than a dashboard server speaks first.
    WrongService(Text<'a>),
    /// A line that nobody had asked for.
    Unasked(Text<'a>),
    /// A line that is longer than the memory. Where it was an answer, `request` goes without.
    TooLong {
        /// What was asked.
        request: Option<RequestKind>,
        /// Its length.
        error: FrameError,
    },
}

/// A request cannot be sent now: there is no connection that was greeted on, or another answer is awaited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy;

impl core::fmt::Display for Busy {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("the dashboard is not ready for a request")
    }
}

impl core::error::Error for Busy {}

#[derive(Clone, Copy, Debug)]
enum State {
    Closed,
    Greeting { since: Instant },
    Ready,
    Asked { request: RequestKind, since: Instant },
}

/// The conversation with one dashboard server: strictly a request, then its answer.
///
/// | input | then |
/// |---|---|
/// | [`Client::opened`] | the greeting is awaited |
/// | [`Client::request`] | [`Client::poll_output`] has a line |
/// | [`Client::receive_window`], [`Client::commit`] | [`Client::poll_event`] until `None` |
/// | [`Client::closed`], [`Client::handle_timeout`] | the same |
#[derive(Debug)]
pub struct Client<'m> {
    lines: LineAssembler<'m>,
    timeouts: Timeouts,
    state: State,
    line: [u8; Request::MAX_LEN],
    /// Bytes of `line` still to be sent.
    unsent: usize,
    close: bool,
    /// An answer that will not come.
    given_up: Option<GivenUp>,
}

#[derive(Clone, Copy, Debug)]
enum GivenUp {
    Silent { request: Option<RequestKind>, waited: Duration },
    Closed { request: Option<RequestKind> },
}

impl<'m> Client<'m> {
    /// Not connected yet. `memory` holds what was received: the longest reply, a few hundred bytes.
    #[must_use]
    pub fn new(memory: &'m mut [u8], timeouts: Timeouts) -> Self {
        Self {
            lines: LineAssembler::new(memory),
            timeouts,
            state: State::Closed,
            line: [0; Request::MAX_LEN],
            unsent: 0,
            close: false,
            given_up: None,
        }
    }

    /// A connection stands.
    pub fn opened(&mut self, now: Instant) {
        self.lines.reset();
        self.unsent = 0;
        self.close = false;
        self.given_up = None;
        self.state = State::Greeting { since: now };
    }

    /// The connection has ended.
    pub fn closed(&mut self) {
        let request = match self.state {
            State::Closed => return,
            State::Greeting { .. } | State::Ready => None,
            State::Asked { request, .. } => Some(request),
        };
        self.state = State::Closed;
        self.unsent = 0;
        self.given_up = Some(GivenUp::Closed { request });
    }

    /// Whether a connection stands or is being greeted on. Where not, the next request needs a new one.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        !matches!(self.state, State::Closed)
    }

    /// Whether a request would be taken.
    #[must_use]
    pub const fn is_ready(&self) -> bool {
        matches!(self.state, State::Ready)
    }

    /// Asks.
    ///
    /// # Errors
    /// [`Busy`] before the greeting, and while an answer is awaited.
    pub fn request(&mut self, now: Instant, request: &Request<'_>) -> Result<(), Busy> {
        let State::Ready = self.state else { return Err(Busy) };
        // No request is longer than the line.
        self.unsent = request.emit(&mut self.line).map_err(|_| Busy)?;
        self.state = State::Asked { request: request.kind(), since: now };
        Ok(())
    }

    /// Where received bytes go.
    pub fn receive_window(&mut self) -> &mut [u8] {
        self.lines.window()
    }

    /// So many were received.
    pub fn commit(&mut self, count: usize) {
        self.lines.commit(count);
    }

    /// What is to be done, until `None`.
    #[must_use = "outputs are to be carried out"]
    pub fn poll_output(&mut self) -> Option<ClientOutput<'_>> {
        if core::mem::take(&mut self.close) {
            return Some(ClientOutput::Close);
        }
        match core::mem::take(&mut self.unsent) {
            0 => None,
            size => self.line.get(..size).map(ClientOutput::Transmit),
        }
    }

    /// What happened, until `None`.
    #[must_use = "an answer is given once"]
    pub fn poll_event(&mut self) -> Option<ClientEvent<'_>> {
        if let Some(given_up) = self.given_up.take() {
            return Some(match given_up {
                GivenUp::Silent { request, waited } => ClientEvent::Silent { request, waited },
                GivenUp::Closed { request } => ClientEvent::Closed { request },
            });
        }
        // What a closed connection left behind answers nothing any more.
        if let State::Closed = self.state {
            return None;
        }
        let line = match self.lines.next_line()? {
            Ok(line) => line,
            Err(error) => {
                let request = match self.state {
                    State::Asked { request, .. } => Some(request),
                    State::Closed | State::Greeting { .. } | State::Ready => None,
                };
                if request.is_some() {
                    self.state = State::Ready;
                }
                return Some(ClientEvent::TooLong { request, error });
            }
        };
        Some(match self.state {
            State::Greeting { .. } if is_greeting(line) => {
                self.state = State::Ready;
                ClientEvent::Ready
            }
            State::Greeting { .. } => {
                self.state = State::Closed;
                self.close = true;
                ClientEvent::WrongService(Text(line))
            }
            State::Asked { request, .. } => {
                let reply = Reply::parse(request, line);
                // What a connection may ask was settled when it was made; and after `quit` the server closes it.
                let anew = matches!(reply, Reply::Refused(Refusal::NeedsRemoteControl));
                let over = request == RequestKind::Quit && matches!(reply, Reply::Done(_));
                self.close = anew || over;
                self.state = if self.close { State::Closed } else { State::Ready };
                ClientEvent::Replied { request, reply, line: Text(line) }
            }
            State::Ready | State::Closed => ClientEvent::Unasked(Text(line)),
        })
    }

    /// When [`Client::handle_timeout`] wants to be called.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.deadline().map(|(since, waits, _)| since + waits)
    }

    /// Time has passed. Without a deadline that is over, nothing happens.
    pub fn handle_timeout(&mut self, now: Instant) {
        if let Some((since, waits, request)) = self.deadline()
            && now >= since + waits
        {
            self.state = State::Closed;
            self.unsent = 0;
            self.close = true;
            self.given_up = Some(GivenUp::Silent { request, waited: waits });
        }
    }

    fn deadline(&self) -> Option<(Instant, Duration, Option<RequestKind>)> {
        match self.state {
            State::Closed | State::Ready => None,
            State::Greeting { since } => Some((since, self.timeouts.greeting, None)),
            State::Asked { request, since } => Some((since, self.timeouts.of(request), Some(request))),
        }
    }
}
