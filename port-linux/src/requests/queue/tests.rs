use outrigger_core::command::outputs::DigitalOutput;
use outrigger_wire::sensor::{Sample, SampleValue, SourceId};
use tokio::sync::mpsc::{Sender, channel};

use outrigger_core::mode::ClientNumber;

use super::super::answer::{Answer, Line};
use super::super::motion_claim::MotionClaim;
use super::*;

struct Bench {
    desk: RequestQueue<6>,
    releases: Sender<Envelope<6>>,
    asks: Sender<Envelope<6>>,
    answers: Sender<Line>,
    told: Receiver<Line>,
}

const MONITOR: (Epoch, Mode, Grade, Option<Reason>) = (Epoch::from_number(4), Mode::Monitor, Grade::Ok, None);

impl Bench {
    fn new() -> Self {
        let (releases, released) = channel(4);
        let (asks, asked) = channel(40);
        let (answers, told) = channel(40);
        let (desk, _) = RequestQueue::new(released, asked, Clock::start());
        let mut bench = Self { desk, releases, asks, answers, told };
        bench.observe(0, MONITOR);
        bench
    }

    fn ask(&self, id: u32, asked: RequestKind) {
        let reply = Reply { id: Some(id), to: self.answers.clone().try_reserve_owned().ok() };
        let lane = if asked.stops() { &self.releases } else { &self.asks };
        lane.try_send(Envelope::new(asked, reply)).expect("room");
        self.desk.bell.ring();
    }

    /// Sends a request that causes motion, as request `number` of this client, valid until `until`.
    fn claim(&self, (asker, number): (u32, u32), asked: RequestKind, until: Instant) {
        let reply = Reply { id: Some(number), to: self.answers.clone().try_reserve_owned().ok() };
        let claim = Some(MotionClaim::new((ClientNumber(asker), number), until));
        self.asks.try_send(Envelope { claim, ..Envelope::new(asked, reply) }).expect("room");
        self.desk.bell.ring();
    }

    /// Sends a request to command, which is granted.
    fn armed_by(&mut self, named: (u32, u32)) {
        self.claim(named, RequestKind::Request(NOW), FOREVER);
        assert_eq!(self.next(), Input::Request(NOW));
        self.observe(1, (NOW, Mode::Command, Grade::Ok, None));
        assert_eq!(self.answer(), Some((Some(named.1), Verdict::Done, Mode::Command)));
    }

    /// Sends the withdrawal of a request that causes motion. Returns the input that it passes to the engine, if any.
    fn withdraw(&mut self, (asker, number): (u32, u32)) -> Option<Input> {
        self.ask(9, RequestKind::Withdraw((ClientNumber(asker), number)));
        let input = self.desk.release();
        self.desk.handed_over();
        self.observe(2, (NOW, Mode::Command, Grade::Ok, None));
        input
    }

    /// Returns the next input that the queue passes to the engine, and reports to the queue that the engine has
    /// received it.
    fn next(&mut self) -> Input {
        let input = crate::host::runtime::one_threaded().expect("a runtime").block_on(self.desk.next());
        self.observe(0, (self.desk.status.epoch, self.desk.status.mode, Grade::Ok, None));
        self.desk.handed_over();
        input
    }

    fn observe(&mut self, at: u64, (epoch, mode, grade, latch): (Epoch, Mode, Grade, Option<Reason>)) {
        let unmet = || ReasonSet::EMPTY.with(Reason::RobotNotRunning);
        self.desk.observe(
            Instant::from_micros(at),
            (epoch, mode, grade, latch, false),
            false,
            (None, None, || None),
            unmet,
            (|| -> GradeLow { unreachable!("the grade is not low") }, || None),
        );
    }

    fn answer(&mut self) -> Option<(Option<u32>, Verdict, Mode)> {
        match self.told.try_recv().ok()? {
            Line::Answer(Answer { id, verdict, status, .. }) => Some((id, verdict, status.mode)),
            Line::Text(text) => panic!("{text}"),
        }
    }
}

const NOW: Epoch = Epoch::from_number(4);
const FOREVER: Instant = Instant::from_micros(u64::MAX);
const HIGH: Write = Write::Digital { output: DigitalOutput::Standard(3), high: true };

#[test]
fn a_request_is_answered_once_the_engine_has_decided() {
    let mut bench = Bench::new();
    bench.ask(1, RequestKind::Request(NOW));
    assert_eq!((bench.next(), bench.answer()), (Input::Request(NOW), None));
    bench.observe(2_000, (NOW, Mode::Arming, Grade::Ok, None));
    assert_eq!(bench.answer(), Some((Some(1), Verdict::Done, Mode::Arming)));

    bench.ask(2, RequestKind::Resume(NOW));
    assert_eq!(bench.next(), Input::Resume(NOW));
    bench.desk.event(&Event::<()>::Refused(Refusal::of_request(Channel::Message, Reason::NotAtRest)), None);
    bench.observe(4_000, MONITOR);
    let unmet = ReasonSet::EMPTY.with(Reason::RobotNotRunning);
    assert_eq!(bench.answer(), Some((Some(2), Verdict::Refused(Reason::NotAtRest, unmet), Mode::Monitor)));
    for (asked, word, input) in [
        (RequestKind::HandBack(NOW), OperatorAction::HandBack, Input::HandBack),
        (RequestKind::Resend(NOW), OperatorAction::Resend, Input::Resend),
    ] {
        bench.ask(7, asked);
        assert_eq!((bench.next(), bench.answer()), (input, None));
        bench.observe(5_000, MONITOR);
        assert_eq!(bench.answer(), Some((Some(7), Verdict::Done, Mode::Monitor)));
        bench.ask(8, asked);
        bench.next();
        let refusal = Refusal { word, by: Channel::Message, reason: Reason::ProgramAway };
        bench.desk.event(&Event::<()>::Refused(refusal), None);
        bench.observe(5_000, MONITOR);
        let refused = Verdict::Refused(Reason::ProgramAway, ReasonSet::EMPTY);
        assert_eq!(bench.answer(), Some((Some(8), refused, Mode::Monitor)));
    }
    bench.ask(3, RequestKind::Request(NOW));
    bench.next();
    bench.observe(6_000, MONITOR);
    assert_eq!(bench.answer(), Some((Some(3), Verdict::Ending, Mode::Monitor)), "neither granted nor refused");
}

#[test]
fn what_acts_and_saw_another_epoch_is_refused_and_a_release_overtakes_everything() {
    let mut bench = Bench::new();
    let old = Epoch::from_number(3);
    let sample = Sample { source: SourceId(0), value: SampleValue::scalar(1.0), seq: 1, taken_at: Instant::ZERO };
    let acting = [
        RequestKind::Request(old),
        RequestKind::Resume(old),
        RequestKind::Set(old, HIGH),
        RequestKind::Sample(old, sample),
    ];
    for (id, asked) in (0..).zip(acting) {
        bench.ask(id, asked);
    }
    bench.ask(8, RequestKind::Sample(NOW, sample));
    bench.ask(9, RequestKind::Release(ReleasedBy::Request));
    assert_eq!(bench.next(), Input::Release);
    bench.observe(2_000, MONITOR);
    assert_eq!(bench.answer(), Some((Some(9), Verdict::Done, Mode::Monitor)));
    assert_eq!(bench.next(), Input::Sample(sample));
    for id in 0..4 {
        assert_eq!(bench.answer(), Some((Some(id), Verdict::WrongEpoch(old), Mode::Monitor)));
    }
    assert_eq!(bench.answer(), Some((Some(8), Verdict::Done, Mode::Monitor)));
    bench.ask(10, RequestKind::Release(ReleasedBy::Request));
    assert_eq!(bench.desk.release(), Some(Input::Release));
}

#[test]
fn an_output_is_answered_with_what_became_of_it_or_with_nothing_heard() {
    let mut bench = Bench::new();
    let news = |news| Event::<()>::Output { write: HIGH, news };
    for id in 0..=MAX_WRITES as u32 {
        bench.ask(id, RequestKind::Set(NOW, HIGH));
    }
    for _ in 0..MAX_WRITES {
        assert_eq!(bench.next(), Input::Set(HIGH));
        bench.observe(2_000, MONITOR);
    }
    assert_eq!(bench.answer(), None);
    let confirmed = WriteOutcome::Confirmed(Duration::from_millis(8));
    bench.desk.event(&news(WriteOutcome::Sent), None);
    bench.desk.event(&news(confirmed), None);
    assert_eq!(bench.answer(), Some((Some(0), Verdict::Output(HIGH, confirmed), Mode::Monitor)));
    bench.observe(2_000 + NEWS.as_micros(), MONITOR);
    assert_eq!(bench.answer(), Some((Some(1), Verdict::NoNews, Mode::Monitor)));
    // The engine rejects it in the same call.
    assert_eq!(bench.next(), Input::Set(HIGH));
    let superseded = news(WriteOutcome::Superseded);
    bench.desk.event(&superseded, None);
    assert_eq!(bench.answer(), Some((Some(16), Verdict::Output(HIGH, WriteOutcome::Superseded), Mode::Monitor)));
}

#[test]
fn a_program_of_others_is_let_out_while_nothing_is_commanded_and_beside_it_nothing_begins() {
    let mut bench = Bench::new();
    let permits = bench.desk.upload_permits();
    let refused = |reason| Verdict::Refused(reason, ReasonSet::EMPTY);
    let ask = |bench: &mut Bench, mode| {
        let of = (NOW, mode, Grade::Ok, None);
        bench.observe(1, of);
        bench.ask(1, RequestKind::Script(NOW));
        assert_eq!(bench.next(), Input::Tick);
        bench.observe(2, of);
        bench.answer().expect("it is decided").1
    };
    for mode in [Mode::Arming, Mode::Command, Mode::Stopping] {
        assert_eq!(ask(&mut bench, mode), refused(Reason::Commanded));
    }
    assert_eq!(ask(&mut bench, Mode::Offline), refused(Reason::EvidenceMissing));
    assert!(permits.permit().begin_upload().is_none());
    // A request before the permit is used revokes it.
    assert_eq!(ask(&mut bench, Mode::Monitor), Verdict::Done);
    assert_eq!(ask(&mut bench, Mode::Monitor), refused(Reason::ForeignProgram));
    bench.ask(2, RequestKind::Request(NOW));
    assert_eq!(bench.next(), Input::Request(NOW));
    bench.observe(3, (NOW, Mode::Arming, Grade::Ok, None));
    assert_eq!(bench.answer(), Some((Some(2), Verdict::Done, Mode::Arming)));
    assert!(permits.permit().begin_upload().is_none());
    // No request is granted while it is used.
    assert_eq!(ask(&mut bench, Mode::Monitor), Verdict::Done);
    let way = permits.permit().begin_upload().expect("it was given");
    for asked in [RequestKind::Request(NOW), RequestKind::Resume(NOW), RequestKind::Resend(NOW)] {
        bench.ask(3, asked);
        bench.ask(4, RequestKind::Acknowledge);
        assert_eq!(bench.next(), Input::Acknowledge);
        bench.observe(4, MONITOR);
        assert_eq!(bench.answer(), Some((Some(3), refused(Reason::ForeignProgram), Mode::Monitor)));
        assert_eq!(bench.answer(), Some((Some(4), Verdict::Done, Mode::Monitor)));
    }
    assert!(bench.desk.waits_for_a_program());
    drop(way);
    bench.ask(5, RequestKind::Request(NOW));
    assert_eq!(bench.next(), Input::Request(NOW));
    bench.observe(5, MONITOR);
    assert!(bench.answer().is_some());
    bench.desk.begins_unasked();
    assert_eq!(ask(&mut bench, Mode::Monitor), Verdict::BeginsUnasked);
}

#[test]
fn what_is_asked_is_done_also_where_nobody_takes_the_answer() {
    let mut bench = Bench::new();
    let letter = Envelope::new(RequestKind::Release(ReleasedBy::Request), Reply { id: None, to: None });
    bench.releases.try_send(letter).expect("room");
    bench.desk.bell.ring();
    assert_eq!(bench.next(), Input::Release);
    bench.observe(1, MONITOR);
    drop(bench.told);
}

#[test]
fn a_request_that_came_late_to_the_loop_or_was_withdrawn_on_its_way_does_nothing() {
    let mut bench = Bench::new();
    for asked in [
        RequestKind::Request(NOW),
        RequestKind::Resume(NOW),
        RequestKind::HandBack(NOW),
        RequestKind::Move(NOW, ClientNumber(0)),
    ] {
        // Its validity ended when the clock started.
        bench.claim((0, 1), asked, Instant::ZERO);
        bench.ask(2, RequestKind::Acknowledge);
        assert_eq!(bench.next(), Input::Acknowledge);
        bench.observe(1, MONITOR);
        assert_eq!(bench.answer(), Some((Some(1), Verdict::NotFresh, Mode::Monitor)));
        assert_eq!(bench.answer(), Some((Some(2), Verdict::Done, Mode::Monitor)));
    }
    assert!(bench.withdraw((0, 1)).is_none(), "it armed nothing");
}

#[test]
fn a_withdrawal_stops_what_that_very_request_armed_and_nothing_else() {
    let mut bench = Bench::new();
    bench.armed_by((1, 7));
    for other in [(1, 6), (2, 7)] {
        assert_eq!(bench.withdraw(other), None, "{other:?}");
        assert_eq!(bench.answer(), Some((Some(9), Verdict::Withdrew(Effect::Nothing), Mode::Command)));
    }
    assert_eq!(bench.withdraw((1, 7)), Some(Input::Release));
    assert_eq!(bench.answer(), Some((Some(9), Verdict::Withdrew(Effect::Released), Mode::Command)));
    // Another client, or a key, takes over.
    for by_key in [false, true] {
        let mut bench = Bench::new();
        bench.armed_by((1, 7));
        if by_key {
            bench.desk.taken_over(&Input::Request(NOW));
        } else {
            bench.armed_by((2, 3));
        }
        assert_eq!((bench.withdraw((1, 7)), bench.withdraw((2, 3))), (None, None));
    }
    // Commanding ended in the meantime, and another client has armed the arm again.
    let mut bench = Bench::new();
    bench.armed_by((1, 7));
    let later = Epoch::from_number(5);
    bench.observe(3, (later, Mode::Monitor, Grade::Ok, None));
    bench.claim((2, 4), RequestKind::Request(later), FOREVER);
    assert_eq!(bench.next(), Input::Request(later));
    bench.observe(4, (later, Mode::Command, Grade::Ok, None));
    bench.ask(9, RequestKind::Withdraw((ClientNumber(1), 7)));
    assert_eq!(bench.desk.release(), None);
}
