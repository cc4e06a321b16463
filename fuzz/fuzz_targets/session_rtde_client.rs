//! Runs the RTDE client with a service that answers, deviates or sends arbitrary bytes at any time.
//!
//! Two bytes are one event: its kind and its amount; some are followed by bytes to send. Checks that counts add up,
//! that memory bounds hold, that requests are whole packages, that every wait ends, that a failed connection causes no
//! events, and that a stream cut in two ways results in the same events.
#![no_main]

use libfuzzer_sys::fuzz_target;
use outrigger_core::client::Output;
use outrigger_core::client::rtde::{
    Client, ClientConfig, ClientMemory, Event, Input, Inputs, RegisterCommands, Registers, RtdeCounts,
};
use outrigger_tests::noise::Noise;
use outrigger_wire::robot::{JointVelocities, SoftwareVersion};
use outrigger_wire::rtde::registry::{Direction, Variable};
use outrigger_wire::rtde::{
    ControllerVersion, DataType, DynamicRecipe, Field, Level, NameList, Package, Protocol, Reply, Request, TypeList,
    Value,
};
use outrigger_wire::time::{Duration, Instant};

/// The number that the simulated service gives to the output recipe.
const OUTPUTS: u8 = 7;
/// The size of the memory for reception [B]; not enough for everything that can be sent.
const RECEIVE: usize = 256;
/// The sizes of the memory for transmission [B]; the smaller is not enough for everything that can be requested.
const TRANSMIT: [usize; 2] = [192, 1024];
/// The lists of outputs that cases request: with the controller's time, with only its cycle counter, or with neither.
/// The first two contain the register into which a program on the controller copies command numbers.
const READ: [&str; 3] =
    ["timestamp,actual_q,output_int_register_25", "control_step,output_int_register_25", "robot_mode,actual_q"];
const OPTIONAL: &str = "payload,no_such_variable";
const LETTERS: &[u8] = b"VvMUOISP?";
const SOFTWARE: [SoftwareVersion; 3] =
    [SoftwareVersion::new(3, 4), SoftwareVersion::new(5, 15), SoftwareVersion::new(10, 12)];

/// The deviations of the simulated RTDE service from a normal one, one bit each, for example rejected requests.
#[derive(Clone, Copy)]
struct Habits(u8);

impl Habits {
    fn old_protocol(self) -> bool {
        self.0 & 1 != 0
    }
    fn other_type(self) -> bool {
        self.0 & 2 != 0
    }
    fn in_use(self) -> bool {
        self.0 & 4 != 0
    }
    fn refuses(self) -> bool {
        self.0 & 8 != 0
    }
    fn silent(self) -> bool {
        self.0 & 16 != 0
    }
}

/// The record of a case, in order: events, sent packages, and counts after each event.
#[derive(Default, PartialEq)]
struct Transcript {
    log: Vec<String>,
    since_opened: Tally,
}

/// The numbers of the client's events on one connection, by their kind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Tally {
    data: u64,
    texts: u32,
    unexpected: u32,
    unknown_recipes: u32,
    malformed: u32,
    skipped: u32,
    failed: u32,
}

impl Transcript {
    fn hear(&mut self, event: &Event<'_, '_>) {
        let tally = &mut self.since_opened;
        assert_eq!(tally.failed, 0, "{event:?} of a connection that has failed");
        match event {
            Event::Data(_) => tally.data += 1,
            Event::Text(_) => tally.texts += 1,
            Event::Unexpected(_) => tally.unexpected += 1,
            Event::UnknownRecipe(_) => tally.unknown_recipes += 1,
            Event::Malformed(_) => tally.malformed += 1,
            Event::Skipped(_) => tally.skipped += 1,
            Event::Failed(_) => tally.failed += 1,
            _ => {}
        }
        self.log.push(format!("{event:?}"));
    }
}

struct World<'n, 'm> {
    client: Client<'n, 'm>,
    commands: RegisterCommands,
    told: Transcript,
    /// The packages with the client's requests that the simulated service has not answered yet.
    asked: Vec<Vec<u8>>,
    habits: Habits,
    software: SoftwareVersion,
    now: Instant,
    /// The greatest number of bytes that one read returns.
    cut: usize,
    transmit: usize,
    received: u64,
    open: bool,
    step: u64,
}

impl World<'_, '_> {
    fn receive(&mut self, mut stream: &[u8]) {
        while !stream.is_empty() {
            let window = self.client.receive_window();
            assert!((1..=RECEIVE).contains(&window.len()), "there is always room, and no more than was given");
            let count = window.len().min(stream.len()).min(self.cut);
            window[..count].copy_from_slice(&stream[..count]);
            stream = &stream[count..];
            self.received += count as u64;
            self.client.commit(count, self.now, self.now);
            self.hear();
        }
    }

    /// Takes all events of the client, and records them.
    fn hear(&mut self) {
        let Self { client, told, commands, now, .. } = self;
        while let Some(event) = client.poll_event() {
            if let Event::Data(data) = &event {
                data.values.iter().for_each(drop);
                if let Some(echo) = commands.take(&data.values, *now) {
                    told.log.push(format!("{echo:?}"));
                }
            }
            told.hear(&event);
        }
    }

    fn handle(&mut self, input: Input) {
        self.client.handle(self.now, input);
        self.hear();
    }

    /// Takes the bytes to be sent, and checks that they are whole packages, each of them a request.
    fn transmit(&mut self) {
        let protocol = self.client.protocol();
        let mut bytes = match self.client.poll_output() {
            Some(Output::Transmit(bytes)) => bytes,
            Some(Output::Close) => return assert!(self.told.since_opened.failed > 0, "closes what has not failed"),
            Some(output) => panic!("{output:?}"),
            None => return,
        };
        assert!(bytes.len() <= self.transmit, "more than the memory");
        while let Some(size) = bytes.first_chunk().map(|size| usize::from(u16::from_be_bytes(*size))) {
            let (package, rest) = bytes.split_at(size);
            let checked = Package::new_checked(package).expect("a whole package");
            Request::parse(&checked, protocol).expect("a request");
            self.told.log.push(format!("{checked:?}"));
            self.asked.push(package.to_vec());
            bytes = rest;
        }
        assert!(bytes.is_empty(), "nothing but packages");
        assert!(self.open, "asked without a connection");
        assert!(self.client.poll_output().is_none(), "all of it at once");
    }

    /// Answers the client's oldest request, with the present deviations of the simulated service. Returns `false` if no
    /// request waits for an answer.
    fn answer(&mut self) -> bool {
        if self.asked.is_empty() {
            return false;
        }
        let bytes = self.asked.remove(0);
        let protocol = self.client.protocol();
        let package = Package::new_checked(&bytes).expect("a whole package");
        let Ok(request) = Request::parse(&package, protocol) else { return true };
        if self.habits.silent() {
            return true;
        }
        let accepted = !self.habits.refuses();
        match request {
            Request::ProtocolVersion(_) => {
                self.say(&Reply::ProtocolVersion { accepted: !self.habits.old_protocol() });
            }
            Request::ControllerVersion => {
                let SoftwareVersion { major, minor, bugfix } = self.software;
                let version = ControllerVersion { major: major.into(), minor: minor.into(), bugfix, build: 0 };
                self.say(&Reply::ControllerVersion(version));
            }
            Request::SetupOutputs { names, .. } => {
                let words = self.words(names, Direction::Output);
                let recipe = (protocol == Protocol::V2).then_some(OUTPUTS);
                self.say(&Reply::Outputs { recipe, types: TypeList(words.as_bytes()) });
            }
            Request::SetupInputs { names } => {
                let words = self.words(names, Direction::Input);
                self.say(&Reply::Inputs { recipe: u8::from(accepted), types: TypeList(words.as_bytes()) });
            }
            Request::Start => self.say(&Reply::Start { accepted }),
            Request::Pause => self.say(&Reply::Pause { accepted }),
            Request::Text(_) | Request::Data { .. } | Request::Unknown { .. } => {}
        }
        true
    }

    fn words(&self, names: NameList<'_>, direction: Direction) -> String {
        let word = |(place, name): (usize, &[u8])| {
            let known = std::str::from_utf8(name).ok().and_then(|name| Variable::named(name, direction));
            match known {
                None => "NOT_FOUND",
                Some(_) if place == 0 && self.habits.other_type() => DataType::Vector6Int32.word(),
                Some(_) if direction == Direction::Input && self.habits.in_use() => "IN_USE",
                Some(known) => known.data_type().word(),
            }
        };
        names.iter().enumerate().map(word).collect::<Vec<_>>().join(",")
    }

    fn say(&mut self, reply: &Reply<'_>) {
        let mut bytes = [0; 1024];
        let size = reply.emit(&mut bytes).expect("room");
        self.receive(&bytes[..size]);
    }

    /// Sends one data package of the simulated controller: its time advances by one cycle, the register with the copied
    /// command number has the value `mirror`, and all other values are noise.
    fn publish(&mut self, recipe: u8, mirror: u8) {
        self.step += 1;
        let mut values = Noise::seeded(self.step).bytes(self.client.outputs().size().unwrap_or(9));
        let shown: [(&str, Vec<u8>); 3] = [
            ("timestamp", (self.step as f64 * 0.002).to_be_bytes().to_vec()),
            ("control_step", self.step.to_be_bytes().to_vec()),
            ("output_int_register_25", i32::from(mirror).to_be_bytes().to_vec()),
        ];
        for (name, bytes) in shown {
            if let Some((place, _)) = self.client.outputs().place(name)
                && let Some(room) = values.get_mut(place..place + bytes.len())
            {
                room.copy_from_slice(&bytes);
            }
        }
        let recipe = (self.client.protocol() == Protocol::V2).then_some(recipe);
        self.say(&Reply::Data { recipe, values: &values });
    }

    fn tick(&mut self) {
        self.handle(Input::Tick);
    }

    /// Advances the time, and wakes the client at its deadlines.
    fn wait(&mut self, span: Duration) {
        let end = self.now + span;
        for round in 0.. {
            assert!(round < 512, "a wait without an end");
            self.transmit();
            let Some(at) = self.client.poll_timeout().filter(|at| *at <= end) else { break };
            self.now = self.now.max(at);
            self.tick();
        }
        self.now = end;
    }

    fn event(&mut self, what: u8, much: u8, bytes: &mut &[u8]) {
        match what % 24 {
            // All requests are answered, then data is sent.
            0..=2 => {
                for _ in 0..64 {
                    self.transmit();
                    if !self.answer() {
                        break;
                    }
                }
                (0..much % 32).for_each(|cycle| self.publish(OUTPUTS, cycle));
            }
            3 => drop(self.answer()),
            4 => self.publish(OUTPUTS, much),
            5 => self.publish(much, much),
            6 | 7 => {
                let raw = take(bytes, much.into());
                self.receive(raw);
            }
            8 | 9 => {
                let payload = take(bytes, usize::from(much) % 96);
                let size = u16::try_from(payload.len() + 3).expect("a short package");
                let letter = LETTERS[usize::from(much) % LETTERS.len()];
                self.receive(&[&size.to_be_bytes()[..], &[letter], payload].concat());
            }
            10 | 11 => self.wait(Duration::from_millis(u64::from(much) * 10)),
            12 => self.tick(),
            13 => self.now = self.now + Duration::from_secs(much.into()),
            14 | 15 => self.open(),
            16 => {
                self.handle(Input::Closed);
                self.asked.clear();
                self.open = false;
                assert_eq!(self.client.poll_timeout(), None, "nothing is waited for without a connection");
            }
            17 => self.handle(Input::Pause),
            18 => self.handle(Input::Start),
            19 => {
                let values = [Value::Uint8(much), Value::Uint8(0), Value::Double(f64::from(much))];
                let result = self.client.write(usize::from(much % 4), &values[..usize::from(much) % values.len()]);
                assert!(result.is_err() || self.client.is_flowing(), "written where nothing flows");
                self.told.log.push(format!("{result:?}"));
            }
            20 => {
                let text = "x".repeat(usize::from(much) * 2);
                let result = self.client.say(Level::Info, &text, "fuzz");
                self.told.log.push(format!("{result:?}"));
            }
            21 => {
                let speeds = JointVelocities([if much == 255 { f32::NAN } else { 0.1 }; 6]);
                let result = self.commands.send(&mut self.client, 1, much.into(), speeds, self.now);
                self.told.log.push(format!("{result:?}"));
            }
            22 => self.habits = Habits(much),
            // A jump of the controller's clock.
            _ => self.step = self.step.wrapping_add(u64::from(much) << (much % 32)),
        }
        self.check();
    }

    fn open(&mut self) {
        self.client.handle(self.now, Input::Opened);
        self.commands.opened();
        self.asked.clear();
        self.told.since_opened = Tally::default();
        self.open = true;
        self.received = 0;
        assert!(self.client.poll_timeout() == Some(Instant::ZERO), "the first question waits to be written");
    }

    /// Checks that the client's counts match its events.
    fn check(&mut self) {
        let RtdeCounts { stream, data, texts, unexpected, unknown_recipes } = *self.client.counts();
        let tally = self.told.since_opened;
        assert_eq!((tally.data, tally.texts, tally.unknown_recipes), (data, texts, unknown_recipes));
        assert_eq!((tally.unexpected, tally.malformed), (unexpected + stream.unknown, stream.malformed));
        assert_eq!(tally.skipped, stream.oversize);
        assert!(stream.lost_sync <= tally.failed && tally.failed <= 1, "{stream:?}");
        let told = u64::from(texts + unexpected + unknown_recipes + stream.unknown) + data;
        assert!(told <= stream.messages, "{told} of {}", stream.messages);
        assert!(self.client.dropped_bytes() <= self.received, "dropped what never came");
        if tally.failed > 0 {
            // The request to close, if it was not taken yet.
            self.transmit();
        }
        if tally.failed > 0 || !self.open {
            assert!(!self.client.is_flowing() && self.client.poll_timeout().is_none(), "waits for nothing");
            assert!(self.client.poll_output().is_none(), "asks nothing more");
        }
        let cadence = *self.client.cadence();
        assert!(u64::from(cadence.longest_gap) <= cadence.missing && u64::from(cadence.late) <= data);
        let figures = self.commands.figures(self.now);
        self.told.log.push(format!("{:?} {cadence:?} {figures:?}", self.client.counts()));
    }
}

fn take<'b>(bytes: &mut &'b [u8], count: usize) -> &'b [u8] {
    let (taken, rest) = bytes.split_at(count.min(bytes.len()));
    *bytes = rest;
    taken
}

/// Runs a whole case, in which each read returns at most `cut` bytes. Returns the record of the case.
fn run(first: u8, mut events: &[u8], cut: usize) -> Vec<String> {
    let registers = Registers::UPPER.names();
    let recipes = ["standard_digital_output_mask,standard_digital_output", registers.inputs(), "no_such_input"];
    let (mut outputs, mut inputs) = ([Field::EMPTY; 5], [[Field::EMPTY; Registers::COUNT]; 3]);
    let read = READ[usize::from(first) % READ.len()];
    let outputs =
        DynamicRecipe::with_optional(read, OPTIONAL, Direction::Output, &mut outputs).expect("room for the outputs");
    let [a, b, c] = &mut inputs;
    let mut inputs = [(recipes[0], a), (recipes[1], b), (recipes[2], c)].map(|(names, room)| {
        Inputs::new(DynamicRecipe::new(names, Direction::Input, room).expect("room for the inputs"))
    });
    let transmit = TRANSMIT[usize::from(first >> 4) % TRANSMIT.len()];
    let (mut receive, mut room) = ([0; RECEIVE], vec![0; transmit]);
    let memory = ClientMemory { receive: &mut receive, transmit: &mut room };
    let config = ClientConfig { in_use_attempts: 2, ..ClientConfig::default() };
    let mut world = World {
        client: Client::new(config, outputs, &mut inputs, memory).expect("a configuration that can be run"),
        commands: RegisterCommands::new(Registers::UPPER, Duration::from_millis(6)),
        told: Transcript::default(),
        asked: Vec::new(),
        habits: Habits(0),
        software: SOFTWARE[usize::from(first >> 5) % SOFTWARE.len()],
        now: Instant::from_micros(1),
        cut,
        transmit,
        received: 0,
        open: false,
        step: 0,
    };
    world.open();
    for _ in 0..96 {
        let Some((&[what, much], rest)) = events.split_first_chunk() else { break };
        events = rest;
        world.event(what, much, &mut events);
    }
    world.told.log
}

// The first byte selects the outputs, the memory and the software, the second the size of the pieces. Then follow
// events.
fuzz_target!(|case: &[u8]| {
    let Some((&[first, cut], events)) = case.split_first_chunk() else { return };
    let whole = run(first, events, usize::MAX);
    let pieces = run(first, events, usize::from(cut).max(1));
    let differ = whole.iter().zip(&pieces).find(|(whole, pieces)| whole != pieces);
    assert!(differ.is_none() && whole.len() == pieces.len(), "told another thing in pieces: {differ:?}");
});
