//! Commands as the controller saw them, and which states they answered.

use std::collections::BTreeMap;
use std::time::Duration;

use outrigger_sim::controller::Conn;
use outrigger_sim::port::Port;
use outrigger_sim::time::SimTime;

use crate::peer::{Passage, Passing};

/// One `speedj` that reached the controller, or one `stopj` on its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    /// When.
    pub at: SimTime,
    /// The connection it came by.
    pub client: Conn,
    /// The speeds \[rad/s\]; `None` for a stop.
    pub speeds: Option<[f64; 6]>,
    /// When the state was sent that it answers: the newest that had been received with it.
    pub answers: Option<SimTime>,
    /// States sent before it, since the connection or the record began: by RTDE where any come from there, else over
    /// that connection.
    pub states: usize,
}

impl Command {
    /// Whether it asks the arm to move.
    #[must_use]
    pub fn moves(&self) -> bool {
        self.speeds.is_some_and(|speeds| speeds != [0.0; 6])
    }

    /// Time from the state it answers to this.
    #[must_use]
    pub fn turnaround(&self) -> Option<Duration> {
        Some(self.at.since(self.answers?))
    }
}

/// The commands among `passages`, in order.
pub(super) fn commands(passages: &[Passage]) -> Vec<Command> {
    let is_rtde_state = |passage: &Passage| passage.port == Port::Rtde && matches!(passage.what, Passing::State(_));
    let by_rtde = passages.iter().any(is_rtde_state);
    let mut states: BTreeMap<Option<Conn>, usize> = BTreeMap::new();
    let mut commands: Vec<Command> = vec![];
    // The first command whose acknowledgement of a state by RTDE has not come.
    let mut open = 0;
    for Passage { at, client, port, what } in passages {
        let states = states.entry((!by_rtde).then_some(*client)).or_default();
        match what {
            Passing::State(_) if by_rtde && *port != Port::Rtde => {}
            Passing::State(_) => *states += 1,
            // Sent behind the command, with which it can share no segment. What was on its way then is no answer's.
            Passing::Acknowledged(sent) => {
                for command in commands.iter_mut().skip(open) {
                    command.answers = Some(*sent).filter(|sent| *sent <= command.at);
                }
                open = commands.len();
            }
            Passing::Line { text, knows } => {
                let speeds = speeds_of(text);
                // The stop inside a program that ends itself is a part of that command.
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

/// The speeds of a line with `speedj`.
fn speeds_of(line: &str) -> Option<[f64; 6]> {
    let (_, rest) = line.split_once("speedj([")?;
    let (list, _) = rest.split_once(']')?;
    let numbers: Vec<f64> = list.split(',').map(|number| number.trim().parse().ok()).collect::<Option<_>>()?;
    numbers.try_into().ok()
}

/// How states were answered from when a board was asked to command until it no longer did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answers {
    /// States sent from the first command on.
    pub states: usize,
    /// Commands that came.
    pub commands: usize,
    /// The most commands that had come beyond the states there had been to answer: must be none.
    pub unasked: usize,
    /// Times from a state to its command, ascending.
    pub turnarounds: Vec<Duration>,
}

impl Answers {
    /// Of the commands of one connection, all of them from before the first.
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

    /// States that were not answered, because a newer one was there already.
    #[must_use]
    pub fn overtaken(&self) -> usize {
        self.states.saturating_sub(self.commands)
    }

    /// The turnaround that this share of the commands did not exceed.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Duration {
        let last = self.turnarounds.len().saturating_sub(1);
        let index = (share * last as f64).round() as usize;
        self.turnarounds.get(index.min(last)).copied().unwrap_or_default()
    }

    /// Share of the commands that came within this time.
    #[must_use]
    pub fn within(&self, span: Duration) -> f64 {
        let count = self.turnarounds.partition_point(|turnaround| *turnaround <= span);
        count as f64 / self.turnarounds.len().max(1) as f64
    }

    /// Counts in bins that double: the upper end of each, and how many are in it.
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
