//! Beside a KRC: its datagrams, an exact timer and the engine that answers, in one loop for every command and for
//! programs of one's own. Several are driven by one `select!`: see `two_arms`, `coupled_arms` and `haptic` among the
//! examples.

pub(crate) mod panel;
pub(crate) mod record;
pub(crate) mod replay;
pub(crate) mod tally;
pub(crate) mod watch;
pub(crate) mod words;

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::net::SocketAddr;

use outrigger_core::engine::krc::{KrcEngine, KrcEvent};
use outrigger_core::engine::{Event, Input, LinkId, Output};
use outrigger_core::law::Law;
use outrigger_core::time::{Duration, Instant};
use tokio::net::UdpSocket;

use self::tally::Tally;
use crate::clock::Clock;
use crate::exit::Failure;
use crate::feed::{EngineInput, FRI, Feed, What};
use crate::show::Notice;
use crate::show::events::{Surroundings, notice};
use crate::syscalls;
use crate::timer::Timer;

/// The remote computer's side of one KRC.
#[derive(Debug)]
pub struct Remote<L> {
    session: KrcEngine<'static, L>,
    socket: UdpSocket,
    clock: Clock,
    timer: Timer,
    events: VecDeque<Event<KrcEvent>>,
    tally: Tally,
    listens: SocketAddr,
    /// Who else hears of everything.
    feed: Option<Feed>,
    next_figures: Instant,
}

/// So many datagrams are read at most in one turn: a flood keeps nobody else waiting.
const BURST: usize = 64;

/// Time between two figures of the link in a feed.
const FIGURES: Duration = Duration::from_millis(100);

impl<L: Law<7>> Remote<L> {
    /// Listens at `listen`; reads poll the network device for `busy_poll_micros` where that is given.
    ///
    /// # Errors
    /// [`Failure::Connection`] where the address is taken, [`Failure::BadInput`] for what the kernel refuses.
    pub async fn open(
        listen: SocketAddr,
        session: KrcEngine<'static, L>,
        clock: Clock,
        busy_poll_micros: Option<u32>,
    ) -> Result<Self, Failure> {
        let socket = UdpSocket::bind(listen).await.map_err(|error| {
            let hint = match error.kind() {
                ErrorKind::AddrInUse => "; is another remote computer running? One alone can answer a KRC",
                ErrorKind::AddrNotAvailable => "; it has to be an address of this machine, or 0.0.0.0",
                _ => "",
            };
            Failure::Connection(format!("cannot listen on {listen}: {error}{hint}"))
        })?;
        if let Some(micros) = busy_poll_micros {
            syscalls::set_busy_poll(&socket, micros).map_err(|error| {
                Failure::BadInput(format!("host.busy_poll: the kernel refuses ({error}); grant CAP_NET_ADMIN"))
            })?;
        }
        let timer = Timer::new(clock).map_err(|error| Failure::BadInput(format!("cannot make a timer: {error}")))?;
        let mut remote = Self {
            session,
            socket,
            clock,
            timer,
            events: VecDeque::new(),
            tally: Tally::default(),
            listens: listen,
            feed: None,
            next_figures: Instant::ZERO,
        };
        remote.give(Input::Start);
        remote.give(Input::Opened(LinkId::FRI));
        Ok(remote)
    }

    /// From now on everything is put into `feed` as well: datagrams, inputs, events and figures.
    pub(crate) fn feed(&mut self, feed: Feed) {
        self.feed = Some(feed);
    }

    /// Where measurements arrive.
    pub(crate) const fn listens(&self) -> SocketAddr {
        self.listens
    }

    /// Whether the KRC is a program on this machine, with no network between.
    pub(crate) fn is_here(&self) -> bool {
        self.session.peer().address().is_some_and(|peer| peer.ip().is_loopback())
    }

    /// `event` in words, which go into the feed too; `None` for what is of no interest.
    pub(crate) fn notice(&self, event: &Event<KrcEvent>) -> Option<Notice> {
        let nowhere = SocketAddr::from(([0, 0, 0, 0], 0));
        let around =
            Surroundings { at: self.clock.now(), here: self.is_here(), address: &|_| nowhere, trouble: &|_| None };
        let notice = notice(event, &around)?;
        self.put(notice.at, || What::Notice(notice.clone()));
        Some(notice)
    }

    fn put(&self, at: Instant, what: impl FnOnce() -> What) {
        if let Some(feed) = &self.feed {
            feed.put(at, what());
        }
    }

    /// The session.
    pub const fn session(&self) -> &KrcEngine<'static, L> {
        &self.session
    }

    /// The session, for the law's references, parameters of the control scheme and KRL variables.
    pub const fn session_mut(&mut self) -> &mut KrcEngine<'static, L> {
        &mut self.session
    }

    /// Where measurements arrive.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn local(&self) -> std::io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// What was seen so far.
    pub(crate) const fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The next event; none may be left when [`turn`](Self::turn) is called.
    pub fn next_event(&mut self) -> Option<Event<KrcEvent>> {
        self.events.pop_front()
    }

    /// Gives an input of the operator or of a sensor.
    pub fn give(&mut self, input: Input) {
        self.handle(input);
        self.transmit();
    }

    /// Waits for datagrams or a deadline of the engine, at most until `latest`, and lets the engine have them. Dropping
    /// the future loses nothing.
    ///
    /// # Errors
    /// [`Failure::BadInput`] with what the kernel says.
    pub async fn turn(&mut self, latest: Instant) -> Result<(), Failure> {
        let due = self.session.poll_timeout().map_or(latest, |due| due.min(latest));
        let woken = tokio::select! {
            biased;
            ready = self.socket.readable() => ready.map(|()| self.receive()),
            late = self.timer.until(due) => late.map(|()| self.give(Input::Tick)),
        };
        woken.map_err(|error| Failure::BadInput(format!("cannot wait for datagrams: {error}")))
    }

    /// What waits in the socket; then what is judged and answered, once nothing more does.
    fn receive(&mut self) {
        for _ in 0..BURST {
            let Ok((size, from)) = self.socket.try_recv_from(self.session.receive_window(LinkId::FRI)) else { break };
            let arrival = self.clock.now();
            if let Some(feed) = &self.feed {
                feed.put(arrival, What::Input(EngineInput::datagram(from, arrival)));
                let bytes = self.session.receive_window(LinkId::FRI).get(..size).unwrap_or_default().into();
                feed.put(arrival, What::Received { port: FRI, bytes, first_start: Some(0) });
            }
            self.session.commit_datagram(LinkId::FRI, size, from, arrival, arrival);
            self.take_events();
            self.transmit();
        }
        self.handle(Input::Tick);
        self.transmit();
    }

    fn handle(&mut self, input: Input) {
        let now = self.clock.now();
        self.put(now, || What::Input(EngineInput::of(&input, now)));
        self.session.handle(now, input);
        self.take_events();
    }

    fn take_events(&mut self) {
        while let Some(event) = self.session.poll_event() {
            self.tally.event(&event);
            self.events.push_back(event);
        }
    }

    fn transmit(&mut self) {
        let mut sent = false;
        while let Some(output) = self.session.poll_output() {
            // The socket has been listening since it was made.
            let Output::Transmit { to: Some(to), bytes, .. } = output else { continue };
            // What cannot be sent is lost, as on any network; the KRC and the link monitor notice.
            let _ = self.socket.try_send_to(bytes, to);
            let now = self.clock.now();
            sent = true;
            if let Some(feed) = &self.feed {
                feed.put(now, What::Sent { port: FRI, bytes: bytes.into() });
            }
            self.session.written(now);
        }
        if !sent {
            return;
        }
        let now = self.clock.now();
        self.tally.answered(&self.session, now);
        if let Some(feed) = self.feed.as_ref().filter(|_| now >= self.next_figures) {
            self.next_figures = now + FIGURES;
            feed.put(now, What::Link { mode: self.session.mode(), figures: Box::new(self.session.figures(now)) });
        }
    }
}

#[cfg(test)]
mod tests;
