//! Commands as the controller saw them, and which states they answered.

use std::time::Duration;

use outrigger_sim::controller::Conn;
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
    /// When the newest state before it was sent over that connection, if it sends states.
    pub answers: Option<SimTime>,
    /// States sent over that connection since the command before.
    pub states: usize,
}

impl Command {
    /// Whether it asks the arm to move.
    #[must_use]
    pub fn moves(&self) -> bool {
        self.speeds.is_some_and(|speeds| speeds != [0.0; 6])
    }

    /// Time from the newest state to this.
    #[must_use]
    pub fn turnaround(&self) -> Option<Duration> {
        Some(self.at.since(self.answers?))
    }
}

/// The commands among `passages`, in order.
pub(super) fn commands(passages: &[Passage]) -> Vec<Command> {
    let mut streams: Vec<(Conn, Option<SimTime>, usize)> = vec![];
    let mut commands = vec![];
    for Passage { at, client, what, .. } in passages {
        let index = streams.iter().position(|(known, ..)| known == client).unwrap_or(streams.len());
        if index == streams.len() {
            streams.push((*client, None, 0));
        }
        let Some((_, newest, states)) = streams.get_mut(index) else { continue };
        match what {
            Passing::State(_) => {
                *newest = Some(*at);
                *states += 1;
            }
            Passing::Line(line) => {
                let speeds = speeds_of(line);
                // The one inside a program that ends itself is a part of that command.
                if speeds.is_some() || line.starts_with("stopj(") {
                    let states = std::mem::take(states);
                    commands.push(Command { at: *at, client: *client, speeds, answers: *newest, states });
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

/// How states were answered while the board commanded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answers {
    /// States sent.
    pub states: usize,
    /// Commands that came.
    pub commands: usize,
    /// Commands that came although no state had been sent since the one before: must be none.
    pub unasked: usize,
    /// States that were not answered because a newer one was there already.
    pub superseded: usize,
    /// Times from a state to its command, ascending.
    pub turnarounds: Vec<Duration>,
}

impl Answers {
    /// Of `commands`, which follow each other.
    #[must_use]
    pub fn of(commands: &[Command]) -> Self {
        let mut turnarounds: Vec<Duration> = commands.iter().filter_map(Command::turnaround).collect();
        turnarounds.sort_unstable();
        // What came before the first of them is not known.
        let following = commands.get(1..).unwrap_or_default();
        Self {
            states: following.iter().map(|command| command.states).sum(),
            commands: following.len(),
            unasked: following.iter().filter(|command| command.states == 0).count(),
            superseded: following.iter().map(|command| command.states.saturating_sub(1)).sum(),
            turnarounds,
        }
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
    use outrigger_sim::port::Port;

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

    fn line(text: &str) -> Passing {
        Passing::Line(text.into())
    }

    #[test]
    fn each_command_is_told_from_the_rest_and_answers_the_newest_state() {
        let seen = commands(&passages(&[
            (0, Passing::Opened),
            (1_000, Passing::State(1.0)),
            (1_200, line("def steps():")),
            (1_200, line(" speedj([0.1,0,0,0,0,-0.2],1.0,0.1)")),
            (1_200, line(" stopj(2)")),
            (1_200, line("end")),
            (3_000, Passing::State(1.002)),
            (5_000, Passing::State(1.004)),
            (5_500, line("speedj([0,0,0,0,0,0],1.0,0.1)")),
            (5_600, line("stopj(2)")),
        ]));
        let speeds: Vec<_> = seen.iter().map(|command| command.speeds).collect();
        assert_eq!(speeds, [Some([0.1, 0.0, 0.0, 0.0, 0.0, -0.2]), Some([0.0; 6]), None]);
        assert!(seen[0].moves() && !seen[1].moves());
        assert_eq!(seen[1].turnaround(), Some(Duration::from_micros(500)));
        assert_eq!(seen.iter().map(|command| command.states).collect::<Vec<_>>(), [1, 2, 0]);
    }

    #[test]
    fn a_command_without_a_state_and_a_state_without_a_command_are_counted() {
        let zero = || line("speedj([0,0,0,0,0,0],1.0,0.1)");
        let answers = Answers::of(&commands(&passages(&[
            (0, Passing::State(1.0)),
            (100, zero()),
            (2_000, Passing::State(1.002)),
            (2_300, zero()),
            (2_400, zero()),
            (4_000, Passing::State(1.004)),
            (6_000, Passing::State(1.006)),
            (6_900, zero()),
        ])));
        assert_eq!((answers.states, answers.commands, answers.unasked, answers.superseded), (3, 3, 1, 1));
        assert_eq!(answers.quantile(1.0), Duration::from_micros(900));
        assert!((answers.within(Duration::from_micros(300)) - 0.5).abs() < 1e-9);
        let bins: Vec<_> = answers.histogram().iter().map(|(upper, count)| (upper.as_micros(), *count)).collect();
        assert_eq!(bins, [(125, 1), (250, 0), (500, 2), (1_000, 1)]);
    }
}
