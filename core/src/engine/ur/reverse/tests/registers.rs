//! A program that gets its orders in registers, under every short sequence of events.

use super::*;
use crate::engine::ur::command_path::Orders;

/// An event of the explored sequences: of the program, of another program, or of the control cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Happens {
    /// The program of the newest text starts, if there is one.
    Starts,
    /// A foreign program writes the register of the token.
    Foreign,
    /// The program reports back the newest order, or reports that it ends, or no program runs any more.
    Mirrors,
    Ends,
    Killed,
    /// A zero velocity or a stop is due in this mode.
    Hold(Mode),
    Stop,
    /// A cycle in which the arm is not commanded.
    Rests,
    Passes(u64),
}

const EVENTS: [Happens; 12] = [
    Happens::Starts,
    Happens::Foreign,
    Happens::Mirrors,
    Happens::Ends,
    Happens::Killed,
    Happens::Hold(Mode::Arming),
    Happens::Hold(Mode::Command),
    Happens::Hold(Mode::Stopping),
    Happens::Stop,
    Happens::Rests,
    Happens::Passes(8),
    Happens::Passes(1_100),
];

/// A simulated controller whose registers keep their last values, and the tested [`Reverse`].
struct World {
    reverse: Reverse,
    config: UrConfig,
    /// The registers that a program writes: its report, and its token.
    registers: [i32; 2],
    runs: bool,
    /// The newest order.
    order: i32,
    now: Instant,
    story: Vec<Happens>,
}

impl World {
    /// Creates a world in which an earlier program has left these values in the registers.
    fn after(left: [i32; 2], story: &[Happens]) -> Self {
        let mut config = config(CommandPath::ReverseSpeedJ);
        config.peer.program.orders = Orders::Registers;
        let mut reverse = Reverse::new(&config.peer, config.limits);
        reverse.open(SoftwareVersion::new(5, 15), PERIOD, &config);
        assert!(reverse.is_open(), "it needs no address of ours");
        let now = Instant::from_micros(1_000_000);
        let mut world = Self { reverse, config, registers: left, runs: false, order: left[0], now, story: vec![] };
        story.iter().for_each(|happens| world.take(*happens));
        world
    }

    fn take(&mut self, happens: Happens) {
        self.story.push(happens);
        let mut mode = Mode::Monitor;
        let ours = self.reverse.made.map(|made| made.token);
        match happens {
            Happens::Starts => {
                if let Some(token) = ours.filter(|_| self.reverse.sent.is_none()) {
                    let last = i32::from(self.order == 1);
                    (self.registers, self.runs) = ([last, token], true);
                }
            }
            Happens::Foreign => (self.registers[1], self.runs) = (7, true),
            Happens::Mirrors if self.runs => self.registers[0] = self.order,
            Happens::Ends if self.runs => self.registers = [self.order | 2 << 16, 0],
            Happens::Killed => self.runs = false,
            Happens::Mirrors | Happens::Ends | Happens::Rests => {}
            Happens::Hold(_) | Happens::Stop => {
                let (verdict, in_mode) = match happens {
                    Happens::Hold(mode) => (Verdict::Hold, mode),
                    _ => (Verdict::Stop, Mode::Stopping),
                };
                mode = in_mode;
                self.reverse.prepare(self.now, mode, None, Pause::default());
                let ready = self.reverse.is_ready();
                let text = matches!(self.reverse.write(verdict).unwrap(), Wrote::StopText);
                assert!(!text || (!ready && happens == Happens::Stop), "{:?}", self.story);
            }
            Happens::Passes(millis) => self.now = self.now + Duration::from_millis(millis),
        }
        let before = self.reverse.is_ready();
        let news = self.reverse.shows(self.registers, self.runs, self.now);
        assert_eq!(news == Some(ProgramEvent::Connected), !before && self.reverse.is_ready(), "{:?}", self.story);
        let here = self.runs && Some(self.registers[1]) == self.reverse.made.map(|made| made.token);
        assert!(here || !self.reverse.carries(), "nobody is there: {:?}", self.story);
        let _ = self.reverse.wake(STALE, self.now, |_| {});
        let _ = self.reverse.conclude(mode, self.now);
        self.drain(here);
        assert!(self.reverse.waiting.len() <= UNANSWERED, "{:?}", self.story);
        let due = self.reverse.next_deadline(STALE, self.now);
        assert!(due.is_none_or(|at| at > self.now), "it wants to be called at once, for ever: {:?}", self.story);
    }

    /// Executes all outputs of the tested [`Reverse`]; panics on an order unless its program runs (`here`).
    fn drain(&mut self, here: bool) {
        if let Some([counter, what, ..]) = self.reverse.next_in_registers() {
            assert!(here, "an order to nobody: {:?}", self.story);
            let since = (counter - (self.registers[0] & 0xFFFF)).rem_euclid(65_536);
            assert!((1..=8).contains(&since) && counter != self.order, "{counter}: {:?}", self.story);
            assert!((0..=3).contains(&(what & 0xFFFF)), "{what}: {:?}", self.story);
            self.order = counter;
        }
        while self.reverse.is_waiting() && self.reverse.fetch(&self.config) {
            match self.reverse.poll_output().expect("something") {
                Output::Transmit { link: LinkId::REALTIME, .. } => {
                    let called = self.story.last() == Some(&Happens::Hold(Mode::Arming));
                    assert!(called, "a program is sent that nobody asked for: {:?}", self.story);
                }
                output => panic!("{output:?}"),
            }
        }
    }

    /// Returns a fingerprint of the tested [`Reverse`] and its surroundings: worlds with the same one behave alike in
    /// all further events of the explored sequences, so only one of them is explored.
    fn print(&self) -> String {
        let Reverse { stage, waiting, ending, made, mirrors, spoke, counter, stopped, .. } = &self.reverse;
        let since = |at: &Instant| self.now.since(*at).as_millis().min(1_200);
        let stage = match stage {
            ProgramStage::Called(at) => format!("called {}", since(at)),
            ProgramStage::Ending(at) => format!("ending {}", since(at)),
            stage => format!("{stage:?}"),
        };
        let waits: Vec<u64> = waiting.iter().map(&since).collect();
        let token = made.is_some_and(|made| made.token == self.registers[1]);
        let ahead = i32::from(*counter) - (self.registers[0] & 0xFFFF);
        format!(
            "{stage} {waits:?} {ending:?} {token} {} {} {} {ahead} {stopped}",
            mirrors.value,
            since(spoke),
            self.runs
        )
    }
}

#[test]
fn every_short_sequence_says_nothing_to_nobody_and_counts_on() {
    for left in [[0, 0], [1, 9], [65_535, 9], [-1, 0]] {
        let mut stories = vec![vec![]];
        let mut seen = HashSet::from([World::after(left, &[]).print()]);
        for _ in 0..8 {
            let mut next = vec![];
            for story in &stories {
                for happens in EVENTS {
                    let longer = [&story[..], &[happens]].concat();
                    if seen.insert(World::after(left, &longer).print()) {
                        next.push(longer);
                    }
                }
            }
            stories = next;
        }
        assert!(seen.len() > 300, "{}", seen.len());
    }
}
