//! Commands through RTDE registers with the simulated controller: each is mirrored, and the delay of the mirror is
//! measured.

use outrigger_core::client::Output;
use outrigger_core::client::rtde::{
    Client, ClientConfig, ClientMemory, Event, Input, Inputs, RegisterCommand, RegisterCommands, Registers,
};
use outrigger_core::link::AnswerFigures;
use outrigger_sim::controller::{Conn, Controller, Options};
use outrigger_sim::port::Port;
use outrigger_tests::cosim::core_time;
use outrigger_wire::robot::{JointVelocities, SoftwareVersion};
use outrigger_wire::rtde::registry::Direction;
use outrigger_wire::rtde::{DynamicRecipe, Field};
use outrigger_wire::time::Duration;

/// The longest round trip in cycles: a command that arrives between two cycles is read in the next one, and shown by
/// the data of the one after it.
const CYCLES: u64 = 2;

/// The results of a run with register commands.
struct Run {
    sent: Vec<RegisterCommand>,
    /// The numbers of the commands in the order in which the controller mirrored them.
    mirrored: Vec<i32>,
    /// The commands read back from the input registers, each once.
    read_back: Vec<RegisterCommand>,
    commands: RegisterCommands,
    figures: AnswerFigures,
}

fn controller(software: SoftwareVersion, echo: bool) -> Controller {
    let mut options = Options::for_software(software);
    options.rtde.echo = echo;
    Controller::new(options).expect("an arm that ran this software")
}

/// Returns the content of the n-th register command. Every value changes, so that a value of another command would be
/// noticed.
fn nth(n: u32) -> (i32, JointVelocities<6>) {
    let n = n as i32;
    (n % 5, JointVelocities([1.0, 2.0, 3.0, 4.0, 5.0, 6.0].map(|joint| joint + 0.125 * n as f32)))
}

/// Sends a command after each data package, `count` of them, and waits for a few more cycles.
fn run(controller: &mut Controller, registers: Registers, count: u32) -> Run {
    let names = registers.names();
    let (mut input_fields, mut output_fields) = ([Field::EMPTY; Registers::COUNT], [Field::EMPTY; 10]);
    let inputs = DynamicRecipe::new(names.inputs(), Direction::Input, &mut input_fields).expect("room");
    let mut inputs = [Inputs::new(inputs)];
    let outputs = format!("timestamp,{},{}", names.mirror(), names.inputs());
    let outputs = DynamicRecipe::new(&outputs, Direction::Output, &mut output_fields).expect("room");
    let memory = ClientMemory { receive: &mut [0; 1024], transmit: &mut [0; 512] };
    let mut client = Client::new(ClientConfig::default(), outputs, &mut inputs, memory).expect("a client");
    let period = core_span(controller);
    let mut commands = RegisterCommands::new(registers, period.times(CYCLES));

    let conn = controller.connect(Port::Rtde).expect("a port that is open");
    client.handle(core_time(controller.now()), Input::Opened);
    commands.opened();
    let (mut sent, mut mirrored, mut read_back) = (vec![], vec![], vec![]);
    let end = controller.cycles() + u64::from(count) + 20;
    while controller.cycles() < end {
        controller.advance_to(controller.next_event());
        let now = core_time(controller.now());
        while controller.pending(conn) > 0 {
            let size = controller.read(conn, client.receive_window());
            let mut fresh = false;
            client.commit(size, now, now);
            while let Some(event) = client.poll_event() {
                match event {
                    Event::Data(data) => {
                        fresh = true;
                        mirrored.extend(commands.take(&data.values, now).map(|echo| echo.number.get()));
                        let mut values = data.values.reader();
                        let (_, _) = (values.value::<f64>(), values.value::<i32>());
                        let back = RegisterCommand::read(&mut values);
                        read_back.extend(back.filter(|back| read_back.last() != Some(back)));
                    }
                    Event::Failed(failure) => panic!("{failure}"),
                    _ => {}
                }
            }
            if fresh && sent.len() < count as usize {
                let (word, speeds) = nth(sent.len() as u32);
                let number = commands.send(&mut client, 0, word, speeds, now).expect("data has shown the mirror");
                sent.push(RegisterCommand { word, number, speeds });
            }
            write(&mut client, controller, conn);
        }
        client.handle(now, Input::Tick);
        write(&mut client, controller, conn);
    }
    controller.disconnect(conn);
    let figures = commands.figures(core_time(controller.now()));
    Run { sent, mirrored, read_back, commands, figures }
}

fn write(client: &mut Client<'_, '_>, controller: &mut Controller, conn: Conn) {
    while let Some(output) = client.poll_output() {
        let Output::Transmit(bytes) = output else { panic!("{output:?}") };
        assert_eq!(controller.write(conn, bytes), bytes.len());
    }
}

fn core_span(controller: &Controller) -> Duration {
    Duration::from_micros(controller.period().as_micros() as u64)
}

/// Checks that every command was mirrored, in order and in time, and arrived whole.
fn all_mirrored(run: &Run, period: Duration, count: u32) {
    let numbers: Vec<_> = run.sent.iter().map(|command| command.number.get()).collect();
    assert_eq!(numbers.len(), count as usize);
    assert_eq!(run.mirrored, numbers);
    // The data that an earlier client has left are read back first.
    assert!(run.read_back.ends_with(&run.sent));
    let histogram = run.commands.round_trips();
    assert_eq!(histogram.count(), u64::from(count));
    assert!(histogram.longest() <= period.times(CYCLES), "{:?}", histogram.longest());
    let figures = run.figures;
    assert_eq!((figures.rate, figures.judged), (10_000, 100));
    assert_eq!((figures.late, figures.consecutive_misses), (0, 0));
    assert_eq!(figures.round_trip, Some(period.times(CYCLES)));
    assert!(figures.shortest.is_some_and(|shortest| shortest >= period), "{:?}", figures.shortest);
}

#[test]
fn every_command_is_mirrored_within_two_cycles_and_the_histogram_says_so() {
    for (software, expected) in [
        (SoftwareVersion::new(3, 4), Registers::LOWER),
        (SoftwareVersion::new(3, 8), Registers::LOWER),
        (SoftwareVersion::new(3, 15), Registers::UPPER),
        (SoftwareVersion::new(5, 0), Registers::LOWER),
        (SoftwareVersion::new(5, 15), Registers::UPPER),
    ] {
        let registers = Registers::for_software(software).expect("RTDE");
        assert_eq!(registers, expected, "{software}");
        let mut controller = controller(software, true);
        let run = run(&mut controller, registers, 500);
        all_mirrored(&run, core_span(&controller), 500);
    }
}

#[test]
fn a_second_client_goes_on_where_the_first_has_left_the_registers() {
    let mut controller = controller(SoftwareVersion::new(5, 15), true);
    let registers = Registers::new(40, 30).and_then(|registers| registers.with_mirror(41)).expect("upper ones");
    let first = run(&mut controller, registers, 200);
    let left = *first.mirrored.last().expect("an echo");
    let second = run(&mut controller, registers, 200);
    assert_eq!(second.sent[0].number.get(), left + 1);
    all_mirrored(&second, core_span(&controller), 200);
}

#[test]
fn a_program_that_mirrors_the_number_answers_and_without_one_nothing_does() {
    let mut controller = controller(SoftwareVersion::new(5, 15), false);
    let registers = Registers::UPPER.with_mirror(30).expect("an upper one");
    let alone = run(&mut controller, registers, 120);
    assert_eq!((alone.mirrored.len(), alone.commands.round_trips().count()), (0, 0));
    assert_eq!((alone.figures.rate, alone.figures.consecutive_misses), (0, 100));
    assert_eq!(alone.read_back, alone.sent, "the registers themselves were written");

    let script = controller.connect(Port::Secondary).expect("a port that is open");
    let program = "def mirror():\n while True:\n  write_output_integer_register(30, read_input_integer_register(25))\n  sync()\n end\nend\n";
    assert_eq!(controller.write(script, program.as_bytes()), program.len());
    let run = run(&mut controller, registers, 300);
    let share = run.mirrored.len() as f64 / 300.0;
    assert!(share > 0.98, "{share}");
    assert!(run.commands.round_trips().longest() <= core_span(&controller).times(CYCLES + 1));
}
