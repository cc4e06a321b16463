//! Programs on the controller (core/docs/protocol/ur-client-interfaces.md 5): one primary program at a time,
//! secondary programs in parallel with it, and the reaction of the arm when a program is replaced, paused, stopped or
//! over.

mod forces;
mod host;
mod installation;
mod interpreter;
mod message_functions;
mod moves;
mod output_functions;
mod plant;
mod register_functions;
mod ros;
mod sockets;
mod state_functions;

use std::collections::VecDeque;
use std::num::NonZeroU32;

use outrigger_interpreter::{Builtins, FaultKind, Limits, Machine, Program, ProgramKind, Step};
use outrigger_wire::robot::ProgramState;

use crate::arm::{Arm, Motion};
use crate::controller::{Conn, ProgramTold};
use crate::firmware::AfterT;
use crate::time::SimTime;
use crate::undocumented_delays::Starting;
use host::ProgramHost;
pub(crate) use plant::{Notice, Plant};
pub(crate) use sockets::Sockets;

/// The number of instructions that one program may execute per control cycle.
const BUDGET: u32 = 20_000;
/// The number of programs of one sender that may wait for their start; more are dropped.
const WAITING: usize = 256;
/// The time between two reversals of the simulated third-party program \[s\].
const FOREIGN_TURN: f64 = 2.0;
/// The joint acceleration of the simulated third-party program \[rad/s²\].
const FOREIGN_ACCELERATION: f64 = 1.0;

/// The sender of the text of a URScript program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sender {
    Client(Conn),
    /// A third-party commander of the robot, whose connection is not simulated.
    Other,
}

#[derive(Debug)]
struct Waiting {
    from: Sender,
    arrived: SimTime,
    text: String,
}

enum Body {
    Script(Box<Machine>),
    /// A third-party program without a script: it moves the last joint back and forth.
    Foreign {
        speed: f64,
        cycles: u64,
    },
}

struct Running {
    name: String,
    body: Body,
    /// `true` for the program that is loaded at the pendant.
    loaded: bool,
    /// The number of consecutive cycles in which the program used all instructions that it may execute per cycle.
    overruns: u32,
}

/// The state of the primary program, as the operator's interface uses it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Playing {
    /// `true` if a primary program runs or is paused.
    pub(crate) exists: bool,
    pub(crate) paused: bool,
    /// `true` for the program that is loaded at the pendant, `false` for one that a client sent.
    pub(crate) loaded: bool,
}

impl Playing {
    /// Returns whether a primary program runs and is not paused.
    pub(crate) fn runs(self) -> bool {
        self.exists && !self.paused
    }
}

/// The running and queued URScript programs of one controller.
pub(crate) struct Programs {
    builtins: Builtins,
    limits: Limits,
    /// The number of consecutive cycles in which a program may use all instructions that it may execute; one more
    /// ends it.
    overruns: u32,
    after_t: AfterT,
    end_deceleration: f64,
    starting: Starting,
    waiting: VecDeque<Waiting>,
    primary: Option<Running>,
    /// The arm's motion at the time at which the program was paused; `None` while it is not paused.
    paused: Option<Motion>,
    /// `true` if the program is paused for a popup that the operator has not closed.
    popup: bool,
    /// `true` if the program's last `speedj` or `speedl` call gave its time argument.
    gave_time: bool,
    /// The number n if every n-th replacement of a running program publishes the program state "stopped" for a cycle.
    flicker: Option<NonZeroU32>,
    replacements: u32,
    /// `true` if a program ran in one of the cycles since the last state message (see [`mark`](Self::mark)).
    ran: bool,
    /// `true` if a program ended, or none ran, in one of the cycles since the last state message (see
    /// [`mark`](Self::mark)).
    gap: bool,
    /// A program state, such as stopping, that is published for one cycle only, or until the arm is at standstill.
    passing: Option<ProgramState>,
    /// The number of program texts that were dropped because too many were waiting or the arm was not ready.
    pub(crate) refused: u64,
}

impl Programs {
    pub(crate) fn new(
        builtins: Builtins,
        limits: Limits,
        overruns: u32,
        after_t: AfterT,
        end_deceleration: f64,
        flicker: Option<NonZeroU32>,
        starting: Starting,
    ) -> Self {
        Self {
            builtins,
            limits,
            overruns,
            after_t,
            end_deceleration,
            starting,
            waiting: VecDeque::new(),
            primary: None,
            paused: None,
            popup: false,
            gave_time: false,
            flicker,
            replacements: 0,
            ran: false,
            gap: false,
            passing: None,
            refused: 0,
        }
    }

    /// Queues a complete program that has arrived from a sender; drops it if too many of that sender wait already.
    pub(crate) fn offer(&mut self, from: Sender, arrived: SimTime, text: String) {
        if self.waiting.iter().filter(|waiting| waiting.from == from).count() < WAITING {
            self.waiting.push_back(Waiting { from, arrived, text });
        } else {
            self.refused += 1;
        }
    }

    /// Drops the queued programs of this client that have not begun.
    pub(crate) fn forget(&mut self, client: Conn) {
        self.waiting.retain(|waiting| waiting.from != Sender::Client(client));
    }

    /// Returns whether a primary program exists, paused or not.
    pub(crate) fn running(&self) -> bool {
        self.primary.is_some()
    }

    /// Returns the value of the flag `isProgramRunning` in a state message. `how` selects whether it represents the
    /// newest control cycle, or any or every cycle since the last message.
    pub(crate) fn told(&self, how: ProgramTold) -> bool {
        match how {
            ProgramTold::Newest => self.running(),
            ProgramTold::Any => self.running() || self.ran,
            ProgramTold::All => self.running() && !self.gap,
        }
    }

    /// Marks the sending of a state message: the flag `isProgramRunning` of the next one represents the cycles from now
    /// on.
    pub(crate) fn mark(&mut self) {
        (self.ran, self.gap) = (false, false);
    }

    /// Returns whether the primary program is paused.
    pub(crate) fn paused(&self) -> bool {
        self.primary.is_some() && self.paused.is_some()
    }

    /// Returns whether the program waits for a popup to be closed.
    pub(crate) fn awaits_popup(&self) -> bool {
        self.popup
    }

    /// Returns the published program state, in RTDE's numbering, which 30003 probably uses as well
    /// (core/docs/protocol/ur-client-interfaces.md 2.5). `moves` is whether the arm is commanded to move.
    pub(crate) fn state(&self, moves: bool) -> ProgramState {
        match (self.running(), self.paused()) {
            (_, true) if moves => ProgramState::Pausing,
            (_, true) => ProgramState::Paused,
            (true, false) => self.passing.unwrap_or(ProgramState::Playing),
            (false, false) if moves && self.passing == Some(ProgramState::Stopping) => ProgramState::Stopping,
            (false, false) => ProgramState::Stopped,
        }
    }

    /// Returns the line of the primary program that is being executed, from 1; 0 if no script runs.
    pub(crate) fn line(&self) -> u32 {
        match &self.primary {
            Some(Running { body: Body::Script(machine), .. }) => machine.position().line,
            _ => 0,
        }
    }

    /// Executes one control cycle: starts the programs that have arrived early enough, at most one primary program of
    /// each sender, and runs the primary program unless it is paused.
    pub(crate) fn cycle(&mut self, now: SimTime, plant: &mut Plant, notices: &mut Vec<Notice>) {
        if self.running() {
            self.passing = None;
        } else {
            self.gap = true;
        }
        let replaced = self.take_in(now, plant, notices);
        self.gap |= replaced;
        self.ran |= self.running();
        if replaced {
            plant.forget_program();
            if matches!(plant.arm.motion, Motion::Servo { .. }) {
                plant.arm.targets.brake(self.starting.servoj_deceleration, plant.dt);
            }
            self.replacements = self.replacements.wrapping_add(1);
            if self.flicker.is_some_and(|every| self.replacements.is_multiple_of(every.get())) {
                self.passing = Some(ProgramState::Stopped);
            }
        }
        if self.paused.is_some() {
            return;
        }
        let (ended, moves) = self.run_primary(plant, notices);
        if !self.running() {
            plant.forget_program();
        }
        if ended || (replaced && !moves) {
            self.nobody_moves(plant);
        }
    }

    /// Starts the queued programs whose text arrived early enough for this cycle. Returns whether a running program was
    /// replaced.
    fn take_in(&mut self, now: SimTime, plant: &mut Plant, notices: &mut Vec<Notice>) -> bool {
        let starting = self.starting;
        let mut replaced = false;
        let mut later = VecDeque::new();
        // Senders of which no more programs start in this cycle, so that the texts of each keep their order.
        let mut served = vec![];
        while let Some(waiting) = self.waiting.pop_front() {
            if served.contains(&waiting.from) {
                later.push_back(waiting);
                continue;
            }
            if now.since(waiting.arrived) < starting.intake + starting.compiling.time(&waiting.text) {
                served.push(waiting.from);
                later.push_back(waiting);
                continue;
            }
            match Program::compile_within(&waiting.text, &self.builtins, self.limits) {
                Err(error) => notices.push(Notice::exception(error.position, error.kind.to_string())),
                Ok(program) if program.kind() == ProgramKind::Secondary => self.run_secondary(program, plant, notices),
                Ok(program) => {
                    served.push(waiting.from);
                    replaced |= self.start(program, false, plant, notices);
                }
            }
        }
        self.waiting = later;
        replaced
    }

    /// Starts a primary program in place of the running one; drops it if no program may move the arm now. Returns
    /// whether a running program was replaced.
    fn start(&mut self, program: Program, loaded: bool, plant: &Plant, notices: &mut Vec<Notice>) -> bool {
        if !plant.robot.may_move() {
            self.refused += 1;
            return false;
        }
        let replaced = self.end(notices);
        let name = program.name().unwrap_or_default().to_owned();
        notices.push(Notice::Started(name.clone()));
        let body = Body::Script(Box::new(Machine::new(program)));
        self.primary = Some(Running { name, body, loaded, overruns: 0 });
        replaced
    }

    /// Starts the program `text`, which is loaded at the pendant. Returns whether it started.
    pub(crate) fn play(&mut self, text: &str, plant: &mut Plant, notices: &mut Vec<Notice>) -> bool {
        if !plant.robot.may_move() || self.running() {
            return false;
        }
        match Program::compile_within(text, &self.builtins, self.limits) {
            Ok(program) if program.kind() == ProgramKind::Primary => {
                self.start(program, true, plant, notices);
                true
            }
            Ok(_) => false,
            Err(error) => {
                notices.push(Notice::exception(error.position, error.kind.to_string()));
                false
            }
        }
    }

    /// Returns the state of the primary program for the operator's interface.
    pub(crate) fn playing(&self) -> Playing {
        let loaded = self.primary.as_ref().is_some_and(|running| running.loaded);
        Playing { exists: self.running(), paused: self.paused(), loaded }
    }

    /// Ends the primary program. Returns whether there was one.
    fn end(&mut self, notices: &mut Vec<Notice>) -> bool {
        self.paused = None;
        self.popup = false;
        let Some(running) = self.primary.take() else { return false };
        notices.push(Notice::Stopped(running.name));
        true
    }

    fn run_secondary(&mut self, program: Program, plant: &mut Plant, notices: &mut Vec<Notice>) {
        let mut machine = Machine::new(program);
        let mut host = ProgramHost::new(plant, notices, &mut self.gave_time);
        if let Step::Error(fault) = machine.step(&mut host, BUDGET) {
            // Only logged: the primary program continues.
            notices.push(Notice::Text(fault.to_string()));
        }
    }

    /// Runs the primary program for one control cycle. Returns whether it ended, and whether it called a motion
    /// function.
    fn run_primary(&mut self, plant: &mut Plant, notices: &mut Vec<Notice>) -> (bool, bool) {
        let Some(running) = &mut self.primary else { return (false, false) };
        let machine = match &mut running.body {
            Body::Foreign { speed, cycles } => {
                let turns = (*cycles as f64 * plant.dt / FOREIGN_TURN) as u64;
                *cycles += 1;
                if *speed != 0.0 {
                    let direction = if turns.is_multiple_of(2) { 1.0 } else { -1.0 };
                    let qd = [0.0, 0.0, 0.0, 0.0, 0.0, *speed * direction];
                    plant.arm.motion = Motion::Speed { qd, acceleration: FOREIGN_ACCELERATION };
                }
                return (false, *speed != 0.0);
            }
            Body::Script(machine) => machine,
        };
        let mut host = ProgramHost::new(plant, notices, &mut self.gave_time);
        let step = machine.step(&mut host, BUDGET);
        let (moves, suspends, reader) = (host.moves, host.suspends, host.reader);
        match step {
            // An example of UR's client library sends without a pause: in the thread that reads, a read counts as a
            // wait.
            Step::Overrun(thread) if reader == Some(thread) => return (false, moves),
            Step::Frame => {
                running.overruns = 0;
                if suspends {
                    self.pause(&mut plant.arm, self.end_deceleration);
                    self.popup = true;
                }
                return (false, moves);
            }
            Step::Overrun(_) if running.overruns < self.overruns => {
                running.overruns += 1;
                return (false, moves);
            }
            Step::Overrun(_) => {
                notices.push(Notice::exception(machine.position(), FaultKind::TooMuchBehind.to_string()));
            }
            Step::Done => {}
            Step::Error(fault) => notices.push(Notice::exception(fault.position, fault.kind.to_string())),
        }
        self.end(notices);
        (true, moves)
    }

    /// Brings the arm to rest, or lets `speedj` continue, after the program that moved it ended or was replaced by one
    /// that does not move it (core/docs/protocol/ur-client-interfaces.md 5.4).
    fn nobody_moves(&self, plant: &mut Plant) {
        let keeps = self.after_t == AfterT::KeepsMoving && (self.gave_time || !plant.firmware.stops_without_t());
        if !(keeps && matches!(plant.arm.motion, Motion::Speed { .. })) {
            self.release(&mut plant.arm);
        }
    }

    /// Ends the motion of the arm as at the end of a program: speeds ramp down, servoing ends abruptly
    /// (core/docs/protocol/ur-client-interfaces.md 5.2).
    fn release(&self, arm: &mut Arm) {
        match arm.motion {
            // The move has arrived, and the arm is held there.
            Motion::Route { .. } if arm.targets.qd == [0.0; 6] => {}
            Motion::Speed { .. } | Motion::Route { .. } | Motion::Twist { .. } | Motion::Reach { .. } => {
                arm.motion = Motion::Stop { deceleration: self.end_deceleration };
            }
            Motion::Servo { .. } => {
                arm.targets.halt();
                arm.motion = Motion::Rest;
            }
            Motion::Torque { .. } | Motion::Stop { .. } | Motion::Rest => {}
        }
    }

    /// Stops the running program, drops those that have not begun, and brings the arm to rest.
    pub(crate) fn stop(&mut self, plant: &mut Plant, notices: &mut Vec<Notice>) {
        self.end(notices);
        plant.forget_program();
        // Programs that have arrived and not begun are stopped as well.
        self.waiting.clear();
        self.release(&mut plant.arm);
        self.passing = Some(ProgramState::Stopping);
    }

    /// Pauses the program. The arm comes to rest, whichever program moved it: on its path if it follows a list of
    /// moves, else with `deceleration` \[rad/s²\].
    pub(crate) fn pause(&mut self, arm: &mut Arm, deceleration: f64) {
        if self.paused.is_none() && self.primary.is_some() {
            self.paused = Some(arm.motion);
        }
        match &mut arm.motion {
            Motion::Rest => {}
            // The arm stops on its path.
            Motion::Route { held } => *held = true,
            motion => *motion = Motion::Stop { deceleration },
        }
    }

    /// Resumes a paused program with its motion.
    pub(crate) fn resume(&mut self, arm: &mut Arm) {
        self.popup = false;
        if let Some(motion) = self.paused.take() {
            arm.go_on(motion);
            self.passing = Some(ProgramState::Resuming);
        }
    }

    /// Replaces the running program by the simulated third-party program.
    pub(crate) fn start_foreign(&mut self, speed: f64, plant: &mut Plant, notices: &mut Vec<Notice>) {
        if self.end(notices) {
            self.release(&mut plant.arm);
            plant.forget_program();
        }
        notices.push(Notice::Started("foreign".to_owned()));
        let body = Body::Foreign { speed, cycles: 0 };
        self.primary = Some(Running { name: "foreign".to_owned(), body, loaded: false, overruns: 0 });
    }

    /// Returns whether the primary program is the simulated third-party one.
    pub(crate) fn foreign(&self) -> bool {
        matches!(self.primary, Some(Running { body: Body::Foreign { .. }, .. }))
    }
}
