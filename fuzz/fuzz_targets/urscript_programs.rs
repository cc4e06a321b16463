//! Generates programs from a grammar, so that most of them compile. Checks that none panics or hangs, that a cycle does
//! not exceed its budget, and that a program has the same result every time.
#![no_main]

use libfuzzer_sys::fuzz_target;
use outrigger_interpreter::{Builtins, Call, CallResult, Host, Machine, Program, Step, Value};
use outrigger_tests::noise::Noise;
use outrigger_urscript::Version;

const BUDGET: u32 = 2_000;
const CYCLES: usize = 40;
/// The greatest depth of nesting in generated programs.
const DEPTH: u32 = 5;

const NAMES: [&str; 6] = ["a", "b", "q", "p", "state", "handle"];
const BINARY: [&str; 14] = ["+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=", "and", "or", "xor"];
const NUMBERS: [&str; 9] = ["0", "1", "-1", "2", "0.5", "1e9", "2147483647", "3.14159", "-0.0"];
/// The functions that generated programs call, each with its number of arguments, which are generated expressions.
const CALLS: [(&str, u32); 33] = [
    ("norm", 1),
    ("sqrt", 1),
    ("pow", 2),
    ("atan2", 2),
    ("floor", 1),
    ("size", 1),
    ("length", 1),
    ("get_list_length", 1),
    ("make_list", 2),
    ("transpose", 1),
    ("inv", 1),
    ("normalize", 1),
    ("integer_to_binary_list", 1),
    ("binary_list_to_integer", 1),
    ("str_cat", 2),
    ("str_sub", 3),
    ("str_find", 3),
    ("str_at", 2),
    ("to_str", 1),
    ("to_num", 1),
    ("pose_trans", 2),
    ("pose_inv", 1),
    ("pose_add", 2),
    ("pose_sub", 2),
    ("pose_dist", 2),
    ("interpolate_pose", 3),
    ("wrench_trans", 2),
    ("rotvec2rpy", 1),
    ("rpy2rotvec", 1),
    ("get_actual_joint_positions", 0),
    ("movej", 1),
    ("f", 2),
    ("rpc_factory", 2),
];

/// The bytes of a fuzz case, which select the parts of the generated program. After their end the first choice is
/// always taken.
struct Choices<'b>(&'b [u8]);

impl Choices<'_> {
    fn of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    fn below(&mut self, count: usize) -> usize {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        usize::from(first) % count
    }

    fn list(&mut self, depth: u32, count: usize) -> String {
        (0..count).map(|_| self.expression(depth)).collect::<Vec<_>>().join(", ")
    }

    fn expression(&mut self, depth: u32) -> String {
        let kind = if depth == 0 { self.below(4) } else { self.below(14) };
        let deeper = depth.saturating_sub(1);
        match kind {
            0 => self.of(&NUMBERS).into(),
            1 => self.of(&NAMES).into(),
            2 => self.of(&["True", "False", "None", "\"text\"", "\"1.5\""]).into(),
            3 => "[1, 2, 3]".into(),
            4 | 5 => format!("({} {} {})", self.expression(deeper), self.of(&BINARY), self.expression(deeper)),
            6 => {
                let count = self.below(7);
                format!("[{}]", self.list(deeper, count))
            }
            7 => format!("[[{}], [{}]]", self.list(deeper, 2), self.list(deeper, 2)),
            8 => format!("p[{}]", self.list(0, 6)),
            9 => format!("struct(x={}, y={})", self.expression(deeper), self.expression(deeper)),
            10 => format!("{}[{}]", self.of(&NAMES), self.expression(deeper)),
            11 => format!("{}.{}", self.of(&NAMES), self.of(&["x", "y", "z"])),
            12 => format!("{}{}", self.of(&["-", "not "]), self.expression(deeper)),
            _ => {
                let (name, count) = self.of(&CALLS);
                format!("{name}({})", self.list(deeper, count as usize))
            }
        }
    }

    fn statements(&mut self, depth: u32, text: &mut String) {
        for _ in 0..=self.below(4) {
            self.statement(depth, text);
        }
    }

    fn statement(&mut self, depth: u32, text: &mut String) {
        let kind = if depth == 0 { self.below(7) } else { self.below(16) };
        let deeper = depth.saturating_sub(1);
        match kind {
            0 | 1 => *text += &format!("{} = {}\n", self.of(&NAMES), self.expression(depth)),
            2 => *text += &format!("{}[{}] = {}\n", self.of(&NAMES), self.expression(deeper), self.expression(deeper)),
            3 => *text += &format!("{}.x = {}\n", self.of(&NAMES), self.expression(deeper)),
            4 => *text += &format!("textmsg({})\n", self.expression(depth)),
            5 => *text += self.of(&["sync()\n", "sleep(0.004)\n", "enter_critical\n", "exit_critical\n", "pause\n"]),
            6 => *text += &format!("global {} = {}\n", self.of(&NAMES), self.expression(deeper)),
            7 => *text += "handle = run t()\n",
            8 => *text += self.of(&["join handle\n", "kill handle\n", "kill 0\n"]),
            9 => *text += &format!("return {}\n", self.expression(deeper)),
            10 => *text += self.of(&["halt\n", "sync()\n", "sync()\n", "sync()\n"]),
            11 | 12 => {
                *text += &format!("if {}:\n", self.expression(deeper));
                self.statements(deeper, text);
                *text += "else:\n";
                self.statements(deeper, text);
                *text += "end\n";
            }
            _ => {
                *text += &format!("while {}:\n", self.expression(deeper));
                self.statements(deeper, text);
                *text += self.of(&["sync()\n", "break\n", "continue\n", ""]);
                *text += "end\n";
            }
        }
    }

    fn program(&mut self) -> String {
        let mut text = String::from("def main():\n");
        for name in NAMES {
            text += &format!("global {name} = {}\n", self.expression(1));
        }
        text += "def f(a, b=1):\n";
        self.statements(2, &mut text);
        text += "return a\nend\nthread t():\n";
        self.statements(2, &mut text);
        text += "end\n";
        self.statements(DEPTH, &mut text);
        text + "end\n"
    }
}

/// A host of the tested interpreter, which answers a program's calls at random from a seed, and counts them.
struct Chance {
    noise: Noise,
    calls: usize,
}

impl Host for Chance {
    fn call(&mut self, call: Call<'_>) -> CallResult {
        self.calls += 1;
        match self.noise.below(6) {
            0 | 1 => CallResult::Again,
            2 => CallResult::Value(Value::List(vec![Value::Float(0.5); 6])),
            3 => CallResult::Value(Value::None),
            _ => CallResult::Value(call.arg(0).clone()),
        }
    }
}

fn run(text: &str, version: Version, seed: u64) -> Result<Vec<Step>, String> {
    let program = Program::compile(text, &Builtins::of(version)).map_err(|error| error.to_string())?;
    let mut host = Chance { noise: Noise::seeded(seed), calls: 0 };
    let mut machine = Machine::new(program);
    let mut steps = vec![];
    for _ in 0..CYCLES {
        let before = host.calls;
        steps.push(machine.step(&mut host, BUDGET));
        assert!(host.calls - before <= BUDGET as usize);
        if matches!(steps.last(), Some(Step::Done | Step::Error(_))) {
            break;
        }
    }
    Ok(steps)
}

// The first byte selects version and seed, the rest the program.
fuzz_target!(|case: &[u8]| {
    let Some((&first, rest)) = case.split_first() else { return };
    let text = Choices(rest).program();
    let version =
        [Version::new(5, 25), Version::new(10, 12), Version::new(3, 15), Version::new(1, 8)][usize::from(first % 4)];
    let steps = run(&text, version, first.into());
    assert_eq!(steps, run(&text, version, first.into()), "{text}");
    if let Err(error) = steps {
        assert!(error.contains(": compile_error_"), "{error}\n{text}");
    }
});
