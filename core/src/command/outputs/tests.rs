use super::*;

const fn ms(millis: u64) -> Instant {
    Instant::from_micros(millis * 1_000)
}

const fn digital(index: u8, high: bool) -> Write {
    Write::Digital { output: DigitalOutput::Standard(index), high }
}

fn levels(digital: u32) -> ReportedOutputs {
    ReportedOutputs { digital: Some(digital), ..ReportedOutputs::default() }
}

/// The tested buffer of writes to the robot's outputs, with the reported outcome of each write.
struct Desk {
    outputs: Outputs,
    news: std::vec::Vec<(Write, WriteOutcome)>,
}

impl Desk {
    fn new() -> Self {
        Self { outputs: Outputs::default(), news: vec![] }
    }

    fn set(&mut self, write: Write, at: u64) -> Result<(), WriteRefusal> {
        let superseded = self.outputs.set(write, ms(at))?;
        self.news.extend(superseded.map(|write| (write, WriteOutcome::Superseded)));
        Ok(())
    }

    fn send(&mut self, at: u64) -> std::vec::Vec<Write> {
        let sent = self.outputs.send(ms(at)).to_vec();
        self.news.extend(sent.iter().map(|write| (*write, WriteOutcome::Sent)));
        sent
    }

    fn show(&mut self, shown: &ReportedOutputs, at: u64) {
        self.news.extend(core::iter::from_fn(|| self.outputs.observe(&OutputsConfig::default(), shown, ms(at))));
    }

    fn tick(&mut self, at: u64) {
        self.news.extend(core::iter::from_fn(|| self.outputs.overdue(&OutputsConfig::default(), ms(at))));
    }

    fn told(&mut self) -> std::vec::Vec<(Write, WriteOutcome)> {
        core::mem::take(&mut self.news)
    }
}

#[test]
fn a_write_is_confirmed_by_what_arrives_after_it_was_sent() {
    let mut desk = Desk::new();
    desk.set(digital(3, true), 0).unwrap();
    desk.show(&levels(8), 1);
    assert_eq!(desk.told(), [], "it has not been sent yet");
    assert_eq!(desk.send(2), [digital(3, true)]);
    desk.show(&levels(8), 2);
    desk.show(&levels(0), 4);
    assert_eq!(desk.told(), [(digital(3, true), WriteOutcome::Sent)]);
    desk.show(&levels(8), 6);
    assert_eq!(desk.told(), [(digital(3, true), WriteOutcome::Confirmed(Duration::from_millis(4)))]);
    assert_eq!((desk.outputs.pending(), desk.outputs.next_deadline(&OutputsConfig::default())), (0, None));
}

#[test]
fn writes_go_out_in_order_some_at_a_time_and_the_speed_slider_alone() {
    let mut desk = Desk::new();
    let slider = Write::SpeedSlider(0.5);
    for write in [digital(0, true), slider, digital(5, true), digital(4, true), digital(3, true)] {
        desk.set(write, 0).unwrap();
    }
    desk.set(digital(2, true), 0).unwrap();
    desk.set(digital(1, true), 0).unwrap();
    let sent: std::vec::Vec<_> = (1..6).map(|at| desk.send(at)).collect();
    let batch = [digital(5, true), digital(4, true), digital(3, true), digital(2, true)];
    assert_eq!(sent, [vec![digital(0, true)], vec![slider], batch.to_vec(), vec![digital(1, true)], vec![]]);
}

#[test]
fn the_last_word_on_an_output_is_what_is_sent_and_what_is_waited_for() {
    let mut desk = Desk::new();
    desk.set(digital(1, true), 0).unwrap();
    desk.set(digital(1, false), 0).unwrap();
    assert_eq!(desk.told(), [(digital(1, true), WriteOutcome::Superseded)]);
    assert_eq!(desk.send(1), [digital(1, false)]);
    desk.set(digital(1, true), 2).unwrap();
    desk.show(&levels(0), 3);
    assert_eq!(desk.told()[1..], [(digital(1, false), WriteOutcome::Superseded)], "what is shown is of the past");
    let level = |level| Write::Analog { index: 0, domain: None, level };
    desk.set(level(0.1), 4).unwrap();
    desk.set(level(0.2), 4).unwrap();
    desk.set(Write::Analog { index: 1, domain: None, level: 0.3 }, 4).unwrap();
    assert_eq!(desk.send(5).len(), 3);
}

#[test]
fn no_more_wait_than_there_is_room_for() {
    let mut desk = Desk::new();
    for index in 0..32 {
        let room = usize::from(index) < MAX_WRITES;
        let set = desk.set(Write::Flag { index, value: true }, 0);
        assert_eq!(set, if room { Ok(()) } else { Err(WriteRefusal::Full) });
    }
    assert_eq!(desk.set(Write::Flag { index: 2, value: false }, 0), Ok(()), "it takes the place of another");
}

#[test]
fn a_link_that_takes_nothing_refuses_after_a_while() {
    let mut desk = Desk::new();
    desk.set(digital(1, true), 100).unwrap();
    assert_eq!(desk.outputs.next_deadline(&OutputsConfig::default()), Some(ms(600)));
    desk.tick(599);
    assert_eq!(desk.told(), []);
    desk.tick(600);
    assert_eq!(desk.told(), [(digital(1, true), WriteOutcome::Refused(WriteRefusal::LinkStale))]);
    assert_eq!(desk.send(601), []);
}

#[test]
fn what_is_shown_otherwise_is_not_confirmed_and_what_is_not_shown_at_all_says_so() {
    let mut desk = Desk::new();
    let (flag, payload) =
        (Write::Flag { index: 3, value: true }, Write::Payload { mass: 1.0, center_of_gravity: None });
    for write in [digital(1, true), flag, payload] {
        desk.set(write, 0).unwrap();
    }
    desk.send(0);
    desk.show(&levels(0), 10);
    desk.told();
    desk.tick(1_000);
    let never = WriteOutcome::NeverShown;
    assert_eq!(desk.told(), [(digital(1, true), WriteOutcome::NotConfirmed), (flag, never), (payload, never)]);
}

#[test]
fn another_writer_is_noticed_once_and_only_on_outputs_that_were_ours() {
    let mut desk = Desk::new();
    let voltage = Write::ToolVoltage(ToolVoltage::V24);
    let shown = |digital, tool_voltage| ReportedOutputs { tool_voltage: Some(tool_voltage), ..levels(digital) };
    desk.set(digital(1, true), 0).unwrap();
    desk.set(voltage, 0).unwrap();
    desk.send(0);
    desk.show(&shown(0b0010, 24), 2);
    desk.told();
    desk.show(&shown(0b1110, 24), 4);
    assert_eq!(desk.told(), [], "the others are not ours");
    desk.show(&shown(0b1100, 24), 6);
    desk.show(&shown(0b1100, 24), 8);
    assert_eq!(desk.told(), [(digital(1, true), WriteOutcome::Overwritten)]);
    desk.show(&shown(0b1100, 0), 10);
    assert_eq!(desk.told(), [(voltage, WriteOutcome::Overwritten)]);
    assert_eq!(desk.outputs.image().digital(), (0b0010, 0b0010), "only what we wrote is in the image");
}

#[test]
fn what_we_write_ourselves_overwrites_nothing() {
    let mut desk = Desk::new();
    desk.set(digital(1, true), 0).unwrap();
    desk.send(0);
    desk.show(&levels(2), 2);
    desk.set(digital(1, false), 3).unwrap();
    desk.send(4);
    desk.show(&levels(2), 5);
    desk.show(&levels(0), 6);
    let news: std::vec::Vec<_> = desk.told().into_iter().map(|(_, news)| news).collect();
    let confirmed = |millis| WriteOutcome::Confirmed(Duration::from_millis(millis));
    assert_eq!(news, [WriteOutcome::Sent, confirmed(2), WriteOutcome::Sent, confirmed(2)]);
}

#[test]
fn with_the_session_goes_everything_that_is_known() {
    let mut desk = Desk::new();
    desk.set(digital(1, true), 0).unwrap();
    desk.send(0);
    desk.show(&levels(2), 2);
    desk.set(digital(2, true), 3).unwrap();
    desk.told();
    let mut withdraw = || desk.outputs.withdraw(|_| true);
    assert_eq!([withdraw(), withdraw()], [Some(digital(2, true)), None]);
    desk.outputs.forget();
    desk.show(&levels(0), 4);
    assert_eq!(desk.told(), []);
    assert_eq!(desk.outputs.image(), &Image::default());
}
