//! Runs a program. Its threads share each control cycle.
//!
//! | instruction | effect |
//! |---|---|
//! | a call that takes time | the thread waits; the call is repeated in the next cycle |
//! | a call that takes a part of a cycle | the thread continues after those that have more of the cycle left |
//! | `join` of a living thread | the thread waits; the `join` is repeated in the next cycle |
//! | `run f()` | a new thread; it begins in this cycle, after the existing ones |
//! | `kill h` | that thread and those it started end; no effect on ended threads and other values |
//! | the main thread returns, or `halt` | the program is done, other threads with it |
//! | any run-time error | the program ends with a [`Fault`] |
//! | the budget is spent | the rest waits for the next cycle; a thread in a critical section then runs first |

use std::collections::VecDeque;

use super::builtins::Run;
use super::compiled_code::Target;
use super::error::{Fault, FaultKind, Position};
use super::host::{Call, CallResult, Host};
use super::interpreter_mode::Interactive;
use super::program::{Program, ProgramKind};
use super::thread::{Event, Pending, Thread};
use super::value::{ThreadId, Value};

/// The result of executing a program for one control cycle.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum Step {
    /// All threads of the program wait for the next control cycle.
    Frame,
    /// The budget of instructions is spent and this thread is not finished.
    Overrun(ThreadId),
    /// The program ended. All later calls return this result.
    Done,
    /// The program ended with a run-time error. All later calls return this result.
    Error(Fault),
}

/// A running URScript program.
pub struct Machine {
    pub(super) program: Program,
    globals: Vec<Option<Value>>,
    /// The threads that still run in this control cycle. Those that wait for the next cycle are in `waiting`.
    ready: VecDeque<Thread>,
    waiting: VecDeque<Thread>,
    next_id: u32,
    ended: Option<Step>,
    pub(super) interactive: Interactive,
}

/// The reason why a thread of the program stopped executing.
enum Exit {
    /// The thread waits for the next control cycle.
    Waits,
    /// The thread yields to threads that have more of this cycle left.
    Yields,
    Ended,
    Exhausted,
    Halt,
}

impl Machine {
    /// Creates a machine for a URScript program that has not begun.
    #[must_use]
    pub fn new(program: Program) -> Self {
        let main = Thread::new(&program, 0, ThreadId::MAIN, None);
        Self {
            globals: vec![None; program.globals as usize],
            ready: VecDeque::from([main]),
            waiting: VecDeque::new(),
            next_id: 1,
            ended: None,
            interactive: Interactive::default(),
            program,
        }
    }

    /// Returns the program that the machine runs.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Runs one control cycle: each thread until it waits, and all together at most `budget` instructions (values that
    /// are copied count by their size). A secondary program must end within one cycle.
    pub fn step(&mut self, host: &mut dyn Host, budget: u32) -> Step {
        if let Some(ended) = &self.ended {
            return ended.clone();
        }
        let step = match self.cycle(host, budget) {
            Ok(Step::Frame | Step::Overrun(_)) if self.program.kind() == ProgramKind::Secondary => {
                Step::Error(Fault { position: self.position(), kind: FaultKind::TooMuchBehind })
            }
            Ok(step) => step,
            Err(fault) => Step::Error(fault),
        };
        if matches!(step, Step::Done | Step::Error(_)) {
            self.ended = Some(step.clone());
            self.ready.clear();
        }
        step
    }

    fn cycle(&mut self, host: &mut dyn Host, mut budget: u32) -> Result<Step, Fault> {
        let mut step = Step::Frame;
        self.ready.iter_mut().for_each(|thread| thread.slice = 1.0);
        while let Some(mut thread) = self.next_thread() {
            let exit = self.run(&mut thread, host, &mut budget).map_err(|kind| thread.fault(kind))?;
            match exit {
                Exit::Halt => return Ok(Step::Done),
                Exit::Ended if thread.id == ThreadId::MAIN => return Ok(Step::Done),
                Exit::Ended => {}
                Exit::Waits => self.waiting.push_back(thread),
                Exit::Yields => self.ready.push_back(thread),
                Exit::Exhausted => {
                    step = Step::Overrun(thread.id);
                    if thread.critical {
                        self.ready.push_front(thread);
                    } else {
                        self.waiting.push_back(thread);
                    }
                    break;
                }
            }
        }
        self.ready.append(&mut self.waiting);
        Ok(step)
    }

    /// Removes and returns the ready thread that has most of this control cycle left; among equals, the one that was
    /// ready first.
    fn next_thread(&mut self) -> Option<Thread> {
        let most = self.ready.iter().map(|thread| thread.slice).fold(0.0, f64::max);
        let at = self.ready.iter().position(|thread| thread.slice >= most).unwrap_or_default();
        self.ready.remove(at)
    }

    /// Returns whether another ready thread has more of this control cycle left than `thread`.
    fn is_behind(&self, thread: &Thread) -> bool {
        thread.slice < 1.0 && self.ready.iter().any(|other| other.slice > thread.slice)
    }

    /// Runs one thread until it waits, yields or ends.
    fn run(&mut self, thread: &mut Thread, host: &mut dyn Host, budget: &mut u32) -> Result<Exit, FaultKind> {
        if let Some(pending) = thread.pending.take() {
            if !self.call(thread, host, pending, budget)? {
                return Ok(Exit::Waits);
            }
            if self.is_behind(thread) {
                return Ok(Exit::Yields);
            }
        }
        while let Some(event) = thread.execute(&self.program, &mut self.globals, budget)? {
            match event {
                Event::Builtin(site, args) => {
                    let first = Pending { site, args, repeat: 0, scratch: 0.0 };
                    let before = thread.slice;
                    if !self.call(thread, host, first, budget)? {
                        return Ok(Exit::Waits);
                    }
                    if thread.slice < before && self.is_behind(thread) {
                        return Ok(Exit::Yields);
                    }
                }
                Event::Run(function) => self.start(thread, function, budget)?,
                Event::Join(handle) => {
                    if matches!(handle, Value::Thread(id) if self.lives(id, thread)) {
                        thread.unpop(handle);
                        thread.again();
                        return Ok(Exit::Waits);
                    }
                }
                Event::Kill(Value::Thread(id)) => {
                    if self.kill(id, thread) {
                        return Ok(Exit::Ended);
                    }
                }
                Event::Kill(_) => {}
                Event::LineEnded => {
                    if !self.next_statement(thread, budget)? {
                        return Ok(Exit::Waits);
                    }
                }
                Event::Ended => return Ok(Exit::Ended),
                Event::Halt => return Ok(Exit::Halt),
            }
        }
        Ok(Exit::Exhausted)
    }

    /// Makes the thread's call of a function; returns `false` if the call must be repeated in the next control cycle.
    fn call(
        &mut self,
        thread: &mut Thread,
        host: &mut dyn Host,
        mut pending: Pending,
        budget: &mut u32,
    ) -> Result<bool, FaultKind> {
        let target = self.program.calls.get(pending.site as usize).map(|site| site.target);
        let Some(Target::Builtin(signature)) = target else { return Ok(true) };
        let limits = &self.program.limits;
        let result = match signature.run {
            Run::Interpreter(order) => return self.order(order, thread, &pending, budget),
            Run::Here(compute) => CallResult::Value(compute(&pending.args, limits)?),
            Run::NotSimulated => return Err(FaultKind::NotSimulated(signature.name)),
            Run::Host => host.call(Call {
                name: signature.name,
                args: &pending.args,
                thread: thread.id,
                position: thread.position,
                repeat: pending.repeat,
                scratch: &mut pending.scratch,
                slice: &mut thread.slice,
            }),
        };
        match result {
            // A value from a host may be arbitrarily large.
            CallResult::Value(value) if value.weight() > limits.list_weight => Err(FaultKind::Limit("list")),
            CallResult::Value(value) => thread.push(value, limits, budget).map(|()| true),
            CallResult::Again => {
                pending.repeat = pending.repeat.saturating_add(1);
                thread.pending = Some(pending);
                Ok(false)
            }
            CallResult::Unknown => Err(FaultKind::NotProvided(signature.name)),
            CallResult::Error(text) => Err(FaultKind::Host(text)),
        }
    }

    fn start(&mut self, parent: &mut Thread, function: u32, budget: &mut u32) -> Result<(), FaultKind> {
        let limits = &self.program.limits;
        let alive = self.ready.len().saturating_add(self.waiting.len()).saturating_add(1);
        if self.program.kind() == ProgramKind::Secondary {
            return Err(FaultKind::TooMuchBehind);
        }
        if alive >= limits.threads {
            return Err(FaultKind::Limit("threads"));
        }
        let id = ThreadId(self.next_id);
        self.next_id = self.next_id.wrapping_add(1).max(1);
        self.ready.push_back(Thread::new(&self.program, function, id, Some(parent.id)));
        parent.push(Value::Thread(id), limits, budget)
    }

    fn lives(&self, id: ThreadId, current: &Thread) -> bool {
        current.id == id || self.ready.iter().chain(&self.waiting).any(|thread| thread.id == id)
    }

    /// Ends a thread and all threads that it started, directly or not; returns whether `current` is among them.
    fn kill(&mut self, id: ThreadId, current: &Thread) -> bool {
        let mut alive: Vec<_> =
            self.ready.iter().chain(&self.waiting).map(|thread| (thread.id, thread.parent)).collect();
        alive.push((current.id, current.parent));
        // A parent is older than its children, so one pass in order of age finds all of them.
        alive.sort_unstable();
        let mut family = vec![id];
        for (child, parent) in alive {
            if parent.is_some_and(|parent| family.contains(&parent)) {
                family.push(child);
            }
        }
        self.ready.retain(|thread| !family.contains(&thread.id));
        self.waiting.retain(|thread| !family.contains(&thread.id));
        family.contains(&current.id)
    }

    /// Returns whether the program is done, or has ended with an error.
    pub(super) fn has_ended(&self) -> bool {
        self.ended.is_some()
    }

    /// Returns the name of the function for which the main thread waits; `None` if it does not wait.
    #[must_use]
    pub fn main_waits_for(&self) -> Option<&'static str> {
        let main = self.ready.iter().find(|thread| thread.id == ThreadId::MAIN)?;
        let site = main.pending.as_ref()?.site;
        match self.program.calls.get(site as usize)?.target {
            Target::Builtin(signature) => Some(signature.name),
            Target::Function(_) => None,
        }
    }

    /// Returns the position in the program's text of the thread that runs next.
    #[must_use]
    pub fn position(&self) -> Position {
        self.ready.front().map_or(Position::START, |thread| thread.position)
    }
}
