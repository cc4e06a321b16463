//! The client of a board's request port: one request at a time, over UDP, with a key.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::net::{SocketAddr, ToSocketAddrs as _, UdpSocket};
use std::path::Path;

use outrigger_core::mode::Epoch;
use outrigger_remote::request::keyed::{ANSWER_LEN, Caller, Event, Key, Reply};
use outrigger_remote::request::{ClientRequest, Message};
use outrigger_wire::time::{Duration, Instant};

use super::{LOOK, interrupted};
use outrigger::exit::Failure;
use outrigger::host::clock::{Clock, std_duration};
use outrigger::host::os;
use outrigger::host::signals::Signals;
use outrigger::requests::board_line;

/// The prefix of the argument ROBOT with which `outrigger ctl` addresses a board.
pub(super) const PREFIX: &str = "board:";
/// The default UDP port at which boards receive requests.
const PORT: u16 = 47_001;
/// The time without an answer of the board after which the session with it counts as lost: the board has restarted, or
/// other clients have replaced this one.
const SILENCE: Duration = Duration::from_secs(2);

/// A session with a board that receives requests, on the client's side.
pub(super) struct Board {
    name: String,
    socket: UdpSocket,
    clock: Clock,
    key: Key,
    caller: Caller,
    /// The session's epoch, a counter of connections and losses of authority, in the board's last answer.
    epoch: Epoch,
    lines: VecDeque<String>,
    /// The id of the request to watch the board's status, and the last status line returned; `None` unless the status
    /// is watched.
    watched: Option<(u32, String)>,
    /// The newest request of this session that causes motion: its id on the command line's side, and its counter in the
    /// protocol, by which it is withdrawn.
    asked: Option<(u32, u32)>,
}

impl Board {
    /// Opens a session with the board at `name`, within the time until `until`.
    pub(super) fn begin(name: &str, key: &Path, clock: Clock, until: Instant) -> Result<Self, Failure> {
        let key = Key::new(&outrigger_config::secret_key::load(key).map_err(|why| Failure::BadInput(why.to_string()))?);
        let address = resolved(name)?;
        let failed = |error: std::io::Error| Failure::Connection(format!("cannot reach {address}: {error}"));
        let local: SocketAddr = if address.is_ipv4() { ([0; 4], 0).into() } else { ([0_u16; 8], 0).into() };
        let socket = UdpSocket::bind(local).map_err(failed)?;
        socket.connect(address).map_err(failed)?;
        let caller = Caller::new(key.clone(), nonce()?, clock.now());
        let (name, epoch) = (format!("{PREFIX}{address}"), Epoch::default());
        let mut board =
            Self { name, socket, clock, key, caller, epoch, lines: VecDeque::new(), watched: None, asked: None };
        board.open(until)?;
        Ok(board)
    }

    /// Opens the session by requesting the board's status. A status changes nothing, so the request can be repeated in
    /// another session if this one is lost.
    fn open(&mut self, until: Instant) -> Result<Reply, Failure> {
        loop {
            if let Some(Event::Open(epoch)) = self.until_event(until, &mut None)? {
                self.epoch = epoch;
                if let Some(reply) = self.turn(ClientRequest::Status, until, &mut None)? {
                    return Ok(reply);
                }
            }
            if self.clock.now() >= until {
                return Err(Failure::Connection(format!(
                    "{} does not answer: check that it is on, accepts requests at this port, has this key, and a \
                     firmware of this version (before challenges, requests had another layout)",
                    self.name
                )));
            }
            self.renew()?;
        }
    }

    /// Starts another session with the board. A request of the old session can no longer be withdrawn.
    fn renew(&mut self) -> Result<(), Failure> {
        self.caller = Caller::new(self.key.clone(), nonce()?, self.clock.now());
        self.asked = None;
        Ok(())
    }

    /// Sends one request to the board, and waits for its answer until `until`, but no longer than [`SILENCE`] unless an
    /// output or the dashboard server is involved. Returns `None` if no answer arrived in that time.
    ///
    /// # Errors
    /// [`Failure::Interrupted`] if a signal arrived before the answer, and other failures of the connection.
    fn turn(
        &mut self,
        ask: ClientRequest<'_>,
        until: Instant,
        signals: &mut Option<Signals>,
    ) -> Result<Option<Reply>, Failure> {
        let seen = ask.epoch().unwrap_or(self.epoch);
        let too_long = |_| Failure::Usage(format!("{}: too long for a datagram", ask.word()));
        self.caller.ask(self.clock.now(), seen, Message { id: None, challenge: None, ask }).map_err(too_long)?;
        // The outcome of an output takes a while, and so does a dashboard server.
        let patience = if matches!(ask, ClientRequest::Set { .. } | ClientRequest::Dashboard { .. }) {
            until
        } else {
            until.min(self.clock.now() + SILENCE)
        };
        match self.until_event(patience, signals)? {
            Some(Event::Answer(epoch, reply)) => {
                self.epoch = epoch;
                Ok(Some(reply))
            }
            Some(Event::NotUnderstood) => {
                Err(Failure::Connection(format!("{} sent an unknown answer: is it of the same version?", self.name)))
            }
            Some(Event::Open(_)) | None => Ok(None),
        }
    }

    /// Sends a request to the board, and stores the board's answer for [`line`](Self::line).
    pub(super) fn ask(
        &mut self,
        id: u32,
        ask: ClientRequest<'_>,
        until: Instant,
        signals: &mut Option<Signals>,
    ) -> Result<(), Failure> {
        let ask = match ask {
            // Requests to a board have counters instead of ids.
            ClientRequest::Withdraw { what } => match self.asked.take().filter(|(id, _)| *id == what) {
                Some((_, what)) => ClientRequest::Withdraw { what },
                None => return Err(Failure::Connection("the session of the request has ended".into())),
            },
            ask => ask,
        };
        if ask.causes_motion() && !self.caller.is_fresh(self.clock.now()) {
            // Motion is not requested in a new session without its status being seen: the session is opened again,
            // and the request has the epoch that was seen before.
            while self.turn(ClientRequest::Status, until, signals)?.is_none() {
                self.renew()?;
                self.open(until)?;
            }
        }
        let reply = loop {
            if ask.causes_motion() {
                self.asked = Some((id, self.caller.counter().saturating_add(1)));
            }
            if let Some(reply) = self.turn(ask, until, signals)? {
                break reply;
            }
            // A request that acts may have been executed and is not repeated. A repeated stop is harmless.
            if matches!(ask, ClientRequest::Request(_) | ClientRequest::Resume(_)) {
                return Err(Failure::Connection(format!("{}: no answer", ask.word())));
            }
            if !matches!(ask, ClientRequest::Status | ClientRequest::Watch | ClientRequest::Release)
                || self.clock.now() >= until
            {
                let what = format!("{}: no answer, and it may have been executed: check `status`", ask.word());
                return Err(Failure::Connection(what));
            }
            self.renew()?;
            self.open(until)?;
        };
        let line = board_line(id, &ask, self.epoch, &reply, &self.name);
        if ask == ClientRequest::Watch {
            self.watched = Some((id, line.clone()));
        }
        self.lines.push_back(line);
        Ok(())
    }

    /// Returns the board's next answer as a line of JSON. While the status is watched, requests it again until the line
    /// differs from the last one. Returns `None` if there is no line before `until`.
    pub(super) fn line(
        &mut self,
        until: Option<Instant>,
        signals: &mut Option<Signals>,
    ) -> Result<Option<String>, Failure> {
        loop {
            if let Some(line) = self.lines.pop_front() {
                return Ok(Some(line));
            }
            let now = self.clock.now();
            let Some((id, last)) = self.watched.clone().filter(|_| until.is_none_or(|until| now < until)) else {
                return Ok(None);
            };
            std::thread::sleep(std_duration(LOOK));
            let patience = until.unwrap_or(now + Duration::from_secs(15));
            self.ask(id, ClientRequest::Watch, patience.max(now + LOOK + LOOK), signals)?;
            if self.lines.back() == Some(&last) {
                self.lines.clear();
            }
        }
    }

    fn until_event(&mut self, until: Instant, signals: &mut Option<Signals>) -> Result<Option<Event>, Failure> {
        let failed = |error: std::io::Error| Failure::Connection(format!("cannot send to the board: {error}"));
        loop {
            let now = self.clock.now();
            self.caller.handle(now);
            while let Some(bytes) = self.caller.poll_output() {
                match self.socket.send(bytes) {
                    // An error of an earlier datagram is reported here; the board may just be booting.
                    Err(error) if !is_nobody_there(&error) => return Err(failed(error)),
                    _ => {}
                }
            }
            if let Some(event) = self.caller.poll_event() {
                return Ok(Some(event));
            }
            if now >= until {
                return Ok(None);
            }
            if let Some(who) = signals.as_mut().and_then(Signals::heard) {
                return Err(interrupted(who));
            }
            let next = self.caller.poll_timeout().map_or(until, |at| at.min(until));
            let next = if signals.is_some() { next.min(now + LOOK) } else { next };
            let patience = next.since(now).max(Duration::from_millis(1));
            self.socket.set_read_timeout(Some(std_duration(patience))).map_err(failed)?;
            let mut datagram = [0; ANSWER_LEN + 1];
            match self.socket.recv(&mut datagram) {
                Ok(length) => {
                    self.caller.receive_window().copy_from_slice(&datagram);
                    self.caller.commit(self.clock.now(), length);
                }
                Err(error) if is_nobody_there(&error) => std::thread::sleep(std_duration(Duration::from_millis(10))),
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {}
                    _ => return Err(failed(error)),
                },
            }
        }
    }
}

fn resolved(name: &str) -> Result<SocketAddr, Failure> {
    let host = name.trim_start_matches(PREFIX);
    let unknown = |why: String| Failure::Usage(format!("'{name}': expected {PREFIX}ADDRESS[:PORT]{why}"));
    if host.is_empty() {
        return Err(unknown(String::new()));
    }
    let found = if host.contains(':') { host.to_socket_addrs() } else { (host, PORT).to_socket_addrs() };
    let found = found.map_err(|error| unknown(format!(": {error}")))?.next();
    found.ok_or_else(|| unknown(": no address".into()))
}

/// Returns `true` if `error` means that no program received the last datagram. Windows reports it as a reset.
fn is_nobody_there(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset)
}

fn nonce() -> Result<[u8; 16], Failure> {
    let mut nonce = [0; 16];
    let read = os::random(&mut nonce);
    read.map(|()| nonce).map_err(|error| Failure::BadInput(format!("no random numbers of this system: {error}")))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use outrigger_core::mode::Mode;
    use outrigger_remote::request::keyed::Service;

    use super::*;

    /// Serves requests as a board does, until the thread ends. Reports the mode `Monitor` at first, and the mode
    /// `Command` from its tenth answer on.
    fn serve(socket: &UdpSocket, key: Key, clock: Clock) {
        let (mut service, epoch, mut answers) = (Service::<SocketAddr>::new(key, [7; 32]), Epoch::default(), 0);
        loop {
            let (n, from) = socket.recv_from(service.receive_window()).expect("a datagram");
            service.commit(clock.now(), n, from, epoch);
            if let Some(request) = service.poll_request(epoch) {
                answers += 1;
                let mode = if answers < 10 { Mode::Monitor } else { Mode::Command };
                let ticket = request.ticket;
                service.answer(clock.now(), ticket, epoch, &Reply { mode, ..Reply::default() });
            }
            if let Some((to, bytes)) = service.poll_output() {
                socket.send_to(bytes, to).expect("room");
            }
        }
    }

    #[test]
    fn a_watch_continues_after_a_time_without_a_change() {
        let clock = Clock::start();
        let digits = "0123456789abcdef".repeat(4);
        let path = std::env::temp_dir().join(format!("outrigger-watch-{}.key", std::process::id()));
        std::fs::write(&path, &digits).expect("a file");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("its mode");
        let socket = UdpSocket::bind(("127.0.0.1", 0)).expect("a port");
        let name = socket.local_addr().expect("an address").to_string();
        let key = Key::new(&Key::bytes_of(&digits).expect("a key"));
        std::thread::spawn(move || serve(&socket, key, clock));
        let end = clock.now() + Duration::from_secs(60);
        let mut board = Board::begin(&name, &path, clock, end).expect("a board");
        std::fs::remove_file(&path).expect("it is there");
        board.ask(1, ClientRequest::Watch, end, &mut None).expect("an answer");
        let mut lines = vec![];
        while lines.len() < 2 && clock.now() < end {
            // As `ctl` waits: in short times, most of which bring no line.
            let until = Some(clock.now() + Duration::from_millis(100));
            lines.extend(board.line(until, &mut None).expect("a connection"));
        }
        assert!(lines[0].contains("\"monitor\"") && lines[1].contains("\"command\""), "{lines:?}");
    }
}
