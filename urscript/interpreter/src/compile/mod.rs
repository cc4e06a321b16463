//! Compiles text to instructions, in two passes over the tokens. [`declaration_pass`](super::declaration_pass) finds
//! names; then the grammar is read and one instruction list per function is written ([`statement`], [`expression`]).
//! There is no syntax tree. The depth of nesting is limited by a counter, so that no text can exhaust the stack.

mod expression;
mod interactive;
mod statement;

use super::builtins::Builtins;
use super::compiled_code::{CallSite, Function, Op};
use super::declaration_pass::Declarations;
use super::error::{CompileError, CompileErrorKind, Position};
use super::front_removal_list::Growing;
use super::lexer::{self, Placed, Token};
use super::limits::Limits;
use super::program::{Program, ProgramKind};
use super::value::Value;

impl Program {
    /// Compiles one program: the text of one `def` or `sec` with its `end`, or a single line of statements.
    ///
    /// # Errors
    /// The first error in the text, with its position.
    pub fn compile(source: &str, builtins: &Builtins) -> Result<Self, CompileError> {
        Self::compile_within(source, builtins, Limits::default())
    }

    /// Compiles one program within explicit limits, which also apply when it runs.
    ///
    /// # Errors
    /// The first error in the text, with its position.
    pub fn compile_within(source: &str, builtins: &Builtins, limits: Limits) -> Result<Self, CompileError> {
        program(source, builtins, limits)
    }
}

fn program(source: &str, builtins: &Builtins, limits: Limits) -> Result<Program, CompileError> {
    if source.len() > limits.source {
        return Err(CompileError { position: Position::START, kind: CompileErrorKind::TooLong });
    }
    // Lines before the head are counted but have no effect.
    let mut tokens = lexer::tokens(source)?;
    let blank = tokens.iter().take_while(|placed| placed.token == Token::LineEnd).count();
    tokens.drain(..blank);

    let declared = Declarations::read(&tokens)?;
    let mut functions = Growing::default();
    declared.compiled(0).for_each(|function| functions.push(function));
    let mut compiler = Compiler {
        functions,
        tokens: &tokens,
        at: 0,
        declared: &declared,
        builtins,
        limits,
        current: 0,
        next: 1,
        constants: Growing::default(),
        calls: Growing::default(),
        loops: Vec::new(),
        depth: 0,
    };
    let kind = compiler.top()?;
    let Compiler { functions, constants, calls, .. } = compiler;
    let globals = declared.globals();
    let mut program = Program {
        kind,
        functions,
        constants,
        calls,
        globals,
        names: declared,
        arrays: builtins.arrays(),
        joins_texts: builtins.joins_texts(),
        limits,
    };
    program.seal();
    Ok(program)
}

/// The second pass of the compiler, which generates instructions.
struct Compiler<'c, 's> {
    tokens: &'c [Placed<'s>],
    at: usize,
    declared: &'c Declarations,
    builtins: &'c Builtins,
    limits: Limits,
    functions: Growing<Function>,
    /// The number of the function that is being compiled.
    current: u32,
    /// The number of the function whose head follows next in the text.
    next: u32,
    constants: Growing<Value>,
    calls: Growing<CallSite>,
    /// The open `while` loops of the current function, the innermost last.
    loops: Vec<Loop>,
    depth: usize,
}

/// An open `while` loop that is being compiled.
struct Loop {
    /// The index of the first instruction of the loop's condition.
    again: u32,
    /// The indices of the jump instructions out of the loop, whose target is set when the loop ends.
    breaks: Vec<u32>,
}

impl<'s> Compiler<'_, 's> {
    fn placed(&self) -> Placed<'s> {
        let end = Placed { token: Token::End, position: Position::START };
        self.tokens.get(self.at).or(self.tokens.last()).copied().unwrap_or(end)
    }

    fn peek(&self) -> Token<'s> {
        self.placed().token
    }

    fn position(&self) -> Position {
        self.placed().position
    }

    fn advance(&mut self) {
        self.at = self.at.saturating_add(1);
    }

    /// Takes the next token of the text if it equals `token`, and returns whether it did.
    fn accept(&mut self, token: Token<'_>) -> bool {
        let found = self.peek() == token;
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, token: Token<'_>, expected: &'static str) -> Result<(), CompileError> {
        if self.accept(token) { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    fn expect_name(&mut self, expected: &'static str) -> Result<&'s str, CompileError> {
        let Token::Name(name) = self.peek() else { return Err(self.unexpected(expected)) };
        self.advance();
        Ok(name)
    }

    fn unexpected(&self, expected: &'static str) -> CompileError {
        self.error(CompileErrorKind::Syntax { expected, found: self.peek().describe() })
    }

    fn error(&self, kind: CompileErrorKind) -> CompileError {
        CompileError { position: self.position(), kind }
    }

    /// Calls `inner` with the depth of nesting increased by one, and fails if that exceeds the limit.
    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T, CompileError>) -> Result<T, CompileError> {
        self.depth = self.depth.saturating_add(1);
        if self.depth > self.limits.nesting {
            return Err(self.error(CompileErrorKind::NestedTooDeep));
        }
        let result = inner(self);
        self.depth = self.depth.saturating_sub(1);
        result
    }

    /// Appends an instruction to the current function and returns its index.
    fn emit(&mut self, op: Op, position: Position) -> u32 {
        let Some(function) = self.functions.get_mut(self.current as usize) else { return 0 };
        let at = index(function.code.len());
        function.code.push(op);
        function.positions.push(position);
        at
    }

    /// Returns the index of the current function's next instruction.
    fn here(&self) -> u32 {
        self.functions.get(self.current as usize).map_or(0, |function| index(function.code.len()))
    }

    /// Replaces a jump instruction whose target was unknown when it was written.
    fn patch(&mut self, at: u32, op: Op) {
        let code = self.functions.get_mut(self.current as usize).map(|function| &mut function.code);
        if let Some(slot) = code.and_then(|code| code.get_mut(at as usize)) {
            *slot = op;
        }
    }

    fn constant(&mut self, value: Value, position: Position) {
        let number = index(self.constants.len());
        self.constants.push(value);
        self.emit(Op::Constant(number), position);
    }

    /// Compiles a whole text: one program, and the blank lines after it. Returns the program's kind.
    fn top(&mut self) -> Result<ProgramKind, CompileError> {
        let kind = match self.peek() {
            Token::Word("def") => ProgramKind::Primary,
            Token::Word("sec") => ProgramKind::Secondary,
            _ => ProgramKind::Line,
        };
        if kind == ProgramKind::Line {
            self.statements_until(&[Token::End])?;
        } else {
            self.advance();
            self.expect_name("the name of the program")?;
            self.expect(Token::Sign("("), "(")?;
            self.expect(Token::Sign(")"), ") of a program without parameters")?;
            self.expect(Token::Sign(":"), ":")?;
            self.statements_until(&[Token::Word("end")])?;
            self.advance();
        }
        while self.accept(Token::LineEnd) {}
        self.finish_function();
        if self.peek() == Token::End { Ok(kind) } else { Err(self.unexpected("nothing after the end of the program")) }
    }

    /// Writes the end of a function's instructions: a function that ends without `return` returns `None`.
    fn finish_function(&mut self) {
        let position = self.position();
        self.constant(Value::None, position);
        self.emit(Op::Return, position);
    }
}

/// Converts an index of an instruction or another item to `u32`. Program texts are limited far below its range.
fn index(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}
