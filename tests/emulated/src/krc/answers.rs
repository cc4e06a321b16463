//! The traffic between KRC and board: measurements, and the commands that answer them.

use std::time::Duration;

use outrigger_sim::time::SimTime;

/// A measurement that the KRC has sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sent {
    /// The time at which the KRC sent the measurement.
    pub at: SimTime,
    /// The counter of the measurement.
    pub counter: u16,
    /// `true` if the measurement reports that the KRC follows commands.
    pub leads: bool,
    /// The period in which the KRC expects commands, as the measurement states it \[s\].
    pub period: f32,
}

/// A command of the board that has reached the KRC.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// The time at which the command arrived at the KRC.
    pub at: SimTime,
    /// The counter of the command.
    pub counter: u16,
    /// The counter of the measurement that the command answers.
    pub reflects: u16,
    /// The commanded positions of the joints \[rad\].
    pub positions: [f32; 7],
}

/// The traffic between KRC and board in a run with fewer than 65536 measurements, whose counters are consecutive.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    /// The measurements that the KRC sent, in order.
    pub measurements: Vec<Sent>,
    /// The commands that the KRC received, in order.
    pub commands: Vec<Answer>,
}

/// The result of an examination of the joint steps between commands.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Steps {
    /// The number of commands that were examined.
    pub looked_at: usize,
    /// The longest step, as a share of the highest speed multiplied by the time since the previous command.
    pub longest: f64,
}

impl Answers {
    pub(super) fn sent(&mut self, measurement: Sent) {
        self.measurements.push(measurement);
    }

    pub(super) fn received(&mut self, command: Answer) {
        self.commands.push(command);
    }

    /// Returns the measurement that this command answers; `None` if no such measurement was sent.
    #[must_use]
    pub fn answered_by(&self, command: &Answer) -> Option<&Sent> {
        let first = self.measurements.first()?.counter;
        self.measurements.get(usize::from(command.reflects.wrapping_sub(first)))
    }

    /// Counts the commands that answer a measurement that was already answered, an older measurement than one already
    /// answered, a measurement sent later than the command, or none.
    #[must_use]
    pub fn unasked(&self) -> usize {
        let mut newest = None;
        let answers_a_newer = |command: &&Answer| {
            let Some(sent) = self.answered_by(command).map(|sent| sent.at) else { return true };
            let counter = usize::from(command.reflects.wrapping_sub(self.measurements[0].counter));
            let stale = newest.replace(counter).is_some_and(|newest| counter <= newest);
            stale || sent > command.at
        };
        self.commands.iter().filter(answers_a_newer).count()
    }

    /// Counts the measurements sent from `from` until `until`, and how many of them were answered.
    #[must_use]
    pub fn between(&self, from: SimTime, until: SimTime) -> (usize, usize) {
        let within = |at: SimTime| (from..until).contains(&at);
        let sent = self.measurements.iter().filter(|sent| within(sent.at)).count();
        let answered = self.commands.iter().filter_map(|command| self.answered_by(command));
        (sent, answered.filter(|sent| within(sent.at)).count())
    }

    /// Returns the times from a measurement to its command, ascending.
    #[must_use]
    pub fn turnarounds(&self) -> Vec<Duration> {
        let mut all: Vec<_> =
            self.commands.iter().filter_map(|command| Some(command.at.since(self.answered_by(command)?.at))).collect();
        all.sort_unstable();
        all
    }

    /// Examines the joint steps between each command that the KRC follows and the command before it, for an arm that
    /// may move at `speed` \[rad/s\].
    #[must_use]
    pub fn steps(&self, speed: f64) -> Steps {
        let mut steps = Steps::default();
        for pair in self.commands.windows(2) {
            let [before, command] = pair else { continue };
            let Some(sent) = self.answered_by(command).filter(|sent| sent.leads) else { continue };
            let cycles = command.reflects.wrapping_sub(before.reflects);
            let longest = speed * f64::from(sent.period) * f64::from(cycles);
            for (to, from) in command.positions.iter().zip(before.positions) {
                // Positions are transmitted in single precision: one unit in the last place of each is tolerated.
                let step = (f64::from(*to) - f64::from(from)).abs() - 4e-7;
                steps.longest = steps.longest.max(step / longest);
            }
            steps.looked_at += 1;
        }
        steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> SimTime {
        SimTime::from_micros(micros)
    }

    /// Returns traffic with six measurements every 2 ms from counter 65534 on, and these commands: the number of the
    /// answered measurement, the time of arrival \[µs\] and the position of the first joint \[rad\] of each.
    fn answers(commands: &[(u16, u64, f32)]) -> Answers {
        let first = 65_534_u16;
        let mut answers = Answers::default();
        for n in 0..6 {
            let counter = first.wrapping_add(n);
            answers.sent(Sent { at: at(2_000 * u64::from(n)), counter, leads: n > 0, period: 0.002 });
        }
        for (counter, (which, when, joint)) in (1..).zip(commands) {
            let positions = [*joint, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
            answers.received(Answer { at: at(*when), counter, reflects: first.wrapping_add(*which), positions });
        }
        answers
    }

    #[test]
    fn each_measurement_answered_once_and_in_order_is_as_it_should_be() {
        let good = answers(&[(0, 300, 0.0), (1, 2_400, 0.0), (2, 4_500, 0.0), (4, 8_300, 0.0)]);
        assert_eq!(good.unasked(), 0);
        assert_eq!(good.between(at(0), at(10_000)), (5, 4), "one was overtaken");
        assert_eq!(good.turnarounds(), [300, 300, 400, 500].map(Duration::from_micros));
    }

    #[test]
    fn a_second_answer_one_to_an_older_and_one_to_nothing_are_unasked() {
        assert_eq!(answers(&[(0, 300, 0.0), (0, 400, 0.0)]).unasked(), 1);
        assert_eq!(answers(&[(1, 2_300, 0.0), (0, 2_400, 0.0)]).unasked(), 1);
        assert_eq!(answers(&[(9, 2_300, 0.0)]).unasked(), 1);
        assert_eq!(answers(&[(3, 2_300, 0.0)]).unasked(), 1, "before it was sent");
    }

    #[test]
    fn steps_are_measured_by_the_time_since_the_command_before() {
        let steps = answers(&[(0, 1, 1.0), (1, 2_100, 1.001), (3, 6_100, 1.003)]).steps(1.0);
        assert_eq!(steps.looked_at, 2);
        assert!((0.499..0.501).contains(&steps.longest), "{steps:?}");
        let jump = answers(&[(0, 1, 1.0), (1, 2_100, 1.1)]).steps(1.0);
        assert!(jump.longest > 49.0, "{jump:?}");
        assert_eq!(answers(&[(0, 1, 1.0)]).steps(1.0).looked_at, 0, "the first has none before it");
    }
}
