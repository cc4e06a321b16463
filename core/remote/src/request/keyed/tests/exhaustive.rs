//! Two clients and an attacker with every datagram ever sent: every short sequence of their actions.

use std::collections::BTreeSet;

use super::*;

/// An action of a client or of the attacker in the explored sequences.
#[derive(Clone, Copy, Debug)]
enum Op {
    /// The client requests a new session.
    Hello(usize),
    /// The client sends a request, if it has a session.
    Ask(usize),
    /// A datagram arrives, for the first time or again: its index from the newest, and the address it comes from.
    Arrive(usize, u8),
}

#[derive(Clone)]
struct World {
    service: Service<u8>,
    callers: [Option<Caller>; 2],
    next_nonce: u8,
    /// The datagrams sent so far, by all parties.
    sent: Vec<Vec<u8>>,
    /// The datagrams of the clients' requests: `asked` those that were sent, `done` those that the service carried out.
    asked: BTreeSet<Vec<u8>>,
    done: BTreeSet<Vec<u8>>,
}

impl World {
    fn step(&mut self, op: Op) -> bool {
        match op {
            Op::Hello(who) => {
                self.next_nonce += 1;
                let mut new = caller(self.next_nonce);
                self.sent.push(out(&mut new));
                self.callers[who] = Some(new);
            }
            Op::Ask(who) => {
                let Some(caller) = &mut self.callers[who] else { return false };
                if caller.ask(NOW, EPOCH, message(ClientRequest::Release)).is_err() {
                    return false;
                }
                let request = out(caller);
                self.asked.insert(request.clone());
                self.sent.push(request);
            }
            Op::Arrive(back, from) => {
                let Some(at) = self.sent.len().checked_sub(back + 1) else { return false };
                let bytes = self.sent[at].clone();
                for caller in self.callers.iter_mut().flatten() {
                    if bytes.len() <= caller.receive_window().len() {
                        take(caller, &bytes);
                    }
                }
                let mut answers = Vec::from_iter(give(&mut self.service, from, &bytes));
                if let Some(asked) = self.service.poll_request(EPOCH) {
                    assert!(self.asked.contains(&bytes), "somebody with the key asked for it");
                    assert!(self.done.insert(bytes.clone()), "and it is done once");
                    let ticket = asked.ticket;
                    self.service.answer(NOW, ticket, EPOCH, &Reply::default());
                    answers.extend(sent(&mut self.service, from));
                }
                answers.iter().for_each(|answer| assert!(answer.len() <= bytes.len(), "nothing is amplified"));
                self.sent.extend(answers);
            }
        }
        true
    }
}

fn explore(world: &World, depth: usize, seen: &mut (usize, usize)) {
    if depth == 0 {
        return;
    }
    let callers = (0..2).flat_map(|who| [Op::Hello(who), Op::Ask(who)]);
    let arrivals = (0..4).map(|back| Op::Arrive(back, 1)).chain([Op::Arrive(0, 2)]);
    for op in callers.chain(arrivals) {
        let mut next = world.clone();
        if next.step(op) {
            *seen = (seen.0 + 1, seen.1.max(next.done.len()));
            explore(&next, depth - 1, seen);
        }
    }
}

#[test]
fn whatever_comes_in_whatever_order_is_done_once_and_only_where_it_was_asked_for() {
    let world = World {
        service: service(),
        callers: [const { None }; 2],
        next_nonce: 0,
        sent: vec![],
        asked: BTreeSet::new(),
        done: BTreeSet::new(),
    };
    let mut seen = (0, 0);
    explore(&world, 5, &mut seen);
    // Continues from a state in which both clients have a session.
    let mut both = world;
    for op in [Op::Hello(0), Op::Arrive(0, 1), Op::Arrive(0, 1), Op::Hello(1), Op::Arrive(0, 1), Op::Arrive(0, 1)] {
        assert!(both.step(op));
    }
    explore(&both, 5, &mut seen);
    assert!(seen.0 > 50_000 && seen.1 >= 2, "{seen:?}");
}
