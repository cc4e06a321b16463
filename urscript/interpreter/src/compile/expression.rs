//! Compiles expressions, calls and their arguments.
//!
//! Binding, weakest first: `or` · `xor` · `and` · `not` · comparison · `+ -` · `* / %` · sign · `[ ]`. `and` and `or`
//! do not evaluate their right side if the left one decides.

use super::super::builtins::Signature;
use super::super::compiled_code::{Binary, CallSite, Op, Target, Unary, VariableSlot};
use super::super::error::{ArgumentsError, CompileError, Position};
use super::super::lexer::Token;
use super::super::value::Value;
use super::{CompileErrorKind, Compiler, index};

/// Returns the binding strength of an operator with two operands, and its instruction; `None` if the token is no such
/// operator.
fn binding(token: Token<'_>) -> Option<(u8, Infix)> {
    use Binary::{
        Add, Divide, Equal, Greater, GreaterEqual, Less, LessEqual, Multiply, NotEqual, Remainder, Subtract, Xor,
    };
    Some(match token {
        Token::Word("or") => (1, Infix::Or),
        Token::Word("xor") => (2, Infix::Binary(Xor)),
        Token::Word("and") => (3, Infix::And),
        Token::Sign("==") => (NOT, Infix::Binary(Equal)),
        Token::Sign("!=") => (NOT, Infix::Binary(NotEqual)),
        Token::Sign("<") => (NOT, Infix::Binary(Less)),
        Token::Sign("<=") => (NOT, Infix::Binary(LessEqual)),
        Token::Sign(">") => (NOT, Infix::Binary(Greater)),
        Token::Sign(">=") => (NOT, Infix::Binary(GreaterEqual)),
        Token::Sign("+") => (5, Infix::Binary(Add)),
        Token::Sign("-") => (5, Infix::Binary(Subtract)),
        Token::Sign("*") => (6, Infix::Binary(Multiply)),
        Token::Sign("/") => (6, Infix::Binary(Divide)),
        Token::Sign("%") => (6, Infix::Binary(Remainder)),
        _ => return None,
    })
}

/// The weakest binding strength of an operator that may occur in the operand of `not`.
const NOT: u8 = 4;
/// The weakest binding strength of an operator that may occur in the operand of a sign. No operator with two operands
/// binds so strongly.
const SIGN: u8 = 7;

#[derive(Clone, Copy)]
enum Infix {
    And,
    Or,
    Binary(Binary),
}

impl<'c, 's> Compiler<'c, 's> {
    /// Compiles one expression; when executed, it leaves its value on the stack.
    pub(super) fn expression(&mut self) -> Result<(), CompileError> {
        self.operands(0)
    }

    /// Compiles an expression of operators that bind at least as strongly as `weakest`. The depth of recursion between
    /// two operands is limited by the number of binding strengths.
    fn operands(&mut self, weakest: u8) -> Result<(), CompileError> {
        self.nested(Self::operand)?;
        while let Some((strength, infix)) = binding(self.peek()).filter(|(strength, _)| *strength >= weakest) {
            let position = self.position();
            self.advance();
            let right = strength.saturating_add(1);
            match infix {
                Infix::Binary(operator) => {
                    self.operands(right)?;
                    self.emit(Op::Binary(operator), position);
                }
                Infix::And | Infix::Or => {
                    let op = if matches!(infix, Infix::And) { Op::And } else { Op::Or };
                    let decided = self.emit(op(0), position);
                    self.operands(right)?;
                    self.emit(Op::Unary(Unary::Truth), position);
                    self.patch(decided, op(self.here()));
                }
            }
        }
        Ok(())
    }

    fn operand(&mut self) -> Result<(), CompileError> {
        let position = self.position();
        let unary = match self.peek() {
            Token::Word("not") => Some((Unary::Not, NOT)),
            Token::Sign("-") => Some((Unary::Negate, SIGN)),
            Token::Sign("+") => Some((Unary::Plus, SIGN)),
            _ => None,
        };
        if let Some((operator, weakest)) = unary {
            self.advance();
            self.operands(weakest)?;
            self.emit(Op::Unary(operator), position);
            return Ok(());
        }
        self.primary()?;
        self.parts()
    }

    /// Compiles the elements, members and methods that the text selects of the value on the stack.
    pub(super) fn parts(&mut self) -> Result<(), CompileError> {
        loop {
            let bracket = self.position();
            let count = self.subscripts()?;
            if count > 0 {
                self.emit(Op::Index(count), bracket);
            }
            if !self.method()? {
                return Ok(());
            }
        }
    }

    /// Compiles a method call `.name(…)` of the value on the stack; returns `false` if none follows.
    fn method(&mut self) -> Result<bool, CompileError> {
        if !self.calls_method() {
            return Ok(false);
        }
        self.advance();
        let position = self.position();
        let name = self.expect_name("the name of a method")?;
        let given = self.given()?;
        if let Some(callee) = self.builtins.method(name).map(|signature| self.builtin(signature))
            && let Some(slots) = callee.slots(&given)
        {
            self.emit_call(&callee, slots, position);
            return Ok(true);
        }
        // A program at the other end determines the names and arguments of its methods.
        let number = index(self.constants.len());
        self.constants.push(Value::String(name.into()));
        self.emit(Op::NoMethod(number, index(given.len())), position);
        Ok(true)
    }

    /// Compiles the arguments of a method, `(a, b, name=c)`; their values are on the stack afterwards. Returns an entry
    /// per argument: its name if it has one.
    fn given(&mut self) -> Result<Vec<Option<&'s str>>, CompileError> {
        let mut given = Vec::new();
        self.expect(Token::Sign("("), "(")?;
        while !self.accept(Token::Sign(")")) {
            if !given.is_empty() {
                self.expect(Token::Sign(","), ", or )")?;
            }
            let name = self.argument_name();
            self.expression()?;
            given.push(name);
        }
        Ok(given)
    }

    /// Returns whether a method call follows in the text, on software that has methods.
    pub(super) fn calls_method(&self) -> bool {
        let ahead = |more: usize| self.tokens.get(self.at.saturating_add(more)).map(|placed| placed.token);
        self.builtins.has_methods()
            && ahead(0) == Some(Token::Sign("."))
            && matches!(ahead(1), Some(Token::Name(_)))
            && ahead(2) == Some(Token::Sign("("))
    }

    fn primary(&mut self) -> Result<(), CompileError> {
        let position = self.position();
        let constant = match self.peek() {
            Token::Int(value) => Value::Int(value),
            Token::Float(value) => Value::Float(value),
            Token::Text(text) => Value::String(text.into()),
            Token::Word("True") => Value::Bool(true),
            Token::Word("False") => Value::Bool(false),
            Token::Word("None") => Value::None,
            Token::Name(name) => {
                self.advance();
                if self.peek() == Token::Sign("(") {
                    if name == "struct" && self.builtins.has_structs() {
                        return self.structure(position);
                    }
                    return self.call(name, position);
                }
                let place = self.variable(name, position)?;
                let indices = self.subscripts()?;
                let load = if indices == 0 { Op::Load(place) } else { Op::LoadElement(place, indices) };
                self.emit(load, position);
                return Ok(());
            }
            Token::Word("run") => {
                self.advance();
                return self.run(position);
            }
            Token::Sign("(") => {
                self.advance();
                self.expression()?;
                return self.expect(Token::Sign(")"), ")");
            }
            Token::Sign("[") => {
                self.advance();
                let count = self.items()?;
                self.emit(Op::List(count), position);
                return Ok(());
            }
            Token::Sign("p[") => {
                self.advance();
                let count = self.items()?;
                // `p[0]` is an element if `p` is a variable: clients use this name for parameters.
                if count != 6
                    && let Ok(place) = self.variable("p", position)
                {
                    let indices = count.saturating_add(self.subscripts()?);
                    self.emit(Op::LoadElement(place, indices), position);
                    return Ok(());
                }
                if count != 6 {
                    let found = "another number of them".into();
                    let kind = CompileErrorKind::Syntax { expected: "six numbers of a pose", found };
                    return Err(CompileError { position, kind });
                }
                self.emit(Op::Pose, position);
                return Ok(());
            }
            _ => return Err(self.unexpected("a value")),
        };
        self.advance();
        self.constant(constant, position);
        Ok(())
    }

    /// Returns the location of the variable `name`, which is read at `position`.
    pub(super) fn variable(&self, name: &str, position: Position) -> Result<VariableSlot, CompileError> {
        let kind = || CompileErrorKind::NameNotFound(name.into());
        self.declared.place(self.current, name).ok_or_else(|| CompileError { position, kind: kind() })
    }

    /// Compiles `[a][b, c].d` after a variable and returns the number of indices, 0 if there are none. A member counts
    /// as one index, which is its name; a method does not count.
    pub(super) fn subscripts(&mut self) -> Result<u32, CompileError> {
        let mut count = 0_u32;
        loop {
            if self.accept(Token::Sign("[")) {
                count = count.saturating_add(self.indices()?);
            } else if !self.calls_method() && self.accept(Token::Sign(".")) {
                let position = self.position();
                let (Token::Name(name) | Token::Word(name)) = self.peek() else {
                    return Err(self.unexpected("the name of a member"));
                };
                self.advance();
                self.constant(Value::String(name.into()), position);
                count = count.saturating_add(1);
            } else {
                return Ok(count);
            }
        }
    }

    /// Compiles the members `(a=…, b=…)` of a struct, after the word `struct`.
    fn structure(&mut self, position: Position) -> Result<(), CompileError> {
        self.expect(Token::Sign("("), "(")?;
        let mut members: Vec<(String, Value)> = Vec::new();
        while !self.accept(Token::Sign(")")) {
            if !members.is_empty() {
                self.expect(Token::Sign(","), ", or )")?;
            }
            let place = self.position();
            let Some(name) = self.argument_name() else { return Err(self.unexpected("the name of a member")) };
            if members.iter().any(|(known, _)| known == name) {
                return Err(CompileError { position: place, kind: CompileErrorKind::NameAlreadyDefined(name.into()) });
            }
            self.expression()?;
            members.push((name.into(), Value::None));
        }
        let number = index(self.constants.len());
        self.constants.push(Value::Struct(members));
        self.emit(Op::Struct(number), position);
        Ok(())
    }

    /// Compiles the indices `a, b]` of an element, at least one, and returns their number.
    fn indices(&mut self) -> Result<u32, CompileError> {
        if self.peek() == Token::Sign("]") {
            return Err(self.unexpected("an index"));
        }
        self.items()
    }

    /// Compiles the items `a, b, c]` of a list, which may be empty, and returns their number.
    pub(super) fn items(&mut self) -> Result<u32, CompileError> {
        let mut count = 0_u32;
        if self.accept(Token::Sign("]")) {
            return Ok(count);
        }
        loop {
            self.expression()?;
            count = count.saturating_add(1);
            if self.accept(Token::Sign("]")) {
                return Ok(count);
            }
            self.expect(Token::Sign(","), ", or ]")?;
        }
    }

    /// Compiles the call `name()` after `run`, which starts a thread.
    pub(super) fn run(&mut self, position: Position) -> Result<(), CompileError> {
        let name = self.expect_name("the name of a thread")?;
        self.expect(Token::Sign("("), "(")?;
        self.expect(Token::Sign(")"), ")")?;
        let thread = self.declared.function(name);
        let thread = thread
            .filter(|number| self.declared.functions.get(*number as usize).is_some_and(|function| function.thread));
        let Some(number) = thread else {
            return Err(CompileError { position, kind: CompileErrorKind::NameNotFound(name.into()) });
        };
        self.emit(Op::Run(number), position);
        Ok(())
    }

    /// Compiles a call of a controller's function whose name is a keyword of URScript: `pause`.
    pub(super) fn call_without_arguments(&mut self, name: &str, position: Position) -> Result<(), CompileError> {
        let callee = self.callee(name, position)?;
        self.emit_call(&callee, Vec::new(), position);
        Ok(())
    }

    /// Compiles the arguments `(a, b, name=c)` after the name of a function, and the call.
    pub(super) fn call(&mut self, name: &str, position: Position) -> Result<(), CompileError> {
        let callee = self.callee(name, position)?;
        if callee.takes_any {
            let count = self.given()?.len();
            self.emit_call(&callee, (0..index(count)).collect(), position);
            return Ok(());
        }
        self.arguments(name, &callee, position)
    }

    /// Compiles the arguments `(a, b, name=c)` for `callee`, and the call.
    fn arguments(&mut self, name: &str, callee: &Callee<'_>, position: Position) -> Result<(), CompileError> {
        let fault = |what| CompileErrorKind::Arguments { function: name.into(), what };
        let mut slots: Vec<u32> = Vec::new();
        self.expect(Token::Sign("("), "(")?;
        let mut named = false;
        while !self.accept(Token::Sign(")")) {
            if !slots.is_empty() {
                self.expect(Token::Sign(","), ", or )")?;
            }
            let place = self.position();
            let slot = if let Some(parameter) = self.argument_name() {
                named = true;
                let known = callee.params.iter().position(|param| param.is_called(parameter));
                let kind = || fault(ArgumentsError::NoSuchName(parameter.into()));
                index(known.ok_or_else(|| CompileError { position: place, kind: kind() })?)
            } else if named {
                return Err(self.unexpected("a named argument"));
            } else {
                index(slots.len())
            };
            let Some(parameter) = callee.params.get(slot as usize) else {
                return Err(CompileError {
                    position: place,
                    kind: fault(ArgumentsError::TooMany { allowed: callee.params.len() }),
                });
            };
            if slots.contains(&slot) {
                let kind = fault(ArgumentsError::Twice(parameter.name.into()));
                return Err(CompileError { position: place, kind });
            }
            self.expression()?;
            slots.push(slot);
        }
        let missing = (0..).zip(&callee.params).find(|(slot, param)| param.required && !slots.contains(slot));
        if let Some((_, param)) = missing {
            return Err(CompileError { position, kind: fault(ArgumentsError::Missing(param.name.into())) });
        }
        self.emit_call(callee, slots, position);
        Ok(())
    }

    /// Takes the tokens `name =` of a named argument, if they are next, and returns the name; otherwise `None`.
    fn argument_name(&mut self) -> Option<&'s str> {
        let (Token::Name(name) | Token::Word(name)) = self.peek() else { return None };
        let next = self.tokens.get(self.at.saturating_add(1)).map(|placed| placed.token);
        if next != Some(Token::Sign("=")) {
            return None;
        }
        self.advance();
        self.advance();
        Some(name)
    }

    /// Compiles `[n] = x` after a name that is no variable: a call of the function `setter` with both values.
    pub(super) fn set_element(&mut self, setter: &'static Signature, position: Position) -> Result<(), CompileError> {
        self.expect(Token::Sign("["), "[")?;
        self.expression()?;
        self.expect(Token::Sign("]"), "]")?;
        self.expect(Token::Sign("="), "=")?;
        self.expression()?;
        let callee = Callee { target: Target::Builtin(setter), params: Vec::new(), takes_any: false };
        self.emit_call(&callee, vec![0, 1], position);
        self.emit(Op::Discard, position);
        Ok(())
    }

    /// Returns the function `name`. The program's own functions have precedence over the controller's.
    fn callee(&self, name: &str, position: Position) -> Result<Callee<'c>, CompileError> {
        if let Some(number) = self.declared.function(name)
            && let Some(function) = self.declared.functions.get(number as usize)
            && !function.thread
        {
            let params = function.params.iter();
            let params = params.map(|param| Param { name: &param.name, alias: "", required: !param.optional });
            return Ok(Callee { target: Target::Function(number), params: params.collect(), takes_any: false });
        }
        if let Some(signature) = self.builtins.find(name) {
            return Ok(self.builtin(signature));
        }
        Err(CompileError { position, kind: CompileErrorKind::NameNotFound(name.into()) })
    }

    fn builtin(&self, signature: &'static Signature) -> Callee<'c> {
        let version = self.builtins.version();
        let params = signature.params(version);
        let params =
            params.map(|param| Param { name: param.name, alias: param.alias, required: param.required(version) });
        Callee { target: Target::Builtin(signature), params: params.collect(), takes_any: signature.takes_any() }
    }

    fn emit_call(&mut self, callee: &Callee<'_>, slots: Vec<u32>, position: Position) {
        let number = index(self.calls.len());
        self.calls.push(CallSite { target: callee.target, slots });
        self.emit(Op::Call(number), position);
    }
}

struct Callee<'s> {
    target: Target,
    params: Vec<Param<'s>>,
    /// `true` if the function accepts any number of arguments with any names.
    takes_any: bool,
}

impl Callee<'_> {
    /// Returns the parameter's slot for each value of a method call in the order in which they are pushed: 0 for the
    /// object, then one per given argument, which is `None` or the argument's name. `None` if the arguments do not
    /// match the parameters.
    fn slots(&self, given: &[Option<&str>]) -> Option<Vec<u32>> {
        let mut slots = vec![0];
        for name in given {
            let slot = match name {
                Some(name) => self.params.iter().position(|param| param.is_called(name))?,
                None => slots.len(),
            };
            let slot = index(slot);
            if slot as usize >= self.params.len() || slots.contains(&slot) {
                return None;
            }
            slots.push(slot);
        }
        let mut all = (0..).zip(&self.params);
        all.all(|(slot, param)| !param.required || slots.contains(&slot)).then_some(slots)
    }
}

struct Param<'s> {
    name: &'s str,
    /// An alternative name of the function's parameter; empty if there is none.
    alias: &'s str,
    required: bool,
}

impl Param<'_> {
    /// Returns whether a named argument of this name is for this parameter.
    fn is_called(&self, name: &str) -> bool {
        self.name == name || (!self.alias.is_empty() && self.alias == name)
    }
}
