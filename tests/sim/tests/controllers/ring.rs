//! Outrigger's program with a ring of positions (urscript/programs/buffered.script), and a computer that sends it
//! commands by core/docs/protocol/outrigger-programs.md 2 to 4: positions in the ring delay no stop, and violations
//! of its limits have names.

use std::net::Ipv4Addr;
use std::time::Duration;

use outrigger_sim::controller::{Action, Conn};
use outrigger_sim::port::Port;
use outrigger_urscript::programs::{BUFFERED, CONVERSATION, LIMITS, POSITIONS};
use outrigger_urscript::{ScriptText, ScriptValue, Version};

use crate::common::{Answer, Bench, ideal};

const PORT: u16 = 50_001;
/// The duration of one control cycle \[s\].
const STEP: f64 = 0.002;
/// The deceleration of a stop \[rad/s²\].
const STOP: f64 = 10.0;

const VALUES: u16 = 1;
const END: u16 = 2;
const KEEP: u16 = 3;

const TOLD: u32 = 1;
const ORDER: u32 = 3;
const DIVERGENCE: u32 = 6;
const STALE: u32 = 8;

/// A program with a ring of positions that has connected to the test, with the values of its last report.
struct Program {
    bench: Bench,
    conn: Conn,
    start: [f64; 6],
    counter: u16,
    /// The number of positions that wait in the program's ring. `ending` is the reason that the program reports for its
    /// end.
    waiting: u32,
    ending: u32,
}

impl Program {
    fn new(places: u16, fill: i32, divergence: f32, stale: i32) -> Self {
        let mut values = vec![
            ("ADDRESS", ScriptValue::Address(Ipv4Addr::new(10, 0, 0, 2))),
            ("PORT", ScriptValue::Integer(PORT.into())),
            ("MAGIC", ScriptValue::Integer(1)),
            ("VERSION", ScriptValue::Integer(1)),
            ("KIND", ScriptValue::Integer(3)),
            ("TOKEN", ScriptValue::Integer(7)),
            ("PATIENCE", ScriptValue::Decimal(2.0)),
            ("REST", ScriptValue::Decimal(1.0)),
            ("HOLD", ScriptValue::Decimal(0.04)),
            ("STEP", ScriptValue::Decimal(STEP as f32)),
            ("STOP", ScriptValue::Decimal(STOP as f32)),
            ("LEAP", ScriptValue::Decimal(0.04)),
            ("LEAD", ScriptValue::Decimal(3.0)),
            ("DIVERGENCE", ScriptValue::Decimal(divergence)),
            ("LOOKAHEAD", ScriptValue::Decimal(0.03)),
            ("GAIN", ScriptValue::Integer(2000)),
            ("FILL", ScriptValue::Integer(fill)),
            ("PLACES", ScriptValue::Integer(places.into())),
            ("RING", ScriptValue::Repeated("z,z,z,z,z,z,z,\n", places)),
            ("STALE", ScriptValue::Integer(stale)),
        ];
        let lists = [
            (["V0", "V1", "V2", "V3", "V4", "V5"], 2.0),
            (["A0", "A1", "A2", "A3", "A4", "A5"], 8.0),
            (["L0", "L1", "L2", "L3", "L4", "L5"], -6.3),
            (["H0", "H1", "H2", "H3", "H4", "H5"], 6.3),
        ];
        for (names, value) in lists {
            values.extend(names.map(|name| (name, ScriptValue::Decimal(value))));
        }
        let templates = [LIMITS, POSITIONS, BUFFERED, CONVERSATION, b"", b""];
        let mut text = ScriptText::of(templates, &values, Version::new(5, 15)).unwrap();
        let (mut piece, mut all) = ([0; 512], vec![]);
        while let n @ 1.. = text.read(&mut piece) {
            all.extend(&piece[..n]);
        }
        let mut bench = Bench::new(ideal(5, 15));
        bench.serve(PORT, Answer::After(Duration::from_millis(1)));
        let primary = bench.connect(Port::Primary);
        bench.send_bytes(primary, &all);
        bench.run(300);
        let conn = bench.accept(PORT).unwrap_or_else(|| panic!("no call: {:?}", bench.told(primary)));
        assert_eq!(bench.take(conn).len(), 16, "a greeting");
        let start = bench.controller.truth().q;
        Self { bench, conn, start, counter: 0, waiting: 0, ending: 0 }
    }

    /// Sends one command of kind `what` and runs one cycle. The command's position has the base joint `way` from its
    /// start \[rad\].
    fn order(&mut self, what: u16, way: f64) {
        let mut q = self.start;
        q[0] += way;
        let words = [i32::from(self.counter), what.into()].into_iter().chain(q.map(|q| (q * 1e6).round() as i32));
        let bytes: Vec<u8> = words.flat_map(i32::to_be_bytes).collect();
        self.counter += 1;
        self.bench.send_bytes(self.conn, &bytes);
        self.bench.next_cycle();
        self.read();
    }

    fn read(&mut self) {
        for report in self.bench.take(self.conn).as_chunks::<4>().0 {
            let report = u32::from_be_bytes(*report);
            (self.ending, self.waiting) = ((report >> 16) & 15, report >> 20);
        }
    }

    fn way(&self) -> f64 {
        self.bench.controller.truth().q[0] - self.start[0]
    }
}

/// Returns the distance \[rad\] that a ramp from rest to 0.5 rad/s has covered after `n` cycles.
fn ramp(n: u32) -> f64 {
    let (t, speed, a) = (f64::from(n) * STEP, 0.5, 2.0);
    if t < speed / a { 0.5 * a * t * t } else { speed * t - 0.5 * speed * speed / a }
}

#[test]
fn a_ring_of_a_thousand_positions_is_followed_and_delays_no_stop() {
    let mut program = Program::new(1000, 600, 0.3, 5_000);
    for n in 0..1000 {
        program.order(VALUES, ramp(n));
    }
    assert!((595..=605).contains(&program.waiting), "{} wait", program.waiting);
    // The delay of the arm is the length of the ring.
    let late = ramp(999) - program.way();
    assert!((late - 0.5 * 600.0 * STEP).abs() < 0.05, "late by {late} rad");
    let before = program.way();
    program.order(END, 0.0);
    program.bench.run(400);
    let travel = program.way() - before;
    // A few cycles, and the stopping distance.
    assert!(travel < 0.5 * 8.0 * STEP + 0.5 * 0.5 / (2.0 * STOP) + 0.02, "{travel} rad after the end");
    assert!(program.bench.qd_target().iter().all(|speed| *speed == 0.0));
    program.read();
    assert_eq!(program.ending, TOLD);
}

#[test]
fn more_positions_than_places_end_the_program() {
    let mut program = Program::new(32, 20, 0.3, 5_000);
    program.bench.controller.act(Action::Slider(0.0));
    let mut orders = 0;
    while program.ending == 0 && orders < 60 {
        program.order(VALUES, ramp(orders));
        orders += 1;
    }
    assert_eq!(program.ending, ORDER, "after {orders} orders");
}

#[test]
fn an_arm_too_far_from_its_target_ends_the_program_by_that_name() {
    let mut program = Program::new(32, 5, 0.004, 5_000);
    let mut orders = 0;
    while program.ending == 0 && orders < 500 {
        program.order(VALUES, ramp(orders));
        orders += 1;
    }
    assert_eq!(program.ending, DIVERGENCE, "after {orders} orders");
    program.bench.run(300);
    assert!(program.bench.qd_target().iter().all(|speed| *speed == 0.0));
}

#[test]
fn a_position_that_waits_too_long_ends_the_program_by_that_name() {
    for (slider, expected) in [(1.0, 0), (0.05, STALE)] {
        let mut program = Program::new(32, 20, 0.3, 100);
        program.bench.controller.act(Action::Slider(slider));
        for n in 0..500 {
            // The computer sends only as many as may wait.
            let what = if program.waiting > 20 { KEEP } else { VALUES };
            program.order(what, if slider < 1.0 { 0.1 * ramp(n) } else { ramp(n) });
            if program.ending != 0 {
                break;
            }
        }
        assert_eq!(program.ending, expected, "slider at {slider}");
    }
}
