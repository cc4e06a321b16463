//! A test bench for a board in QEMU beside a simulated KRC: wires with configurable faults, and an operator at the
//! KRC's inputs. Runs in real time.

use std::io;
use std::time::Duration;

use outrigger_sim::krc::{Krc, Options, OptionsError};
use outrigger_sim::time::SimTime;

use super::{Answers, KrcPeer};
use crate::machine_standstills::Window;
use crate::peer::Datagram;
use crate::qemu::{Board, Exit, Firmware, Line};
use crate::wire::Wire;

/// The bit of the KRC's digital input for the request that the board command. The KRL program forwards it to the
/// board.
const REQUEST: u8 = 1 << 0;
/// The bit of the KRC's digital input by which an operator acknowledges the reason for which commanding ended. The KRL
/// program forwards it to the board.
const ACKNOWLEDGE: u8 = 1 << 1;
/// The time for which an operator presses a button.
const PRESS: Duration = Duration::from_millis(200);
/// The time for which an operator releases the request line before raising it again.
const LET_GO: Duration = Duration::from_millis(150);
/// The time for which an operator reads the board's answer before the next press.
const LOOK: Duration = Duration::from_millis(500);

/// A board in QEMU with a simulated KRC, the wires between them and an operator.
#[derive(Debug)]
pub struct KrcBench<'f> {
    board: Board<'f>,
    peer: KrcPeer,
    /// The wire from the board to the KRC.
    pub up: Wire,
    /// The wire from the KRC to the board.
    pub down: Wire,
    /// The lines of the board's log.
    pub log: Vec<Line>,
    /// The datagrams that the board sent to the telemetry port.
    pub datagrams: Vec<Datagram>,
    released: SimTime,
    /// `true` while the operator holds the request line high.
    holds: bool,
}

impl<'f> KrcBench<'f> {
    /// Starts the board and the KRC. The firmware receives the options `words`; the board is ended after `limit` in
    /// any case.
    ///
    /// # Errors
    /// Returns an error if the board or its network cannot be started, or if the options describe a KRC that does not
    /// exist.
    pub fn start(firmware: &'f Firmware, options: Options, words: Vec<String>, limit: Duration) -> io::Result<Self> {
        let unknown = |error: OptionsError| io::Error::new(io::ErrorKind::InvalidInput, error.to_string());
        let seed = options.seed;
        let krc = Krc::new(options).map_err(unknown)?;
        let board = Board::start(firmware, words, limit)?;
        Ok(Self {
            board,
            peer: KrcPeer::new(krc),
            up: Wire::new(seed),
            down: Wire::new(seed.wrapping_add(1)),
            log: vec![],
            datagrams: vec![],
            released: SimTime::MAX,
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

    /// Returns the simulated KRC.
    #[must_use]
    pub fn krc(&self) -> &Krc {
        self.peer.krc()
    }

    /// Returns the recorded measurements of the KRC and commands of the board.
    #[must_use]
    pub fn answers(&self) -> &Answers {
        self.peer.answers()
    }

    /// Returns the way in which the board ended; `None` while it runs.
    pub fn exit(&mut self) -> Option<Exit> {
        self.board.exit()
    }

    /// Returns the standard error of QEMU, which includes the message of a firmware that failed.
    #[must_use]
    pub fn complaints(&self) -> &str {
        self.board.complaints()
    }

    /// Returns the first line of the board's log at or after `since` that begins with one of `words`.
    #[must_use]
    pub fn said(&self, since: SimTime, words: &[&str]) -> Option<&Line> {
        let first = self.log.partition_point(|line| line.at < since);
        self.log.iter().skip(first).find(|line| words.iter().any(|word| line.text.starts_with(word)))
    }

    /// Returns the board's log at and after `since` as text, followed by the state of the KRC and the board's
    /// standard error.
    #[must_use]
    pub fn story(&self, since: SimTime) -> String {
        let lines = self.log.iter().filter(|line| line.at >= since);
        let said: String = lines.map(|line| format!("{:>9} {line}\n", line.at.to_string())).collect();
        let (krc, fallbacks) = (self.krc(), self.krc().fallbacks());
        format!("{said}{:?} {:?} {:?} {fallbacks:?}\n{}", krc.state(), krc.quality(), krc.counts(), self.complaints())
    }

    /// Raises the request line, the digital input by which an operator requests that the board command, and holds it.
    /// If it was already held, releases it first.
    pub fn request(&mut self) {
        if self.holds {
            self.peer.krc_mut().set_inputs(0);
            self.run_for(LET_GO);
        }
        self.peer.krc_mut().set_inputs(REQUEST);
        self.holds = true;
    }

    /// Releases the request line, and presses the button that acknowledges the reason for which commanding ended.
    pub fn acknowledge(&mut self) {
        self.holds = false;
        self.peer.krc_mut().set_inputs(ACKNOWLEDGE);
        self.released = self.now() + PRESS;
    }

    /// Runs the bench until the board's log has a line, at or after `since`, that begins with one of `words`. Returns
    /// the line; `None` if none appears within `limit`.
    pub fn hear(&mut self, since: SimTime, words: &[&str], limit: Duration) -> Option<Line> {
        let mut heard = None;
        self.run_until(limit, |bench| {
            heard = bench.said(since, words).cloned();
            heard.is_some()
        });
        heard
    }

    /// Requests that the board command, and repeats a rejected request; before each request, acknowledges the reason
    /// for which commanding ended. Returns the time of the request that succeeded; `None` if none did within `limit`.
    pub fn arm(&mut self, limit: Duration) -> Option<SimTime> {
        let end = self.now() + limit;
        while self.now() < end && self.exit().is_none() {
            self.acknowledge();
            self.run_for(LOOK);
            let asked = self.now();
            self.request();
            let answer = self.hear(asked, &["arming", "refused"], LOOK);
            if answer.is_some_and(|line| line.text.starts_with("arming")) {
                let line = self.hear(asked, &["armed", "not armed"], end.since(self.now()))?;
                if line.text.starts_with("armed") {
                    return Some(asked);
                }
            }
            self.run_for(LOOK);
        }
        None
    }

    /// Runs the bench for `span`, or until the board ends; returns `true` if the board still runs.
    pub fn run_for(&mut self, span: Duration) -> bool {
        !self.run_until(span, |_| false) && self.exit().is_none()
    }

    /// Runs the bench until `done` returns `true`, for at most `limit` and not beyond the end of the board. Returns
    /// `true` if `done` did.
    pub fn run_until(&mut self, limit: Duration, mut done: impl FnMut(&mut Self) -> bool) -> bool {
        let end = self.now() + limit;
        loop {
            self.turn();
            if done(self) {
                return true;
            }
            if self.now() >= end || self.exit().is_some() {
                return false;
            }
            let next = [self.peer.next_event(), self.up.next_event(), self.down.next_event(), end];
            self.board.wait(next.into_iter().fold(self.released, SimTime::min));
        }
    }

    /// Advances the board, the wires and the KRC to the present time. The board's frames are moved onto the wire
    /// before the KRC advances.
    fn turn(&mut self) {
        while let Some(frame) = self.board.receive() {
            let now = self.board.now();
            self.up.send(now, &frame);
        }
        let now = self.board.now();
        if self.released <= now {
            self.peer.krc_mut().set_inputs(0);
            self.released = SimTime::MAX;
        }
        while let Some(frame) = self.up.receive(now) {
            self.peer.receive(now, frame);
        }
        self.peer.advance(now);
        while let Some(frame) = self.peer.transmit() {
            self.down.send(now, &frame);
        }
        while let Some(frame) = self.down.receive(now) {
            self.board.send(frame);
        }
        let Self { board, log, .. } = self;
        board.log(|line| log.push(line));
        self.datagrams.extend(self.peer.take_datagrams());
    }
}
