//! The requests to the robot's task, and their answers.

use heapless::Vec;
use outrigger_core::client::dashboard::{ArmCommand, Outcome};
use outrigger_core::command::outputs::Write;
use outrigger_core::mode::{Epoch, Mode, Refusal, Word};
use outrigger_core::robot::Reason;
use outrigger_embassy::Handle;
use outrigger_remote::request::keyed::{Asked, Reply, Service, Ticket, Verdict};
use outrigger_remote::request::{Armed, Ask};
use outrigger_wire::time::{Duration, Instant};

use super::inquiry::Inquiry;
use super::output;
use crate::service_commands::{Asker, ServiceCommands};

/// Longest wait for the control loop; it comes back much sooner.
const DECIDED_IN: Duration = Duration::from_millis(200);
/// Longest wait where the control loop is asked for nothing: without a controller it comes back seldom, and nothing changes meanwhile.
const LOOKED_IN: Duration = Duration::from_millis(50);
/// Longest wait for what became of an output: more than the engine's own.
const NEWS_IN: Duration = Duration::from_secs(10);
/// Longest wait for the dashboard server: more than a connection, its greeting and the answer may take.
const READY_IN: Duration = Duration::from_secs(20);
/// More than sessions can have open, of which only the newest of each is answered.
const PENDING_MAX: usize = 8;

/// The event that an answer waits for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Waits {
    /// The next look at the engine, which has had a release or an acknowledgement by then.
    Look,
    /// In this epoch, and whether the arm was commanded already.
    Request(Epoch, bool),
    /// A request that its sender has withdrawn meanwhile, likewise.
    Withdrawn(Epoch, bool),
    Acknowledge,
    /// A word for the program on the controller.
    #[cfg(feature = "programs")]
    Program(Word),
    Output(Write),
    /// A command to the dashboard server.
    Dashboard,
}

#[derive(Clone, Copy, Debug)]
struct PendingReply {
    ticket: Ticket,
    waits: Waits,
    until: Instant,
}

/// The answers that are pending.
pub(super) struct RequestServer<'d> {
    robot: Handle<'d>,
    inquiry: &'d Inquiry,
    service_commands: &'d ServiceCommands,
    /// The request that armed the arm.
    armed: Armed<Ticket>,
    pending: Vec<PendingReply, PENDING_MAX>,
    /// Decided, and to be told one after the other: a service sends one datagram at a time.
    decided: Vec<(Ticket, Verdict), PENDING_MAX>,
}

impl<'d> RequestServer<'d> {
    pub(super) const fn new(robot: Handle<'d>, inquiry: &'d Inquiry, service_commands: &'d ServiceCommands) -> Self {
        Self { robot, inquiry, service_commands, armed: Armed::new(), pending: Vec::new(), decided: Vec::new() }
    }

    /// Looks at what came in.
    pub(super) fn take<A: Copy + PartialEq>(&mut self, service: &mut Service<A>, now: Instant) {
        let robot = self.robot;
        let Some(Asked { ticket, ask }) = service.poll_request(robot.epoch()) else { return };
        if self.pending.is_empty() {
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
                let Some(arm_command) = ArmCommand::of_word(how) else {
                    return self.decided(ticket, Verdict::BadValue);
                };
                if !self.service_commands.ask(arm_command, Asker::Message) {
                    return self.decided(ticket, Verdict::Dashboard(Outcome::Busy));
                }
                (Waits::Dashboard, READY_IN)
            }
            #[cfg(feature = "programs")]
            Ok(Ask::HandBack(_)) => {
                robot.hand_back();
                (Waits::Program(Word::HandBack), DECIDED_IN)
            }
            #[cfg(feature = "programs")]
            Ok(Ask::Resend(_)) => {
                robot.resend();
                (Waits::Program(Word::Resend), DECIDED_IN)
            }
            #[cfg(not(feature = "programs"))]
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
        if self.pending.is_full() {
            self.pending.remove(0);
        }
        // There is room now.
        let _ = self.pending.push(PendingReply { ticket, waits, until: now + patience });
        self.inquiry.want(true);
    }

    /// Returns whether the arm is commanded, as of the last look.
    const fn is_commanded(&self) -> bool {
        matches!(self.inquiry.standing().mode, Mode::Arming | Mode::Command)
    }

    /// Takes a request back: at once where it has armed the arm, and where it is still open once that is decided.
    fn withdraw(&mut self, what: Ticket) {
        for pending in self.pending.iter_mut().filter(|pending| pending.ticket == what) {
            if let Waits::Request(epoch, commanded) = pending.waits {
                pending.waits = Waits::Withdrawn(epoch, commanded);
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
            let waits = |pending: &PendingReply| pending.waits == Waits::Output(write);
            if let (Some(news), Some(at)) = (output::news(news), self.pending.iter().position(waits)) {
                let PendingReply { ticket, .. } = self.pending.remove(at);
                self.decided(ticket, Verdict::Output(news));
            }
        }
        let commanded = matches!(standing.mode, Mode::Arming | Mode::Command);
        if commanded && refused(Word::Request).is_none() {
            for PendingReply { ticket, waits, .. } in &self.pending {
                if let Waits::Request(epoch, before) | Waits::Withdrawn(epoch, before) = *waits {
                    self.armed.granted(*ticket, epoch, before);
                }
            }
            let present = self.robot.epoch();
            let withdrawn = |pending: &PendingReply| {
                matches!(pending.waits, Waits::Withdrawn(..)) && self.armed.is_by(&pending.ticket, present)
            };
            if self.pending.iter().any(withdrawn) {
                self.robot.release();
            }
        }
        self.settle(|pending| match pending.waits {
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
            #[cfg(feature = "programs")]
            Waits::Program(word) => Some(refused(word).map_or(Verdict::Done, |reason| Verdict::Refused(Some(reason)))),
            Waits::Output(_) | Waits::Dashboard => None,
        });
        self.give_up(now);
    }

    /// The command to the dashboard server is over.
    pub(super) fn complete_dashboard(&mut self, outcome: Outcome) {
        self.settle(|pending| (pending.waits == Waits::Dashboard).then_some(Verdict::Dashboard(outcome)));
        self.inquiry.want(!self.pending.is_empty());
    }

    /// Answers what has waited for too long.
    pub(super) fn give_up(&mut self, now: Instant) {
        let undecided =
            |pending: &PendingReply| now >= pending.until && matches!(pending.waits, Waits::Withdrawn(_, false));
        if !self.is_commanded() && self.pending.iter().any(undecided) {
            // It may still wait to be taken: a release takes it back, and stops nobody.
            self.robot.release();
        }
        self.settle(|pending| {
            (now >= pending.until).then_some(match pending.waits {
                Waits::Look => Verdict::Done,
                Waits::Withdrawn(..) => Verdict::Withdrawn,
                Waits::Request(..) | Waits::Acknowledge => Verdict::Ending,
                #[cfg(feature = "programs")]
                Waits::Program(_) => Verdict::Ending,
                Waits::Output(_) => Verdict::NoNews,
                Waits::Dashboard => Verdict::Dashboard(Outcome::NoAnswer),
            })
        });
        self.inquiry.want(!self.pending.is_empty());
    }

    fn settle(&mut self, verdict: impl Fn(&PendingReply) -> Option<Verdict>) {
        let Self { pending, decided, .. } = self;
        pending.retain(|pending| {
            let Some(verdict) = verdict(pending) else { return true };
            // As much room as is pending.
            let _ = decided.push((pending.ticket, verdict));
            false
        });
    }

    /// The next answer, where there is one.
    pub(super) fn answer_next<A: Copy + PartialEq>(&mut self, service: &mut Service<A>, now: Instant) -> bool {
        if self.decided.is_empty() {
            return false;
        }
        let (ticket, verdict) = self.decided.remove(0);
        service.answer(now, ticket, self.robot.epoch(), &Reply { verdict, ..self.inquiry.standing() });
        true
    }

    /// Returns the latest time to [give up](Self::give_up) something.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.pending.iter().map(|pending| pending.until).min()
    }
}

#[cfg(test)]
mod tests;
