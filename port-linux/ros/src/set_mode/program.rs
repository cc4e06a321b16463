//! Stops or starts a program, unless the program is in the requested state already.

use std::collections::VecDeque;

use outrigger_core::client::dashboard::{
    ProgramConfig, ProgramControl, ProgramGoal, Sequence, SequenceEvent, SequenceInput,
};
use outrigger_wire::dashboard::{Reply, Request};
use outrigger_wire::robot::{ProgramState, SoftwareVersion};
use outrigger_wire::time::{Duration, Instant};

/// The wait before a program is started, equal to that of UR's driver. A controller refuses to play right after its
/// brakes are released.
const SETTLES: Duration = Duration::from_secs(1);

/// A sequence of requests to the dashboard that queries the state of the loaded program, and starts or stops it by
/// [`ProgramControl`] if needed. The query comes first because stopping a program that does not run would be refused.
pub(super) struct Program {
    goal: ProgramGoal<'static>,
    control: ProgramControl<'static>,
    state: State,
    /// The queries for the program's state that remain to be sent. A running script is reported only by the answer to
    /// the second one.
    questions: VecDeque<Request<'static>>,
    asked: bool,
    end: Option<SequenceEvent>,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// The wait for the time at which a program may be started, which is unknown before the first call.
    Settles(Option<Instant>),
    Asks,
    Controls,
    Over,
}

impl Program {
    pub(super) fn stop(software: SoftwareVersion) -> Self {
        Self::new(ProgramGoal::Stop, software, &[Request::ProgramState, Request::Running], State::Asks)
    }

    pub(super) fn play(software: SoftwareVersion) -> Self {
        Self::new(ProgramGoal::Play, software, &[Request::ProgramState], State::Settles(None))
    }

    fn new(
        goal: ProgramGoal<'static>,
        software: SoftwareVersion,
        questions: &[Request<'static>],
        state: State,
    ) -> Self {
        let control = ProgramControl::new(goal, software, ProgramConfig::default());
        let known = |question: &Request<'_>| question.kind().check(software).is_ok();
        let questions = questions.iter().copied().filter(known).collect();
        Self { goal, control, state, questions, asked: false, end: None }
    }

    /// Evaluates the answer to a query for the state of the program.
    fn take(&mut self, reply: &Reply<'_>) {
        self.questions.pop_front();
        let runs = match reply {
            Reply::ProgramState { state, .. } => Some(*state),
            Reply::Running(true) => Some(ProgramState::Playing),
            Reply::Running(false) => Some(ProgramState::Stopped),
            _ => None,
        };
        match (self.goal, runs) {
            (ProgramGoal::Play, Some(ProgramState::Playing)) => self.over(),
            (ProgramGoal::Stop, Some(ProgramState::Stopped)) if self.questions.is_empty() => self.over(),
            (ProgramGoal::Stop, Some(ProgramState::Stopped)) => {}
            _ => self.state = State::Controls,
        }
    }

    fn over(&mut self) {
        self.state = State::Over;
        self.end = Some(SequenceEvent::Done);
    }
}

impl Sequence for Program {
    fn handle(&mut self, now: Instant, input: SequenceInput<'_>) {
        match (self.state, input) {
            (State::Controls, input) => self.control.handle(now, input),
            (State::Asks, SequenceInput::Reply(reply)) if std::mem::take(&mut self.asked) => self.take(&reply),
            (State::Settles(None), _) => self.state = State::Settles(Some(now + SETTLES)),
            (State::Settles(Some(until)), _) if now >= until => self.state = State::Asks,
            (State::Settles(_) | State::Asks | State::Over, _) => {}
        }
    }

    fn poll_output(&mut self) -> Option<Request<'_>> {
        if matches!(self.state, State::Asks) && !self.asked {
            match self.questions.front() {
                Some(question) => {
                    self.asked = true;
                    return Some(*question);
                }
                None => self.state = State::Controls,
            }
        }
        if matches!(self.state, State::Controls) { self.control.poll_output() } else { None }
    }

    fn poll_event(&mut self) -> Option<SequenceEvent> {
        match self.state {
            State::Controls => self.control.poll_event(),
            _ => self.end.take(),
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        match self.state {
            State::Settles(until) => until,
            State::Controls => self.control.poll_timeout(),
            State::Asks | State::Over => None,
        }
    }
}
