//! A bench: a board in QEMU, wires that can be hurt, the simulated controller, a sensor beside the arm, and an operator.
//!
//! ```text
//!   sensor ──UART──► firmware in QEMU ──frames──► wire ──► peer ──► simulated controller ──► arm
//!      ▲                                 ◄──────  wire ◄──                                    │
//!      └──────────────────────────────── where the tool really is ───────────────────────────┘
//! ```
//!
//! Real time, one thread: it sleeps until a frame, a line of the log or the next event of the simulation is there.
//! Everything that passed, everything the board told, and where the arm was is kept in a [`Record`].

mod commands;
mod operator;
mod record;

use std::io;
use std::time::Duration;

use outrigger_sim::controller::{Controller, Options, OptionsError};
use outrigger_sim::time::SimTime;
use outrigger_sim::world::Surface;

use crate::hostile::{Hostile, Nuisance, Target};
use crate::peer::{Peer, PeerOptions};
use crate::qemu::{Board, Exit, Firmware, Line};
use crate::sensor::{Plug, Sensor};
use crate::standstill::Window;
use crate::wire::Wire;
pub use commands::{Answers, Command as Commanded};
pub use operator::Armed;
pub use record::{Motion, REST, Record};

/// The most frames of a flood at one moment: about 1 ms of a network of 100 Mbit/s.
const BURST: u64 = 16;

/// What a run is made from.
#[derive(Debug)]
pub struct Setup {
    /// The controller and its arm.
    pub controller: Options,
    /// The controller's end of the network.
    pub peer: PeerOptions,
    /// What the sensor beside the arm measures, and how often it sends.
    pub sensor: Option<Sensor>,
    /// What the distance of the tool is measured to, without any sensor.
    pub surface: Option<Surface>,
    /// What the firmware is told, `KEY=VALUE`.
    pub options: Vec<String>,
    /// The board is ended after this time, whatever happens.
    pub limit: Duration,
}

impl Setup {
    /// A controller of this kind, nothing beside its arm, two minutes.
    #[must_use]
    pub fn new(controller: Options) -> Self {
        Self {
            controller,
            peer: PeerOptions { keep_passages: true, ..PeerOptions::default() },
            sensor: None,
            surface: None,
            options: vec![],
            limit: Duration::from_secs(120),
        }
    }
}

/// Who is told what happens: when, and what.
pub type Teller<'t> = Box<dyn FnMut(SimTime, &str) + 't>;

/// A board and everything around it.
pub struct Bench<'f> {
    board: Board<'f>,
    peer: Peer,
    /// From the board to the controller.
    pub up: Wire,
    /// From the controller to the board.
    pub down: Wire,
    sensor: Option<Sensor>,
    surface: Option<Surface>,
    record: Record,
    teller: Option<Teller<'f>>,
    hostile: Hostile,
    /// The operator holds the request line.
    holds: bool,
}

impl std::fmt::Debug for Bench<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bench").field("peer", &self.peer).field("board", &self.board).finish_non_exhaustive()
    }
}

impl<'f> Bench<'f> {
    /// Switches everything on.
    ///
    /// # Errors
    /// What the system refuses, or a controller that never existed.
    pub fn start(firmware: &'f Firmware, setup: Setup) -> io::Result<Self> {
        let unknown = |error: OptionsError| io::Error::new(io::ErrorKind::InvalidInput, error.to_string());
        let controller = Controller::new(setup.controller).map_err(unknown)?;
        let seed = setup.peer.seed;
        let peer = Peer::new(controller, setup.peer);
        let board = Board::start(firmware, setup.options, setup.limit)?;
        Ok(Self {
            board,
            peer,
            up: Wire::new(seed),
            down: Wire::new(seed.wrapping_add(1)),
            sensor: setup.sensor,
            surface: setup.surface,
            record: Record::default(),
            teller: None,
            hostile: Hostile::new(Target::default(), seed),
            holds: false,
        })
    }

    /// The present: the time since the board was switched on.
    #[must_use]
    pub fn now(&self) -> SimTime {
        self.board.now()
    }

    /// Between these times, for what the machine did then.
    #[must_use]
    pub fn window(&self, from: SimTime, until: SimTime) -> Window {
        self.board.window(from, until)
    }

    /// The last `span` before `at`, for what the machine did then.
    #[must_use]
    pub fn window_before(&self, at: SimTime, span: Duration) -> Window {
        self.window(at, at).and_before(span)
    }

    /// The controller.
    #[must_use]
    pub fn controller(&self) -> &Controller {
        self.peer.controller()
    }

    /// The controller, for faults and operators.
    pub fn controller_mut(&mut self) -> &mut Controller {
        self.peer.controller_mut()
    }

    /// What happened so far.
    #[must_use]
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Whether board and bench go before other programs on this machine.
    #[must_use]
    pub fn goes_first(&self) -> bool {
        self.board.goes_first()
    }

    /// How the board ended, if it has.
    pub fn exit(&mut self) -> Option<Exit> {
        self.board.exit()
    }

    /// The line that the board is told settings over, as `outrigger board` names it.
    #[must_use]
    pub fn bench_line(&self) -> String {
        self.board.bench_line()
    }

    /// What QEMU, or a firmware that failed, had to say.
    #[must_use]
    pub fn complaints(&self) -> &str {
        self.board.complaints()
    }

    /// From now on `teller` is told what the board says and what is done to it, as it happens.
    pub fn tell(&mut self, teller: Teller<'f>) {
        self.teller = Some(teller);
    }

    /// Says what is done, to who is told.
    pub fn say(&mut self, text: &str) {
        let now = self.board.now();
        if let Some(teller) = &mut self.teller {
            teller(now, text);
        }
    }

    /// Connects the sensor, or does something worse.
    pub fn plug(&mut self, plug: Plug) {
        if let Some(sensor) = &mut self.sensor {
            sensor.set(plug);
        }
    }

    /// Puts a frame on the wire to the board that the controller never sent.
    pub fn forge(&mut self, frame: &[u8]) {
        let now = self.board.now();
        self.down.send(now, frame);
    }

    /// Sends a datagram to the board at this port; what it answers is among the record's datagrams, from that port.
    pub fn send(&mut self, to: std::net::Ipv4Addr, port: u16, bytes: &[u8]) {
        self.peer.send(to, port, bytes);
    }

    /// Lives on for `span` while frames of this kind come in, `per_second` of them.
    pub fn flood(&mut self, nuisance: Nuisance, per_second: u32, span: Duration) {
        let begun = self.now();
        let mut sent = 0;
        self.run_until(span, |bench| {
            let due = u64::from(per_second) * micros(bench.now().since(begun)) / 1_000_000;
            // What this program was late for does not come as one burst that no network could carry.
            for _ in sent..due.min(sent + BURST) {
                let frame = bench.hostile.frame(nuisance);
                bench.forge(&frame);
            }
            sent = due;
            false
        });
    }

    /// Lives on for this long while the board stands still, as on a host that does.
    ///
    /// # Errors
    /// What the system says.
    pub fn stand_still(&mut self, span: Duration) -> io::Result<()> {
        self.board.hold(true)?;
        self.run_for(span);
        self.board.hold(false)
    }

    /// Lives on for this long, or until the board has ended; says whether it still runs.
    pub fn run_for(&mut self, span: Duration) -> bool {
        !self.run_until(span, |_| false) && self.exit().is_none()
    }

    /// Lives on until `done`, but for no longer than `limit` and not beyond the end of the board; says whether it is done.
    pub fn run_until(&mut self, limit: Duration, mut done: impl FnMut(&mut Self) -> bool) -> bool {
        let end = self.board.now() + limit;
        loop {
            self.turn();
            if done(self) {
                return true;
            }
            if self.board.now() >= end || self.exit().is_some() {
                // What the board said last.
                self.turn();
                return done(self);
            }
            self.wait(end);
        }
    }

    /// Ends the board.
    pub fn end(&mut self) -> Exit {
        let exit = self.board.end();
        self.turn();
        exit
    }

    /// Brings everything up to the present.
    fn turn(&mut self) {
        while let Some(frame) = self.board.receive() {
            let now = self.board.now();
            self.up.send(now, &frame);
        }
        let now = self.board.now();
        // Each control cycle by itself, however late this program comes to it.
        while self.peer.controller().next_event() <= now {
            let cycles = self.peer.controller().cycles();
            self.peer.advance(self.peer.controller().next_event());
            if self.peer.controller().cycles() != cycles {
                self.record.note_cycle(self.peer.controller(), self.surface.as_ref());
            }
            self.forward(now);
        }
        while let Some(frame) = self.up.receive(now) {
            self.peer.receive(now, &frame);
        }
        self.peer.advance(now);
        self.forward(now);
        if let Some(message) = self.sensor.as_mut().and_then(|sensor| sensor.send(now, self.peer.controller())) {
            self.board.send_serial(&message);
        }
        let Self { board, record, teller, .. } = self;
        board.log(|line: Line| {
            if let Some(teller) = teller {
                teller(line.at, &format!("board: {}", line.text));
            }
            record.log.push(line);
        });
        self.record.datagrams.extend(self.peer.take_datagrams());
        self.record.passages.extend(self.peer.take_passages());
    }

    /// What the peer sends goes over the wire to the board.
    fn forward(&mut self, now: SimTime) {
        while let Some(frame) = self.peer.transmit() {
            self.down.send(now, &frame);
        }
        while let Some(frame) = self.down.receive(now) {
            self.board.send(frame);
        }
    }

    /// Sleeps until something happens, but not beyond `end`.
    fn wait(&mut self, end: SimTime) {
        let sensor = self.sensor.as_ref().map_or(SimTime::MAX, Sensor::next_event);
        let events = [self.peer.next_event(), self.up.next_event(), self.down.next_event(), sensor];
        self.board.wait(events.into_iter().fold(end, SimTime::min));
    }
}

fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}
