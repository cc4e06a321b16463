//! Exploration of every state that is reached by any sequence of replies, losses, deaths of the process, and modes.

use std::collections::{HashSet, VecDeque};

use super::*;
use outrigger_wire::dashboard::Refusal;

fn text() -> outrigger_wire::primary::Text<'static> {
    outrigger_wire::primary::Text(b"")
}

/// The tested state machine of the pendant's lock, with a controller with one pendant and the stored role.
#[derive(Clone, Debug)]
struct World {
    lock: PendantLock,
    role: UserRole,
    kept: Option<UserRole>,
    /// The request of the state machine, to controller or disk, that is not answered yet.
    output: Option<LockOutput>,
    news: Vec<LockEvent>,
}

/// An event of the explored sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Happens {
    Mode(Mode),
    /// The request is executed and answered.
    Done,
    /// The request is refused.
    Refused,
    /// The request is lost.
    Lost,
    /// The request is executed, and the answer is lost.
    AnswerLost,
    /// The time has passed after which the state machine asks again.
    Tick,
    /// The process dies, and another one starts.
    Death,
    /// Another client gives the pendant a role.
    Somebody,
}

const ALL: [Happens; 11] = [
    Happens::Mode(Mode::Arming),
    Happens::Mode(Mode::Command),
    Happens::Mode(Mode::Monitor),
    Happens::Mode(Mode::Offline),
    Happens::Done,
    Happens::Refused,
    Happens::Lost,
    Happens::AnswerLost,
    Happens::Tick,
    Happens::Death,
    Happens::Somebody,
];

impl World {
    fn new(role: UserRole) -> Self {
        Self { lock: PendantLock::new(), role, kept: None, output: None, news: vec![] }
    }

    fn handle(&mut self, input: LockInput<'_>) {
        let now = if input == LockInput::Tick { Instant::ZERO + PendantLock::RETRY } else { Instant::ZERO };
        self.lock.handle(now, input);
        self.drain();
    }

    fn drain(&mut self) {
        while let Some(news) = self.lock.poll_event() {
            self.news.push(news);
        }
        while let Some(output) = self.lock.poll_output() {
            if output == LockOutput::Forget {
                self.kept = None;
                continue;
            }
            assert_eq!(self.output, None, "one at a time");
            if output == LockOutput::Ask(Request::SetUserRole(UserRole::Locked)) {
                assert!(self.kept.is_some(), "what is not kept could not be given back");
            }
            self.output = Some(output);
        }
    }

    /// Executes the request, as the controller or the disk does, and returns the answer.
    fn obey(&mut self, output: LockOutput) -> LockInput<'static> {
        match output {
            LockOutput::Ask(Request::UserRole) => LockInput::Reply(Reply::UserRole(self.role)),
            LockOutput::Ask(Request::SetUserRole(role)) => {
                self.role = role;
                LockInput::Reply(Reply::Done(text()))
            }
            LockOutput::Keep(role) => {
                self.kept = Some(role);
                LockInput::Kept(true)
            }
            other => panic!("{other:?}"),
        }
    }

    fn step(&mut self, happens: Happens) {
        match happens {
            Happens::Mode(mode) => self.handle(LockInput::Mode(mode)),
            Happens::Tick => self.handle(LockInput::Tick),
            Happens::Somebody => self.role = UserRole::Operator,
            Happens::Death => {
                self.lock = self.kept.map_or(PendantLock::new(), PendantLock::left_behind);
                self.output = None;
                self.drain();
            }
            Happens::Done | Happens::AnswerLost => {
                let Some(output) = self.output.take() else { return };
                let said = self.obey(output);
                let lost = happens == Happens::AnswerLost && !matches!(output, LockOutput::Keep(_));
                self.handle(if lost { LockInput::NoAnswer } else { said });
            }
            Happens::Refused | Happens::Lost => {
                let Some(output) = self.output.take() else { return };
                let refused = LockInput::Reply(Reply::Refused(Refusal::Failed(text())));
                self.handle(match (output, happens) {
                    (LockOutput::Keep(_), _) => LockInput::Kept(false),
                    (_, Happens::Refused) => refused,
                    _ => LockInput::NoAnswer,
                });
            }
        }
    }

    /// Returns this world after commanding has ended and every further request was executed and answered.
    fn over(mut self) -> Self {
        self.step(Happens::Mode(Mode::Monitor));
        for _ in 0..8 {
            self.step(Happens::Done);
            self.step(Happens::Tick);
        }
        self
    }
}

/// Returns every state of lock, role, storage and request (a [`World`]) that any sequence of events reaches from this
/// one.
fn reachable(from: World) -> Vec<World> {
    let key = |world: &World| format!("{:?} {:?} {:?} {:?}", world.lock, world.role, world.kept, world.output);
    let mut seen = HashSet::from([key(&from)]);
    let mut queue = VecDeque::from([from]);
    let mut all = vec![];
    while let Some(world) = queue.pop_front() {
        for happens in ALL {
            let mut next = world.clone();
            next.step(happens);
            next.news.clear();
            if seen.insert(key(&next)) {
                queue.push_back(next);
            }
        }
        all.push(world);
    }
    all
}

#[test]
fn on_no_way_out_it_stays_locked_while_the_dashboard_answers() {
    for role in [UserRole::Programmer, UserRole::Operator, UserRole::None, UserRole::Restricted] {
        let worlds = reachable(World::new(role));
        assert!(worlds.len() > 40, "{}", worlds.len());
        for world in worlds {
            let can_be_known = world.role != UserRole::Locked || world.kept.is_some();
            assert!(can_be_known, "locked, and nobody after us would know: {world:?}");
            let over = world.clone().over();
            assert!(over.lock.is_open() && over.kept.is_none() && over.output.is_none(), "{world:?} -> {over:?}");
            assert!([role, UserRole::Operator].contains(&over.role), "{world:?} -> {over:?}");
            assert_eq!(over.lock.poll_timeout(), None, "nothing is waited for: {over:?}");
            // The same is true for the process that starts afterwards.
            let mut heir = world;
            heir.step(Happens::Death);
            let over = heir.clone().over();
            assert!(over.kept.is_none() && [role, UserRole::Operator].contains(&over.role), "{heir:?} -> {over:?}");
        }
    }
}

#[test]
fn what_somebody_else_has_locked_stays_so() {
    let mut world = World::new(UserRole::Locked);
    for happens in [Happens::Mode(Mode::Arming), Happens::Done, Happens::Mode(Mode::Command), Happens::Tick] {
        world.step(happens);
    }
    assert_eq!((world.output, world.news.as_slice()), (None, &[LockEvent::LockedAlready][..]));
    let over = world.over();
    assert_eq!((over.role, over.news.len()), (UserRole::Locked, 1));
}

#[test]
fn it_is_locked_once_and_given_back_once_and_that_is_told() {
    let mut world = World::new(UserRole::None);
    world.step(Happens::Mode(Mode::Arming));
    for _ in 0..3 {
        world.step(Happens::Done);
    }
    assert_eq!((world.role, world.kept, world.output), (UserRole::Locked, Some(UserRole::None), None));
    for mode in [Mode::Command, Mode::Stopping] {
        world.step(Happens::Mode(mode));
        assert_eq!(world.output, None, "{mode:?}");
    }
    let over = world.over();
    assert_eq!(over.news, [LockEvent::Locked(UserRole::None), LockEvent::GivenBack(UserRole::None)]);
    assert_eq!((over.role, over.kept), (UserRole::None, None));
}

#[test]
fn an_answer_that_is_lost_leaves_a_lock_that_is_given_back() {
    let mut world = World::new(UserRole::Programmer);
    for happens in [Happens::Mode(Mode::Arming), Happens::Done, Happens::Done, Happens::AnswerLost] {
        world.step(happens);
    }
    assert_eq!((world.role, world.output), (UserRole::Locked, None), "it waits before it asks again");
    let over = world.over();
    let told = [LockEvent::NoAnswer, LockEvent::GivenBack(UserRole::Programmer)];
    assert_eq!((over.role, over.news.as_slice()), (UserRole::Programmer, &told[..]));
}

#[test]
fn a_controller_that_does_not_know_the_question_is_asked_once_per_arming() {
    let mut world = World::new(UserRole::Programmer);
    for _ in 0..2 {
        world.step(Happens::Mode(Mode::Arming));
        world.step(Happens::Refused);
        world.step(Happens::Mode(Mode::Command));
        world.step(Happens::Tick);
        assert_eq!(world.output, None);
        world.step(Happens::Mode(Mode::Monitor));
    }
    assert_eq!(world.news, [LockEvent::NotTold, LockEvent::NotTold]);
}

#[test]
fn all_that_is_told_reads_as_a_sentence() {
    let role = UserRole::Programmer;
    for news in [
        LockEvent::Locked(role),
        LockEvent::GivenBack(role),
        LockEvent::Changed(role),
        LockEvent::LockedAlready,
        LockEvent::NotKept,
        LockEvent::NotTold,
        LockEvent::Refused(UserRole::Locked),
        LockEvent::Refused(role),
        LockEvent::NoAnswer,
    ] {
        let said = news.to_string();
        assert!(said.starts_with("the ") && said.len() > 30, "{said}");
    }
}
