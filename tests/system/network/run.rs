//! Runs one row: the program, a controller, the network between them, and an operator who resumes after each
//! fallback.

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use outrigger_emulated::clock::Clock;
use outrigger_emulated::namespace::Namespace;
use outrigger_emulated::wire::Counts;
use outrigger_sim::time::SimTime;

use super::peer::{Beside, Came, Glance, Peer};
use super::program::{Program, Transcript};
use super::relay::Relay;
use super::rows::Row;

/// The time limit for commanding to begin.
const BEGINS: Duration = Duration::from_secs(5);
/// The time limit for every network condition of the row to affect a packet.
const HAPPENS: Duration = Duration::from_secs(30);
/// The time limit for `outrigger run` to end after the command `quit`.
const ENDS: Duration = Duration::from_secs(10);
/// The time between two checks by which the simulated operator decides what to do.
const LOOK: Duration = Duration::from_millis(2);
/// The time that the simulated operator waits after a fallback before acknowledging; [`BETWEEN`] is the time from there
/// to resuming. Nothing may move in these spans.
const PAUSE: Duration = Duration::from_millis(250);
const BETWEEN: Duration = Duration::from_millis(100);
/// The time after which the simulated operator repeats a request without effect.
const AGAIN: Duration = Duration::from_millis(1500);
/// The speed from which the arm counts as fast \[rad/s\].
const FAST: f64 = 0.2;

/// The commands that the simulated operator sends to `outrigger run`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Acknowledge,
    Resume,
    Quit,
}

/// The record of one test of `outrigger run` under the network conditions of a row.
pub(super) struct Left {
    pub(super) transcript: Transcript,
    pub(super) errors: String,
    pub(super) code: Option<i32>,
    pub(super) words: Vec<(SimTime, Word)>,
    pub(super) cuts: Vec<SimTime>,
    pub(super) arm: Vec<Glance>,
    /// The beginning of the time that the figures cover: the first command, or the end of the wait for it if there
    /// was none.
    pub(super) from: SimTime,
    pub(super) until: SimTime,
    /// The states and commands in the time that the figures cover.
    pub(super) came: Came,
    pub(super) counts: Counts,
    /// The clock of all times in this record.
    pub(super) clock: Clock,
}

/// Tests `outrigger run` under the network conditions of `row` for at least `span`, and returns the record.
pub(super) fn run(beside: Beside, row: &Row, seed: u64, span: Duration) -> Left {
    static NETWORKS: AtomicU8 = AtomicU8::new(0);
    let network = NETWORKS.fetch_add(1, Ordering::Relaxed);
    let [here, there] = [1, 2].map(|host| Ipv4Addr::new(10, 9, network, host));
    let clock = Clock::start();
    // Variables are dropped in reverse order, so the processes in the namespace end before it is removed.
    let (namespace, tun) = Namespace::of_packets(&format!("{here}/24")).expect("a network namespace");
    let relay = Relay::start(tun, clock, seed, row.path);
    let peer = Peer::start(beside, &namespace, here, there, clock);
    let name = format!("{network}-{seed}");
    let program = Program::start(&namespace, &name, &beside.configuration(here, there), clock);
    let mut operator = Operator { clock, program, words: vec![], cuts: vec![] };

    let begins = clock.now() + BEGINS;
    while operator.program.look(|said| said.mode() != "Command") && clock.now() < begins {
        operator.wait();
    }
    let (from, before) = (clock.now(), peer.came());
    relay.set(row.troubled());
    loop {
        operator.wait();
        let now = clock.now();
        operator.goes_on(now);
        if let Some(length) = row.cut {
            operator.cuts(now, length, span, from, &peer, &relay);
        }
        let over = now >= from + span && row.has_happened(&relay.counts());
        let pending = operator.cuts.last().is_some_and(|cut| now < *cut + row.cut.unwrap_or_default() + PAUSE * 2);
        if (over && !pending) || now >= from + HAPPENS.max(span) {
            break;
        }
    }
    let (until, after) = (clock.now(), peer.came());
    operator.says(Word::Quit);
    let code = loop {
        if let Some(code) = operator.program.ended() {
            break Some(code);
        }
        if clock.now() > until + ENDS {
            break None;
        }
        std::thread::sleep(LOOK);
    };
    // Keeps observing, so that a motion after the end of the program is noticed.
    std::thread::sleep(PAUSE);
    let Operator { program, words, cuts, .. } = operator;
    let (transcript, errors) = program.left();
    let came = Came { states: after.states - before.states, commands: after.commands - before.commands };
    let counts = relay.counts();
    Left { transcript, errors, code, words, cuts, arm: peer.end(), from, until, came, counts, clock }
}

struct Operator {
    clock: Clock,
    program: Program,
    words: Vec<(SimTime, Word)>,
    cuts: Vec<SimTime>,
}

impl Operator {
    fn wait(&mut self) {
        let ended = self.program.ended();
        assert!(ended.is_none(), "it ended by itself: {ended:?}\n{}", self.program.look(Transcript::story));
        std::thread::sleep(LOOK);
    }

    fn says(&mut self, word: Word) {
        self.words.push((self.clock.now(), word));
        self.program.say(match word {
            Word::Acknowledge => "acknowledge",
            Word::Resume => "resume",
            Word::Quit => "quit",
        });
    }

    /// Acknowledges and resumes while `outrigger run` is in the mode Monitor. Resuming is necessary, because after a
    /// request alone the arm would only hold its position, and the test would end before all conditions of the row have
    /// had an effect.
    fn goes_on(&mut self, now: SimTime) {
        let (monitors, since) = self.program.look(|said| (said.mode() == "Monitor", said.since()));
        if !monitors || now < since + PAUSE {
            return;
        }
        match self.words.last() {
            Some((at, Word::Acknowledge)) if *at >= since => {
                if now >= *at + BETWEEN {
                    self.says(Word::Resume);
                }
            }
            Some((at, _)) if *at >= since && now < *at + AGAIN => {}
            _ => self.says(Word::Acknowledge),
        }
    }

    /// Makes the network lose all packets while the arm is fast: once, and again as long as the remaining time
    /// permits.
    fn cuts(&mut self, now: SimTime, length: Duration, span: Duration, from: SimTime, peer: &Peer, relay: &Relay) {
        let (commands, since) = self.program.look(|said| (said.mode() == "Command", said.since()));
        let fast = peer.now().is_some_and(|glance| glance.speed() > FAST);
        let settled = now >= since + PAUSE && self.cuts.last().is_none_or(|cut| now > *cut + length + PAUSE);
        let room = self.cuts.is_empty() || now + length + PAUSE * 4 < from + span;
        if commands && fast && settled && room {
            relay.cut(length);
            self.cuts.push(now);
        }
    }
}
