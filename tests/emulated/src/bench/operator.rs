//! An operator at the bench: presses buttons, and goes by what the board's log says.

use std::time::Duration;

use outrigger_sim::controller::Action;
use outrigger_sim::time::SimTime;

use super::Bench;
use crate::qemu::Line;

/// The robot's digital input that asks the board to command and is held, and the one that acknowledges: a bit each.
const REQUEST: u32 = 1 << 0;
const ACKNOWLEDGE: u32 = 1 << 1;
/// How long an operator presses a button.
const PRESS: Duration = Duration::from_millis(200);
/// How long an operator lets go of the line before it is raised again.
const LET_GO: Duration = Duration::from_millis(150);
/// By when the board says something to that.
const ANSWER: Duration = Duration::from_millis(1_000);
/// How long an operator looks at what the board says before the next press.
const LOOK: Duration = Duration::from_millis(500);

/// A board that commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Armed {
    /// When it was asked to, that time.
    pub asked: SimTime,
    /// When it said so.
    pub at: SimTime,
}

impl Bench<'_> {
    /// Somebody raises the line that asks the board to command, and holds it; where it is held, it is let go first.
    pub fn request(&mut self) {
        if self.holds {
            self.controller_mut().act(Action::DigitalInputs(0));
            self.run_for(LET_GO);
        }
        self.say("operator: requests");
        self.controller_mut().act(Action::DigitalInputs(REQUEST));
        self.holds = true;
    }

    /// Somebody lets go of that line, and presses the button that acknowledges.
    pub fn acknowledge(&mut self) {
        self.say("operator: acknowledges");
        self.holds = false;
        let released = self.controller().now() + PRESS;
        let controller = self.controller_mut();
        controller.act(Action::DigitalInputs(ACKNOWLEDGE));
        controller.schedule(released, Action::DigitalInputs(0));
    }

    /// Somebody presses the button for the arm's brakes at the board for this long, and lets go of it.
    pub fn press_for_brakes(&mut self, span: Duration) {
        self.say("operator: asks for the brakes to be released");
        self.board.set_contact(true);
        self.run_for(span);
        self.board.set_contact(false);
    }

    /// Lives on until the log says something, from `since` on, that begins with one of `words`.
    pub fn hear(&mut self, since: SimTime, words: &[&str], limit: Duration) -> Option<Line> {
        let mut heard = None;
        self.run_until(limit, |bench| {
            heard = bench.record().said(since, words).cloned();
            heard.is_some()
        });
        heard
    }

    /// Asks the board to command, as often as it takes, as an operator does: what is refused, or not even answered
    /// because the board was not ready to see the button, is asked for again; what is latched is acknowledged first.
    /// `None` if it did not command within `limit`.
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
            // Harmless where nothing is latched.
            self.acknowledge();
            self.run_for(LOOK);
        }
        None
    }
}
