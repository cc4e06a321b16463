//! The first pass of the compiler, which finds the functions and variables of a program.
//!
//! Calls may precede definitions, and a name is global if any part of the program makes it so. Both are resolved here,
//! before the first instruction is written. The pass knows only the necessary grammar: blocks, and names before `=`.
//! Invalid text is left for the second pass to reject.

use core::ops::Range;
use std::collections::HashMap;

use super::compiled_code::{self, VariableSlot};
use super::error::{CompileError, CompileErrorKind};
use super::front_removal_list::Growing;
use super::lexer::{Placed, Token};

/// The slots of variables, or the numbers of functions, by name; counted from 0.
type Slots = HashMap<Box<str>, u32>;

fn insert(slots: &mut Slots, name: &str) {
    if !slots.contains_key(name) {
        slots.insert(name.into(), count(slots));
    }
}

fn count(slots: &Slots) -> u32 {
    u32::try_from(slots.len()).unwrap_or(u32::MAX)
}

/// A function of the program: a `def`, `sec` or `thread`, numbered in the order of the heads in the text; or a line of
/// interpreter mode.
#[derive(Clone, Debug, Default)]
pub(super) struct Function {
    pub(super) name: Box<str>,
    /// `true` for a `thread`, which can be run but not called.
    pub(super) thread: bool,
    pub(super) params: Vec<Param>,
    /// The slots of the function's parameters and of the names declared `local`; after the pass, of all local
    /// variables.
    locals: Slots,
    /// The function whose scope a line of interpreter mode uses; `None` for other functions.
    pub(super) within: Option<u32>,
}

impl Function {
    /// Returns the number of slots that a call of the function needs.
    pub(super) fn locals(&self) -> u32 {
        count(&self.locals)
    }
}

#[derive(Clone, Debug)]
pub(super) struct Param {
    pub(super) name: Box<str>,
    /// `true` if the parameter has a default, so that a call may leave its argument out.
    pub(super) optional: bool,
}

/// The results of the compiler's first pass: the functions and variables of a program.
#[derive(Clone, Debug, Default)]
pub(super) struct Declarations {
    /// The functions of the program; the first one is the program itself, with or without a name.
    pub(super) functions: Growing<Function>,
    by_name: Slots,
    globals: Slots,
}

impl Declarations {
    /// Reads all tokens of a program and collects its functions and variables.
    pub(super) fn read(tokens: &[Placed<'_>]) -> Result<Self, CompileError> {
        let mut found = Self::default();
        let mut open = Vec::new();
        if !matches!(tokens.first().map(|placed| placed.token), Some(Token::Word("def" | "sec"))) {
            found.functions.push(Function::default());
            open.push(Some(0));
        }
        found.pass(tokens, open, true)?;
        Ok(found)
    }

    /// Reads one line of interpreter mode: statements in the scope of function `within`. The line becomes a function,
    /// which has the local variables of that scope and new ones. Returns its number. Global variables cannot be new.
    pub(super) fn read_line(&mut self, within: u32, tokens: &[Placed<'_>]) -> Result<u32, CompileError> {
        let locals = self.functions.get(within as usize).map(|function| function.locals.clone()).unwrap_or_default();
        let number = u32::try_from(self.functions.len()).unwrap_or(u32::MAX);
        self.functions.push(Function { locals, within: Some(within), ..Function::default() });
        self.pass(tokens, vec![Some(number)], false)?;
        Ok(number)
    }

    /// Adds the new local variables of an accepted line of interpreter mode to its scope.
    pub(super) fn keep_line(&mut self, within: u32, line: u32) {
        let locals = self.functions.get(line as usize).map(|function| function.locals.clone());
        if let (Some(scope), Some(locals)) = (self.functions.get_mut(within as usize), locals) {
            scope.locals = locals;
        }
    }

    /// Removes the names of the functions with these numbers.
    pub(super) fn unname(&mut self, numbers: Range<usize>) {
        self.by_name.retain(|_, number| !numbers.contains(&(*number as usize)));
    }

    /// Returns the compiled form of the functions with the number `from` and above, still without instructions. The
    /// compiler's second pass adds these.
    pub(super) fn compiled(&self, from: usize) -> impl Iterator<Item = compiled_code::Function> {
        (from..self.functions.len()).filter_map(|number| self.functions.get(number)).map(|function| {
            compiled_code::Function {
                name: function.name.clone().into(),
                locals: function.locals(),
                ..compiled_code::Function::default()
            }
        })
    }

    fn pass(&mut self, tokens: &[Placed<'_>], open: Vec<Option<u32>>, new_globals: bool) -> Result<(), CompileError> {
        let mut pass = Pass { found: self, open, brackets: 0_u32, assigned: Vec::new(), new_globals };
        for (placed, at) in tokens.iter().zip(1_usize..) {
            // A name after a dot is a member.
            let before = at.checked_sub(2).and_then(|before| tokens.get(before));
            if before.is_some_and(|before| before.token == Token::Sign(".")) {
                continue;
            }
            pass.token(*placed, tokens.get(at..).unwrap_or_default())?;
        }
        // A name that a function assigns is local unless another part of the text, perhaps a later one, makes it
        // global.
        let assigned = pass.assigned;
        for (function, name) in assigned {
            if !self.globals.contains_key(name)
                && let Some(function) = self.functions.get_mut(function as usize)
            {
                insert(&mut function.locals, name);
            }
        }
        Ok(())
    }

    /// Returns the number of the function `name`; the program itself is not included.
    pub(super) fn function(&self, name: &str) -> Option<u32> {
        self.by_name.get(name).copied()
    }

    /// Returns the location of the variable `name`, as seen from a function.
    pub(super) fn place(&self, function: u32, name: &str) -> Option<VariableSlot> {
        let local = self.functions.get(function as usize).and_then(|function| function.locals.get(name));
        local
            .map(|slot| VariableSlot::Local(*slot))
            .or_else(|| self.globals.get(name).map(|slot| VariableSlot::Global(*slot)))
    }

    /// Returns the number of global variables of the program.
    pub(super) fn globals(&self) -> u32 {
        count(&self.globals)
    }
}

struct Pass<'d, 's> {
    found: &'d mut Declarations,
    /// The variable names assigned without `global` or `local`, with the functions that assign them.
    assigned: Vec<(u32, &'s str)>,
    /// `true` if a `global` statement may name a variable for the first time.
    new_globals: bool,
    /// The open blocks of the text, the innermost last: the number of the function for a function's block, `None` for
    /// any other.
    open: Vec<Option<u32>>,
    brackets: u32,
}

impl<'s> Pass<'_, 's> {
    fn token(&mut self, placed: Placed<'s>, rest: &[Placed<'s>]) -> Result<(), CompileError> {
        let next = |ahead: usize| rest.get(ahead).map(|placed| placed.token);
        match placed.token {
            Token::Sign("(" | "[" | "p[") => self.brackets = self.brackets.saturating_add(1),
            Token::Sign(")" | "]") => self.brackets = self.brackets.saturating_sub(1),
            _ if self.brackets > 0 => {}
            Token::Word(word @ ("def" | "sec" | "thread")) => self.function(word == "thread", rest)?,
            Token::Word("if" | "while") => self.open.push(None),
            Token::Word("end") => {
                self.open.pop();
            }
            Token::Word(word @ ("global" | "local")) => {
                if let Some(Token::Name(name)) = next(0) {
                    if word == "global" && !self.new_globals && !self.found.globals.contains_key(name) {
                        let kind = CompileErrorKind::NewGlobal(name.into());
                        return Err(CompileError { position: placed.position, kind });
                    } else if word == "global" {
                        insert(&mut self.found.globals, name);
                    } else if let Some(function) = self.current() {
                        insert(&mut function.locals, name);
                    }
                }
            }
            Token::Name(name) if next(0) == Some(Token::Sign("=")) => self.assigned(name),
            _ => {}
        }
        Ok(())
    }

    /// Returns the function whose body contains the current token; `None` if the token is in none.
    fn current(&mut self) -> Option<&mut Function> {
        let number = self.open.iter().rev().find_map(|block| *block)?;
        self.found.functions.get_mut(number as usize)
    }

    /// Records the assignment `name = …`. Variables of the program's first level are global.
    fn assigned(&mut self, name: &'s str) {
        let Some(number) = self.open.iter().rev().find_map(|block| *block) else { return };
        let Some(function) = self.current() else { return };
        if number > 0 {
            self.assigned.push((number, name));
        } else if !function.locals.contains_key(name) {
            insert(&mut self.found.globals, name);
        }
    }

    fn function(&mut self, thread: bool, rest: &[Placed<'s>]) -> Result<(), CompileError> {
        let mut function = Function { thread, ..Function::default() };
        let number = u32::try_from(self.found.functions.len()).unwrap_or(u32::MAX);
        let mut tokens = rest.iter();
        if let Some(Placed { token: Token::Name(name), position }) = tokens.next() {
            function.name = (*name).into();
            if number > 0 && self.found.by_name.contains_key(*name) {
                let kind = CompileErrorKind::NameAlreadyDefined((*name).into());
                return Err(CompileError { position: *position, kind });
            }
            if number > 0 {
                self.found.by_name.insert((*name).into(), number);
            }
        }
        let mut brackets = 0_u32;
        let mut before = Token::End;
        for placed in tokens {
            match placed.token {
                Token::Sign("(" | "[" | "p[") => brackets = brackets.saturating_add(1),
                Token::Sign(")" | "]") => brackets = brackets.saturating_sub(1),
                Token::Name(name) if brackets == 1 && matches!(before, Token::Sign("(" | ",")) => {
                    if function.locals.contains_key(name) {
                        let kind = CompileErrorKind::NameAlreadyDefined(name.into());
                        return Err(CompileError { position: placed.position, kind });
                    }
                    insert(&mut function.locals, name);
                    function.params.push(Param { name: name.into(), optional: false });
                }
                Token::Sign("=") if brackets == 1 && matches!(before, Token::Name(_)) => {
                    if let Some(param) = function.params.last_mut() {
                        param.optional = true;
                    }
                }
                _ => {}
            }
            if brackets == 0 {
                break;
            }
            before = placed.token;
        }
        self.found.functions.push(function);
        self.open.push(Some(number));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::lexer::tokens;
    use super::*;

    fn read(source: &str) -> Declarations {
        Declarations::read(&tokens(source).unwrap()).unwrap()
    }

    #[test]
    fn variables_of_the_first_level_are_global_and_those_of_functions_local() {
        let found = read("def main():\n a = 1\n if a:\n  b = 2\n end\n def f(x):\n  c = a\n  a = x\n end\nend\n");
        assert_eq!(found.globals(), 2);
        assert!(matches!(found.place(1, "a"), Some(VariableSlot::Global(_))));
        assert!(matches!(found.place(1, "b"), Some(VariableSlot::Global(_))));
        assert_eq!(
            (found.place(1, "x"), found.place(1, "c")),
            (Some(VariableSlot::Local(0)), Some(VariableSlot::Local(1)))
        );
        assert_eq!(found.place(0, "c"), None);
    }

    #[test]
    fn global_reaches_out_of_a_function_and_local_masks() {
        let found =
            read("def main():\n def f():\n  g = 0\n  global g = 1\n end\n def h():\n  local g = 2\n end\nend\n");
        assert!(matches!(found.place(0, "g"), Some(VariableSlot::Global(0))));
        assert!(matches!(found.place(1, "g"), Some(VariableSlot::Global(0))));
        assert!(matches!(found.place(2, "g"), Some(VariableSlot::Local(0))));
    }

    #[test]
    fn parameters_come_in_order_and_know_their_defaults() {
        let found = read("def main():\n def f(a, b=[1,c], d=g(x=2)):\n end\n thread t():\n end\nend\n");
        let function = found.functions.get(1).unwrap();
        let params: Vec<_> = function.params.iter().map(|param| (&*param.name, param.optional)).collect();
        assert_eq!(params, [("a", false), ("b", true), ("d", true)]);
        assert_eq!(found.place(1, "d"), Some(VariableSlot::Local(2)));
        assert!(found.functions.get(2).unwrap().thread);
        assert_eq!(found.function("t"), Some(2));
        assert_eq!(found.function("main"), None);
    }

    #[test]
    fn named_arguments_are_no_variables() {
        let found = read("servoj(q, t=0.1)\n");
        assert_eq!(found.globals(), 0);
        assert_eq!(found.place(0, "t"), None);
    }

    #[test]
    fn a_name_defined_twice_is_refused_where_it_comes_again() {
        let source = "def main():\n def f():\n end\n def f():\n end\nend\n";
        let error = Declarations::read(&tokens(source).unwrap()).unwrap_err();
        assert_eq!(error.to_string(), "4:6: compile_error_name_already_defined:f:");
    }
}
