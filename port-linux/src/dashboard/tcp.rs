//! The dashboard server over TCP.

use std::io;
use std::net::SocketAddr;

use outrigger_core::client::dashboard::{Client, ClientEvent, ClientOutput, Timeouts};
use outrigger_core::time::Duration;
use outrigger_core::wire::dashboard::{Reply, Request, RequestKind};
use tokio::net::TcpStream;

use super::transport::{Transport, Trouble};
use crate::clock::Clock;
use crate::net::cannot_connect;

/// Memory for one line of a server: replies hold at most a path.
pub const LINE_MEMORY: usize = 4096;

/// How long a connection may take.
const CONNECT: std::time::Duration = std::time::Duration::from_secs(5);

/// The dashboard server of one controller.
#[derive(Debug)]
pub struct TcpDashboard<'m> {
    at: SocketAddr,
    clock: Clock,
    client: Client<'m>,
    stream: Option<TcpStream>,
    /// The line that is handed out.
    answer: Vec<u8>,
}

impl<'m> TcpDashboard<'m> {
    /// The server at this address; `memory` as [`LINE_MEMORY`].
    #[must_use]
    pub fn new(at: SocketAddr, clock: Clock, timeouts: Timeouts, memory: &'m mut [u8]) -> Self {
        Self { at, clock, client: Client::new(memory, timeouts), stream: None, answer: Vec::new() }
    }

    /// Connects and waits for the greeting, unless that is done.
    ///
    /// # Errors
    /// [`Trouble`] where nobody, or somebody else, is there.
    pub async fn connect(&mut self) -> Result<(), Trouble> {
        if self.client.is_open() {
            return Ok(());
        }
        let connecting = tokio::time::timeout(CONNECT, TcpStream::connect(self.at)).await;
        let stream = connecting
            .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
            .map_err(|error| Trouble(cannot_connect(self.at, &error)))?;
        self.stream = Some(stream);
        self.client.opened(self.clock.now());
        while !self.client.is_ready() {
            self.turn().await?;
        }
        Ok(())
    }

    /// Carries out what is to be done, then waits for one thing to happen. True where an answer is ready.
    async fn turn(&mut self) -> Result<bool, Trouble> {
        self.carry_out().await;
        let happened = self.client.poll_event();
        let outcome = match happened {
            Some(ClientEvent::Ready | ClientEvent::Unasked(_)) => Ok(false),
            Some(ClientEvent::Replied { line, .. }) => {
                self.answer = line.0.to_vec();
                Ok(true)
            }
            Some(event) => Err(Trouble(describe(self.at, &event))),
            None => {
                self.receive().await;
                return Ok(false);
            }
        };
        self.carry_out().await;
        outcome
    }

    async fn carry_out(&mut self) {
        loop {
            let sent = match self.client.poll_output() {
                None => return,
                Some(ClientOutput::Close) => {
                    self.stream = None;
                    continue;
                }
                Some(ClientOutput::Transmit(line)) => match &mut self.stream {
                    Some(stream) => write_all(stream, line).await.is_ok(),
                    None => false,
                },
            };
            if !sent {
                self.stream = None;
                self.client.closed();
            }
        }
    }

    async fn receive(&mut self) {
        let deadline = self.client.poll_timeout().map(|at| self.clock.std_instant(at).into());
        let window = self.client.receive_window();
        let received = match (&mut self.stream, deadline) {
            (None, _) => Ok(Ok(0)),
            (Some(stream), None) => Ok(read(stream, window).await),
            (Some(stream), Some(at)) => tokio::time::timeout_at(at, read(stream, window)).await,
        };
        match received {
            Ok(Ok(count @ 1..)) => self.client.commit(count),
            Ok(_) => {
                self.stream = None;
                self.client.closed();
            }
            Err(_) => self.client.handle_timeout(self.clock.now()),
        }
    }
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

/// Why there is no answer.
fn describe(at: SocketAddr, event: &ClientEvent<'_>) -> String {
    let to = |request: &Option<RequestKind>| request.map_or(String::new(), |r| format!(" to '{}'", r.words()));
    match event {
        ClientEvent::Silent { request: None, waited } => format!(
            "{at} took the connection and says nothing for {}: not a dashboard server, or one that is busy",
            seconds(*waited)
        ),
        ClientEvent::Silent { request, waited } => {
            format!("no answer{} within {}: look at the teach pendant, then ask again", to(request), seconds(*waited))
        }
        ClientEvent::Closed { request: None } => {
            format!("{at} closed the connection: is the dashboard service switched on in its security settings?")
        }
        ClientEvent::Closed { request } => format!("{at} closed the connection before it answered{}", to(request)),
        ClientEvent::WrongService(text) => {
            format!("{at} is not a dashboard server, it begins with \"{}\"; check the port", text.0.escape_ascii())
        }
        ClientEvent::TooLong { request, error } => format!("the answer{} is no line of text: {error}", to(request)),
        ClientEvent::Ready | ClientEvent::Replied { .. } | ClientEvent::Unasked(_) => String::new(),
    }
}

fn seconds(span: Duration) -> String {
    format!("{} s", span.as_secs_f64())
}

impl Transport for TcpDashboard<'_> {
    async fn execute<'s>(&'s mut self, request: Request<'_>) -> Result<Reply<'s>, Trouble> {
        self.connect().await?;
        self.client.request(self.clock.now(), &request).map_err(|busy| Trouble(busy.to_string()))?;
        while !self.turn().await? {}
        Ok(Reply::parse(request.kind(), &self.answer))
    }
}
