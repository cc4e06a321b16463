//! The sequences that load, play, pause or stop a program, each until the controller shows the result.

use super::sequence_base::{Acted, Course, Progress, Sequence, SequenceEvent, SequenceInput};
use super::sequence_error::SequenceError;
use outrigger_wire::dashboard::{Argument, Reply, Request, RequestKind};
use outrigger_wire::primary::Text;
use outrigger_wire::robot::{Generation, ProgramState, SoftwareVersion};
use outrigger_wire::time::{Duration, Instant};

/// The desired state of the controller's program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramGoal<'a> {
    /// The program in this file on the controller is loaded.
    Load(Argument<'a>),
    /// The loaded program runs, or a paused one continues. This moves the robot.
    Play,
    /// The running program of the controller is paused.
    Pause,
    /// The running program of the controller is stopped.
    Stop,
}

/// The query interval and timeouts of [`ProgramControl`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramConfig {
    /// The time between two queries of the program's state.
    pub poll: Duration,
    /// The longest wait until the program is in the desired state. Before CB3 3.3 a controller replies before it has
    /// begun to execute the request.
    pub limit: Duration,
}

impl Default for ProgramConfig {
    fn default() -> Self {
        Self { poll: Duration::from_millis(100), limit: Duration::from_secs(20) }
    }
}

/// A sequence that requests one [`ProgramGoal`], then queries the program until the goal is reached.
#[derive(Clone, Debug)]
pub struct ProgramControl<'a> {
    course: Course,
    config: ProgramConfig,
    goal: ProgramGoal<'a>,
    state: State,
    /// The time at which the controller accepted the request to load, play, pause or stop.
    since: Instant,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Act,
    Look,
    Pause(Instant),
}

impl<'a> ProgramControl<'a> {
    /// Creates the sequence that reaches `goal` on a controller with this software version.
    #[must_use]
    pub fn new(goal: ProgramGoal<'a>, software: SoftwareVersion, config: ProgramConfig) -> Self {
        let mut course = Course::new(software);
        course.requires(request(goal).kind());
        Self { course, config, goal, state: State::Act, since: Instant::ZERO }
    }

    /// Returns the query that shows whether the goal is reached, in the best form that the controller's software
    /// supports; `None` if it supports none.
    fn question(&self) -> Option<Request<'static>> {
        let (best, older) = match self.goal {
            // On PolyScope X the program state has no name.
            ProgramGoal::Load(_) if self.course.software.generation() == Generation::PolyScopeX => {
                (Request::LoadedProgram, None)
            }
            ProgramGoal::Load(_) => (Request::ProgramState, Some(Request::LoadedProgram)),
            // The older query does not distinguish paused from stopped: both are not running.
            ProgramGoal::Play | ProgramGoal::Pause | ProgramGoal::Stop => {
                (Request::ProgramState, Some(Request::Running))
            }
        };
        [Some(best), older].into_iter().flatten().find(|question| self.course.knows(question.kind()))
    }

    /// Evaluates a reply to the query of the program. Returns whether the goal is reached, and the state of the program
    /// if the reply contains it; `None` if the reply is of another kind, which ends the sequence.
    fn look(&mut self, reply: &Reply<'_>) -> Option<(bool, Option<ProgramState>)> {
        match (*reply, self.goal) {
            (Reply::ProgramState { state, program }, goal) => {
                let name = program.unwrap_or_default();
                self.course.program(state, name.0);
                let reached = match goal {
                    ProgramGoal::Load(wanted) => state == ProgramState::Stopped && is_file(name, wanted),
                    ProgramGoal::Play => state == ProgramState::Playing,
                    ProgramGoal::Pause => state == ProgramState::Paused,
                    ProgramGoal::Stop => state == ProgramState::Stopped,
                };
                Some((reached, Some(state)))
            }
            (Reply::LoadedProgram(path), ProgramGoal::Load(wanted)) => {
                Some((path.is_some_and(|path| is_file(path, wanted)), None))
            }
            (Reply::Running(running), goal) => Some((running == (goal == ProgramGoal::Play), None)),
            (other, _) => {
                self.course.unexpected(RequestKind::ProgramState, &other);
                None
            }
        }
    }

    fn take(&mut self, now: Instant, reply: &Reply<'_>) {
        let kind = request(self.goal).kind();
        match self.state {
            State::Act => {
                if self.course.acted(kind, reply) == Acted::Yes {
                    self.since = now;
                    self.state = State::Look;
                    if self.question().is_none() {
                        self.course.say(Progress::Unconfirmed(kind));
                        self.course.done();
                    }
                }
            }
            State::Look | State::Pause(_) => {
                let Some((reached, found)) = self.look(reply) else { return };
                let waited = now.since(self.since);
                if reached {
                    self.course.done();
                } else if waited > self.config.limit {
                    self.course.stop(SequenceError::Program { request: kind, found, waited });
                } else {
                    self.state = State::Pause(now + self.config.poll);
                }
            }
        }
    }
}

const fn request(goal: ProgramGoal<'_>) -> Request<'_> {
    match goal {
        ProgramGoal::Load(program) => Request::Load(program),
        ProgramGoal::Play => Request::Play,
        ProgramGoal::Pause => Request::Pause,
        ProgramGoal::Stop => Request::Stop,
    }
}

/// Returns whether a path or name reported by the controller is that of the wanted file; extensions may be omitted.
fn is_file(told: Text<'_>, wanted: Argument<'_>) -> bool {
    let told = stem(told.0);
    !told.is_empty() && told == stem(wanted.as_str().as_bytes())
}

fn stem(path: &[u8]) -> &[u8] {
    let name = path.rsplit(|byte| matches!(byte, b'/' | b'\\')).next().unwrap_or(path).trim_ascii();
    name.strip_suffix(b".urpx").or_else(|| name.strip_suffix(b".urp")).unwrap_or(name)
}

impl Sequence for ProgramControl<'_> {
    fn handle(&mut self, now: Instant, input: SequenceInput<'_>) {
        if let Some(reply) = self.course.reply(input) {
            self.take(now, &reply);
        }
        if let State::Pause(until) = self.state
            && now >= until
        {
            self.state = State::Look;
        }
    }

    fn poll_output(&mut self) -> Option<Request<'_>> {
        let own = match self.state {
            State::Act => Some(request(self.goal)),
            State::Look => self.question(),
            State::Pause(_) => None,
        };
        self.course.ask(own)
    }

    fn poll_event(&mut self) -> Option<SequenceEvent> {
        self.course.poll_event()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.course.pause(match self.state {
            State::Pause(until) => Some(until),
            State::Act | State::Look => None,
        })
    }
}
