use super::*;
use crate::client::Output;
use outrigger_wire::primary::{
    ErrorCode, RobotMessage, RobotMessagePayload, RobotModeDataRepr, RobotStateWriter, Text as Chars,
    ToolCommunicationInfoRepr, ToolDataRepr, Version,
};
use outrigger_wire::robot::MessageSource;
use outrigger_wire::time::Instant;

const LINE: ToolCommunication = ToolCommunication {
    baud_rate: 115_200,
    parity: Parity::Even,
    stop_bits: 1,
    rx_idle_chars: 1.5,
    tx_idle_chars: 3.5,
    voltage: Some(ToolVoltage::V24),
};
const TEXT: &str =
    "sec outrigger_io():\n set_tool_voltage(24)\n set_tool_communication(True,115200,2,1,1.500000,3.500000)\nend\n";
/// The settings of a line that was never set up: on, bit rate, parity, supply voltage.
const OFF: (bool, i32, i32, u8) = (false, 115_200, 0, 0);
/// The settings that the tests request.
const ON: (bool, i32, i32, u8) = (true, 115_200, 2, 24);

/// A tested set-up of the tool's serial line, with its events and transmitted bytes, and a clock.
struct Bench {
    setup: Setup<'static>,
    now: Instant,
    told: Vec<SetupEvent>,
    sent: Vec<u8>,
    closed: bool,
    /// The size of the pieces in which bytes are passed to the set-up.
    piece: usize,
}

impl Bench {
    fn new(line: ToolCommunication) -> Self {
        let memory = Box::leak(vec![0; 4096].into_boxed_slice());
        let setup = Setup::new(SetupConfig::default(), line, memory).unwrap();
        let mut bench =
            Self { setup, now: Instant::ZERO, told: vec![], sent: vec![], closed: false, piece: usize::MAX };
        bench.input(SetupInput::Start);
        bench
    }

    /// Creates a set-up of the tool's serial line that is connected to a controller with this software.
    fn connected(major: u8, minor: u8) -> Self {
        let mut bench = Self::new(LINE);
        bench.input(SetupInput::Opened);
        bench.version(major, minor);
        bench
    }

    fn input(&mut self, input: SetupInput) {
        self.setup.handle(self.now, input);
        self.drain();
    }

    fn drain(&mut self) {
        while let Some(output) = self.setup.poll_output() {
            match output {
                Output::Open { port } => assert_eq!(port, 30_001),
                Output::Transmit(bytes) => self.sent.extend(bytes),
                Output::Close => self.closed = true,
            }
        }
        self.told.extend(core::iter::from_fn(|| self.setup.poll_event()));
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for piece in bytes.chunks(self.piece.min(4096)) {
            self.setup.receive_window()[..piece.len()].copy_from_slice(piece);
            self.setup.commit(piece.len(), self.now);
            self.drain();
        }
    }

    fn message(&mut self, payload: &RobotMessagePayload<'_>) {
        let mut bytes = vec![0; 600];
        let len = RobotMessage::emit(0, MessageSource::Controller, payload, &mut bytes).unwrap();
        self.bytes(&bytes[..len]);
    }

    fn version(&mut self, major: u8, minor: u8) {
        self.message(&RobotMessagePayload::Version(Version {
            project_name: Chars(b"URControl"),
            major,
            minor,
            bugfix: 0,
            build_number: (major > 3).then_some(0),
            build_date: Chars(b"01-01-2020, 00:00:00"),
        }));
    }

    fn error(&mut self, code: i32, text: &'static [u8]) {
        use outrigger_wire::primary::ErrorDetail;
        let detail = ErrorDetail::Report { report_level: 2, data_type: 0, data: 0, text: Chars(text) };
        self.message(&RobotMessagePayload::ErrorCode(ErrorCode { code, argument: 0, detail }));
    }

    /// Passes a robot state to the set-up; `line` is on or off, the bit rate, the parity and the supply voltage.
    fn state(&mut self, line: Option<(bool, i32, i32, u8)>) {
        let mut bytes = vec![0; 512];
        let mut writer = RobotStateWriter::new(&mut bytes).unwrap();
        writer.add(&RobotModeDataRepr::default(), 47).unwrap();
        if let Some((tool_communication_is_enabled, baud_rate, parity, tool_output_voltage)) = line {
            writer.add(&ToolDataRepr { tool_output_voltage, ..Default::default() }, 37).unwrap();
            let (stop_bits, rx_idle_chars, tx_idle_chars) = (1, 1.5, 3.5);
            let info = ToolCommunicationInfoRepr {
                tool_communication_is_enabled,
                baud_rate,
                parity,
                stop_bits,
                rx_idle_chars,
                tx_idle_chars,
            };
            writer.add(&info, 26).unwrap();
        }
        let len = writer.finish().unwrap();
        self.bytes(&bytes[..len]);
    }

    /// Advances the clock to the set-up's own deadline.
    fn wait(&mut self) -> Duration {
        let at = self.setup.poll_timeout().expect("a deadline");
        let waited = at.since(self.now);
        self.now = at;
        self.input(SetupInput::Tick);
        waited
    }

    fn outcome(&self) -> SetupOutcome {
        self.setup.outcome().expect("an outcome")
    }
}

#[test]
fn settings_are_sent_once_and_are_in_force_when_a_state_shows_them() {
    for piece in [usize::MAX, 1, 7] {
        let mut bench = Bench::connected(5, 15);
        bench.piece = piece;
        assert!(bench.sent.is_empty(), "the settings in force are not known yet");
        bench.state(Some(OFF));
        assert_eq!(String::from_utf8_lossy(&bench.sent), TEXT);
        for line in [OFF, (true, 115_200, 0, 24), (true, 9_600, 2, 24), (true, 115_200, 2, 12)] {
            bench.state(Some(line));
            assert_eq!(bench.setup.outcome(), None, "{line:?}");
        }
        bench.state(Some(ON));
        assert_eq!((bench.outcome(), bench.closed), (SetupOutcome::Set, true));
        assert_eq!(bench.sent.len(), TEXT.len());
        let [SetupEvent::Software(software), SetupEvent::Sent(before)] = bench.told[..] else { panic!() };
        assert_eq!((software, before.enabled, before.voltage), (SoftwareVersion::new(5, 15), false, Some(0)));
    }
}

#[test]
fn nothing_is_sent_where_the_line_is_as_it_should_be() {
    let mut bench = Bench::connected(10, 12);
    bench.state(Some(ON));
    assert_eq!((bench.outcome(), bench.sent.len(), bench.closed), (SetupOutcome::AlreadySet, 0, true));
    let mut bench = Bench::new(ToolCommunication { voltage: None, ..LINE });
    bench.input(SetupInput::Opened);
    bench.state(Some((true, 115_200, 2, 0)));
    assert_eq!(bench.outcome(), SetupOutcome::AlreadySet, "the supply is as it is");
}

#[test]
fn an_arm_without_the_line_is_told_by_its_software_or_by_its_states() {
    let mut bench = Bench::connected(3, 15);
    assert_eq!(bench.outcome(), SetupOutcome::NoSuchLine(Some(SoftwareVersion::new(3, 15))));
    bench.state(None);
    assert!(bench.sent.is_empty());
    let mut bench = Bench::new(LINE);
    bench.input(SetupInput::Opened);
    bench.state(None);
    assert_eq!(bench.wait(), Duration::from_secs(1));
    assert_eq!(bench.outcome(), SetupOutcome::NoSuchLine(None));
    let mut bench = Bench::connected(5, 15);
    bench.wait();
    assert_eq!(bench.outcome(), SetupOutcome::NoState);
}

#[test]
fn settings_that_are_not_taken_are_told_with_those_in_force_and_why() {
    let mut bench = Bench::connected(5, 15);
    bench.error(210, b"of another client, before anything was sent");
    bench.state(Some(OFF));
    bench.error(5, b"busy");
    bench.error(6, b"later");
    bench.state(Some(OFF));
    assert_eq!(bench.wait(), Duration::from_secs(2));
    let SetupOutcome::NotTaken(shown) = bench.outcome() else { panic!("{:?}", bench.outcome()) };
    assert_eq!((shown.enabled, shown.baud_rate, shown.voltage), (false, 115_200, Some(0)));
    assert_eq!(bench.setup.said().expect("it said something").as_str(), "busy");
    let mut bench = Bench::connected(5, 15);
    bench.state(Some(OFF));
    bench.error(210, b"");
    assert!(matches!(bench.outcome(), SetupOutcome::LocalControl(shown) if !shown.enabled));
}

#[test]
fn settings_that_do_not_exist_are_never_sent() {
    let mut bench = Bench::new(ToolCommunication { baud_rate: 115_201, ..LINE });
    bench.input(SetupInput::Opened);
    bench.version(5, 15);
    bench.state(Some(OFF));
    assert_eq!(bench.outcome(), SetupOutcome::Invalid(RenderError::BaudRate { found: 115_201 }));
    assert!(bench.sent.is_empty());
    assert_eq!(Setup::check(&LINE), Ok(()));
    let refused = Setup::check(&ToolCommunication { stop_bits: 0, ..LINE }).unwrap_err().to_string();
    assert_eq!(refused, "number of stop bits is 0, allowed 1 to 2");
}

#[test]
fn each_way_in_which_there_is_no_controller_has_its_outcome() {
    let mut bench = Bench::new(LINE);
    bench.input(SetupInput::Refused);
    assert_eq!((bench.outcome(), bench.closed), (SetupOutcome::Refused, false));
    let mut bench = Bench::new(LINE);
    assert_eq!(bench.wait(), Duration::from_secs(3));
    assert_eq!((bench.outcome(), bench.closed), (SetupOutcome::NoConnection, true));
    let mut bench = Bench::new(LINE);
    bench.input(SetupInput::Opened);
    assert_eq!(bench.wait(), Duration::from_secs(2));
    assert_eq!(bench.outcome(), SetupOutcome::NoGreeting);
    let mut bench = Bench::new(LINE);
    bench.input(SetupInput::Opened);
    bench.bytes(b"Connected: Universal Robots Dashboard Server\n");
    assert_eq!(bench.outcome(), SetupOutcome::WrongService(Found::Text));
    for sent in [false, true] {
        let mut bench = Bench::connected(5, 15);
        if sent {
            bench.state(Some(OFF));
        }
        bench.input(SetupInput::Closed);
        assert_eq!((bench.outcome(), bench.closed), (SetupOutcome::Closed { sent }, false));
        assert_eq!(bench.setup.poll_timeout(), None);
    }
}
