//! A test bench: a board in QEMU, wires with configurable faults, the simulated controller, a sensor beside the arm and
//! an operator.
//!
//! ```text
//!   sensor ──UART──► firmware in QEMU ──frames──► wire ──► peer ──► simulated controller ──► arm
//!      ▲                                 ◄──────  wire ◄──                                    │
//!      └──────────────────────────────── where the tool really is ───────────────────────────┘
//! ```
//!
//! Runs in real time on one thread, which sleeps until a frame, a line of the log or the next event of the simulation
//! is due. A [`Record`] keeps all traffic, the board's log and telemetry, and the position of the arm.

mod commands;
mod operator;
mod record;

use std::io;
use std::time::Duration;

use outrigger_sim::controller::{Controller, Options, OptionsError};
use outrigger_sim::simulated_workpiece::Surface;
use outrigger_sim::time::SimTime;

use crate::hostile::{Hostile, Nuisance, Target};
use crate::machine_standstills::Window;
use crate::peer::{Peer, PeerOptions};
use crate::qemu::{Board, Exit, Firmware, Line};
use crate::sensor::{Plug, Sensor};
use crate::wire::Wire;
pub use commands::{Answers, Command as Commanded};
pub use operator::Armed;
pub use record::{Motion, REST, Record};

/// The most frames of a flood that are sent at once: about 1 ms of traffic on a network of 100 Mbit/s.
const BURST: u64 = 16;

/// The configuration of a run of the test bench.
#[derive(Debug)]
pub struct Setup {
    /// The controller and its arm.
    pub controller: Options,
    /// The controller's end of the network.
    pub peer: PeerOptions,
    /// The sensor beside the arm; `None` for no sensor.
    pub sensor: Option<Sensor>,
    /// The surface to which the distance of the tool is measured, independently of any sensor.
    pub surface: Option<Surface>,
    /// The options that are passed to the firmware, each `KEY=VALUE`.
    pub options: Vec<String>,
    /// The longest time that the board runs; it is ended then in any case.
    pub limit: Duration,
}

impl Setup {
    /// Returns a setup with this controller, without sensor and surface, and a limit of two minutes.
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

/// A callback that receives the time and the text of each event of a run, as it happens.
pub type Teller<'t> = Box<dyn FnMut(SimTime, &str) + 't>;

/// A board in QEMU with its wires, the simulated controller, a sensor and an operator.
pub struct Bench<'f> {
    board: Board<'f>,
    peer: Peer,
    /// The wire from the board to the controller.
    pub up: Wire,
    /// The wire from the controller to the board.
    pub down: Wire,
    sensor: Option<Sensor>,
    surface: Option<Surface>,
    record: Record,
    teller: Option<Teller<'f>>,
    hostile: Hostile,
    /// `true` while the operator holds the request line high.
    holds: bool,
}

impl std::fmt::Debug for Bench<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bench").field("peer", &self.peer).field("board", &self.board).finish_non_exhaustive()
    }
}

impl<'f> Bench<'f> {
    /// Starts the board and everything around it.
    ///
    /// # Errors
    /// Returns an error if the board or its network cannot be started, or if the options describe a controller that
    /// does not exist.
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

    /// Returns the time since the board was switched on.
    #[must_use]
    pub fn now(&self) -> SimTime {
        self.board.now()
    }

    /// Returns the window between the times `from` and `until`, for queries about standstills of this machine in it.
    #[must_use]
    pub fn window(&self, from: SimTime, until: SimTime) -> Window {
        self.board.window(from, until)
    }

    /// Returns the window of the last `span` before `at`, for queries about standstills of this machine in it.
    #[must_use]
    pub fn window_before(&self, at: SimTime, span: Duration) -> Window {
        self.window(at, at).and_before(span)
    }

    /// Returns the simulated controller.
    #[must_use]
    pub fn controller(&self) -> &Controller {
        self.peer.controller()
    }

    /// Returns the simulated controller for changes, for example faults and operator actions.
    pub fn controller_mut(&mut self) -> &mut Controller {
        self.peer.controller_mut()
    }

    /// Returns the record of the run so far.
    #[must_use]
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Returns `true` if the board and this bench have priority over other programs on this machine.
    #[must_use]
    pub fn goes_first(&self) -> bool {
        self.board.goes_first()
    }

    /// Returns the way in which the board ended; `None` while it runs.
    pub fn exit(&mut self) -> Option<Exit> {
        self.board.exit()
    }

    /// Returns the address of the board's serial line for settings, in the notation of `outrigger board`.
    #[must_use]
    pub fn bench_line(&self) -> String {
        self.board.bench_line()
    }

    /// Returns the standard error of QEMU, which includes the message of a firmware that failed.
    #[must_use]
    pub fn complaints(&self) -> &str {
        self.board.complaints()
    }

    /// Sets the callback for what the board logs and for what is done to the board; it is called as this happens.
    pub fn tell(&mut self, teller: Teller<'f>) {
        self.teller = Some(teller);
    }

    /// Passes a text about the run to the callback.
    pub fn say(&mut self, text: &str) {
        let now = self.board.now();
        if let Some(teller) = &mut self.teller {
            teller(now, text);
        }
    }

    /// Sets the state of the sensor's line: connected, disconnected or sending noise.
    pub fn plug(&mut self, plug: Plug) {
        if let Some(sensor) = &mut self.sensor {
            sensor.set(plug);
        }
    }

    /// Puts a frame that the controller never sent on the wire to the board.
    pub fn forge(&mut self, frame: &[u8]) {
        let now = self.board.now();
        self.down.send(now, frame);
    }

    /// Sends a datagram to this port of the board. Its answers appear among the record's datagrams, with that port as
    /// their source.
    pub fn send(&mut self, to: std::net::Ipv4Addr, port: u16, bytes: &[u8]) {
        self.peer.send(to, port, bytes);
    }

    /// Runs for `span` while `per_second` frames of this kind arrive at the board.
    pub fn flood(&mut self, nuisance: Nuisance, per_second: u32, span: Duration) {
        let begun = self.now();
        let mut sent = 0;
        self.run_until(span, |bench| {
            let due = u64::from(per_second) * micros(bench.now().since(begun)) / 1_000_000;
            // Frames that were due while this program was delayed are dropped rather than sent as one burst that no
            // network could carry.
            for _ in sent..due.min(sent + BURST) {
                let frame = bench.hostile.frame(nuisance);
                bench.forge(&frame);
            }
            sent = due;
            false
        });
    }

    /// Pauses the emulated board for `span` while everything else runs on, as a host does that pauses the emulator.
    ///
    /// # Errors
    /// Returns the system's error if the emulator cannot be stopped or continued.
    pub fn stand_still(&mut self, span: Duration) -> io::Result<()> {
        self.board.hold(true)?;
        self.run_for(span);
        self.board.hold(false)
    }

    /// Runs the bench for `span`, or until the board ends; returns `true` if the board still runs.
    pub fn run_for(&mut self, span: Duration) -> bool {
        !self.run_until(span, |_| false) && self.exit().is_none()
    }

    /// Runs the bench until `done` returns `true`, for at most `limit` and not beyond the end of the board. Returns
    /// `true` if `done` did.
    pub fn run_until(&mut self, limit: Duration, mut done: impl FnMut(&mut Self) -> bool) -> bool {
        let end = self.board.now() + limit;
        loop {
            self.turn();
            if done(self) {
                return true;
            }
            if self.board.now() >= end || self.exit().is_some() {
                // The last output of the board is still unread.
                self.turn();
                return done(self);
            }
            self.wait(end);
        }
    }

    /// Ends the board, if it still runs. Returns the way in which it ended.
    pub fn end(&mut self) -> Exit {
        let exit = self.board.end();
        self.turn();
        exit
    }

    /// Advances the board, the controller and the wires to the present time.
    fn turn(&mut self) {
        while let Some(frame) = self.board.receive() {
            let now = self.board.now();
            self.up.send(now, &frame);
        }
        let now = self.board.now();
        // The record receives an entry for each control cycle, however late this program is.
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

    /// Moves frames from the controller's network stack onto the wire to the board, and frames that have arrived to
    /// the board.
    fn forward(&mut self, now: SimTime) {
        while let Some(frame) = self.peer.transmit() {
            self.down.send(now, &frame);
        }
        while let Some(frame) = self.down.receive(now) {
            self.board.send(frame);
        }
    }

    /// Sleeps until the board does something or the next event of the bench is due, but not beyond `end`.
    fn wait(&mut self, end: SimTime) {
        let sensor = self.sensor.as_ref().map_or(SimTime::MAX, Sensor::next_event);
        let events = [self.peer.next_event(), self.up.next_event(), self.down.next_event(), sensor];
        self.board.wait(events.into_iter().fold(end, SimTime::min));
    }
}

fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}
