//! A host that records calls, in control cycles of 8 ms.

use outrigger_interpreter::{Builtins, Call, CallResult, Host, Machine, Program, Step, Value};
use outrigger_urscript::Version;

/// The length of a control cycle \[s\].
const PERIOD: f64 = 0.008;

/// A budget of more instructions than any of these programs needs in one cycle.
pub(crate) const BUDGET: u32 = 10_000;

/// A host that records each call without its repetitions. Functions that take time take as long as their argument
/// states, `stopj` two cycles.
#[derive(Default)]
pub(crate) struct Recorder {
    pub(crate) cycle: u32,
    pub(crate) calls: Vec<(u32, &'static str, Vec<Value>)>,
}

impl Host for Recorder {
    fn call(&mut self, call: Call<'_>) -> CallResult {
        if call.repeat == 0 {
            self.calls.push((self.cycle, call.name, call.args.to_vec()));
        } else {
            *call.scratch += PERIOD;
        }
        let lasts = match call.name {
            "sleep" => call.arg(0).number().unwrap(),
            "speedj" => call.arg(2).number().unwrap_or(0.0),
            "servoj" => call.arg(3).number().unwrap_or(0.0),
            "stopj" => 2.0 * PERIOD,
            "sync" => PERIOD,
            "get_digital_in" => return CallResult::Value(Value::Bool(call.arg(0).whole() == Some(1))),
            "get_digital_out" => return CallResult::Unknown,
            "get_flag" => return CallResult::Error("flag is stuck".into()),
            _ => 0.0,
        };
        // Half a period of tolerance, because sums of periods are not exact.
        if *call.scratch + PERIOD / 2.0 < lasts { CallResult::Again } else { CallResult::Value(Value::None) }
    }
}

/// Compiles a program for software 5.15 and runs it until its end, at most 1000 cycles.
pub(crate) fn run(source: &str) -> (Recorder, Step) {
    run_on(Version::new(5, 15), source)
}

/// Compiles a program for a version and runs it until its end, at most 1000 cycles.
pub(crate) fn run_on(version: Version, source: &str) -> (Recorder, Step) {
    let program = Program::compile(source, &Builtins::of(version)).unwrap_or_else(|error| panic!("{error}\n{source}"));
    let mut machine = Machine::new(program);
    let mut host = Recorder::default();
    loop {
        let step = machine.step(&mut host, BUDGET);
        host.cycle += 1;
        if matches!(step, Step::Done | Step::Error(_)) || host.cycle == 1000 {
            return (host, step);
        }
    }
}

/// Runs a program and returns one line per call, `cycle: name(args)`, and the program's end.
pub(crate) fn trace(source: &str) -> String {
    let (host, end) = run(source);
    let mut lines: Vec<String> = host
        .calls
        .iter()
        .map(|(cycle, name, args)| {
            let args: Vec<String> = args.iter().map(Value::to_string).collect();
            format!("{cycle}: {name}({})", args.join(", "))
        })
        .collect();
    let last = host.cycle - 1;
    lines.push(match end {
        Step::Done => format!("{last}: done"),
        Step::Error(fault) => format!("{last}: error {fault}"),
        Step::Frame | Step::Overrun(_) => format!("{last}: still running"),
    });
    lines.join("\n")
}

/// Returns the texts of a program's `textmsg` calls, line by line.
pub(crate) fn said(source: &str) -> Vec<String> {
    let (host, end) = run(source);
    assert_eq!(end, Step::Done, "{source}");
    let spoken = host.calls.into_iter().filter(|(_, name, _)| *name == "textmsg");
    spoken.map(|(_, _, args)| args.iter().map(Value::to_string).collect()).collect()
}

/// Returns the run-time error with which a program ends.
pub(crate) fn error_of(source: &str) -> String {
    match run(source).1 {
        Step::Error(fault) => fault.to_string(),
        other => panic!("{other:?}\n{source}"),
    }
}
