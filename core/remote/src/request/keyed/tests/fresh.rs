//! Two clients, an arm, and an attacker who delays, reorders or repeats datagrams: every short sequence of their
//! actions.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::request::{Armed, FRESH_FOR};

/// An event of the explored sequences: an action of a client, an arriving datagram, passing time, or the end of
/// commanding.
#[derive(Clone, Copy, Debug)]
enum Op {
    /// The client requests the status, whose answer contains a challenge.
    Status(usize),
    /// The client requests to command.
    Request(usize),
    /// The client withdraws its newest request.
    Withdraw(usize),
    /// A datagram arrives, for the first time or again: the number of datagrams sent after it. One that never arrives
    /// is lost.
    Deliver(usize),
    /// This time passes; the longer of the two explored durations exceeds the limit for a fresh challenge.
    Wait(Duration),
    /// Commanding ends by a fault, or by a release of another client.
    Fall,
}

/// A request of a client, by its counter.
type Request = (usize, u32);

#[derive(Clone)]
struct World {
    now: Instant,
    epoch: u32,
    service: Service<u8>,
    callers: [Caller; 2],
    armed: Armed<Ticket>,
    /// The datagrams sent, each with its client and whether it is an answer to the client.
    sent: Vec<(Vec<u8>, usize, bool)>,
    /// The newest request of each client.
    newest: [Option<u32>; 2],
    /// The test's own record: when each challenge was issued, the challenges that were used for arming, and the
    /// withdrawn requests.
    issued: BTreeMap<(usize, u32), Instant>,
    spent: BTreeSet<(usize, u32)>,
    withdrawn: BTreeSet<Request>,
    /// The request that armed the arm, while it is commanded, and whether a later one was granted.
    commanded: Option<(Request, bool)>,
}

/// The numbers of requests to command that were granted (`armed`) or refused as not fresh (`stale`), and of withdrawals
/// that ended commanding (`stopped`) or left it unchanged (`left`).
#[derive(Default)]
struct Seen {
    armed: u32,
    stale: u32,
    stopped: u32,
    left: u32,
}

fn field(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

impl World {
    fn new() -> Self {
        let mut service = service();
        let callers = [0, 1].map(|from| open(&mut service, from));
        Self {
            now: NOW,
            epoch: EPOCH.number(),
            service,
            callers,
            armed: Armed::new(),
            sent: vec![],
            newest: [None; 2],
            issued: BTreeMap::new(),
            spent: BTreeSet::new(),
            withdrawn: BTreeSet::new(),
            commanded: None,
        }
    }

    const fn epoch(&self) -> Epoch {
        Epoch::from_number(self.epoch)
    }

    fn ask(&mut self, who: usize, ask: ClientRequest<'_>) {
        let (now, epoch, caller) = (self.now, self.epoch(), &mut self.callers[who]);
        caller.ask(now, epoch, message(ask)).expect("short enough");
        self.sent.push((out(caller), who, false));
    }

    fn step(&mut self, op: Op, seen: &mut Seen) -> bool {
        match op {
            Op::Status(who) => self.ask(who, ClientRequest::Status),
            Op::Request(who) => {
                self.ask(who, ClientRequest::Request(self.epoch()));
                self.newest[who] = Some(self.callers[who].counter());
            }
            Op::Withdraw(who) => {
                let Some(what) = self.newest[who].take() else { return false };
                self.ask(who, ClientRequest::Withdraw { what });
            }
            Op::Wait(time) => self.now = self.now + time,
            Op::Fall => {
                self.commanded = None;
                self.epoch += 1;
            }
            Op::Deliver(back) => {
                let Some(at) = self.sent.len().checked_sub(back + 1) else { return false };
                let (bytes, who, is_answer) = self.sent[at].clone();
                if is_answer {
                    let caller = &mut self.callers[who];
                    caller.receive_window()[..bytes.len()].copy_from_slice(&bytes);
                    caller.commit(self.now, bytes.len());
                    caller.poll_event();
                } else {
                    self.arrive(who, &bytes, seen);
                }
            }
        }
        true
    }

    fn arrive(&mut self, who: usize, bytes: &[u8], seen: &mut Seen) {
        let (now, epoch) = (self.now, self.epoch());
        let (counter, challenge) = (field(bytes, 16), field(bytes, 24));
        self.service.receive_window()[..bytes.len()].copy_from_slice(bytes);
        self.service.commit(now, bytes.len(), who as u8, epoch);
        if let Some(KeyedRequest { ticket, ask }) = self.service.poll_request(epoch) {
            let this = (who, counter);
            let mut stops = false;
            match ask {
                Ok(ClientRequest::Request(asked)) => {
                    seen.armed += 1;
                    let issued = self.issued.get(&(who, challenge)).expect("its challenge was issued to this client");
                    assert!(now.since(*issued) <= FRESH_FOR, "it moves the arm, and is old");
                    assert!(self.spent.insert((who, challenge)), "its challenge armed twice");
                    assert!(!self.withdrawn.contains(&this), "it was withdrawn");
                    assert_eq!(asked, epoch);
                    self.armed.granted(ticket, epoch, self.commanded.is_some());
                    self.commanded = Some(self.commanded.map_or((this, false), |(by, _)| (by, true)));
                }
                Ok(ClientRequest::Withdraw { what }) => {
                    let by_it_alone = self.commanded == Some(((who, what), false));
                    stops = self.commanded.is_some() && self.armed.is_by(&ticket.of(what), epoch);
                    assert_eq!(stops, by_it_alone, "it stops what this very request armed, and nothing else");
                    self.withdrawn.insert((who, what));
                    if stops { seen.stopped += 1 } else { seen.left += 1 }
                }
                Err(Verdict::NotFresh) => seen.stale += 1,
                _ => {}
            }
            if stops {
                self.commanded = None;
                self.epoch += 1;
            }
            let reply = Reply { verdict: ask.err().unwrap_or(Verdict::Done), ..Reply::default() };
            self.service.answer(now, ticket, self.epoch(), &reply);
        }
        if let Some((_, answer)) = self.service.poll_output() {
            // A repeated answer has the same challenge as before.
            self.issued.entry((who, field(answer, 24))).or_insert(now);
            self.sent.push((answer.to_vec(), who, true));
        }
    }
}

fn explore(world: &World, depth: usize, seen: &mut Seen) {
    if depth == 0 {
        return;
    }
    let clients = [Op::Status(0), Op::Request(0), Op::Request(1), Op::Withdraw(0), Op::Withdraw(1)];
    let delays = [900, 2_100].map(|ms| Op::Wait(Duration::from_millis(ms)));
    for op in clients.into_iter().chain((0..4).map(Op::Deliver)).chain(delays).chain([Op::Fall]) {
        let mut next = world.clone();
        if next.step(op, seen) {
            explore(&next, depth - 1, seen);
        }
    }
}

#[test]
fn whatever_is_delayed_reordered_or_repeated_only_a_fresh_request_moves_the_arm() {
    let mut seen = Seen::default();
    let mut world = World::new();
    explore(&world, 4, &mut seen);
    // Continues from states in which both have a challenge, one has requested to command, and the arm is commanded by
    // that request.
    let fresh = [0, 1].map(|who| [Op::Status(who), Op::Deliver(0), Op::Deliver(0)]);
    let asked = [Op::Request(0), Op::Deliver(0)];
    for steps in [&fresh.concat()[..], &asked[..1], &asked[1..]] {
        for op in steps {
            assert!(world.step(*op, &mut seen));
        }
        explore(&world, 5, &mut seen);
    }
    assert!(world.commanded.is_some());
    let Seen { armed, stale, stopped, left } = seen;
    assert!(armed > 1_000 && stale > 1_000 && stopped > 100 && left > 100, "{armed} {stale} {stopped} {left}");
}

#[test]
fn a_request_that_was_held_back_for_an_hour_does_not_arm_the_arm() {
    let mut service = service();
    let mut caller = open(&mut service, 1);
    refresh(&mut service, &mut caller, 1);
    let request = asked(&mut caller, ClientRequest::Request(EPOCH));
    let late = NOW + Duration::from_secs(3_600);
    assert_eq!(give_at(&mut service, late, 1, &request), None);
    let KeyedRequest { ticket, ask } = service.poll_request(EPOCH).expect("a request, in the same epoch");
    assert_eq!(ask, Err(Verdict::NotFresh));
    service.answer(late, ticket, EPOCH, &Reply { verdict: Verdict::NotFresh, ..Reply::default() });
    let refusal = sent(&mut service, 1).expect("an answer");
    assert!(take(&mut caller, &refusal).is_some());
    // The refusal contains a new challenge: a request repeated at once is fresh.
    let again = asked(&mut caller, ClientRequest::Request(EPOCH));
    assert_eq!(give_at(&mut service, late + FRESH_FOR, 1, &again), None);
    assert_eq!(service.poll_request(EPOCH).expect("a request").ask, Ok(ClientRequest::Request(EPOCH)));
}

#[test]
fn a_thousand_questions_of_one_session_use_up_no_challenge_of_another() {
    let mut service = service();
    let (mut one, mut other) = (open(&mut service, 1), open(&mut service, 2));
    refresh(&mut service, &mut one, 1);
    (0..1_000).for_each(|_| refresh(&mut service, &mut other, 2));
    let request = asked(&mut one, ClientRequest::Request(EPOCH));
    give(&mut service, 1, &request);
    assert_eq!(service.poll_request(EPOCH).expect("a request").ask, Ok(ClientRequest::Request(EPOCH)));
}
