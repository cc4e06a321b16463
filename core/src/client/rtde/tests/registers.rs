//! Commands in registers: their layout, their numbers, and their acknowledgement.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::bench::{Bench, recipe};
use crate::client::rtde::{
    CommandNumber, Echo, Event, Input, RegisterCommand, RegisterCommands, Registers, SendError, WriteError,
};
use crate::link::Counter;
use crate::peer::rtde::zero;
use outrigger_wire::robot::{JointVelocities, SoftwareVersion};
use outrigger_wire::rtde::registry::{Direction, Variable};
use outrigger_wire::rtde::{Package, Protocol, Request, Value};
use outrigger_wire::time::{Duration, Instant};

const DEADLINE: Duration = Duration::from_millis(6);
const INPUTS: &str = "input_int_register_24,input_int_register_25,input_double_register_24,input_double_register_25,\
    input_double_register_26,input_double_register_27,input_double_register_28,input_double_register_29";

fn number(register: i32) -> CommandNumber {
    CommandNumber::new(register).unwrap()
}

#[test]
fn every_choice_of_registers_is_eight_inputs_and_a_mirror_of_one_range_or_none() {
    let mut accepted = 0;
    for first_integer in 0..=u8::MAX {
        for first_double in 0..=u8::MAX {
            let within = |first: u8, last: u16, low: u16, high: u16| u16::from(first) >= low && last <= high;
            let of_range = |low, high| {
                within(first_integer, u16::from(first_integer) + 1, low, high)
                    && within(first_double, u16::from(first_double) + 5, low, high)
            };
            let registers = Registers::new(first_integer, first_double);
            assert_eq!(registers.is_ok(), of_range(0, 23) || of_range(24, 47), "{first_integer}, {first_double}");
            let Ok(registers) = registers else { continue };
            accepted += 1;
            let names = registers.names();
            let inputs: Vec<_> = names.inputs().split(',').collect();
            assert_eq!(inputs.len(), Registers::COUNT);
            for (i, name) in (0..).zip(inputs) {
                let variable = Variable::named(name, Direction::Input).expect(name);
                let expected = if i < 2 { first_integer + i } else { first_double + i - 2 };
                assert_eq!(variable.register(), Some(expected), "{name}");
            }
            let mirror = Variable::named(names.mirror(), Direction::Output).and_then(Variable::register);
            assert_eq!(mirror, Some(first_integer + 1), "the number's own");
        }
    }
    assert_eq!(accepted, 2 * 23 * 19);
}

#[test]
fn what_is_wrong_with_a_choice_is_said_by_its_field() {
    let field = |registers: Result<Registers, _>| registers.map_err(|error: crate::robot::BadValue| error.field);
    assert_eq!(field(Registers::new(23, 0)), Err(crate::robot::wording("first_integer")));
    assert_eq!(field(Registers::new(47, 24)), Err(crate::robot::wording("first_integer")));
    assert_eq!(field(Registers::new(24, 43)), Err(crate::robot::wording("first_double")));
    assert_eq!(field(Registers::new(24, 0)), Err(crate::robot::wording("first_double")));
    assert_eq!(field(Registers::UPPER.with_mirror(23)), Err(crate::robot::wording("mirror")));
    assert_eq!(field(Registers::LOWER.with_mirror(24)), Err(crate::robot::wording("mirror")));
    assert_eq!(field(Registers::UPPER.with_mirror(48)), Err(crate::robot::wording("mirror")));
    let other = Registers::LOWER.with_mirror(23).unwrap();
    assert_eq!(other.names().mirror(), "output_int_register_23");
}

#[test]
fn the_defaults_are_what_the_check_accepts_and_what_each_software_has() {
    assert_eq!(Registers::new(0, 0), Ok(Registers::LOWER));
    assert_eq!(Registers::new(24, 24), Ok(Registers::UPPER));
    assert_eq!(Registers::UPPER.names().inputs(), INPUTS);
    let of = |major, minor| Registers::for_software(SoftwareVersion::new(major, minor));
    assert_eq!([of(1, 8), of(3, 3)], [None; 2]);
    assert_eq!([of(3, 4), of(3, 8), of(5, 0), of(5, 2)], [Some(Registers::LOWER); 4]);
    assert_eq!([of(3, 9), of(3, 15), of(5, 3), of(5, 25), of(10, 0)], [Some(Registers::UPPER); 5]);
}

#[test]
fn numbers_wrap_from_the_highest_register_to_one_and_are_never_zero() {
    let last = number(i32::MAX);
    assert_eq!(last.forward(1), CommandNumber::FIRST);
    assert_eq!(CommandNumber::FIRST.ahead_of(last), 1);
    assert_eq!(last.ahead_of(CommandNumber::FIRST), -1);
    assert_eq!(last.forward(3).get(), 3);
    assert_eq!([0, -1, i32::MIN].map(CommandNumber::new), [None; 3]);
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(24), cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn a_command_is_read_as_it_was_written(
        word: i32,
        register in 1..=i32::MAX,
        speeds in prop::array::uniform6(-10.0_f32..10.0),
    ) {
        let written = RegisterCommand { word, number: number(register), speeds: JointVelocities(speeds) };
        let mut bytes = [0; 128];
        let size = recipe(INPUTS, "", Direction::Input).emit_data(3, &written.values(), &mut bytes).unwrap();
        let package = Package::new_checked(&bytes[..size]).unwrap();
        let Ok(Request::Data { recipe: 3, values }) = Request::parse(&package, Protocol::V2) else { panic!() };
        // As the controller sends inputs that are requested as outputs.
        let outputs = recipe(INPUTS, "", Direction::Output);
        let read = RegisterCommand::read(&mut outputs.read(values).unwrap().reader());
        prop_assert_eq!(read, Some(written));
    }

    #[test]
    fn numbers_are_as_far_apart_as_they_were_counted(register in 1..=i32::MAX, steps in 0..i64::from(i32::MAX / 2)) {
        let from = number(register);
        let to = from.forward(steps.unsigned_abs());
        prop_assert!(to.get() > 0);
        prop_assert_eq!((to.ahead_of(from), from.ahead_of(to)), (steps, -steps));
        prop_assert_eq!(CommandNumber::low_bits_of(0).forward(steps.unsigned_abs()), CommandNumber::low_bits_of(steps.unsigned_abs()));
    }
}

/// A sender of commands in registers, with a client and a service that sends `mirror` as the number of the command that
/// the program has acknowledged.
struct Registered {
    bench: Bench,
    commands: RegisterCommands,
    mirror: i32,
}

impl Registered {
    fn new() -> Self {
        let mut bench = Bench::new("timestamp", "output_int_register_25", &[INPUTS]);
        bench.open();
        Self { bench, commands: RegisterCommands::new(Registers::UPPER, DEADLINE), mirror: 0 }
    }

    /// Lets the service send data with the number `mirror`, 2 ms later. Returns the acknowledgement that the sender
    /// reads from it.
    fn cycle(&mut self) -> Option<Echo> {
        let Self { bench, commands, mirror } = self;
        bench.now = bench.now + Duration::from_millis(2);
        bench.service.publish(|_, data_type| match zero(data_type) {
            Value::Int32(_) => Value::Int32(*mirror),
            other => other,
        });
        let count = bench.service.out.len();
        bench.client.receive_window().iter_mut().zip(bench.service.out.drain(..)).for_each(|(to, from)| *to = from);
        let (now, mut echo) = (bench.now, None);
        bench.client.commit(count, now, now);
        while let Some(event) = bench.client.poll_event() {
            if let Event::Data(data) = event {
                echo = echo.or(commands.take(&data.values, now));
            }
        }
        echo
    }

    fn send(&mut self) -> Result<i32, SendError> {
        let Self { bench, commands, .. } = self;
        let sent = commands.send(&mut bench.client, 0, 1, JointVelocities([0.25; 6]), bench.now);
        bench.exchange();
        sent.map(CommandNumber::get)
    }

    /// Closes and reopens the client's connection; the sender of commands keeps its state.
    fn reconnect(&mut self) {
        self.bench.handle(Input::Closed);
        self.bench.open();
        self.commands.opened();
    }
}

#[test]
fn a_command_is_one_package_with_word_number_and_speeds() {
    let mut link = Registered::new();
    assert_eq!(link.cycle(), None);
    assert_eq!(link.send(), Ok(1));
    let speed = 0.25_f64.to_be_bytes();
    let expected = [&[1, 0, 0, 0, 1, 0, 0, 0, 1][..], [speed; 6].as_flattened()].concat();
    assert_eq!(link.bench.service.asked.last(), Some(&(b'U', expected)));
}

#[test]
fn the_round_trip_ends_with_the_first_data_that_shows_the_number() {
    let mut link = Registered::new();
    link.cycle();
    link.send().unwrap();
    assert_eq!(link.cycle(), None);
    link.mirror = 1;
    assert_eq!(link.cycle(), Some(Echo { number: number(1), round_trip: Duration::from_millis(4) }));
    assert_eq!(link.cycle(), None, "the same once more");
    let figures = link.commands.figures(link.bench.now);
    assert_eq!((figures.rate, figures.judged, figures.late), (10_000, 1, 0));
    assert_eq!((link.commands.round_trips().count(), link.commands.round_trips().longest().as_millis()), (1, 4));
}

#[test]
fn a_late_echo_and_one_that_never_comes_are_told_apart() {
    let mut link = Registered::new();
    link.cycle();
    for _ in 0..3 {
        link.send().unwrap();
        link.cycle();
    }
    // The first command was skipped; the second is acknowledged 8 ms after it was sent, the third not at all.
    for mirror in [0, 0, 2, 2, 2, 2] {
        link.mirror = mirror;
        link.cycle();
    }
    let figures = link.commands.figures(link.bench.now);
    assert_eq!((figures.judged, figures.rate, figures.late, figures.consecutive_misses), (3, 0, 1, 3));
    assert_eq!(link.commands.round_trips().longest(), Duration::from_millis(10));
}

#[test]
fn counting_goes_on_from_what_an_earlier_client_has_left_in_the_mirror_and_wraps() {
    let mut link = Registered::new();
    link.mirror = i32::MAX - 2;
    assert_eq!(link.cycle(), None, "nobody has sent it here");
    let mut sent = vec![];
    for _ in 0..4 {
        sent.push(link.send().unwrap());
        link.mirror = *sent.last().unwrap();
        assert_eq!(link.cycle().map(|echo| echo.number.get()), sent.last().copied());
    }
    assert_eq!(sent, [i32::MAX - 1, i32::MAX, 1, 2]);
    assert_eq!(link.commands.figures(link.bench.now).rate, 10_000);
}

#[test]
fn after_a_new_connection_no_echo_of_the_one_before_is_an_answer() {
    let mut link = Registered::new();
    link.cycle();
    for _ in 0..3 {
        link.send().unwrap();
    }
    link.reconnect();
    assert_eq!(link.send(), Err(SendError::NoMirror));
    // The controller has read two of the three commands, and its mirror is unchanged.
    link.mirror = 2;
    assert_eq!(link.cycle(), None);
    assert_eq!(link.send(), Ok(4));
    link.mirror = 3;
    assert_eq!(link.cycle(), None, "sent over the connection before");
    link.mirror = 4;
    assert!(link.cycle().is_some());
    assert_eq!(link.commands.round_trips().count(), 1);
}

#[test]
fn registers_of_somebody_else_are_no_echo() {
    let mut link = Registered::new();
    link.cycle();
    link.send().unwrap();
    for mirror in [0, -1, i32::MIN, 2, 7, i32::MAX] {
        link.mirror = mirror;
        assert_eq!(link.cycle(), None, "{mirror}");
    }
    assert_eq!(link.commands.round_trips().count(), 0);
}

#[test]
fn what_cannot_be_sent_uses_no_number_and_writes_nothing() {
    let mut link = Registered::new();
    assert_eq!(link.send(), Err(SendError::NoMirror));
    link.cycle();
    let before = link.bench.service.asked.len();
    let Registered { bench, commands, .. } = &mut link;
    for bad in [f32::NAN, f32::INFINITY] {
        let speeds = JointVelocities([0.0, 0.0, bad, 0.0, 0.0, 0.0]);
        assert_eq!(commands.send(&mut bench.client, 0, 1, speeds, bench.now), Err(SendError::NotFinite));
    }
    let unknown = commands.send(&mut bench.client, 1, 1, JointVelocities::ZERO, bench.now);
    assert_eq!(unknown, Err(SendError::Write(WriteError::NotSetUp)));
    bench.exchange();
    assert_eq!(bench.service.asked.len(), before);
    assert_eq!(commands.figures(Instant::from_micros(u64::MAX)).judged, 0);
    assert_eq!(link.send(), Ok(1));
}

#[test]
fn without_the_mirror_among_the_outputs_nothing_is_sent() {
    let mut link = Registered::new();
    link.bench.service.missing = vec!["output_int_register_25"];
    link.reconnect();
    link.cycle();
    assert_eq!(link.send(), Err(SendError::NoMirror));
}

#[test]
fn fresh_registers_hold_no_command() {
    let outputs = recipe(INPUTS, "", Direction::Output);
    let values = [0; 4 + 4 + 48];
    assert_eq!(RegisterCommand::read(&mut outputs.read(&values).unwrap().reader()), None);
}

#[test]
fn a_mirror_of_another_type_is_none() {
    let mut link = Registered::new();
    link.bench.service.words = vec![("output_int_register_25", "UINT32")];
    link.reconnect();
    assert_eq!(link.cycle(), None);
    assert_eq!(link.send(), Err(SendError::NoMirror));
}
