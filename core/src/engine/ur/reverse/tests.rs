//! The connection of a program under every short sequence of events, and its bytes in any pieces.

#[cfg(feature = "urcap")]
mod imposters;
mod registers;

use core::net::SocketAddr;
use std::collections::HashSet;

use proptest::prelude::*;

use super::*;
use crate::engine::cycle::Verdict;
use crate::engine::ur::event::ProgramEvent;
use outrigger_wire::program_messages::{HelloRepr, Report};

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
const ROBOT: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));
const STRANGER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 3));
const PERIOD: Duration = Duration::from_millis(8);
const STALE: Duration = Duration::from_millis(40);

fn config(path: CommandPath) -> UrConfig {
    UrConfig { peer: UrOptions { path, ..UrOptions::default() }, ..UrConfig::default() }
}

fn reverse(path: CommandPath) -> Reverse {
    let config = config(path);
    let mut reverse = Reverse::new(&config.peer, config.limits);
    reverse.ends(HERE, ROBOT);
    reverse.open(SoftwareVersion::new(5, 15), PERIOD, &config);
    reverse
}

/// An event of the explored sequences: of the connection, of the program, or of the control cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Happens {
    Robot,
    Stranger,
    /// A greeting as expected, with another version, or wrong bytes.
    Greets,
    GreetsOtherwise,
    Rubbish,
    /// The program reports back the oldest order that it has not reported yet, or reports that it ends.
    Mirrors,
    Ends,
    Closes,
    CannotListen,
    /// A zero velocity or a stop is due in this mode.
    Hold(Mode),
    Stop,
    /// A cycle in which the arm is not commanded.
    Rests,
    Passes(u64),
}

const EVENTS: [Happens; 16] = [
    Happens::Robot,
    Happens::Stranger,
    Happens::Greets,
    Happens::GreetsOtherwise,
    Happens::Rubbish,
    Happens::Mirrors,
    Happens::Ends,
    Happens::Closes,
    Happens::CannotListen,
    Happens::Hold(Mode::Arming),
    Happens::Hold(Mode::Command),
    Happens::Hold(Mode::Stopping),
    Happens::Stop,
    Happens::Rests,
    Happens::Passes(8),
    Happens::Passes(1_100),
];

/// The record that a port makes of its own state: listening, connected, greeted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Port {
    listens: bool,
    connected: bool,
    /// The number of orders that the program has not reported back; `greeted` is `true` after the greeting.
    unanswered: u8,
    greeted: bool,
}

struct World {
    reverse: Reverse,
    port: Port,
    now: Instant,
    story: Vec<Happens>,
}

impl World {
    fn after(path: CommandPath, story: &[Happens]) -> Self {
        let now = Instant::from_micros(1_000_000);
        let mut world = Self { reverse: reverse(path), port: Port::default(), now, story: vec![] };
        world.drain();
        story.iter().for_each(|happens| world.take(*happens));
        world
    }

    fn say(&mut self, bytes: &[u8]) {
        if self.port.connected {
            let window = self.reverse.window();
            assert!(!window.is_empty(), "{:?}", self.story);
            let count = bytes.len().min(window.len());
            window[..count].copy_from_slice(&bytes[..count]);
            let mut told = vec![];
            self.reverse.commit(count, self.now, |news| told.push(news));
            self.port.greeted |= told.contains(&ProgramEvent::Connected);
        }
    }

    fn take(&mut self, happens: Happens) {
        self.story.push(happens);
        let config = config(CommandPath::ReverseSpeedJ);
        let mut mode = Mode::Monitor;
        match happens {
            Happens::Robot | Happens::Stranger if self.port.listens => {
                let from = if happens == Happens::Robot { ROBOT } else { STRANGER };
                self.port = Port { connected: true, ..Port::default() };
                let news = self.reverse.accepted(LinkId::REVERSE, SocketAddr::new(from, 50_000), self.now);
                assert!(happens == Happens::Stranger || news.is_none(), "{:?}", self.story);
            }
            Happens::Robot | Happens::Stranger => {}
            Happens::Greets | Happens::GreetsOtherwise => {
                let Made { kind, token, .. } = self.reverse.made.unwrap_or(Made {
                    path: CommandPath::ReverseSpeedJ,
                    kind: Kind::SpeedJ,
                    software: SoftwareVersion::new(5, 15),
                    address: Ipv4Addr::LOCALHOST,
                    port: 1,
                    token: 0,
                });
                let version = if happens == Happens::Greets { 1 } else { 2 };
                let mut hello = [0; 16];
                HelloRepr { version, kind, token }.emit(&mut hello).unwrap();
                self.say(&hello);
            }
            Happens::Rubbish => self.say(&[7; 16]),
            Happens::Mirrors | Happens::Ends => {
                let ending = if happens == Happens::Ends { Ending::Silence } else { Ending::None };
                let counter = self.reverse.oldest;
                self.say(&Report { counter, ending, lag: 0 }.to_bytes());
                self.port.unanswered = u8::try_from(self.reverse.waiting.len()).unwrap();
            }
            Happens::Closes => {
                if core::mem::take(&mut self.port.connected) {
                    self.port = Port::default();
                    let _ = self.reverse.closed();
                }
            }
            Happens::CannotListen => {
                if core::mem::take(&mut self.port.listens) {
                    self.reverse.refused(LinkId::REVERSE, self.now);
                }
            }
            Happens::Hold(_) | Happens::Stop => {
                let (verdict, in_mode) = match happens {
                    Happens::Hold(mode) => (Verdict::Hold, mode),
                    _ => (Verdict::Stop, Mode::Stopping),
                };
                mode = in_mode;
                self.reverse.prepare(self.now, mode, None, Pause::default());
                let ready = self.reverse.is_ready();
                let wrote = self.reverse.write(verdict).unwrap();
                let text = matches!(wrote, Wrote::StopText);
                // Text ends a program that may still be about to connect, but never one that takes orders.
                assert!(!text || (!ready && happens == Happens::Stop), "{:?}", self.story);
            }
            Happens::Rests => {}
            Happens::Passes(millis) => self.now = self.now + Duration::from_millis(millis),
        }
        let _ = self.reverse.wake(STALE, self.now, |_| {});
        let _ = self.reverse.conclude(mode, self.now);
        let _ = config;
        self.drain();
        assert!(self.reverse.waiting.len() <= UNANSWERED, "{:?}", self.story);
        let due = self.reverse.next_deadline(STALE, self.now);
        assert!(due.is_none_or(|at| at > self.now), "it wants to be called at once, for ever: {:?}", self.story);
        // A connection must always be possible: the port listens, is connected, or will try again.
        let again = due.is_some();
        assert!(self.port.listens || self.port.connected || again, "nobody can connect any more: {:?}", self.story);
    }

    /// Executes all outputs of the tested [`Reverse`].
    fn drain(&mut self) {
        let config = config(CommandPath::ReverseSpeedJ);
        let mut texts = 0;
        while self.reverse.is_waiting() && self.reverse.fetch(&config) {
            match self.reverse.poll_output().expect("something") {
                Output::Listen { .. } => {
                    assert!(!self.port.connected, "it listens beside a connection: {:?}", self.story);
                    self.port.listens = true;
                }
                Output::Abort(_) => self.port = Port::default(),
                Output::Transmit { link: LinkId::REVERSE, bytes, .. } => {
                    assert!(self.port.connected && self.port.greeted, "an order to nobody: {:?}", self.story);
                    assert_eq!(bytes.len(), 32);
                }
                Output::Transmit { link, .. } => {
                    assert_eq!(link, LinkId::REALTIME);
                    texts += 1;
                    let called = self.story.last() == Some(&Happens::Hold(Mode::Arming));
                    assert!(called, "a program is sent that nobody asked for: {:?}", self.story);
                }
                output => panic!("{output:?}"),
            }
        }
        assert!(texts <= 64, "{texts} pieces");
    }

    /// Returns a fingerprint of the tested [`Reverse`] and its port: worlds with the same one behave alike in all
    /// further events of the explored sequences, so only one of them is explored.
    fn print(&self) -> String {
        let Reverse { door, stage, waiting, ending, made, mirrors, spoke, filled, stopped, .. } = &self.reverse;
        let since = |at: &Instant| self.now.since(*at).as_millis().min(1_200);
        let stage = match stage {
            ProgramStage::Called(at) => format!("called {}", since(at)),
            ProgramStage::Ending(at) => format!("ending {}", since(at)),
            ProgramStage::Away | ProgramStage::Ready => format!("{stage:?}"),
        };
        let waits: Vec<u64> = waiting.iter().map(&since).collect();
        let Self { port, .. } = self;
        format!(
            "{door:?} {stage} {waits:?} {ending:?} {} {} {} {filled} {stopped} {port:?}",
            made.is_some(),
            mirrors.value,
            since(spoke)
        )
    }
}

#[test]
fn every_short_sequence_of_events_leaves_the_door_open_and_nothing_said_to_nobody() {
    let mut stories = vec![vec![]];
    let mut seen = HashSet::from([World::after(CommandPath::ReverseSpeedJ, &[]).print()]);
    for _ in 0..7 {
        let mut next = vec![];
        for story in &stories {
            for happens in EVENTS {
                let longer = [&story[..], &[happens]].concat();
                if seen.insert(World::after(CommandPath::ReverseSpeedJ, &longer).print()) {
                    next.push(longer);
                }
            }
        }
        stories = next;
    }
    assert!(seen.len() > 500, "{}", seen.len());
}

#[test]
fn of_many_programs_that_are_none_of_ours_few_are_told() {
    for says in [&[][..], &[7; 16]] {
        let path = CommandPath::ReverseSpeedJ;
        let (mut reverse, mut now, mut told) = (reverse(path), Instant::from_micros(1_000_000), vec![]);
        for _ in 0..60 {
            while reverse.is_waiting() && reverse.fetch(&config(path)) {
                let _ = reverse.poll_output();
            }
            assert_eq!(reverse.accepted(LinkId::REVERSE, SocketAddr::new(ROBOT, 50_000), now), None);
            reverse.window()[..says.len()].copy_from_slice(says);
            reverse.commit(says.len(), now, |news| told.push(news));
            now = now + Duration::from_millis(1_100);
            let _ = reverse.wake(STALE, now, |news| told.push(news));
        }
        let (link, bytes) = (LinkId::REVERSE, says.len() as u8);
        let said = if says.is_empty() { 0 } else { 0x0707_0707 };
        assert_eq!(
            told,
            vec![ProgramEvent::Other { link, bytes, said, version: 0 }; 6],
            "the first, and each that doubles their number"
        );
    }
}

proptest! {
    #[test]
    fn what_a_program_says_is_the_same_in_any_pieces(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        cuts in prop::collection::vec(1_usize..20, 1..20),
        player in any::<bool>(),
    ) {
        let path = if player { CommandPath::Player } else { CommandPath::ReverseSpeedJ };
        let kind = if player { Kind::Player } else { Kind::SpeedJ };
        let now = Instant::from_micros(1_000_000);
        let arm = || {
            let mut reverse = reverse(path);
            while reverse.is_waiting() && reverse.fetch(&config(path)) {
                let _ = reverse.poll_output();
            }
            reverse.prepare(now, Mode::Arming, None, Pause::default());
            let _ = reverse.write(Verdict::Hold);
            let _ = reverse.accepted(LinkId::REVERSE, SocketAddr::new(ROBOT, 50_000), now);
            reverse
        };
        let token = arm().made.unwrap().token;
        let mut said = vec![0; 16];
        HelloRepr { version: 1, kind, token }.emit(&mut said).unwrap();
        said.extend(bytes);
        let mut ends = vec![];
        for pieces in [vec![64], cuts] {
            let (mut reverse, mut rest, mut news) = (arm(), &said[..], vec![]);
            for size in pieces.iter().cycle() {
                let window = reverse.window();
                let count = rest.len().min(*size).min(window.len());
                window[..count].copy_from_slice(&rest[..count]);
                reverse.commit(count, now, |one| news.push(one));
                rest = &rest[count..];
                if rest.is_empty() {
                    break;
                }
            }
            ends.push((news, reverse.stage, reverse.ending, reverse.lag, reverse.player.shown(), reverse.filled));
        }
        prop_assert_eq!(&ends[0], &ends[1]);
    }
}
