//! The loop's side: what was asked becomes inputs of the engine, and what the engine makes of it becomes answers.
//!
//! Nothing here waits, but for the next thing that was asked. The place of an answer was taken by who passed the request on, so
//! that giving it always succeeds.

use std::any::Any;
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use outrigger_core::command::outputs::{MAX_WRITES, Write, WriteNews};
use outrigger_core::command::{Guidance, Sample};
use outrigger_core::engine::{Engine, Event, GuideError, Input, Peer};
use outrigger_core::law::{FeedError, Forwarding, Law};
use outrigger_core::link::Grade;
use outrigger_core::mode::{Asker, Channel, Epoch, GuideLimits, Mode, Refusal, Transition, Word};
use outrigger_core::robot::{ControllerTime, Reason, ReasonSet};
use outrigger_core::time::{Duration, Instant};
use outrigger_core::trajectory::Setpoint;
use tokio::sync::mpsc::{OwnedPermit, Receiver, UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::answer::{Answer, Line, Verdict};
use super::bell::Bell;
use super::errand::Errand;
use super::slot::{Contacts, Slot, Status};
use super::streamed::{Newest, Streamed, Streaming, Unheeded};
use crate::motion::asked::{Ready, Stands};
use crate::motion::{Against, Standing, UnderWay};
use crate::show::Variables;

/// How often is looked at what a request would be refused for, where nothing else changes.
const UNMET: Duration = Duration::from_millis(50);
/// Longest wait for what became of an output: more than the engine's own.
const NEWS: Duration = Duration::from_secs(10);

/// What was asked, understood.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Asked {
    Request(Epoch),
    Resume(Epoch),
    Release,
    Acknowledge,
    Set(Epoch, Write),
    Sample(Epoch, Sample),
    HandBack(Epoch),
    Resend(Epoch),
    /// Leave to send a program of somebody else's: see [`Errand`].
    #[cfg_attr(not(any(feature = "ros2", test)), expect(dead_code, reason = "only a node of ROS 2 asks for it"))]
    Script(Epoch),
    Guide(Epoch, Asker, Guidance, GuideLimits),
    ToolContact(Epoch, bool),
    Renew(Asker),
    Stiffen,
    /// What is ready comes with the letter.
    Move(Epoch, Asker),
    Cancel,
    /// This asker is there no more.
    Gone(Asker),
}

/// What is over, to be dropped elsewhere.
pub(super) type Spent = Box<dyn Any + Send>;

impl Asked {
    const fn word(&self) -> &'static str {
        match self {
            Self::Request(_) => "request",
            Self::Resume(_) => "resume",
            Self::Release => "release",
            Self::Acknowledge => "acknowledge",
            Self::Set(..) => "set",
            Self::Sample(..) => "sample",
            Self::HandBack(_) => "hand-back",
            Self::Resend(_) => "resend",
            Self::Script(_) => "script",
            Self::Guide(_, _, Guidance::Freedrive, _) => "freedrive",
            Self::Guide(_, _, Guidance::Force(_), _) => "force",
            Self::ToolContact(..) => "tool-contact",
            Self::Renew(_) => "renew",
            Self::Stiffen => "stiffen",
            Self::Move(..) => "move",
            Self::Cancel | Self::Gone(_) => "cancel",
        }
    }

    const fn epoch(&self) -> Option<Epoch> {
        match self {
            Self::Request(epoch)
            | Self::Resume(epoch)
            | Self::Set(epoch, _)
            | Self::Sample(epoch, _)
            | Self::HandBack(epoch)
            | Self::Guide(epoch, ..)
            | Self::ToolContact(epoch, _)
            | Self::Script(epoch)
            | Self::Move(epoch, _)
            | Self::Resend(epoch) => Some(*epoch),
            Self::Release | Self::Acknowledge | Self::Renew(_) | Self::Stiffen => None,
            Self::Cancel | Self::Gone(_) => None,
        }
    }
}

/// The same on its way to the loop, with the place of its answer.
#[derive(Debug)]
pub(super) struct Letter<const N: usize> {
    pub(super) asked: Asked,
    pub(super) reply: Reply,
    /// With [`Asked::Move`].
    pub(super) motion: Option<Ready<N>>,
}

impl<const N: usize> Letter<N> {
    pub(super) const fn new(asked: Asked, reply: Reply) -> Self {
        Self { asked, reply, motion: None }
    }
}

/// Where an answer goes.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) id: Option<u32>,
    /// `None` where its sender takes no answers: what was asked is done all the same.
    pub(super) to: Option<OwnedPermit<Line>>,
}

impl Reply {
    fn give(self, word: &'static str, status: Status, verdict: Verdict) {
        if let Some(to) = self.to {
            drop(to.send(Line::Answer(Answer { id: self.id, word, status, verdict })));
        }
    }
}

/// An output that was handed over, and whose answer is owed.
#[derive(Debug)]
struct Owed {
    write: Write,
    reply: Reply,
    until: Instant,
}

/// What was asked and is not answered yet.
#[derive(Debug)]
pub(crate) struct Desk<const N: usize> {
    releases: Receiver<Letter<N>>,
    asks: Receiver<Letter<N>>,
    /// Rung with each letter; who it wakes.
    bell: Bell,
    waker: Option<Waker>,
    slot: Slot,
    /// As of the engine's last input, and whether the slot has it.
    status: Status,
    told: bool,
    /// When to look again at what is not met.
    look_at: Instant,
    /// What is on its way to the engine, or has been handed over since the last look.
    deciding: Option<(Asked, Reply)>,
    /// What is to be begun with it.
    motion: Option<Ready<N>>,
    /// Where the arm stands and how far apart its states are, as of now and as of the last look.
    seen: (Stands<N>, Option<ControllerTime>),
    stands: Arc<Mutex<Stands<N>>>,
    spent: UnboundedSender<Spent>,
    /// It has been handed over.
    handed_over: bool,
    newest: Newest<N>,
    /// A command of a stream, likewise, and whether it has been handed over.
    streamed: (Option<Streamed<N>>, bool),
    streaming: Streaming,
    refused: Option<Refusal>,
    /// What came of what is no input.
    acted: Verdict,
    owed: Vec<Owed>,
    /// Leave to send a program, and whether somebody has it unused.
    errand: Errand,
    given: bool,
    /// This run may begin to command without being asked here.
    begins_unasked: bool,
}

impl<const N: usize> Desk<N> {
    pub(super) fn new(releases: Receiver<Letter<N>>, asks: Receiver<Letter<N>>) -> (Self, UnboundedReceiver<Spent>) {
        let (spent, dropped) = unbounded_channel();
        let desk = Self {
            releases,
            asks,
            bell: Bell::default(),
            waker: None,
            slot: Slot::default(),
            status: Status::default(),
            told: true,
            look_at: Instant::ZERO,
            deciding: None,
            motion: None,
            seen: Default::default(),
            stands: Arc::default(),
            spent,
            handed_over: false,
            newest: Newest::default(),
            streamed: (None, false),
            streaming: Streaming::default(),
            refused: None,
            acted: Verdict::Done,
            owed: Vec::with_capacity(MAX_WRITES),
            errand: Errand::default(),
            given: false,
            begins_unasked: false,
        };
        (desk, dropped)
    }

    pub(super) fn stands(&self) -> Arc<Mutex<Stands<N>>> {
        self.stands.clone()
    }

    pub(super) fn errand(&self) -> Errand {
        self.errand.clone()
    }

    /// This run may begin to command by itself, or by a line: nobody has leave to send a program beside it.
    pub(crate) const fn begins_unasked(&mut self) {
        self.begins_unasked = true;
    }

    /// Whether somebody's program is on its way to the controller, beside which nothing begins.
    pub(crate) fn waits_for_a_program(&self) -> bool {
        self.errand.is_used()
    }

    /// Where a motion that is over goes.
    pub(crate) fn spent(&self) -> UnboundedSender<Spent> {
        self.spent.clone()
    }

    pub(super) fn slot(&self) -> Slot {
        self.slot.clone()
    }

    pub(super) fn bell(&self) -> Bell {
        self.bell.clone()
    }

    pub(super) fn newest(&self) -> Newest<N> {
        self.newest.clone()
    }

    /// A release that was asked for: before anything else, whoever else asks.
    pub(crate) fn release(&mut self) -> Option<Input> {
        if !self.bell.is_rung() {
            return None;
        }
        let letter = self.releases.try_recv().ok()?;
        self.take(letter)
    }

    /// The next input. Dropping the future loses nothing.
    async fn next(&mut self) -> Input {
        poll_fn(|context| {
            self.bell.wake(&mut self.waker, context);
            let rung = self.bell.is_rung();
            while let Some(letter) = self.letter() {
                if let Some(input) = self.take(letter) {
                    return Poll::Ready(input);
                }
            }
            if rung && let Some(streamed) = self.newest.take() {
                self.streamed = (Some(streamed), false);
                return Poll::Ready(Input::Tick);
            }
            Poll::Pending
        })
        .await
    }

    /// The next letter, releases first.
    fn letter(&mut self) -> Option<Letter<N>> {
        if !self.bell.is_rung() {
            return None;
        }
        let mut take = || self.releases.try_recv().or_else(|_| self.asks.try_recv()).ok();
        take().or_else(|| {
            self.bell.still();
            let letter = take();
            // There may be another one behind it.
            if letter.is_some() {
                self.bell.ring();
            }
            letter
        })
    }

    /// What the engine is told; `None` where it is answered already.
    fn take(&mut self, Letter { asked, reply, motion }: Letter<N>) -> Option<Input> {
        let status = self.status;
        if let Some(seen) = asked.epoch().filter(|seen| *seen != status.epoch) {
            motion.into_iter().for_each(|motion| drop(self.spent.send(Box::new(motion))));
            reply.give(asked.word(), status, Verdict::WrongEpoch(seen));
            return None;
        }
        let input = match asked {
            Asked::Request(_) | Asked::Resume(_) | Asked::Resend(_) if self.waits_for_a_program() => {
                reply.give(asked.word(), status, Verdict::Refused(Reason::ForeignProgram, ReasonSet::EMPTY));
                return None;
            }
            Asked::Request(epoch) => Input::Request(epoch),
            Asked::Resume(epoch) => Input::Resume(epoch),
            Asked::Release => Input::Release,
            Asked::Acknowledge => Input::Acknowledge,
            Asked::HandBack(_) => Input::HandBack,
            Asked::Resend(_) => Input::Resend,
            // Done beside the input that is handed over with it: see `act`.
            Asked::Guide(..) | Asked::ToolContact(..) | Asked::Renew(_) | Asked::Stiffen => Input::Tick,
            Asked::Move(..) | Asked::Cancel | Asked::Gone(_) | Asked::Script(_) => Input::Tick,
            Asked::Set(..) if self.owed.len() >= MAX_WRITES => {
                reply.give(asked.word(), status, Verdict::Full);
                return None;
            }
            Asked::Set(_, write) => Input::Set(write),
            Asked::Sample(_, sample) => {
                // What it does is the engine's to judge, as with any other reading.
                reply.give(asked.word(), status, Verdict::Done);
                return Some(Input::Sample(sample));
            }
        };
        (self.deciding, self.motion) = (Some((asked, reply)), motion);
        Some(input)
    }

    /// What [`next`](Self::next) gave goes to the engine now.
    pub(crate) fn handed_over(&mut self) {
        self.handed_over = self.deciding.is_some();
        self.streamed.1 = true;
        self.refused = None;
    }

    /// Does what is no input of an engine, once that may be done.
    pub(crate) fn act<P: Peer<N>, L: Law<N>>(
        &mut self,
        engine: &mut Engine<'_, N, P, L>,
        under_way: &mut UnderWay<N>,
        now: Instant,
    ) {
        if let (Some(streamed), true) = self.streamed {
            self.streamed = (None, false);
            if let Err(why) = self.stream(&streamed, engine, under_way, now) {
                self.streaming.refuse(why);
            }
        }
        let Some((asked, _)) = self.deciding.as_ref().filter(|_| self.handed_over) else { return };
        let moved = |against| match against {
            Against::Reason(reason) => Verdict::Refused(reason, ReasonSet::EMPTY),
            against => Verdict::Motion(against),
        };
        let acted = match *asked {
            Asked::Move(_, asker) => {
                let Some(motion) = self.motion.take() else { return };
                let begun = under_way.begin(motion, asker, engine);
                self.acted = begun.map_or_else(moved, |_| Verdict::Moves);
                return;
            }
            Asked::Cancel => {
                self.acted = under_way.cancel(engine, now).map_or_else(moved, |()| Verdict::Done);
                return;
            }
            Asked::Gone(asker) => return under_way.gone(asker, engine, now),
            Asked::Guide(..) if engine.law().forwarding() != Forwarding::Idle => {
                self.acted = Verdict::Motion(Against::Feed(FeedError::Forwarded));
                return;
            }
            Asked::Guide(_, asker, what, limits) => match engine.guide(what, asker, limits, now) {
                Ok(_) => Ok(()),
                Err(GuideError::Refused(reason)) => Err(reason),
                // Checked before it was passed on.
                Err(GuideError::Force(_) | GuideError::Limits(_)) => Err(Reason::Internal),
            },
            Asked::ToolContact(_, stops) => engine.stop_at_contact(stops).map(|()| {
                self.status.contacts.watched = stops;
                self.told = false;
            }),
            Asked::Renew(asker) => engine.renew_guide(asker, now),
            Asked::Stiffen => engine.end_guide(),
            _ => return,
        };
        self.acted = acted.map_or_else(|reason| Verdict::Refused(reason, ReasonSet::EMPTY), |()| Verdict::Done);
    }

    /// Has the law follow what is streamed.
    fn stream<P: Peer<N>, L: Law<N>>(
        &self,
        streamed: &Streamed<N>,
        engine: &mut Engine<'_, N, P, L>,
        under_way: &mut UnderWay<N>,
        now: Instant,
    ) -> Result<(), Unheeded> {
        let Streamed { forward, epoch, at } = streamed;
        if now.since(*at) > forward.holds {
            return Err(Unheeded::Late);
        }
        if *epoch != engine.mode_machine().epoch() {
            return Err(Unheeded::Epoch);
        }
        if engine.is_guided() {
            return Err(Unheeded::Guided);
        }
        if under_way.is_busy() {
            return Err(Unheeded::Motion);
        }
        engine.forward(forward, now).map_err(Unheeded::Law)?;
        under_way.give_up();
        Ok(())
    }

    /// Looks where the arm stands, how far apart its states are, and how streams go.
    pub(crate) fn look<P: Peer<N>, L: Law<N>>(&mut self, engine: &Engine<'_, N, P, L>) {
        self.streaming.look(engine.law().forwarding());
        let (stands, newest) = &mut self.seen;
        let Some(state) = engine.state() else {
            self.seen = Default::default();
            return;
        };
        stands.at = Some(state.positions);
        stands.speed = state.velocities;
        if let Some(before) = newest.replace(state.controller_time) {
            let passed = state.controller_time.since(before);
            // A state that was lost makes it longer, never shorter.
            if passed > Duration::ZERO {
                stands.cycle = Some(stands.cycle.map_or(passed, |cycle| cycle.min(passed)));
            }
        }
    }

    /// Something happened.
    pub(crate) fn event<P>(&mut self, event: &Event<P>) {
        match event {
            Event::Refused(refusal) if refusal.by == Channel::Message => self.refused = Some(*refusal),
            Event::Output { write, news } => self.news(write, news),
            Event::Transition(Transition { from: Mode::Command, reason: Some(reason), .. }) => {
                // It is told with the mode that it led to.
                self.status.left = Some(*reason);
                self.told = false;
            }
            _ => {}
        }
    }

    /// The tool has touched something, and a motion of the program on the controller ended for it.
    pub(crate) const fn touched(&mut self) {
        self.status.contacts.seen = self.status.contacts.seen.wrapping_add(1);
        self.told = false;
    }

    fn news(&mut self, write: &Write, news: &WriteNews) {
        if matches!(news, WriteNews::Sent | WriteNews::Overwritten) {
            return;
        }
        let status = self.status;
        // It may have been refused at once.
        if let Some((asked, reply)) =
            self.deciding.take_if(|(asked, _)| matches!(asked, Asked::Set(_, set) if set == write))
        {
            reply.give(asked.word(), status, Verdict::Output(*write, *news));
        } else if let Some(at) = self.owed.iter().position(|owed| owed.write == *write) {
            self.owed.remove(at).reply.give("set", status, Verdict::Output(*write, *news));
        }
    }

    /// Looks at the engine after an input; `unmet` is what a request would be refused for, `variables` what a program on the
    /// controller sends.
    pub(crate) fn observe(
        &mut self,
        now: Instant,
        (epoch, mode, grade, latch): (Epoch, Mode, Grade, Option<Reason>),
        ending: bool,
        (motion, wanted): (Option<Standing>, impl FnOnce() -> Option<Setpoint<N>>),
        unmet: impl Fn() -> ReasonSet,
        variables: impl FnOnce() -> Option<Variables>,
    ) {
        // A program that begins anew watches for nothing.
        let Contacts { watched, seen } = self.status.contacts;
        let contacts = Contacts { watched: watched && matches!(mode, Mode::Arming | Mode::Command), seen };
        let streaming = self.streaming;
        let status = Status { epoch, mode, grade, latch, ending, motion, contacts, streaming, ..self.status };
        if self.given && mode != Mode::Monitor {
            self.errand.take_back();
            self.given = false;
        }
        if status != self.status || now >= self.look_at {
            self.look_at = now + UNMET;
            // Somebody looks at it just now: next time is soon enough.
            if let Ok(mut stands) = self.stands.try_lock() {
                *stands = Stands { wanted: wanted(), ..self.seen.0 };
            }
            // While commanding, what a request would be refused for is of no interest.
            let unmet = if matches!(mode, Mode::Offline | Mode::Monitor) { unmet() } else { ReasonSet::EMPTY };
            let status = Status { unmet, variables: variables(), ..status };
            self.told &= status == self.status;
            self.status = status;
        }
        if !self.told {
            self.told = self.slot.put(self.status);
        }
        if std::mem::take(&mut self.handed_over)
            && let Some((asked, reply)) = self.deciding.take()
        {
            self.decided(asked, reply, now, unmet);
        }
        if self.owed.first().is_some_and(|owed| now >= owed.until) {
            self.owed.remove(0).reply.give("set", self.status, Verdict::NoNews);
        }
    }

    /// What the engine was asked with its last input has been decided.
    fn decided(&mut self, asked: Asked, reply: Reply, now: Instant, unmet: impl Fn() -> ReasonSet) {
        let status = self.status;
        let refused =
            |word| self.refused.filter(|refusal: &Refusal| refusal.word == word).map(|refusal| refusal.reason);
        let commanded = matches!(status.mode, Mode::Arming | Mode::Command);
        let unless = |word| refused(word).map_or(Verdict::Done, |reason| Verdict::Refused(reason, ReasonSet::EMPTY));
        let verdict = match asked {
            Asked::Set(_, write) => return self.owed.push(Owed { write, reply, until: now + NEWS }),
            Asked::Request(_) | Asked::Resume(_) => match refused(Word::Request) {
                Some(reason) => Verdict::Refused(reason, unmet()),
                None if commanded => Verdict::Done,
                None => Verdict::Ending,
            },
            Asked::Acknowledge => unless(Word::Acknowledge),
            Asked::Guide(..) | Asked::ToolContact(..) | Asked::Renew(_) | Asked::Stiffen => {
                std::mem::replace(&mut self.acted, Verdict::Done)
            }
            Asked::Move(..) | Asked::Cancel => std::mem::replace(&mut self.acted, Verdict::Done),
            Asked::Gone(_) => Verdict::Done,
            Asked::Script(_) => {
                let verdict = self.leave();
                self.given |= verdict == Verdict::Done;
                verdict
            }
            Asked::HandBack(_) => unless(Word::HandBack),
            Asked::Resend(_) => unless(Word::Resend),
            Asked::Release | Asked::Sample(..) => Verdict::Done,
        };
        reply.give(asked.word(), status, verdict);
    }

    /// Whether somebody's program may be sent now.
    fn leave(&self) -> Verdict {
        let refused = |reason| Verdict::Refused(reason, ReasonSet::EMPTY);
        match self.status.mode {
            Mode::Arming | Mode::Command | Mode::Stopping => refused(Reason::Commanded),
            // Whether it moves is not known.
            Mode::Offline => refused(Reason::EvidenceMissing),
            Mode::Monitor if self.status.ending => Verdict::Ending,
            Mode::Monitor if self.begins_unasked => Verdict::BeginsUnasked,
            Mode::Monitor if self.errand.give() => Verdict::Done,
            Mode::Monitor => refused(Reason::ForeignProgram),
        }
    }
}

/// What is asked next, if anybody ever can.
pub(crate) async fn next_asked<const N: usize>(desk: &mut Option<Desk<N>>) -> Input {
    match desk {
        Some(desk) => desk.next().await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use outrigger_core::command::SampleValue;
    use outrigger_core::command::SourceId;
    use outrigger_core::command::outputs::DigitalOutput;
    use tokio::sync::mpsc::{Sender, channel};

    use super::*;

    struct Bench {
        desk: Desk<6>,
        releases: Sender<Letter<6>>,
        asks: Sender<Letter<6>>,
        answers: Sender<Line>,
        told: Receiver<Line>,
    }

    const MONITOR: (Epoch, Mode, Grade, Option<Reason>) = (Epoch::from_number(4), Mode::Monitor, Grade::Ok, None);

    impl Bench {
        fn new() -> Self {
            let (releases, released) = channel(4);
            let (asks, asked) = channel(40);
            let (answers, told) = channel(40);
            let (desk, _) = Desk::new(released, asked);
            let mut bench = Self { desk, releases, asks, answers, told };
            bench.observe(0, MONITOR);
            bench
        }

        fn ask(&self, id: u32, asked: Asked) {
            let reply = Reply { id: Some(id), to: self.answers.clone().try_reserve_owned().ok() };
            let lane = if asked == Asked::Release { &self.releases } else { &self.asks };
            lane.try_send(Letter::new(asked, reply)).expect("room");
            self.desk.bell.ring();
        }

        /// What the engine gets, behind another input.
        fn next(&mut self) -> Input {
            let input = crate::runtime::one_threaded().expect("a runtime").block_on(self.desk.next());
            self.observe(0, (self.desk.status.epoch, self.desk.status.mode, Grade::Ok, None));
            self.desk.handed_over();
            input
        }

        fn observe(&mut self, at: u64, of: (Epoch, Mode, Grade, Option<Reason>)) {
            let unmet = || ReasonSet::EMPTY.with(Reason::RobotNotRunning);
            self.desk.observe(Instant::from_micros(at), of, false, (None, || None), unmet, || None);
        }

        fn answer(&mut self) -> Option<(Option<u32>, Verdict, Mode)> {
            match self.told.try_recv().ok()? {
                Line::Answer(Answer { id, verdict, status, .. }) => Some((id, verdict, status.mode)),
                Line::Text(text) => panic!("{text}"),
            }
        }
    }

    const NOW: Epoch = Epoch::from_number(4);
    const HIGH: Write = Write::Digital { output: DigitalOutput::Standard(3), high: true };

    #[test]
    fn a_request_is_answered_once_the_engine_has_decided() {
        let mut bench = Bench::new();
        bench.ask(1, Asked::Request(NOW));
        assert_eq!((bench.next(), bench.answer()), (Input::Request(NOW), None));
        bench.observe(2_000, (NOW, Mode::Arming, Grade::Ok, None));
        assert_eq!(bench.answer(), Some((Some(1), Verdict::Done, Mode::Arming)));

        bench.ask(2, Asked::Resume(NOW));
        assert_eq!(bench.next(), Input::Resume(NOW));
        bench.desk.event(&Event::<()>::Refused(Refusal::of_request(Channel::Message, Reason::NotAtRest)));
        bench.observe(4_000, MONITOR);
        let unmet = ReasonSet::EMPTY.with(Reason::RobotNotRunning);
        assert_eq!(bench.answer(), Some((Some(2), Verdict::Refused(Reason::NotAtRest, unmet), Mode::Monitor)));
        for (asked, word, input) in
            [(Asked::HandBack(NOW), Word::HandBack, Input::HandBack), (Asked::Resend(NOW), Word::Resend, Input::Resend)]
        {
            bench.ask(7, asked);
            assert_eq!((bench.next(), bench.answer()), (input, None));
            bench.observe(5_000, MONITOR);
            assert_eq!(bench.answer(), Some((Some(7), Verdict::Done, Mode::Monitor)));
            bench.ask(8, asked);
            bench.next();
            let refusal = Refusal { word, by: Channel::Message, reason: Reason::ProgramAway };
            bench.desk.event(&Event::<()>::Refused(refusal));
            bench.observe(5_000, MONITOR);
            let refused = Verdict::Refused(Reason::ProgramAway, ReasonSet::EMPTY);
            assert_eq!(bench.answer(), Some((Some(8), refused, Mode::Monitor)));
        }
        bench.ask(3, Asked::Request(NOW));
        bench.next();
        bench.observe(6_000, MONITOR);
        assert_eq!(bench.answer(), Some((Some(3), Verdict::Ending, Mode::Monitor)), "neither granted nor refused");
    }

    #[test]
    fn what_acts_and_saw_another_epoch_is_refused_and_a_release_overtakes_everything() {
        let mut bench = Bench::new();
        let old = Epoch::from_number(3);
        let sample = Sample { source: SourceId(0), value: SampleValue::scalar(1.0), seq: 1, taken_at: Instant::ZERO };
        let acting = [Asked::Request(old), Asked::Resume(old), Asked::Set(old, HIGH), Asked::Sample(old, sample)];
        for (id, asked) in (0..).zip(acting) {
            bench.ask(id, asked);
        }
        bench.ask(8, Asked::Sample(NOW, sample));
        bench.ask(9, Asked::Release);
        assert_eq!(bench.next(), Input::Release);
        bench.observe(2_000, MONITOR);
        assert_eq!(bench.answer(), Some((Some(9), Verdict::Done, Mode::Monitor)));
        assert_eq!(bench.next(), Input::Sample(sample));
        for id in 0..4 {
            assert_eq!(bench.answer(), Some((Some(id), Verdict::WrongEpoch(old), Mode::Monitor)));
        }
        assert_eq!(bench.answer(), Some((Some(8), Verdict::Done, Mode::Monitor)));
        bench.ask(10, Asked::Release);
        assert_eq!(bench.desk.release(), Some(Input::Release));
    }

    #[test]
    fn an_output_is_answered_with_what_became_of_it_or_with_nothing_heard() {
        let mut bench = Bench::new();
        let news = |news| Event::<()>::Output { write: HIGH, news };
        for id in 0..=MAX_WRITES as u32 {
            bench.ask(id, Asked::Set(NOW, HIGH));
        }
        for _ in 0..MAX_WRITES {
            assert_eq!(bench.next(), Input::Set(HIGH));
            bench.observe(2_000, MONITOR);
        }
        assert_eq!(bench.answer(), None);
        let confirmed = WriteNews::Confirmed(Duration::from_millis(8));
        bench.desk.event(&news(WriteNews::Sent));
        bench.desk.event(&news(confirmed));
        assert_eq!(bench.answer(), Some((Some(0), Verdict::Output(HIGH, confirmed), Mode::Monitor)));
        bench.observe(2_000 + NEWS.as_micros(), MONITOR);
        assert_eq!(bench.answer(), Some((Some(1), Verdict::NoNews, Mode::Monitor)));
        // Refused in the same call.
        assert_eq!(bench.next(), Input::Set(HIGH));
        let superseded = news(WriteNews::Superseded);
        bench.desk.event(&superseded);
        assert_eq!(bench.answer(), Some((Some(16), Verdict::Output(HIGH, WriteNews::Superseded), Mode::Monitor)));
    }

    #[test]
    fn a_program_of_others_is_let_out_while_nothing_is_commanded_and_beside_it_nothing_begins() {
        let mut bench = Bench::new();
        let errand = bench.desk.errand();
        let refused = |reason| Verdict::Refused(reason, ReasonSet::EMPTY);
        let ask = |bench: &mut Bench, mode| {
            let of = (NOW, mode, Grade::Ok, None);
            bench.observe(1, of);
            bench.ask(1, Asked::Script(NOW));
            assert_eq!(bench.next(), Input::Tick);
            bench.observe(2, of);
            bench.answer().expect("it is decided").1
        };
        for mode in [Mode::Arming, Mode::Command, Mode::Stopping] {
            assert_eq!(ask(&mut bench, mode), refused(Reason::Commanded));
        }
        assert_eq!(ask(&mut bench, Mode::Offline), refused(Reason::EvidenceMissing));
        assert!(errand.set_out().is_none());
        // Whoever begins before it is used takes it back.
        assert_eq!(ask(&mut bench, Mode::Monitor), Verdict::Done);
        assert_eq!(ask(&mut bench, Mode::Monitor), refused(Reason::ForeignProgram));
        bench.ask(2, Asked::Request(NOW));
        assert_eq!(bench.next(), Input::Request(NOW));
        bench.observe(3, (NOW, Mode::Arming, Grade::Ok, None));
        assert_eq!(bench.answer(), Some((Some(2), Verdict::Done, Mode::Arming)));
        assert!(errand.set_out().is_none());
        // Nobody begins while it is used.
        assert_eq!(ask(&mut bench, Mode::Monitor), Verdict::Done);
        let way = errand.set_out().expect("it was given");
        for asked in [Asked::Request(NOW), Asked::Resume(NOW), Asked::Resend(NOW)] {
            bench.ask(3, asked);
            bench.ask(4, Asked::Acknowledge);
            assert_eq!(bench.next(), Input::Acknowledge);
            bench.observe(4, MONITOR);
            assert_eq!(bench.answer(), Some((Some(3), refused(Reason::ForeignProgram), Mode::Monitor)));
            assert_eq!(bench.answer(), Some((Some(4), Verdict::Done, Mode::Monitor)));
        }
        assert!(bench.desk.waits_for_a_program());
        drop(way);
        bench.ask(5, Asked::Request(NOW));
        assert_eq!(bench.next(), Input::Request(NOW));
        bench.observe(5, MONITOR);
        assert!(bench.answer().is_some());
        bench.desk.begins_unasked();
        assert_eq!(ask(&mut bench, Mode::Monitor), Verdict::BeginsUnasked);
    }

    #[test]
    fn what_is_asked_is_done_also_where_nobody_takes_the_answer() {
        let mut bench = Bench::new();
        let letter = Letter::new(Asked::Release, Reply { id: None, to: None });
        bench.releases.try_send(letter).expect("room");
        bench.desk.bell.ring();
        assert_eq!(bench.next(), Input::Release);
        bench.observe(1, MONITOR);
        drop(bench.told);
    }
}
