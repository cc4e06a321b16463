//! Passes clients' requests to the robot's task, and collects the answers.

use heapless::Vec;
use outrigger_core::client::dashboard::{ArmCommand, Outcome};
use outrigger_core::command::outputs::Write;
use outrigger_core::mode::{Epoch, Mode, OperatorAction, Refusal};
use outrigger_core::robot::Reason;
use outrigger_embassy::Handle;
use outrigger_remote::request::keyed::{KeyedRequest, Reply, Service, Ticket, Verdict};
use outrigger_remote::request::{Armed, ClientRequest};
use outrigger_wire::time::{Duration, Instant};

use super::control_loop_interface::Inquiry;
use super::settable_outputs;
use crate::dashboard_command_queue::{Asker, ServiceCommands};

/// The longest wait for the control loop's decision on a client's request, which normally takes far less.
const DECIDED_IN: Duration = Duration::from_millis(200);
/// The longest wait for a new observation of the engine if nothing was requested of the control loop. Without a
/// controller the loop runs rarely, and nothing changes meanwhile.
const LOOKED_IN: Duration = Duration::from_millis(50);
/// The longest wait for the result of setting an output; longer than the engine's own timeout.
const NEWS_IN: Duration = Duration::from_secs(10);
/// The longest wait for the dashboard server; longer than a connection, its greeting and the answer may take.
const READY_IN: Duration = Duration::from_secs(20);
/// The greatest number of pending answers to clients. It exceeds the number of client sessions, and only the
/// newest request of each session is answered.
const PENDING_MAX: usize = 8;

/// The event that a pending answer to a client waits for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Waits {
    /// The next observation of the engine, which has then processed a client's request to end commanding or to withdraw
    /// a request. Also for requests for the state of the session, which need none of the engine's decisions.
    Look,
    /// The engine's decision on a request to command that is valid only in this [`Epoch`], a counter that each new
    /// connection and each end of commanding increments; `true` if the arm was already commanded.
    Request(Epoch, bool),
    /// The engine's decision on a request that its sender has withdrawn meanwhile; fields as in [`Self::Request`].
    Withdrawn(Epoch, bool),
    Acknowledge,
    /// The engine's decision on an operator's command for Outrigger's URScript program on the controller, such as to
    /// send it again.
    #[cfg(feature = "programs")]
    Program(OperatorAction),
    Output(Write),
    /// The result of a command to the controller's dashboard server.
    Dashboard,
}

#[derive(Clone, Copy, Debug)]
struct PendingReply {
    ticket: Ticket,
    waits: Waits,
    until: Instant,
}

/// The server of clients' requests, with the answers that are still pending.
pub(super) struct RequestServer<'d> {
    robot: Handle<'d>,
    inquiry: &'d Inquiry,
    service_commands: &'d ServiceCommands,
    /// The request that started commanding, if commanding was requested by a client.
    armed: Armed<Ticket>,
    pending: Vec<PendingReply, PENDING_MAX>,
    /// The verdicts on clients' requests that are to be sent, one after the other: a service sends one datagram at a
    /// time.
    decided: Vec<(Ticket, Verdict), PENDING_MAX>,
}

impl<'d> RequestServer<'d> {
    pub(super) const fn new(robot: Handle<'d>, inquiry: &'d Inquiry, service_commands: &'d ServiceCommands) -> Self {
        Self { robot, inquiry, service_commands, armed: Armed::new(), pending: Vec::new(), decided: Vec::new() }
    }

    /// Processes a client's request that the request service has received.
    pub(super) fn take<A: Copy + PartialEq>(&mut self, service: &mut Service<A>, now: Instant) {
        let robot = self.robot;
        let Some(KeyedRequest { ticket, ask }) = service.poll_request(robot.epoch()) else { return };
        if self.pending.is_empty() {
            // Results of requests that nobody waits for any more.
            while self.inquiry.news().is_some() {}
            self.inquiry.refused();
        }
        let (waits, patience) = match ask {
            Err(verdict) => return self.decided(ticket, verdict),
            Ok(ClientRequest::Status | ClientRequest::Watch) => (Waits::Look, LOOKED_IN),
            Ok(ClientRequest::Request(epoch)) => {
                robot.request(epoch);
                (Waits::Request(epoch, self.is_commanded()), DECIDED_IN)
            }
            Ok(ClientRequest::Resume(epoch)) => {
                robot.resume(epoch);
                (Waits::Request(epoch, self.is_commanded()), DECIDED_IN)
            }
            Ok(ClientRequest::Release) => {
                robot.release();
                (Waits::Look, DECIDED_IN)
            }
            Ok(ClientRequest::Withdraw { what }) => {
                self.withdraw(ticket.of(what));
                (Waits::Look, DECIDED_IN)
            }
            Ok(ClientRequest::Acknowledge) => {
                robot.acknowledge();
                (Waits::Acknowledge, DECIDED_IN)
            }
            Ok(ClientRequest::Set { output, .. }) => {
                let Some(write) = settable_outputs::parsed(output) else {
                    return self.decided(ticket, Verdict::BadValue);
                };
                if robot.set(write).is_err() {
                    return self.decided(ticket, Verdict::Full);
                }
                (Waits::Output(write), NEWS_IN)
            }
            Ok(ClientRequest::Dashboard { how, .. }) => {
                let Some(arm_command) = ArmCommand::of_word(how) else {
                    return self.decided(ticket, Verdict::BadValue);
                };
                if !self.service_commands.ask(arm_command, Asker::Message) {
                    return self.decided(ticket, Verdict::Dashboard(Outcome::Busy));
                }
                (Waits::Dashboard, READY_IN)
            }
            #[cfg(feature = "programs")]
            Ok(ClientRequest::HandBack(_)) => {
                robot.hand_back();
                (Waits::Program(OperatorAction::HandBack), DECIDED_IN)
            }
            #[cfg(feature = "programs")]
            Ok(ClientRequest::Resend(_)) => {
                robot.resend();
                (Waits::Program(OperatorAction::Resend), DECIDED_IN)
            }
            #[cfg(not(feature = "programs"))]
            Ok(ClientRequest::HandBack(_) | ClientRequest::Resend(_)) => {
                return self.decided(ticket, Verdict::Refused(Some(Reason::NoSuchProgram)));
            }
            // Hand guiding, force mode and motions can only be requested from a host.
            Ok(
                ClientRequest::Freedrive { .. }
                | ClientRequest::Force { .. }
                | ClientRequest::ToolContact { .. }
                | ClientRequest::Renew
                | ClientRequest::Stiffen
                | ClientRequest::Move { .. }
                | ClientRequest::Cancel,
            ) => {
                return self.decided(ticket, Verdict::Refused(Some(Reason::NoSuchProgram)));
            }
            // No sensor source of a board accepts readings from the network.
            Ok(ClientRequest::Sample { .. }) => return self.decided(ticket, Verdict::BadValue),
        };
        if self.pending.is_full() {
            self.pending.remove(0);
        }
        // There is room now.
        let _ = self.pending.push(PendingReply { ticket, waits, until: now + patience });
        self.inquiry.want(true);
    }

    /// Returns whether the arm is commanded, as of the last observation of the engine.
    const fn is_commanded(&self) -> bool {
        matches!(self.inquiry.standing().mode, Mode::Arming | Mode::Command)
    }

    /// Withdraws a client's request to command. If commanding began by this request, ends commanding at once. If the
    /// request is undecided, the withdrawal takes effect with the decision.
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

    /// Processes the engine's decisions after it has received all clients' requests.
    pub(super) fn decide(&mut self, now: Instant) {
        let standing = self.inquiry.standing();
        let refused = self.inquiry.refused();
        let refused = |word| refused.filter(|refusal: &Refusal| refusal.word == word).map(|refusal| refusal.reason);
        while let Some((write, news)) = self.inquiry.news() {
            let waits = |pending: &PendingReply| pending.waits == Waits::Output(write);
            if let (Some(news), Some(at)) = (settable_outputs::news(news), self.pending.iter().position(waits)) {
                let PendingReply { ticket, .. } = self.pending.remove(at);
                self.decided(ticket, Verdict::Output(news));
            }
        }
        let commanded = matches!(standing.mode, Mode::Arming | Mode::Command);
        if commanded && refused(OperatorAction::Request).is_none() {
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
            Waits::Request(..) => Some(match refused(OperatorAction::Request) {
                Some(reason) => Verdict::Refused(Some(reason)),
                None if commanded => Verdict::Done,
                None => Verdict::Ending,
            }),
            Waits::Acknowledge => Some(
                refused(OperatorAction::Acknowledge).map_or(Verdict::Done, |reason| Verdict::Refused(Some(reason))),
            ),
            #[cfg(feature = "programs")]
            Waits::Program(word) => Some(refused(word).map_or(Verdict::Done, |reason| Verdict::Refused(Some(reason)))),
            Waits::Output(_) | Waits::Dashboard => None,
        });
        self.give_up(now);
    }

    /// Answers the request for a command to the dashboard server with the command's outcome.
    pub(super) fn complete_dashboard(&mut self, outcome: Outcome) {
        self.settle(|pending| (pending.waits == Waits::Dashboard).then_some(Verdict::Dashboard(outcome)));
        self.inquiry.want(!self.pending.is_empty());
    }

    /// Answers the clients' requests that have waited for a decision for too long.
    pub(super) fn give_up(&mut self, now: Instant) {
        let undecided =
            |pending: &PendingReply| now >= pending.until && matches!(pending.waits, Waits::Withdrawn(_, false));
        if !self.is_commanded() && self.pending.iter().any(undecided) {
            // The request may still wait to be processed: a release withdraws it and stops nothing else.
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
            // Has the same capacity as the pending answers.
            let _ = decided.push((pending.ticket, verdict));
            false
        });
    }

    /// Passes the next answer that is ready to `service`, which sends it to its client; returns `false` if no answer is
    /// ready.
    pub(super) fn answer_next<A: Copy + PartialEq>(&mut self, service: &mut Service<A>, now: Instant) -> bool {
        if self.decided.is_empty() {
            return false;
        }
        let (ticket, verdict) = self.decided.remove(0);
        service.answer(now, ticket, self.robot.epoch(), &Reply { verdict, ..self.inquiry.standing() });
        true
    }

    /// Returns the earliest time at which [`give_up`](Self::give_up) must be called; `None` if no answer is pending.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.pending.iter().map(|pending| pending.until).min()
    }
}

#[cfg(test)]
mod tests;
