//! A TCP connection to a service of a controller. It performs the I/O that the protocol's state machine in the core
//! requests.

use std::io;
use std::net::SocketAddr;

use outrigger_core::client::Output;
use outrigger_core::client::dashboard::{Event, Input, Service};
use outrigger_wire::dashboard::{Reply, Request, RequestKind};
use outrigger_wire::primary::Text;
use outrigger_wire::robot_api::BASE;
use outrigger_wire::time::Duration;
use tokio::net::TcpStream;

use super::transport::{Transport, Trouble};
use crate::host::clock::Clock;
use crate::net::cannot_connect;

/// The size of the buffer for one line of a dashboard server \[B\]. The longest reply contains a path.
pub const LINE_MEMORY: usize = 4096;

/// A connection to one service of one controller, e.g. the dashboard server.
#[derive(Debug)]
pub struct Connection<S> {
    at: SocketAddr,
    /// The URL of a service over HTTP. `None` for the dashboard server.
    url: Option<String>,
    clock: Clock,
    service: S,
    stream: Option<TcpStream>,
    /// The operating system's error of the last failed attempt to connect to the controller's service.
    error: Option<io::Error>,
}

impl<S: Service> Connection<S> {
    /// Creates a connection to the controller's service at the address `at`. It is not opened yet.
    pub const fn new(at: SocketAddr, clock: Clock, service: S) -> Self {
        Self { at, url: None, clock, service, stream: None, error: None }
    }

    /// Makes the connection use HTTP, as for the Robot API.
    pub fn over_http(self) -> Self {
        Self { url: Some(format!("http://{}{BASE}", self.at)), ..self }
    }

    /// Returns the state machine of the service's protocol, which requests the input and output of this connection.
    pub const fn service(&self) -> &S {
        &self.service
    }

    /// Connects to the service of the controller, and waits until it is ready.
    pub async fn connect(&mut self) -> Result<(), Trouble> {
        self.service.handle(self.clock.now(), Input::Start);
        loop {
            self.carry_out().await;
            match self.service.poll_event() {
                Some(Event::Ready) => return Ok(()),
                Some(event) => {
                    let trouble = trouble(self.at, self.url.as_deref(), self.error.as_ref(), &event);
                    self.carry_out().await;
                    return Err(trouble);
                }
                None => self.receive().await,
            }
        }
    }

    async fn carry_out(&mut self) {
        loop {
            let done = match self.service.poll_output() {
                None => return,
                Some(Output::Close) => {
                    self.stream = None;
                    continue;
                }
                Some(Output::Open { .. }) => {
                    self.open().await;
                    continue;
                }
                Some(Output::Transmit(bytes)) => match &mut self.stream {
                    Some(stream) => write_all(stream, bytes).await.is_ok(),
                    None => false,
                },
            };
            if !done {
                self.closed();
            }
        }
    }

    async fn open(&mut self) {
        let connecting = TcpStream::connect(self.at);
        let connected = match self.service.poll_timeout() {
            Some(at) => tokio::time::timeout_at(self.clock.std_instant(at).into(), connecting).await,
            None => Ok(connecting.await),
        };
        let input = match connected.map(|connected| connected.and_then(no_delay)) {
            Ok(Ok(stream)) => {
                self.stream = Some(stream);
                Input::Opened
            }
            Ok(Err(error)) => {
                self.error = Some(error);
                Input::Refused
            }
            Err(_) => {
                self.error = Some(io::ErrorKind::TimedOut.into());
                Input::Tick
            }
        };
        self.service.handle(self.clock.now(), input);
    }

    async fn receive(&mut self) {
        let deadline = self.service.poll_timeout().map(|at| self.clock.std_instant(at).into());
        let window = self.service.receive_window();
        let received = match (&mut self.stream, deadline) {
            (None, _) => Ok(Ok(0)),
            (Some(stream), None) => Ok(read(stream, window).await),
            (Some(stream), Some(at)) => tokio::time::timeout_at(at, read(stream, window)).await,
        };
        match received {
            Ok(Ok(count @ 1..)) => self.service.commit(count, self.clock.now()),
            Ok(_) => self.closed(),
            Err(_) => self.service.handle(self.clock.now(), Input::Tick),
        }
    }

    fn closed(&mut self) {
        self.stream = None;
        self.service.handle(self.clock.now(), Input::Closed);
    }
}

fn no_delay(stream: TcpStream) -> io::Result<TcpStream> {
    stream.set_nodelay(true)?;
    Ok(stream)
}

async fn read(stream: &TcpStream, window: &mut [u8]) -> io::Result<usize> {
    loop {
        stream.readable().await?;
        match stream.try_read(window) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            result => return result,
        }
    }
}

async fn write_all(stream: &TcpStream, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        stream.writable().await?;
        match stream.try_write(bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Describes why a request to the controller has no reply, and what to check.
fn trouble(at: SocketAddr, url: Option<&str>, error: Option<&io::Error>, event: &Event<'_>) -> Trouble {
    if let Some(url) = url {
        return Trouble(match event {
            Event::Silent { waited, .. } | Event::NotConnected { waited: Some(waited), .. } => {
                format!("no answer from {url} within {}", seconds(*waited))
            }
            Event::NotConnected { .. } => match error {
                Some(error) => cannot_connect(at, error),
                None => format!("cannot connect to {at}"),
            },
            Event::NoRobotApi { status, .. } => format!(
                "{at} has no Robot API (status {status}): it comes with PolyScope X 10.11; is it switched on in the \
                 security settings?"
            ),
            Event::BadAnswer { error, .. } => format!("{url}: {error}"),
            _ => format!("{url}: the connection was closed before the answer"),
        });
    }
    let to = |request: &Option<RequestKind>| request.map_or(String::new(), |r| format!(" to '{}'", r.words()));
    Trouble(match event {
        Event::NotConnected { .. } => match error {
            Some(error) => cannot_connect(at, error),
            None => format!("cannot connect to {at}"),
        },
        Event::Silent { request: None, waited } => format!(
            "{at} accepted the connection but sent nothing for {}: not a dashboard server, or a busy one",
            seconds(*waited)
        ),
        Event::Silent { request, waited } => {
            format!("no answer{} within {}: check the teach pendant, then try again", to(request), seconds(*waited))
        }
        Event::Closed { request: None } => {
            format!("{at} closed the connection: is the dashboard service switched on in its security settings?")
        }
        Event::Closed { request } => format!("{at} closed the connection before it answered{}", to(request)),
        Event::WrongService { text, .. } => {
            format!("{at} is not a dashboard server: its first text is \"{}\"; check the port", text.0.escape_ascii())
        }
        Event::TooLong { request, error } => format!("the answer{} is not a line of text: {error}", to(request)),
        Event::Busy(_) => "the dashboard is not ready for a request".to_owned(),
        _ => String::new(),
    })
}

fn seconds(span: Duration) -> String {
    format!("{} s", span.as_secs_f64())
}

impl<S: Service> Transport for Connection<S> {
    fn ask(&mut self, request: Request<'_>) {
        self.service.handle(self.clock.now(), Input::Request(request));
    }

    async fn answer_with_line<R>(&mut self, read: impl FnOnce(&Reply<'_>, Text<'_>) -> R) -> Result<R, Trouble> {
        loop {
            self.carry_out().await;
            let answered = match self.service.poll_event() {
                None => {
                    self.receive().await;
                    continue;
                }
                Some(Event::Ready | Event::Unasked(_)) => continue,
                Some(Event::Replied { reply, line, .. }) => Ok(read(&reply, line)),
                Some(event) => Err(trouble(self.at, self.url.as_deref(), self.error.as_ref(), &event)),
            };
            self.carry_out().await;
            return answered;
        }
    }
}
