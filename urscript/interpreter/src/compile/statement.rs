//! Compiles statements and blocks of URScript to instructions.

use super::super::compiled_code::{Op, VariableSlot};
use super::super::error::{CompileError, Position};
use super::super::lexer::Token;
use super::super::value::Value;
use super::{CompileErrorKind, Compiler, Loop};

impl<'s> Compiler<'_, 's> {
    /// Compiles statements up to one of the tokens `ends`, which is not consumed.
    pub(super) fn statements_until(&mut self, ends: &[Token<'_>]) -> Result<(), CompileError> {
        self.nested(|this| {
            loop {
                while this.accept(Token::LineEnd) {}
                if ends.contains(&this.peek()) {
                    return Ok(());
                }
                this.statement()?;
            }
        })
    }

    fn statement(&mut self) -> Result<(), CompileError> {
        let position = self.position();
        let Token::Word(word) = self.peek() else { return self.assignment_or_call() };
        match word {
            "def" | "thread" => return self.function(),
            "if" => return self.branch(),
            "while" => return self.repeat(),
            _ => {}
        }
        self.advance();
        match word {
            "global" | "local" => {
                let name = self.expect_name("the name of a variable")?;
                let place = self.place(name)?;
                if self.accept(Token::Sign("=")) {
                    self.expression()?;
                    self.emit(Op::Store(place), position);
                }
            }
            "return" => {
                if matches!(self.peek(), Token::LineEnd | Token::Word("end") | Token::End) {
                    self.constant(Value::None, position);
                } else {
                    self.expression()?;
                }
                self.emit(Op::Return, position);
            }
            "break" | "continue" => {
                let out = self.emit(Op::Jump(0), position);
                let Some(innermost) = self.loops.last_mut() else {
                    let kind = CompileErrorKind::Syntax { expected: "a loop around it", found: word.into() };
                    return Err(CompileError { position, kind });
                };
                if word == "break" {
                    innermost.breaks.push(out);
                } else {
                    let again = innermost.again;
                    self.patch(out, Op::Jump(again));
                }
            }
            "join" | "kill" => {
                self.expression()?;
                self.emit(if word == "join" { Op::Join } else { Op::Kill }, position);
            }
            "run" => {
                self.run(position)?;
                self.emit(Op::Discard, position);
            }
            "halt" => {
                self.emit(Op::Halt, position);
            }
            "enter_critical" => {
                self.emit(Op::EnterCritical, position);
            }
            "exit_critical" => {
                self.emit(Op::ExitCritical, position);
            }
            "pause" => {
                self.call_without_arguments("pause", position)?;
                self.emit(Op::Discard, position);
            }
            _ => {
                self.at = self.at.saturating_sub(1);
                return Err(self.unexpected("a statement"));
            }
        }
        Ok(())
    }

    fn assignment_or_call(&mut self) -> Result<(), CompileError> {
        let position = self.position();
        // `p[0] = …` if `p` is a variable.
        if self.peek() == Token::Sign("p[")
            && let Ok(place) = self.variable("p", position)
        {
            self.advance();
            let indices = self.items()?;
            let indices = indices.saturating_add(self.subscripts()?);
            return self.store_element(place, indices, position);
        }
        let name = self.expect_name("a statement")?;
        match self.peek() {
            Token::Sign("=") => {
                self.advance();
                let place = self.place(name)?;
                self.expression()?;
                self.emit(Op::Store(place), position);
            }
            Token::Sign("[") if self.declared.place(self.current, name).is_none() => {
                let Some(setter) = self.builtins.assigned(name) else {
                    return Err(CompileError { position, kind: CompileErrorKind::NameNotFound(name.into()) });
                };
                self.set_element(setter, position)?;
            }
            Token::Sign("[" | ".") => {
                let place = self.variable(name, position)?;
                let indices = self.subscripts()?;
                if self.is_method(place, indices, position)? {
                    return Ok(());
                }
                self.store_element(place, indices, position)?;
            }
            Token::Sign("(") => {
                self.call(name, position)?;
                if self.calls_method() {
                    self.parts()?;
                }
                self.emit(Op::Discard, position);
            }
            _ if self.declared.place(self.current, name).is_none() => {
                return Err(CompileError { position, kind: CompileErrorKind::NameNotFound(name.into()) });
            }
            _ => return Err(self.unexpected("=, [ or (")),
        }
        Ok(())
    }

    /// Compiles a method call `.name(…)` if one follows the indices of a variable, with code that drops its value.
    /// Returns `false` if none follows.
    fn is_method(&mut self, place: VariableSlot, indices: u32, position: Position) -> Result<bool, CompileError> {
        if !self.calls_method() {
            return Ok(false);
        }
        self.emit(if indices == 0 { Op::Load(place) } else { Op::LoadElement(place, indices) }, position);
        self.parts()?;
        self.emit(Op::Discard, position);
        Ok(true)
    }

    /// Compiles the assignment `= value` after the indices of a variable's element.
    fn store_element(&mut self, place: VariableSlot, indices: u32, position: Position) -> Result<(), CompileError> {
        self.expect(Token::Sign("="), "=")?;
        self.expression()?;
        self.emit(Op::StoreElement(place, indices), position);
        Ok(())
    }

    /// Returns the location of the variable `name`, to which a value is assigned. The first pass has found the
    /// variable unless the text is invalid.
    fn place(&self, name: &str) -> Result<VariableSlot, CompileError> {
        self.declared.place(self.current, name).ok_or_else(|| self.unexpected("an assignment"))
    }

    fn branch(&mut self) -> Result<(), CompileError> {
        let mut to_end = Vec::new();
        loop {
            let position = self.position();
            // `if` or `elif`.
            self.advance();
            self.expression()?;
            self.expect(Token::Sign(":"), ":")?;
            let past = self.emit(Op::JumpUnless(0), position);
            self.statements_until(&[Token::Word("elif"), Token::Word("else"), Token::Word("end")])?;
            if self.peek() != Token::Word("end") {
                let position = self.position();
                to_end.push(self.emit(Op::Jump(0), position));
            }
            self.patch(past, Op::JumpUnless(self.here()));
            if self.peek() != Token::Word("elif") {
                break;
            }
        }
        if self.accept(Token::Word("else")) {
            self.expect(Token::Sign(":"), ":")?;
            self.statements_until(&[Token::Word("end")])?;
        }
        self.advance();
        for jump in to_end {
            self.patch(jump, Op::Jump(self.here()));
        }
        Ok(())
    }

    fn repeat(&mut self) -> Result<(), CompileError> {
        let position = self.position();
        self.advance();
        let again = self.here();
        self.expression()?;
        self.expect(Token::Sign(":"), ":")?;
        let past = self.emit(Op::JumpUnless(0), position);
        self.loops.push(Loop { again, breaks: Vec::new() });
        self.statements_until(&[Token::Word("end")])?;
        self.advance();
        self.emit(Op::Jump(again), position);
        self.patch(past, Op::JumpUnless(self.here()));
        for jump in self.loops.pop().map(|done| done.breaks).unwrap_or_default() {
            self.patch(jump, Op::Jump(self.here()));
        }
        Ok(())
    }

    /// Compiles a `def` or `thread` within the program to its own list of instructions.
    fn function(&mut self) -> Result<(), CompileError> {
        let thread = self.peek() == Token::Word("thread");
        self.advance();
        let outer = (core::mem::replace(&mut self.current, self.next), core::mem::take(&mut self.loops));
        self.next = self.next.saturating_add(1);
        self.expect_name("the name of the function")?;
        self.expect(Token::Sign("("), "(")?;
        if thread {
            self.expect(Token::Sign(")"), ") of a thread without parameters")?;
        } else {
            self.parameters()?;
        }
        self.expect(Token::Sign(":"), ":")?;
        self.statements_until(&[Token::Word("end")])?;
        self.finish_function();
        self.advance();
        (self.current, self.loops) = outer;
        Ok(())
    }

    /// Compiles the parameters, with code that fills in the defaults of arguments that a call leaves out.
    fn parameters(&mut self) -> Result<(), CompileError> {
        if self.accept(Token::Sign(")")) {
            return Ok(());
        }
        let declared = self.declared.functions.get(self.current as usize);
        if declared.is_some_and(|function| function.params.len() > self.limits.parameters) {
            return Err(self.error(CompileErrorKind::TooManyParameters));
        }
        loop {
            let position = self.position();
            let name = self.expect_name("the name of a parameter")?;
            if self.accept(Token::Sign("=")) {
                let Some(VariableSlot::Local(slot)) = self.declared.place(self.current, name) else {
                    return Err(self.unexpected("the name of a parameter"));
                };
                let given = self.emit(Op::JumpIfGiven(slot, 0), position);
                self.expression()?;
                self.emit(Op::Store(VariableSlot::Local(slot)), position);
                self.patch(given, Op::JumpIfGiven(slot, self.here()));
            }
            if self.accept(Token::Sign(")")) {
                return Ok(());
            }
            self.expect(Token::Sign(","), ", or )")?;
        }
    }
}
