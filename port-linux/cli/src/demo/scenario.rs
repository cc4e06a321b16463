//! The demo's scenario without sockets, clock and screen: reads a session, and returns inputs for it and changes to its
//! surroundings. A test plays this scenario in virtual time.

use std::collections::VecDeque;

use outrigger_core::engine::ur::{Ur, UrEvent};
use outrigger_core::engine::{Engine, Event, Input};
use outrigger_core::law::Law;
use outrigger_core::link::Figures;
use outrigger_core::mode::Mode;
use outrigger_wire::robot::ControllerTime;
use outrigger_wire::time::{Duration, Instant};

use super::deliberate_faults::Broken;
use super::machine_pauses::Pauses;
use super::pause_allowance::Allowance;
use super::record::Record;
use super::scenario_steps::{Ask, Fault, Script, View};
use super::self_checks::Bounds;
use super::simulated_cell;

/// The period of a deliberate fault that occurs repeatedly and without a step of the demo's scenario: a link stall, or
/// commands of another client.
const SECRETLY_EVERY: Duration = Duration::from_millis(2_500);

/// The period in which the deliberate fault [`Broken::ResumesByItself`] tries to resume commanding without the
/// operator.
const SOON: Duration = Duration::from_millis(100);

/// A change that the demo's scenario makes to the surroundings of the session.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Effect {
    /// Display this text to the user.
    Say(String),
    /// Stall the link to the robot for this time, from now on.
    StallLink(Duration),
    /// Pull the sensor's cable (`true`), or plug it in again.
    PullCable(bool),
    /// Let the session's time pass this many times slower than the system's.
    Slow(u32),
    /// Let another client command the simulated arm.
    SecondCommander,
}

/// A scenario of the demo in progress.
pub(super) struct Scenario {
    pub(super) script: Script,
    pub(super) record: Record,
    pub(super) allowance: Allowance,
    broken: Option<Broken>,
    /// The inputs of the simulated operator that the engine has not received yet.
    inputs: VecDeque<Input>,
    /// The number of requests to command among the simulated operator's inputs so far.
    requests: usize,
    newest: ControllerTime,
    pub(super) figures: Option<Figures>,
    /// The time at which a deliberate fault without a step of the scenario last occurred; at first that of the start.
    secret: Instant,
}

impl Scenario {
    /// Creates a scenario that begins at `now`, takes `seconds` by the system's clock, and holds the tool at `distance`
    /// \[m\].
    pub(super) fn new(now: Instant, seconds: u64, distance: f32, allowance: Allowance, broken: Option<Broken>) -> Self {
        Self {
            script: Script::new(now, seconds, allowance.slowed()),
            record: Record { wanted_distance: f64::from(distance), ..Record::default() },
            allowance,
            broken,
            inputs: VecDeque::new(),
            requests: 0,
            newest: ControllerTime::default(),
            figures: None,
            secret: now,
        }
    }

    /// Returns the simulated operator's next input for the engine; `None` if there is none.
    pub(super) fn input(&mut self) -> Option<Input> {
        let input = self.inputs.pop_front()?;
        let lost = self.broken.is_some_and(|broken| broken.loses(&input, self.requests));
        self.requests += usize::from(matches!(input, Input::Request(_)));
        if lost { self.input() } else { Some(input) }
    }

    /// Handles an event of the session: records it, and passes an end of commanding or arming on to the script.
    pub(super) fn event(&mut self, now: Instant, event: &Event<UrEvent>) {
        match event {
            Event::Transition(transition) => {
                self.record.modes.push((transition.at, transition.to));
                if let Some(reason) = transition.reason {
                    let reason = self.broken.map_or(reason, |broken| broken.told(reason));
                    self.script.fell_back(transition.at, reason);
                    self.record.events.push((now, format!("{}: {}", transition.to.name(), reason.text())));
                }
            }
            Event::Grade(change) => self.record.grades.push(*change),
            Event::Bridged(_) => self.record.bridged += 1,
            Event::Peer(UrEvent::Established(identity)) => {
                self.record.events.push((now, format!("connected to software {}", identity.software)));
            }
            _ => {}
        }
    }

    /// Records the present state of the session, and advances the scenario. Returns the changes that it makes to the
    /// surroundings of the session. `pauses` returns the pauses of this machine measured so far.
    pub(super) fn observe<L: Law<6>>(
        &mut self,
        engine: &Engine<'_, 6, Ur<'_>, L>,
        now: Instant,
        pauses: &dyn Fn() -> Pauses,
    ) -> Vec<Effect> {
        let figures = engine.figures(now);
        if let Some(age) = figures.age {
            self.record.ages.push((now, age));
        }
        if let Some(state) = engine.state()
            && state.controller_time != self.newest
        {
            self.newest = state.controller_time;
            self.record.arrivals.push(now);
        }
        self.figures = Some(figures);
        let epoch = engine.mode_machine().epoch();
        let (mode, latch, unmet) = (engine.mode(), engine.latch(), engine.unmet(now));
        let by_itself = match latch {
            Some(_) => Some(Input::Acknowledge),
            None => unmet.is_empty().then_some(Input::Request(epoch)),
        };
        let mut effects = self.spoil(now, mode, by_itself);
        self.go_on(View { now, mode, epoch, latch, unmet, moves: simulated_cell::moves(now) }, pauses, &mut effects);
        effects
    }

    fn go_on(&mut self, sight: View, pauses: &dyn Fn() -> Pauses, effects: &mut Vec<Effect>) {
        let (now, allowance) = (sight.now, self.allowance);
        loop {
            let paused = |at, reason| Bounds::paused(&pauses(), &allowance, at, reason, self.record.fall_before(at));
            let Some(ask) = self.script.next(sight, &paused) else { break };
            match ask {
                Ask::Engine(input) => {
                    let word = match input {
                        Input::Request(_) => {
                            self.record.requests.push(now);
                            "start"
                        }
                        Input::Acknowledge => "reset",
                        _ => "stop",
                    };
                    self.say(now, word.into(), effects);
                    self.inputs.push_back(input);
                }
                Ask::Inject(fault) => {
                    self.say(now, format!("fault: {}", fault.text(self.allowance.stall())), effects);
                    self.record.faults.push((now, fault.short()));
                    effects.push(match fault {
                        Fault::LinkStall => Effect::StallLink(self.allowance.stall()),
                        Fault::SensorCable => Effect::PullCable(true),
                    });
                }
                Ask::Repair(Fault::LinkStall) => {}
                Ask::Repair(Fault::SensorCable) => {
                    self.say(now, "sensor cable plugged in again".into(), effects);
                    self.record.faults.push((now, "plugged in"));
                    effects.push(Effect::PullCable(false));
                }
                Ask::Slow(length) => self.slow(now, length, effects),
                Ask::End => self.inputs.push_back(Input::Shutdown),
            }
        }
    }

    /// Slows the demo's time if possible, after this machine paused a program for `length`.
    fn slow(&mut self, now: Instant, length: Duration, effects: &mut Vec<Effect>) {
        let slower = self.allowance.after(length);
        if let Some(slower) = slower {
            self.allowance = slower;
            self.script.slow(now, slower.slowed());
            effects.push(Effect::Slow(slower.slowed()));
        }
        let pace = slower.map_or(String::new(), |slower| format!("; time passes {} times slower now", slower.slowed()));
        let length = length.as_micros() as f64 / 1e3;
        self.say(now, format!("this machine paused a program for {length:.0} ms{pace}"), effects);
    }

    fn say(&mut self, now: Instant, text: String, effects: &mut Vec<Effect>) {
        effects.push(Effect::Say(text.clone()));
        self.record.events.push((now, text));
    }

    /// Returns the effects of a deliberate fault that occurs without a step of the scenario. `by_itself` is the input
    /// by which an operator could resume commanding now; the fault may make that input.
    fn spoil(&mut self, now: Instant, mode: Mode, by_itself: Option<Input>) -> Vec<Effect> {
        let due = now.since(self.secret) >= SECRETLY_EVERY;
        let begun = self.script.armed.is_some();
        let effect = match self.broken {
            Some(Broken::ResumesByItself) if mode == Mode::Monitor && begun && now.since(self.secret) >= SOON => {
                // The scenario makes no request here, so none is recorded.
                self.inputs.extend(by_itself);
                self.secret = now;
                None
            }
            Some(Broken::SecretStalls) if mode == Mode::Command && due => {
                Some(Effect::StallLink(self.allowance.stall()))
            }
            Some(Broken::SecondCommander) if begun && due => Some(Effect::SecondCommander),
            _ => None,
        };
        if effect.is_some() {
            self.secret = now;
        }
        effect.into_iter().collect()
    }
}
