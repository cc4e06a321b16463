//! Cuts any text that a client may send into programs. Checks that the programs are the same for any pieces, and that a
//! program that compiles runs within its budget and with the same result every time.
#![no_main]

use libfuzzer_sys::fuzz_target;
use outrigger_interpreter::{
    Assembled, Builtins, Call, CallResult, Host, LineAssembler, Machine, Program, ProgramKind, Step, Value,
};
use outrigger_tests::noise::Noise;
use outrigger_urscript::Version;

const BUDGET: u32 = 2_000;
const CYCLES: usize = 20;
const LONGEST: usize = 512;

/// A host of the tested interpreter, which answers a program's calls at random from a seed, and records them.
struct Chance {
    noise: Noise,
    calls: Vec<String>,
}

impl Host for Chance {
    fn call(&mut self, call: Call<'_>) -> CallResult {
        self.calls.push(format!("{:?} {} {:?} {}", call.thread, call.name, call.args, call.repeat));
        match self.noise.below(8) {
            0 => CallResult::Again,
            1 => CallResult::Unknown,
            2 => CallResult::Error("refused".into()),
            3 => CallResult::Value(Value::None),
            _ => CallResult::Value(call.arg(0).clone()),
        }
    }
}

fn assemble(stream: &[u8], mut pieces: impl FnMut() -> usize) -> (Vec<Assembled>, u64) {
    let mut assembler = LineAssembler::new(LONGEST);
    let mut assembled = Vec::new();
    let mut rest = stream;
    while !rest.is_empty() {
        let (mut piece, later) = rest.split_at(pieces().clamp(1, rest.len()));
        while let Some(complete) = assembler.next(&mut piece) {
            assembled.push(complete);
        }
        assert!(piece.is_empty(), "what is not complete was taken");
        rest = later;
    }
    (assembled, assembler.oversize())
}

/// Runs a URScript program in the tested interpreter. Returns the result of every cycle, and all calls to the host.
fn run(program: Program, seed: u64) -> (Vec<Step>, Vec<String>) {
    let secondary = program.kind() == ProgramKind::Secondary;
    let mut host = Chance { noise: Noise::seeded(seed), calls: Vec::new() };
    let mut machine = Machine::new(program);
    let mut steps = Vec::new();
    for _ in 0..CYCLES {
        let before = host.calls.len();
        let step = machine.step(&mut host, BUDGET);
        assert!(host.calls.len() - before <= BUDGET as usize);
        let ended = matches!(step, Step::Done | Step::Error(_));
        assert!(ended || !secondary, "a secondary program has one cycle");
        steps.push(step);
        if ended {
            let last = steps.last().cloned().expect("a step");
            assert_eq!(machine.step(&mut host, BUDGET), last, "so it stays");
            break;
        }
    }
    (steps, host.calls)
}

// The first byte selects version and pieces. Then follows the text.
fuzz_target!(|case: &[u8]| {
    let Some((&first, stream)) = case.split_first() else { return };
    let versions = [Version::new(1, 8), Version::new(3, 2), Version::new(3, 15), Version::new(5, 15)];
    let builtins = Builtins::of(versions[usize::from(first % 4)]);
    let mut noise = Noise::seeded(first.into());
    let cut = assemble(stream, || 1 + noise.below(40));
    assert_eq!(cut, assemble(stream, || usize::MAX));

    for assembled in cut.0 {
        let Assembled::Program(text) = assembled else { continue };
        assert!(text.ends_with('\n') && text.chars().count() <= 2 * LONGEST);
        let again = Program::compile(&text, &builtins);
        match (Program::compile(&text, &builtins), again) {
            (Ok(program), Ok(again)) => assert_eq!(run(program, first.into()), run(again, first.into())),
            (Err(error), Err(again)) => {
                assert_eq!(error, again);
                assert!(!error.to_string().is_empty());
            }
            _ => panic!("the same text compiled once"),
        }
    }
});
