//! The commands as the controller received them, and the states that they answered.

use std::collections::BTreeMap;
use std::time::Duration;

use outrigger_sim::controller::Conn;
use outrigger_sim::port::Port;
use outrigger_sim::time::SimTime;

use crate::peer::{Passage, Passing};

/// A `speedj` that reached the controller, or a `stopj` that is not part of a program with `speedj`.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    /// The time of arrival at the controller.
    pub at: SimTime,
    /// The connection on which the command arrived.
    pub client: Conn,
    /// The speeds \[rad/s\]; `None` for a stop.
    pub speeds: Option<[f64; 6]>,
    /// The time at which the controller sent the state that this command answers: the newest state that the client had
    /// received when it sent the command. `None` if that is not known.
    pub answers: Option<SimTime>,
    /// The number of states sent before this command, since the connection opened or the evaluated span began. They are
    /// the states over RTDE if any state was sent over RTDE, otherwise the states over the command's own connection.
    pub states: usize,
}

impl Command {
    /// Returns `true` if the command is a `speedj` with a speed other than zero.
    #[must_use]
    pub fn moves(&self) -> bool {
        self.speeds.is_some_and(|speeds| speeds != [0.0; 6])
    }

    /// Returns the time from the state that the command answers to the command itself; `None` if that state is not
    /// known.
    #[must_use]
    pub fn turnaround(&self) -> Option<Duration> {
        Some(self.at.since(self.answers?))
    }
}

/// Returns the commands among the recorded events of connections, in order.
pub(super) fn commands(passages: &[Passage]) -> Vec<Command> {
    let is_rtde_state = |passage: &Passage| passage.port == Port::Rtde && matches!(passage.what, Passing::State(_));
    let by_rtde = passages.iter().any(is_rtde_state);
    let mut states: BTreeMap<Option<Conn>, usize> = BTreeMap::new();
    let mut commands: Vec<Command> = vec![];
    // The index of the first command without a later acknowledgement over RTDE.
    let mut open = 0;
    for Passage { at, client, port, what } in passages {
        let states = states.entry((!by_rtde).then_some(*client)).or_default();
        match what {
            Passing::State(_) if by_rtde && *port != Port::Rtde => {}
            Passing::State(_) => *states += 1,
            // The client sends the acknowledgement after the command. The two travel on different connections, so they
            // share no segment. A state sent after the command arrived cannot be the one that the command answers.
            Passing::Acknowledged(sent) => {
                for command in commands.iter_mut().skip(open) {
                    command.answers = Some(*sent).filter(|sent| *sent <= command.at);
                }
                open = commands.len();
            }
            Passing::Line { text, knows } => {
                let speeds = speeds_of(text);
                // A stop inside a program with `speedj` is part of that command.
                if speeds.is_some() || text.starts_with("stopj(") {
                    let answers = knows.filter(|_| !by_rtde);
                    commands.push(Command { at: *at, client: *client, speeds, answers, states: *states });
                }
            }
            Passing::Opened | Passing::Closed => {}
        }
    }
    commands
}

/// Returns the speeds of a line of text with `speedj` \[rad/s\]; `None` for any other line.
fn speeds_of(line: &str) -> Option<[f64; 6]> {
    let (_, rest) = line.split_once("speedj([")?;
    let (list, _) = rest.split_once(']')?;
    let numbers: Vec<f64> = list.split(',').map(|number| number.trim().parse().ok()).collect::<Option<_>>()?;
    numbers.try_into().ok()
}

/// The statistics of how the board answered states, from its first command to its last.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answers {
    /// The number of states sent from the one that the first command answers up to the last command.
    pub states: usize,
    /// The number of `speedj` commands that arrived.
    pub commands: usize,
    /// The largest number by which commands exceeded the states sent before them; must be 0.
    pub unasked: usize,
    /// The times from a state to its command, ascending.
    pub turnarounds: Vec<Duration>,
}

impl Answers {
    /// Evaluates the commands of one connection. The recorded span from which they were taken must begin before the
    /// first `speedj`, so that the states that these answer are counted.
    #[must_use]
    pub fn of(commands: &[Command]) -> Self {
        let mut turnarounds: Vec<Duration> = commands.iter().filter_map(Command::turnaround).collect();
        turnarounds.sort_unstable();
        let moving = |command: &&Command| command.speeds.is_some();
        let first = commands.iter().find(moving).map_or(0, |command| command.states);
        let last = commands.iter().rfind(moving).map_or(0, |command| command.states);
        let beyond = |(sent, command): (usize, &Command)| (sent + 1).saturating_sub(command.states);
        Self {
            states: (last + 1).saturating_sub(first.max(1)),
            commands: commands.iter().filter(moving).count(),
            unasked: commands.iter().filter(moving).enumerate().map(beyond).max().unwrap_or(0),
            turnarounds,
        }
    }

    /// Returns the number of states that were not answered because a newer one had already arrived.
    #[must_use]
    pub fn overtaken(&self) -> usize {
        self.states.saturating_sub(self.commands)
    }

    /// Returns the turnaround that `share` (0 … 1) of the commands did not exceed; zero if there are none.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Duration {
        let last = self.turnarounds.len().saturating_sub(1);
        let index = (share * last as f64).round() as usize;
        self.turnarounds.get(index.min(last)).copied().unwrap_or_default()
    }

    /// Returns the share of the commands (0 … 1) that arrived within `span` after their state.
    #[must_use]
    pub fn within(&self, span: Duration) -> f64 {
        let count = self.turnarounds.partition_point(|turnaround| *turnaround <= span);
        count as f64 / self.turnarounds.len().max(1) as f64
    }

    /// Returns a histogram of the turnarounds: the upper end of each bin, which doubles from 125 µs on, and the number
    /// of commands in it.
    #[must_use]
    pub fn histogram(&self) -> Vec<(Duration, usize)> {
        let mut bins = vec![];
        let mut upper = Duration::from_micros(125);
        let mut rest = self.turnarounds.as_slice();
        while !rest.is_empty() {
            let (inside, beyond) = rest.split_at(rest.partition_point(|turnaround| *turnaround <= upper));
            if !(inside.is_empty() && bins.is_empty()) {
                bins.push((upper, inside.len()));
            }
            rest = beyond;
            upper *= 2;
        }
        bins
    }
}

#[cfg(test)]
mod tests {
    use outrigger_sim::controller::{Controller, Options};

    use super::*;

    fn passages(of: &[(u64, Passing)]) -> Vec<Passage> {
        let client = Controller::new(Options::default()).unwrap().connect(Port::Realtime).unwrap();
        let passage = |(at, what): &(u64, Passing)| Passage {
            at: SimTime::from_micros(*at),
            client,
            port: Port::Realtime,
            what: what.clone(),
        };
        of.iter().map(passage).collect()
    }

    fn line(text: &str, knows: u64) -> Passing {
        Passing::Line { text: text.into(), knows: Some(SimTime::from_micros(knows)) }
    }

    #[test]
    fn each_command_is_told_from_the_rest_and_answers_the_state_it_knew() {
        let seen = commands(&passages(&[
            (0, Passing::Opened),
            (1_000, Passing::State(1.0)),
            (1_200, line("def steps():", 1_000)),
            (1_200, line(" speedj([0.1,0,0,0,0,-0.2],1.0,0.1)", 1_000)),
            (1_200, line(" stopj(2)", 1_000)),
            (1_200, line("end", 1_000)),
            (3_000, Passing::State(1.002)),
            (5_000, Passing::State(1.004)),
            (5_100, line("speedj([0,0,0,0,0,0],1.0,0.1)", 3_000)),
            (5_600, line("stopj(2)", 5_000)),
        ]));
        let speeds: Vec<_> = seen.iter().map(|command| command.speeds).collect();
        assert_eq!(speeds, [Some([0.1, 0.0, 0.0, 0.0, 0.0, -0.2]), Some([0.0; 6]), None]);
        assert!(seen[0].moves() && !seen[1].moves());
        assert_eq!(seen[1].turnaround(), Some(Duration::from_micros(2_100)));
        assert_eq!(seen.iter().map(|command| command.states).collect::<Vec<_>>(), [1, 3, 3]);
    }

    fn zero(knows: u64) -> Passing {
        line("speedj([0,0,0,0,0,0],1.0,0.1)", knows)
    }

    #[test]
    fn states_that_are_overtaken_are_counted_and_late_answers_are_no_unasked_ones() {
        let answers = Answers::of(&commands(&passages(&[
            (0, Passing::State(1.0)),
            (100, zero(0)),
            (2_000, Passing::State(1.002)),
            (4_000, Passing::State(1.004)),
            (4_300, zero(2_000)),
            (4_400, zero(4_000)),
            (6_000, Passing::State(1.006)),
            (8_000, Passing::State(1.008)),
            (8_900, zero(8_000)),
        ])));
        assert_eq!((answers.states, answers.commands, answers.unasked, answers.overtaken()), (5, 4, 0, 1));
        assert_eq!(answers.quantile(1.0), Duration::from_micros(2_300));
        assert!((answers.within(Duration::from_micros(400)) - 0.5).abs() < 1e-9);
        let bins: Vec<_> = answers.histogram().iter().map(|(upper, count)| (upper.as_micros(), *count)).collect();
        assert_eq!(bins, [(125, 1), (250, 0), (500, 1), (1_000, 1), (2_000, 0), (4_000, 1)]);
    }

    #[test]
    fn where_states_come_by_rtde_those_of_30003_are_not_counted_and_the_next_acknowledgement_tells_the_answered_one() {
        let by_rtde = |at, what| Passage { port: Port::Rtde, ..passages(&[(at, what)]).remove(0) };
        let all: Vec<Passage> = [
            vec![by_rtde(0, Passing::State(1.0))],
            passages(&[(0, Passing::State(1.0)), (300, zero(0))]),
            vec![by_rtde(310, Passing::Acknowledged(SimTime::ZERO)), by_rtde(2_000, Passing::State(1.002))],
            passages(&[(2_000, Passing::State(1.002)), (2_400, zero(0)), (2_450, zero(0))]),
            vec![by_rtde(2_500, Passing::Acknowledged(SimTime::from_micros(2_000)))],
        ]
        .concat();
        let answers = Answers::of(&commands(&all));
        assert_eq!((answers.states, answers.commands, answers.unasked), (2, 3, 1), "the last is one too many");
        assert_eq!(answers.turnarounds, [300, 400, 450].map(Duration::from_micros));
    }

    #[test]
    fn a_second_command_to_one_state_is_unasked() {
        let passages =
            passages(&[(0, Passing::State(1.0)), (100, zero(0)), (150, zero(0)), (2_000, Passing::State(1.002))]);
        assert_eq!(Answers::of(&commands(&passages)).unasked, 1);
    }
}
