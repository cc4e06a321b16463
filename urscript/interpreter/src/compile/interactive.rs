//! Compiles lines of interpreter mode: statements that are added to a running program
//! (`core/docs/protocol/ur-external-control.md 3`).

use super::super::builtins::{Builtins, Order, Run};
use super::super::compiled_code::{Mark, Op, Target};
use super::super::error::{CompileError, CompileErrorKind, Position};
use super::super::lexer::{self, Token};
use super::super::program::Program;
use super::Compiler;

impl Program {
    /// Makes everything that is compiled into the program from now on removable by [`Program::forget`]: the lines of
    /// interpreter mode.
    pub(super) fn seal(&mut self) {
        self.functions.seal();
        self.constants.seal();
        self.calls.seal();
        self.names.functions.seal();
    }

    /// Compiles one line as statements within the scope of a function and returns the number of the function that it
    /// becomes.
    pub(in super::super) fn add_line(
        &mut self,
        line: &str,
        within: u32,
        builtins: &Builtins,
    ) -> Result<u32, CompileError> {
        if line.len() > self.limits.source {
            return Err(CompileError { position: Position::START, kind: CompileErrorKind::TooLong });
        }
        let tokens = lexer::tokens(line)?;
        let before = (self.functions.len(), self.constants.len(), self.calls.len());
        let mut names = core::mem::take(&mut self.names);
        let result = names.read_line(within, &tokens).and_then(|number| {
            names.compiled(number as usize).for_each(|function| self.functions.push(function));
            let mut compiler = Compiler {
                functions: core::mem::take(&mut self.functions),
                tokens: &tokens,
                at: 0,
                declared: &names,
                builtins,
                limits: self.limits,
                current: number,
                next: number.saturating_add(1),
                constants: core::mem::take(&mut self.constants),
                calls: core::mem::take(&mut self.calls),
                loops: Vec::new(),
                depth: 0,
            };
            let done = compiler.statements_until(&[Token::End]);
            compiler.finish_function();
            let Compiler { functions, constants, calls, .. } = compiler;
            (self.functions, self.constants, self.calls) = (functions, constants, calls);
            done.map(|()| number)
        });
        match &result {
            Ok(number) => names.keep_line(within, *number),
            Err(_) => {
                let (functions, constants, calls) = before;
                self.functions.truncate(functions);
                self.constants.truncate(constants);
                self.calls.truncate(calls);
                names.functions.truncate(functions);
                names.unname(functions..usize::MAX);
            }
        }
        self.names = names;
        result
    }

    /// Returns whether a line of interpreter mode calls `clear_interpreter()` itself.
    pub(in super::super) fn line_clears(&self, line: u32) -> bool {
        let code = self.functions.get(line as usize).map(|function| function.code.as_slice()).unwrap_or_default();
        code.iter().any(|op| {
            let Op::Call(site) = op else { return false };
            let target = self.calls.get(*site as usize).map(|call| call.target);
            matches!(target, Some(Target::Builtin(builtin)) if matches!(builtin.run, Run::Interpreter(Order::Clear)))
        })
    }

    /// Returns whether a line of interpreter mode was compiled within the function `scope`.
    pub(in super::super) fn belongs(&self, line: u32, scope: u32) -> bool {
        self.names.functions.get(line as usize).is_some_and(|line| line.within == Some(scope))
    }

    /// Returns a mark of how much has been compiled so far, for [`Program::forget`].
    pub(in super::super) fn mark(&self) -> Mark {
        Mark { functions: self.functions.len(), constants: self.constants.len(), calls: self.calls.len() }
    }

    /// Removes the names of the functions that were compiled between two marks, so that later lines cannot call
    /// them.
    pub(in super::super) fn unname_lines(&mut self, from: Mark, to: Mark) {
        self.names.unname(from.functions..to.functions);
    }

    /// Removes the compiled lines of interpreter mode that precede the mark `before`.
    pub(in super::super) fn forget(&mut self, before: Mark) {
        self.functions.forget(before.functions);
        self.names.functions.forget(before.functions);
        self.constants.forget(before.constants);
        self.calls.forget(before.calls);
    }
}
