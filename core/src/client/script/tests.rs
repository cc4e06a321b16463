use super::*;
use crate::client::Output;
use outrigger_wire::primary::{
    ErrorCode, ErrorDetail, RobotMessage, RobotMessagePayload, RobotModeDataRepr, RobotStateWriter, Text as Chars,
    Titled, Version,
};
use outrigger_wire::time::Instant;

const FIVE: SoftwareVersion = SoftwareVersion::new(5, 15);
const THREE: SoftwareVersion = SoftwareVersion::new(3, 2);
const PROGRAM: &str = "# a comment\ndef weld():\n  movej(q)\nend\n";

/// An upload with its events as text, and a clock.
struct Bench {
    upload: Upload<'static, 'static>,
    now: Instant,
    told: Vec<String>,
    sent: Vec<u8>,
    software: SoftwareVersion,
    /// The size of the pieces in which bytes are passed to the upload.
    piece: usize,
}

impl Bench {
    fn new(software: SoftwareVersion, text: &'static str, wait: bool) -> Self {
        let memory = Box::leak(vec![0; 4096].into_boxed_slice());
        let config = UploadConfig { wait, ..UploadConfig::default() };
        let upload = Upload::new(config, ScriptFile::new(text.as_bytes()).unwrap(), memory).unwrap();
        Self { upload, now: Instant::ZERO, told: vec![], sent: vec![], software, piece: usize::MAX }
    }

    /// Returns an upload that is connected, has received a state and has sent its program.
    fn sent(software: SoftwareVersion, text: &'static str, wait: bool, running: bool) -> Self {
        let mut bench = Self::new(software, text, wait);
        bench.input(UploadInput::Opened);
        bench.version();
        bench.state(running, false);
        assert!(!bench.sent.is_empty());
        bench
    }

    fn input(&mut self, input: UploadInput) {
        self.upload.handle(self.now, input);
        self.drain();
    }

    /// Executes the outputs of the tested upload, and stores its events and the bytes that it sends.
    fn drain(&mut self) {
        loop {
            let event = self.upload.poll_event().map(|event| words(&event));
            let more = event.is_some();
            self.told.extend(event);
            match self.upload.poll_output() {
                None if more => {}
                None => return,
                Some(Output::Open { port }) => assert_eq!(port, 30_001),
                Some(Output::Transmit(bytes)) => self.sent.extend(bytes),
                Some(Output::Close) => assert!(self.upload.outcome().is_some()),
            }
        }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for piece in bytes.chunks(self.piece.min(4096)) {
            self.upload.receive_window()[..piece.len()].copy_from_slice(piece);
            self.upload.commit(piece.len(), self.now);
            self.drain();
        }
    }

    fn message(&mut self, payload: &RobotMessagePayload<'_>) {
        let mut bytes = vec![0; 600];
        let len = RobotMessage::emit(0, MessageSource::Controller, payload, &mut bytes).unwrap();
        self.bytes(&bytes[..len]);
    }

    fn version(&mut self) {
        let SoftwareVersion { major, minor, .. } = self.software;
        self.message(&RobotMessagePayload::Version(Version {
            project_name: Chars(b"URControl"),
            major,
            minor,
            bugfix: 0,
            build_number: (major > 3).then_some(0),
            build_date: Chars(b"01-01-2020, 00:00:00"),
        }));
    }

    fn key(&mut self, title: &str, name: &str) {
        let titled = Titled { code: 0, argument: 0, title: Chars(title.as_bytes()), text: Chars(name.as_bytes()) };
        self.message(&RobotMessagePayload::Key(titled));
    }

    fn exception(&mut self, position: Option<(i32, i32)>, text: &str) {
        self.message(&RobotMessagePayload::RuntimeException { position, text: Chars(text.as_bytes()) });
    }

    fn error(&mut self, code: i32) {
        let detail = ErrorDetail::Report { report_level: 2, data_type: 0, data: 0, text: Chars(b"no") };
        self.message(&RobotMessagePayload::ErrorCode(ErrorCode { code, argument: 7, detail }));
    }

    fn state(&mut self, running: bool, paused: bool) {
        let (robot_mode, is_program_running, is_program_paused) = (7, running, paused);
        let mode = RobotModeDataRepr { robot_mode, is_program_running, is_program_paused, ..Default::default() };
        let mut bytes = vec![0; 256];
        let mut writer = RobotStateWriter::new(&mut bytes).unwrap();
        writer.add(&mode, 47).unwrap();
        let len = writer.finish().unwrap();
        self.bytes(&bytes[..len]);
    }

    /// Sleeps until the upload's own deadline.
    fn wait(&mut self) -> Duration {
        let at = self.upload.poll_timeout().expect("a deadline");
        let waited = at.since(self.now);
        self.now = at;
        self.input(UploadInput::Tick);
        waited
    }

    fn outcome(&self) -> UploadOutcome {
        self.upload.outcome().expect("an outcome")
    }
}

fn words(event: &UploadEvent<'_>) -> String {
    match event {
        UploadEvent::Message(message) => {
            format!("{:?} {} {}", message.kind, message.title.escape_ascii(), message.text.escape_ascii())
        }
        event => format!("{event:?}"),
    }
}

const SECONDARY: &str = "sec io():\n  set_flag(1, True)\nend\n";

#[test]
fn a_program_goes_out_from_its_first_statement_once_a_state_came_and_starts_by_its_key_message() {
    let mut bench = Bench::new(FIVE, PROGRAM, false);
    bench.input(UploadInput::Opened);
    bench.version();
    assert!(bench.sent.is_empty(), "whether a program runs is not known yet");
    bench.state(false, false);
    assert_eq!(bench.sent, b"def weld():\n  movej(q)\nend\n");
    bench.key("PROGRAM_XXX_STARTED", "weld");
    assert_eq!(bench.upload.outcome(), None, "it may fail at once");
    assert_eq!(bench.wait(), Duration::from_millis(500));
    assert_eq!(bench.outcome(), UploadOutcome::Started(Evidence::KeyMessage));
    assert_eq!(bench.upload.poll_timeout(), None);
    let told = ["Software(SoftwareVersion { major: 5, minor: 15, bugfix: 0 })", "Sent { replaces: false }"];
    assert_eq!(bench.told[..2], told);
    assert_eq!(bench.told[2..], ["Key PROGRAM_XXX_STARTED weld", "Started(KeyMessage)"]);
}

#[test]
fn bytes_in_any_pieces_give_the_same_outcome() {
    for piece in [1, 2, 3, 7, 64] {
        let mut bench = Bench::new(FIVE, PROGRAM, false);
        bench.piece = piece;
        bench.input(UploadInput::Opened);
        bench.version();
        bench.state(true, false);
        bench.exception(Some((2, 3)), "compile_error_name_not_found:q:");
        let text = Text::from_bytes(b"compile_error_name_not_found:q:");
        assert_eq!(bench.outcome(), UploadOutcome::Failed { started: false, position: Some((2, 3)), text });
    }
}

#[test]
fn a_line_end_is_added_where_the_file_has_none() {
    let bench = Bench::sent(FIVE, "def a():\n halt\nend", false, false);
    assert_eq!(bench.sent, b"def a():\n halt\nend\n");
}

#[test]
fn where_no_state_comes_the_program_is_sent_all_the_same() {
    let mut bench = Bench::new(FIVE, PROGRAM, false);
    bench.input(UploadInput::Opened);
    bench.version();
    assert_eq!(bench.wait(), Duration::from_millis(500));
    assert!(!bench.sent.is_empty());
}

#[test]
fn old_software_shows_a_start_only_by_the_robot_mode_data() {
    let mut bench = Bench::sent(THREE, PROGRAM, false, false);
    bench.state(false, false);
    assert_eq!(bench.upload.outcome(), None);
    bench.state(true, false);
    bench.wait();
    assert_eq!(bench.outcome(), UploadOutcome::Started(Evidence::RobotModeData));
}

#[test]
fn where_a_program_ran_before_the_robot_mode_data_proves_nothing() {
    let mut bench = Bench::sent(THREE, PROGRAM, false, true);
    assert_eq!(bench.told.last().unwrap(), "Sent { replaces: true }");
    bench.state(true, false);
    // Three seconds, and 5 ms for each of the three lines that are sent.
    assert_eq!(bench.wait(), Duration::from_millis(3_015));
    let silence = Silence { robot_mode: Some(RobotMode::Running), ran_before: true, runs_now: true };
    assert_eq!(bench.outcome(), UploadOutcome::Unheard(silence));
}

#[test]
fn a_program_is_waited_for_until_its_own_key_message_says_it_stopped() {
    let mut bench = Bench::sent(FIVE, PROGRAM, true, true);
    bench.key("PROGRAM_XXX_STOPPED", "weld");
    bench.key("PROGRAM_XXX_STARTED", "weld");
    bench.key("PROGRAM_XXX_STOPPED", "another");
    bench.message(&RobotMessagePayload::Text(Chars(b"seam 1 done")));
    bench.state(true, true);
    bench.state(true, false);
    assert_eq!((bench.upload.outcome(), bench.upload.poll_timeout()), (None, None), "as long as it takes");
    bench.key("PROGRAM_XXX_STOPPED", "weld");
    assert_eq!(bench.outcome(), UploadOutcome::Ended(Evidence::KeyMessage));
    let told: Vec<_> = bench.told.iter().skip(5).map(String::as_str).collect();
    assert_eq!(told[..3], ["Key PROGRAM_XXX_STOPPED another", "Text  seam 1 done", "Paused(true)"]);
    assert_eq!(told[3..], ["Paused(false)", "Key PROGRAM_XXX_STOPPED weld"]);
}

#[test]
fn names_of_key_messages_may_be_cut_to_31_characters() {
    const LONG: &str = "def a123456789b123456789c123456789d():\n halt\nend\n";
    for (name, ours) in [("a123456789b123456789c123456789d", true), ("a123456789", false)] {
        let mut bench = Bench::sent(FIVE, LONG, false, false);
        bench.key("PROGRAM_XXX_STARTED", name);
        assert_eq!(bench.told.last().unwrap() == "Started(KeyMessage)", ours, "{name}");
    }
}

#[test]
fn an_end_without_a_key_message_is_seen_in_the_robot_mode_data() {
    let mut bench = Bench::sent(THREE, PROGRAM, true, false);
    bench.state(true, false);
    bench.state(false, false);
    assert_eq!(bench.outcome(), UploadOutcome::Ended(Evidence::RobotModeData));

    let mut bench = Bench::sent(FIVE, PROGRAM, true, false);
    bench.key("PROGRAM_XXX_STARTED", "weld");
    (0..4).for_each(|_| bench.state(false, false));
    assert_eq!(bench.upload.outcome(), None, "the state lags behind, the key message is still to come");
    bench.state(false, false);
    assert_eq!(bench.outcome(), UploadOutcome::Ended(Evidence::RobotModeData));
}

#[test]
fn an_error_of_the_running_program_and_a_program_in_its_place_end_the_wait() {
    let mut bench = Bench::sent(FIVE, PROGRAM, true, false);
    bench.key("PROGRAM_XXX_STARTED", "weld");
    bench.exception(Some((2, 1)), "division by zero");
    assert!(matches!(bench.outcome(), UploadOutcome::Failed { started: true, position: Some((2, 1)), .. }));

    let mut bench = Bench::sent(FIVE, PROGRAM, true, false);
    bench.key("PROGRAM_XXX_STARTED", "weld");
    bench.key("PROGRAM_XXX_STARTED", "another");
    assert_eq!(bench.outcome(), UploadOutcome::Replaced);
}

#[test]
fn what_was_said_before_the_program_was_sent_is_not_about_it() {
    let mut bench = Bench::new(FIVE, PROGRAM, false);
    bench.input(UploadInput::Opened);
    bench.version();
    bench.exception(Some((9, 9)), "of another");
    bench.error(210);
    bench.key("PROGRAM_XXX_STARTED", "weld");
    bench.state(false, false);
    assert_eq!(bench.upload.outcome(), None);
    bench.wait();
    assert!(matches!(bench.outcome(), UploadOutcome::Unheard(_)));
}

#[test]
fn local_control_is_known_by_its_code_and_any_other_error_explains_a_program_that_does_not_start() {
    let mut bench = Bench::sent(FIVE, PROGRAM, false, false);
    bench.error(210);
    assert_eq!(bench.outcome(), UploadOutcome::LocalControl);

    let mut bench = Bench::sent(FIVE, PROGRAM, false, false);
    bench.error(50);
    assert_eq!(bench.upload.outcome(), None, "it may start for all that");
    bench.wait();
    let text = Text::from_bytes(b"no");
    assert_eq!(bench.outcome(), UploadOutcome::Reported { code: 50, argument: 7, text });
}

#[test]
fn a_file_with_programs_of_both_kinds_replaces_the_running_program() {
    for text in [[PROGRAM, SECONDARY].concat(), [SECONDARY, PROGRAM].concat()] {
        let text = Box::leak(text.into_boxed_str());
        let bench = Bench::sent(FIVE, text, true, true);
        assert_eq!(bench.told.last().unwrap(), "Sent { replaces: true }");
    }
}

#[test]
fn of_a_secondary_program_nothing_but_errors_is_expected() {
    let mut bench = Bench::sent(FIVE, SECONDARY, true, true);
    assert_eq!(bench.told.last().unwrap(), "Sent { replaces: false }");
    bench.state(true, false);
    assert_eq!(bench.wait(), Duration::from_millis(515));
    assert_eq!(bench.outcome(), UploadOutcome::NoResultExpected);

    let mut bench = Bench::sent(FIVE, SECONDARY, false, false);
    bench.exception(Some((2, 3)), "no");
    assert!(matches!(bench.outcome(), UploadOutcome::Failed { started: false, position: Some((2, 3)), .. }));
}

#[test]
fn a_peer_that_is_no_controller_or_goes_away_is_said_to_be_so() {
    let outcome = |inputs: &[UploadInput]| {
        let mut bench = Bench::new(FIVE, PROGRAM, false);
        bench.now = Instant::from_micros(7);
        inputs.iter().for_each(|input| bench.input(*input));
        (bench.upload.outcome().is_none()).then(|| bench.wait());
        bench.outcome()
    };
    assert_eq!(outcome(&[UploadInput::Start]), UploadOutcome::NoConnection);
    assert_eq!(outcome(&[UploadInput::Start, UploadInput::Refused]), UploadOutcome::Refused);
    assert_eq!(outcome(&[UploadInput::Opened]), UploadOutcome::NoGreeting);
    assert_eq!(outcome(&[UploadInput::Opened, UploadInput::Closed]), UploadOutcome::Closed { sent: false });

    let mut bench = Bench::new(FIVE, PROGRAM, false);
    bench.input(UploadInput::Opened);
    bench.bytes(b"Connected: Universal Robots Dashboard Server\n");
    assert_eq!(bench.outcome(), UploadOutcome::WrongService(Found::Text));

    let mut bench = Bench::sent(FIVE, PROGRAM, false, false);
    bench.input(UploadInput::Closed);
    assert_eq!(bench.outcome(), UploadOutcome::Closed { sent: true });

    let mut bench = Bench::sent(FIVE, PROGRAM, false, false);
    bench.key("PROGRAM_XXX_STARTED", "weld");
    bench.input(UploadInput::Closed);
    assert_eq!(bench.outcome(), UploadOutcome::Started(Evidence::KeyMessage));
}

#[test]
fn messages_longer_than_the_memory_are_skipped() {
    let mut bench = Bench::sent(FIVE, PROGRAM, false, false);
    let long = [&9_000_i32.to_be_bytes()[..], &[25], &[b'x'; 8_995]].concat();
    bench.bytes(&long);
    bench.key("PROGRAM_XXX_STARTED", "weld");
    assert_eq!(bench.told.last().unwrap(), "Started(KeyMessage)");
}
