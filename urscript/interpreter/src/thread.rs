//! A thread of a running program: its frames, its values, and the call it waits for.

use super::compiled_code::{Binary, Function, Op, VariableSlot};
use super::error::{Fault, FaultKind, Position};
use super::limits::Limits;
use super::operators;
use super::program::Program;
use super::pure::strings;
use super::value::{ThreadId, Value};

/// The action that an instruction of a thread needs from the machine.
pub(super) enum Event {
    /// Make the built-in call with this number and these arguments.
    Builtin(u32, Vec<Value>),
    /// Start the function with this number as a thread and push its handle.
    Run(u32),
    /// Wait for the end of the thread with this handle.
    Join(Value),
    /// End the thread with this handle and the threads that it started.
    Kill(Value),
    /// A line of interpreter mode that the thread executed has ended.
    LineEnded,
    /// The thread's function returned, which ends the thread.
    Ended,
    /// End the whole program.
    Halt,
}

/// A thread's call of a built-in function. It is repeated in the next control cycle if the function takes time.
pub(super) struct Pending {
    pub(super) site: u32,
    pub(super) args: Vec<Value>,
    pub(super) repeat: u32,
    pub(super) scratch: f64,
}

pub(super) struct Thread {
    pub(super) id: ThreadId,
    pub(super) parent: Option<ThreadId>,
    pub(super) pending: Option<Pending>,
    /// The remaining part of the thread's control cycle, 1 at the beginning.
    pub(super) slice: f64,
    /// `true` between `enter_critical` and `exit_critical`: if the budget of instructions is spent, this thread
    /// continues first in the next control cycle.
    pub(super) critical: bool,
    /// The position of the current instruction in the program's text.
    pub(super) position: Position,
    frames: Vec<Frame>,
    stack: Vec<Value>,
}

/// A function call that a thread has entered and not left.
struct Frame {
    function: u32,
    next: u32,
    /// The function's parameters and local variables; `None` before the first assignment.
    locals: Vec<Option<Value>>,
    /// `true` for a line of interpreter mode, which uses the variables of the function call below it.
    line: bool,
}

impl Frame {
    fn new(program: &Program, function: u32) -> Self {
        let locals = program.functions.get(function as usize).map_or(0, |function| function.locals);
        Self { function, next: 0, locals: vec![None; locals as usize], line: false }
    }
}

impl Thread {
    pub(super) fn new(program: &Program, function: u32, id: ThreadId, parent: Option<ThreadId>) -> Self {
        Self {
            id,
            parent,
            pending: None,
            slice: 1.0,
            critical: false,
            position: Position::START,
            frames: vec![Frame::new(program, function)],
            stack: Vec::new(),
        }
    }

    pub(super) fn fault(&self, kind: FaultKind) -> Fault {
        Fault { position: self.position, kind }
    }

    /// Pushes a value on the thread's stack and subtracts its size from the budget of instructions.
    #[inline]
    pub(super) fn push(&mut self, value: Value, limits: &Limits, budget: &mut u32) -> Result<(), FaultKind> {
        push(&mut self.stack, value, limits, budget)
    }

    /// Removes and returns the topmost value of the thread's stack. The compiler guarantees that each instruction finds
    /// the values it takes.
    fn pop(&mut self) -> Value {
        self.stack.pop().unwrap_or_default()
    }

    fn pop_many(&mut self, count: usize) -> Vec<Value> {
        self.stack.split_off(self.stack.len().saturating_sub(count))
    }

    /// Returns the index of the topmost `count` values of the thread's stack, and the values in stack order.
    fn top(&self, count: usize) -> (usize, &[Value]) {
        let first = self.stack.len().saturating_sub(count);
        (first, self.stack.get(first..).unwrap_or_default())
    }

    /// Makes the thread execute the instruction again that it has just executed.
    pub(super) fn again(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.next = frame.next.saturating_sub(1);
        }
    }

    /// Pushes the value back that [`Event::Join`] took off the thread's stack.
    pub(super) fn unpop(&mut self, value: Value) {
        self.stack.push(value);
    }

    /// Executes instructions until one needs an action from the machine, and returns the action; `None` when the
    /// budget of instructions is spent.
    pub(super) fn execute(
        &mut self,
        program: &Program,
        globals: &mut [Option<Value>],
        budget: &mut u32,
    ) -> Result<Option<Event>, FaultKind> {
        while *budget > 0 {
            let function = self.frames.last().and_then(|frame| program.functions.get(frame.function as usize));
            let Some(function) = function else {
                *budget = budget.saturating_sub(1);
                return Ok(Some(Event::Ended));
            };
            let event = self.execute_function(function, program, globals, budget)?;
            if event.is_some() {
                return Ok(event);
            }
        }
        Ok(None)
    }

    /// Executes instructions of the present function until one calls a function or returns, or needs an action from the
    /// machine, which is returned.
    fn execute_function(
        &mut self,
        function: &Function,
        program: &Program,
        globals: &mut [Option<Value>],
        budget: &mut u32,
    ) -> Result<Option<Event>, FaultKind> {
        while *budget > 0 {
            *budget = budget.saturating_sub(1);
            let Some(frame) = self.frames.last_mut() else { return Ok(Some(Event::Ended)) };
            let at = frame.next as usize;
            let (Some(op), Some(position)) = (function.code.get(at), function.positions.get(at)) else {
                return Ok(Some(Event::Ended));
            };
            frame.next = frame.next.saturating_add(1);
            self.position = *position;
            let event = self.advance(*op, program, globals, budget)?;
            if event.is_some() || matches!(op, Op::Call(_) | Op::Return) {
                return Ok(event);
            }
        }
        Ok(None)
    }

    /// Executes one instruction and returns the action that it needs from the machine; `None` if it needs none.
    #[inline]
    fn advance(
        &mut self,
        op: Op,
        program: &Program,
        globals: &mut [Option<Value>],
        budget: &mut u32,
    ) -> Result<Option<Event>, FaultKind> {
        let limits = &program.limits;
        match op {
            Op::Constant(number) => {
                let value = program.constants.get(number as usize).unwrap_or(&Value::None);
                push(&mut self.stack, value.copied(), limits, budget)?;
            }
            Op::Load(place) => {
                let value = variable(&self.frames, place, globals).ok_or(FaultKind::NotAssigned)?;
                push(&mut self.stack, value.copied(), limits, budget)?;
            }
            Op::LoadElement(place, count) => {
                let (first, indices) = self.top(count as usize);
                let base = variable(&self.frames, place, globals).ok_or(FaultKind::NotAssigned)?;
                let value = operators::element(base, indices)?.to_value();
                self.stack.truncate(first);
                self.push(value, limits, budget)?;
            }
            Op::Store(place) => {
                let value = self.pop();
                if let Some(slot) = slot_of(&mut self.frames, place, globals) {
                    *slot = Some(value);
                }
            }
            Op::StoreElement(place, count) => {
                let value = self.pop();
                let (first, _) = self.top(count as usize);
                let nests = matches!(value, Value::List(_) | Value::Struct(_));
                let slot = slot_of(&mut self.frames, place, globals);
                let Some(Some(base)) = slot else { return Err(FaultKind::NotAssigned) };
                operators::set_element(base, self.stack.get(first..).unwrap_or_default(), value)?;
                self.stack.truncate(first);
                if nests {
                    if !base.fits(limits) {
                        return Err(FaultKind::Limit("list"));
                    }
                    charge(budget, base.weight());
                }
            }
            Op::List(count) => {
                let list = Value::List(self.pop_many(count as usize));
                if !list.fits(limits) {
                    return Err(FaultKind::Limit("list"));
                }
                self.push(list, limits, budget)?;
            }
            Op::Pose => {
                let items = Value::List(self.pop_many(6));
                let fault = FaultKind::Type { operation: "p[]", found: "a value that is no number" };
                self.push(Value::Pose(items.vector().ok_or(fault)?), limits, budget)?;
            }
            Op::Struct(number) => {
                let Some(Value::Struct(mut members)) = program.constants.get(number as usize).cloned() else {
                    return Ok(Some(Event::Ended));
                };
                let values = self.pop_many(members.len());
                for ((_, member), value) in members.iter_mut().zip(values) {
                    *member = value;
                }
                let value = Value::Struct(members);
                if !value.fits(limits) {
                    return Err(FaultKind::Limit("struct"));
                }
                self.push(value, limits, budget)?;
            }
            Op::Index(count) => {
                let (first, indices) = self.top(count as usize);
                let base = first.checked_sub(1).and_then(|below| self.stack.get(below)).unwrap_or(&Value::None);
                let value = operators::element(base, indices)?.to_value();
                self.stack.truncate(first.saturating_sub(1));
                self.push(value, limits, budget)?;
            }
            Op::Unary(operator) => {
                let value = self.pop();
                self.push(operator.apply(&value)?, limits, budget)?;
            }
            Op::Binary(operator) => {
                // Moving values takes most of the time of an instruction: two floats are replaced where they are.
                if let [.., first @ Value::Float(_), Value::Float(right)] = self.stack.as_mut_slice()
                    && let Value::Float(left) = *first
                    && let Some(value) = operator.floats(left, *right)
                {
                    *first = value;
                    self.stack.truncate(self.stack.len().saturating_sub(1));
                    charge(budget, 1);
                    return Ok(None);
                }
                let (first, operands) = self.top(2);
                let [left, right] = operands else { return Ok(Some(Event::Ended)) };
                let lists = operands.iter().any(|value| matches!(value, Value::List(_)));
                let texts = operands.iter().any(|value| matches!(value, Value::String(_)));
                let value = if program.joins_texts && texts && operator == Binary::Add {
                    strings::str_cat(operands, limits)?
                } else if program.arrays && lists && operator.is_arithmetic() {
                    let (value, work) = operator.arrays(left, right)?;
                    if !value.fits(limits) {
                        return Err(FaultKind::Limit("list"));
                    }
                    charge(budget, work);
                    value
                } else {
                    operator.apply(left, right)?
                };
                self.stack.truncate(first);
                self.push(value, limits, budget)?;
            }
            Op::Jump(to) => self.jump(to),
            Op::JumpUnless(to) => {
                let (first, conditions) = self.top(1);
                let holds = truth(conditions.first().unwrap_or(&Value::None))?;
                self.stack.truncate(first);
                if !holds {
                    self.jump(to);
                }
            }
            Op::And(to) | Op::Or(to) => {
                let left = self.pop();
                let decides = matches!(op, Op::Or(_));
                if truth(&left)? == decides {
                    self.push(Value::Bool(decides), limits, budget)?;
                    self.jump(to);
                }
            }
            Op::JumpIfGiven(slot, to) => {
                let frame = self.frames.last();
                if frame.and_then(|frame| frame.locals.get(slot as usize)).is_some_and(Option::is_some) {
                    self.jump(to);
                }
            }
            Op::NoMethod(name, count) => {
                let (first, _) = self.top(count as usize);
                let object = first.checked_sub(1).and_then(|below| self.stack.get(below)).unwrap_or(&Value::None);
                let name = program.constants.get(name as usize).and_then(Value::text).unwrap_or_default();
                return Err(FaultKind::NoMethod { name: name.into(), found: object.kind() });
            }
            Op::Call(site) => return self.call(program, site, budget),
            Op::Return => {
                let value = self.pop();
                let over = self.frames.pop();
                if let Some(Frame { locals, line: true, .. }) = over {
                    if let Some(scope) = self.frames.last_mut() {
                        scope.locals = locals;
                    }
                    return Ok(Some(Event::LineEnded));
                }
                if self.frames.is_empty() {
                    return Ok(Some(Event::Ended));
                }
                self.push(value, limits, budget)?;
            }
            Op::Discard => {
                self.pop();
            }
            Op::EnterCritical => self.critical = true,
            Op::ExitCritical => self.critical = false,
            Op::Run(function) => return Ok(Some(Event::Run(function))),
            Op::Join => return Ok(Some(Event::Join(self.pop()))),
            Op::Kill => return Ok(Some(Event::Kill(self.pop()))),
            Op::Halt => return Ok(Some(Event::Halt)),
        }
        Ok(None)
    }

    fn call(&mut self, program: &Program, site: u32, budget: &mut u32) -> Result<Option<Event>, FaultKind> {
        use super::compiled_code::Target;
        let Some(call) = program.calls.get(site as usize) else { return Ok(Some(Event::Ended)) };
        let given = self.pop_many(call.slots.len());
        match call.target {
            Target::Function(function) => {
                if program.functions.get(function as usize).is_none() {
                    return Err(FaultKind::Interpreter("the function was cleared"));
                }
                if self.frames.len() >= program.limits.frames {
                    return Err(FaultKind::Limit("frames"));
                }
                let mut frame = Frame::new(program, function);
                for (slot, value) in call.slots.iter().zip(given) {
                    if let Some(local) = frame.locals.get_mut(*slot as usize) {
                        *local = Some(value);
                    }
                }
                charge(budget, frame.locals.len());
                self.frames.push(frame);
                Ok(None)
            }
            Target::Builtin(signature) => {
                let mut args = signature.defaults();
                for (slot, value) in call.slots.iter().zip(given) {
                    if let Some(arg) = args.get_mut(*slot as usize) {
                        *arg = value;
                    }
                }
                Ok(Some(Event::Builtin(site, args)))
            }
        }
    }

    /// Returns the number of the function that the thread executes now.
    pub(super) fn function(&self) -> u32 {
        self.frames.last().map_or(0, |frame| frame.function)
    }

    /// Continues with a line of interpreter mode, which uses the variables of the present function.
    pub(super) fn enter_line(&mut self, program: &Program, function: u32) -> Result<(), FaultKind> {
        if self.frames.len() >= program.limits.frames {
            return Err(FaultKind::Limit("frames"));
        }
        let mut frame = Frame { line: true, ..Frame::new(program, function) };
        if let Some(scope) = self.frames.last_mut() {
            let wanted = frame.locals.len().max(scope.locals.len());
            frame.locals = core::mem::take(&mut scope.locals);
            frame.locals.resize(wanted, None);
        }
        self.frames.push(frame);
        Ok(())
    }

    fn jump(&mut self, to: u32) {
        if let Some(frame) = self.frames.last_mut() {
            frame.next = to;
        }
    }
}

/// Pushes a value on a thread's stack and subtracts its size from the budget of instructions.
#[inline]
fn push(stack: &mut Vec<Value>, value: Value, limits: &Limits, budget: &mut u32) -> Result<(), FaultKind> {
    charge(budget, value.weight());
    if stack.len() >= limits.stack {
        return Err(FaultKind::Limit("stack"));
    }
    stack.push(value);
    Ok(())
}

fn variable<'v>(frames: &'v [Frame], place: VariableSlot, globals: &'v [Option<Value>]) -> Option<&'v Value> {
    match place {
        VariableSlot::Global(slot) => globals.get(slot as usize)?.as_ref(),
        VariableSlot::Local(slot) => frames.last()?.locals.get(slot as usize)?.as_ref(),
    }
}

fn slot_of<'v>(
    frames: &'v mut [Frame],
    place: VariableSlot,
    globals: &'v mut [Option<Value>],
) -> Option<&'v mut Option<Value>> {
    match place {
        VariableSlot::Global(slot) => globals.get_mut(slot as usize),
        VariableSlot::Local(slot) => frames.last_mut()?.locals.get_mut(slot as usize),
    }
}

/// Subtracts work that grows with the size of values from the budget of instructions.
fn charge(budget: &mut u32, work: usize) {
    *budget = budget.saturating_sub(u32::try_from(work).unwrap_or(u32::MAX));
}

fn truth(value: &Value) -> Result<bool, FaultKind> {
    value.truth().ok_or_else(|| FaultKind::Type { operation: "condition", found: value.kind() })
}
