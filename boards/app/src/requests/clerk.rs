//! What is asked becomes a word to the robot's task, and what came of it an answer.

use heapless::Vec;
use outrigger_core::client::dashboard::{Outcome, Readying};
use outrigger_core::command::outputs::Write;
use outrigger_core::mode::{Epoch, Mode, Refusal, Word};
use outrigger_core::request::keyed::{Asked, Reply, Service, Ticket, Verdict};
use outrigger_core::request::{Armed, Ask};
use outrigger_core::robot::Reason;
use outrigger_core::time::{Duration, Instant};
use outrigger_embassy::Handle;

use super::inquiry::Inquiry;
use super::output;
use crate::errands::{Asker, Errands};

/// Longest wait for the control loop; it comes back much sooner.
const DECIDED_IN: Duration = Duration::from_millis(200);
/// The same where nothing is asked of it: without a controller it comes back seldom, and nothing changes meanwhile.
const LOOKED_IN: Duration = Duration::from_millis(50);
/// Longest wait for what became of an output: more than the engine's own.
const NEWS_IN: Duration = Duration::from_secs(10);
/// Longest wait for the dashboard server: more than a connection, its greeting and the answer may take.
const READY_IN: Duration = Duration::from_secs(20);
/// More than sessions can have open, of which only the newest of each is answered.
const OWED: usize = 8;

/// What an answer waits for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Waits {
    /// How it stands, or that a release or an acknowledgement was taken.
    Look,
    /// In this epoch, and whether the arm was commanded already.
    Request(Epoch, bool),
    /// A request that its sender has withdrawn meanwhile, likewise.
    Withdrawn(Epoch, bool),
    Acknowledge,
    /// A word for the program on the controller.
    #[cfg(feature = "reverse")]
    Program(Word),
    Output(Write),
    /// A command to the dashboard server.
    Dashboard,
}

#[derive(Clone, Copy, Debug)]
struct Owed {
    ticket: Ticket,
    waits: Waits,
    until: Instant,
}

/// The answers that are owed.
pub(super) struct Clerk<'d> {
    robot: Handle<'d>,
    inquiry: &'d Inquiry,
    errands: &'d Errands,
    /// The request that armed the arm.
    armed: Armed<Ticket>,
    owed: Vec<Owed, OWED>,
    /// Decided, and to be told one after the other: a service sends one datagram at a time.
    decided: Vec<(Ticket, Verdict), OWED>,
}

impl<'d> Clerk<'d> {
    pub(super) const fn new(robot: Handle<'d>, inquiry: &'d Inquiry, errands: &'d Errands) -> Self {
        Self { robot, inquiry, errands, armed: Armed::new(), owed: Vec::new(), decided: Vec::new() }
    }

    /// Looks at what came in.
    pub(super) fn take<A: Copy + PartialEq>(&mut self, service: &mut Service<A>, now: Instant) {
        let robot = self.robot;
        let Some(Asked { ticket, ask }) = service.poll_request(robot.epoch()) else { return };
        if self.owed.is_empty() {
            // Of what nobody waits for any more.
            while self.inquiry.news().is_some() {}
            self.inquiry.refused();
        }
        let (waits, patience) = match ask {
            Err(verdict) => return self.decided(ticket, verdict),
            Ok(Ask::Status | Ask::Watch) => (Waits::Look, LOOKED_IN),
            Ok(Ask::Request(epoch)) => {
                robot.request(epoch);
                (Waits::Request(epoch, self.is_commanded()), DECIDED_IN)
            }
            Ok(Ask::Resume(epoch)) => {
                robot.resume(epoch);
                (Waits::Request(epoch, self.is_commanded()), DECIDED_IN)
            }
            Ok(Ask::Release) => {
                robot.release();
                (Waits::Look, DECIDED_IN)
            }
            Ok(Ask::Withdraw { what }) => {
                self.withdraw(ticket.of(what));
                (Waits::Look, DECIDED_IN)
            }
            Ok(Ask::Acknowledge) => {
                robot.acknowledge();
                (Waits::Acknowledge, DECIDED_IN)
            }
            Ok(Ask::Set { output, .. }) => {
                let Some(write) = output::parsed(output) else { return self.decided(ticket, Verdict::BadValue) };
                if robot.set(write).is_err() {
                    return self.decided(ticket, Verdict::Full);
                }
                (Waits::Output(write), NEWS_IN)
            }
            Ok(Ask::Dashboard { how, .. }) => {
                let Some(readying) = Readying::of_word(how) else { return self.decided(ticket, Verdict::BadValue) };
                if !self.errands.ask(readying, Asker::Message) {
                    return self.decided(ticket, Verdict::Dashboard(Outcome::Busy));
                }
                (Waits::Dashboard, READY_IN)
            }
            #[cfg(feature = "reverse")]
            Ok(Ask::HandBack(_)) => {
                robot.hand_back();
                (Waits::Program(Word::HandBack), DECIDED_IN)
            }
            #[cfg(feature = "reverse")]
            Ok(Ask::Resend(_)) => {
                robot.resend();
                (Waits::Program(Word::Resend), DECIDED_IN)
            }
            #[cfg(not(feature = "reverse"))]
            Ok(Ask::HandBack(_) | Ask::Resend(_)) => {
                return self.decided(ticket, Verdict::Refused(Some(Reason::NoSuchProgram)));
            }
            // What a hand, a force or a motion moves is asked for beside a host.
            Ok(
                Ask::Freedrive { .. }
                | Ask::Force { .. }
                | Ask::ToolContact { .. }
                | Ask::Renew
                | Ask::Stiffen
                | Ask::Move { .. }
                | Ask::Cancel,
            ) => {
                return self.decided(ticket, Verdict::Refused(Some(Reason::NoSuchProgram)));
            }
            // No source of a board takes readings from the network.
            Ok(Ask::Sample { .. }) => return self.decided(ticket, Verdict::BadValue),
        };
        if self.owed.is_full() {
            self.owed.remove(0);
        }
        // There is room now.
        let _ = self.owed.push(Owed { ticket, waits, until: now + patience });
        self.inquiry.want(true);
    }

    /// Returns whether the arm is commanded, as of the last look.
    const fn is_commanded(&self) -> bool {
        matches!(self.inquiry.standing().mode, Mode::Arming | Mode::Command)
    }

    /// Takes a request back: at once where it has armed the arm, and where it is still open once that is decided.
    fn withdraw(&mut self, what: Ticket) {
        for owed in self.owed.iter_mut().filter(|owed| owed.ticket == what) {
            if let Waits::Request(epoch, commanded) = owed.waits {
                owed.waits = Waits::Withdrawn(epoch, commanded);
            }
        }
        if self.armed.is_by(&what, self.robot.epoch()) {
            self.robot.release();
        }
    }

    fn decided(&mut self, ticket: Ticket, verdict: Verdict) {
        if self.decided.is_full() {
            self.decided.remove(0);
        }
        let _ = self.decided.push((ticket, verdict));
    }

    /// The engine has had everything that was asked.
    pub(super) fn decide(&mut self, now: Instant) {
        let standing = self.inquiry.standing();
        let refused = self.inquiry.refused();
        let refused = |word| refused.filter(|refusal: &Refusal| refusal.word == word).map(|refusal| refusal.reason);
        while let Some((write, news)) = self.inquiry.news() {
            let waits = |owed: &Owed| owed.waits == Waits::Output(write);
            if let (Some(news), Some(at)) = (output::news(news), self.owed.iter().position(waits)) {
                let Owed { ticket, .. } = self.owed.remove(at);
                self.decided(ticket, Verdict::Output(news));
            }
        }
        let commanded = matches!(standing.mode, Mode::Arming | Mode::Command);
        if commanded && refused(Word::Request).is_none() {
            for Owed { ticket, waits, .. } in &self.owed {
                if let Waits::Request(epoch, before) | Waits::Withdrawn(epoch, before) = *waits {
                    self.armed.granted(*ticket, epoch, before);
                }
            }
            let present = self.robot.epoch();
            let withdrawn =
                |owed: &Owed| matches!(owed.waits, Waits::Withdrawn(..)) && self.armed.is_by(&owed.ticket, present);
            if self.owed.iter().any(withdrawn) {
                self.robot.release();
            }
        }
        self.settle(|owed| match owed.waits {
            Waits::Look => Some(Verdict::Done),
            Waits::Withdrawn(..) => Some(Verdict::Withdrawn),
            Waits::Request(..) => Some(match refused(Word::Request) {
                Some(reason) => Verdict::Refused(Some(reason)),
                None if commanded => Verdict::Done,
                None => Verdict::Ending,
            }),
            Waits::Acknowledge => {
                Some(refused(Word::Acknowledge).map_or(Verdict::Done, |reason| Verdict::Refused(Some(reason))))
            }
            #[cfg(feature = "reverse")]
            Waits::Program(word) => Some(refused(word).map_or(Verdict::Done, |reason| Verdict::Refused(Some(reason)))),
            Waits::Output(_) | Waits::Dashboard => None,
        });
        self.give_up(now);
    }

    /// The command to the dashboard server is over.
    pub(super) fn came_back(&mut self, outcome: Outcome) {
        self.settle(|owed| (owed.waits == Waits::Dashboard).then_some(Verdict::Dashboard(outcome)));
        self.inquiry.want(!self.owed.is_empty());
    }

    /// Of what has waited for too long.
    pub(super) fn give_up(&mut self, now: Instant) {
        let undecided = |owed: &Owed| now >= owed.until && matches!(owed.waits, Waits::Withdrawn(_, false));
        if !self.is_commanded() && self.owed.iter().any(undecided) {
            // It may still wait to be taken: a release takes it back, and stops nobody.
            self.robot.release();
        }
        self.settle(|owed| {
            (now >= owed.until).then_some(match owed.waits {
                Waits::Look => Verdict::Done,
                Waits::Withdrawn(..) => Verdict::Withdrawn,
                Waits::Request(..) | Waits::Acknowledge => Verdict::Ending,
                #[cfg(feature = "reverse")]
                Waits::Program(_) => Verdict::Ending,
                Waits::Output(_) => Verdict::NoNews,
                Waits::Dashboard => Verdict::Dashboard(Outcome::NoAnswer),
            })
        });
        self.inquiry.want(!self.owed.is_empty());
    }

    fn settle(&mut self, verdict: impl Fn(&Owed) -> Option<Verdict>) {
        let Self { owed, decided, .. } = self;
        owed.retain(|owed| {
            let Some(verdict) = verdict(owed) else { return true };
            // As much room as is owed.
            let _ = decided.push((owed.ticket, verdict));
            false
        });
    }

    /// The next answer, where there is one.
    pub(super) fn tell<A: Copy + PartialEq>(&mut self, service: &mut Service<A>, now: Instant) -> bool {
        if self.decided.is_empty() {
            return false;
        }
        let (ticket, verdict) = self.decided.remove(0);
        service.answer(now, ticket, self.robot.epoch(), &Reply { verdict, ..self.inquiry.standing() });
        true
    }

    /// When to [give up](Self::give_up) something at the latest.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.owed.iter().map(|owed| owed.until).min()
    }
}
