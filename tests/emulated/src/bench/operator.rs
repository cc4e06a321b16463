//! The operator of the bench: presses buttons and acts on what the board's log says.

use std::time::Duration;

use outrigger_sim::controller::Action;
use outrigger_sim::time::SimTime;

use super::Bench;
use crate::qemu::Line;

/// The bit of the robot's digital input by which an operator requests that the board command; it is held high.
const REQUEST: u32 = 1 << 0;
/// The bit of the robot's digital input by which an operator acknowledges the reason for which commanding ended.
const ACKNOWLEDGE: u32 = 1 << 1;
/// The time for which an operator presses a button.
const PRESS: Duration = Duration::from_millis(200);
/// The time for which an operator releases the request line before raising it again.
const LET_GO: Duration = Duration::from_millis(150);
/// The longest time that the operator waits for the board's answer to a request in its log.
const ANSWER: Duration = Duration::from_millis(1_000);
/// The time for which an operator reads the board's answer before the next press.
const LOOK: Duration = Duration::from_millis(500);

/// The times of a successful request: when it was made, and when the board began to command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Armed {
    /// The time of the request that succeeded.
    pub asked: SimTime,
    /// The time at which the board logged that it commands.
    pub at: SimTime,
}

impl Bench<'_> {
    /// Raises the request line, the digital input by which an operator requests that the board command, and holds it.
    /// If it was already held, releases it first.
    pub fn request(&mut self) {
        if self.holds {
            self.controller_mut().act(Action::DigitalInputs(0));
            self.run_for(LET_GO);
        }
        self.say("operator: requests");
        self.controller_mut().act(Action::DigitalInputs(REQUEST));
        self.holds = true;
    }

    /// Releases the request line, and presses the button that acknowledges the reason for which commanding ended.
    pub fn acknowledge(&mut self) {
        self.say("operator: acknowledges");
        self.holds = false;
        let released = self.controller().now() + PRESS;
        let controller = self.controller_mut();
        controller.act(Action::DigitalInputs(ACKNOWLEDGE));
        controller.schedule(released, Action::DigitalInputs(0));
    }

    /// Holds the button for the arm's brakes, at the board, for `span`, then releases it.
    pub fn press_for_brakes(&mut self, span: Duration) {
        self.say("operator: asks for the brakes to be released");
        self.board.set_contact(true);
        self.run_for(span);
        self.board.set_contact(false);
    }

    /// Runs the bench until the board's log has a line, at or after `since`, that begins with one of `words`. Returns
    /// the line; `None` if none appears within `limit`.
    pub fn hear(&mut self, since: SimTime, words: &[&str], limit: Duration) -> Option<Line> {
        let mut heard = None;
        self.run_until(limit, |bench| {
            heard = bench.record().said(since, words).cloned();
            heard.is_some()
        });
        heard
    }

    /// Requests that the board command, as an operator does: repeats a request that is rejected, not answered or does
    /// not lead to commanding, and acknowledges before each repetition. Returns `None` if the board did not command
    /// within `limit`.
    pub fn arm(&mut self, limit: Duration) -> Option<Armed> {
        let end = self.now() + limit;
        while self.now() < end && self.exit().is_none() {
            let asked = self.now();
            self.request();
            let answer = self.hear(asked, &["arming", "refused"], ANSWER);
            if answer.is_some_and(|line| line.text.starts_with("arming")) {
                let line = self.hear(asked, &["armed", "not armed"], end.since(self.now()))?;
                if line.text.starts_with("armed") {
                    return Some(Armed { asked, at: line.at });
                }
            }
            self.run_for(LOOK);
            // This has no effect if nothing is latched.
            self.acknowledge();
            self.run_for(LOOK);
        }
        None
    }
}
