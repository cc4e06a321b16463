use core::task::Context;

use embassy_net::{Config, StackResources};
use embassy_net_driver::{Capabilities, Driver, HardwareAddress, LinkState, RxToken, TxToken};
use outrigger_core::command::outputs::{DigitalOutput, MAX_WRITES, WriteOutcome};
use outrigger_core::engine::Event;
use outrigger_core::engine::krc::{KrcConfig, KrcEngine};
use outrigger_core::law::{JointServo, JointServoConfig, Reference};
use outrigger_core::mode::Channel;
use outrigger_embassy::{Shared, krc};
use outrigger_emulated::executor::{clock, leak};
use outrigger_remote::request::Message;
use outrigger_remote::request::keyed::{Caller, Event as Learned, Key, OutputOutcome};
use outrigger_wire::sensor::SampleValue;

use super::*;

const EPOCH: Epoch = Epoch::from_number(0);
const KEY: [u8; 32] = *b"a key that stands in a test only";
const OUTPUT: &str = "digital-out.3=on";

/// A network interface without a network.
struct NoNetwork;

impl RxToken for NoNetwork {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, read: F) -> R {
        read(&mut [])
    }
}

impl TxToken for NoNetwork {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, write: F) -> R {
        write(&mut std::vec![0; length])
    }
}

impl Driver for NoNetwork {
    type RxToken<'a> = Self;
    type TxToken<'a> = Self;

    fn receive(&mut self, _: &mut Context<'_>) -> Option<(Self, Self)> {
        None
    }

    fn transmit(&mut self, _: &mut Context<'_>) -> Option<Self> {
        None
    }

    fn link_state(&mut self, _: &mut Context<'_>) -> LinkState {
        LinkState::Down
    }

    fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::default();
        capabilities.max_transmission_unit = 1514;
        capabilities
    }

    fn hardware_address(&self) -> HardwareAddress {
        HardwareAddress::Ethernet([2, 0, 0, 0, 0, 15])
    }
}

/// A client with the key, in a session with a board whose control loop is simulated by the test.
struct Rig {
    robot: Handle<'static>,
    inquiry: &'static Inquiry,
    server: RequestServer<'static>,
    service: Service<u8>,
    caller: Caller,
    now: Instant,
}

impl Rig {
    fn new() -> Self {
        clock::begin();
        let (stack, _) = embassy_net::new(NoNetwork, Config::default(), leak(StackResources::<2>::new()), 1);
        let law = JointServo::new(Reference::Hold, JointServoConfig::default());
        let engine = leak(KrcEngine::new(KrcConfig::default(), law, ()).expect("an engine"));
        let (robot, _) = krc::new(stack, engine, leak(krc::Buffers::new()), leak(Shared::new()));
        let (inquiry, service_commands): (&Inquiry, &ServiceCommands) =
            (leak(Inquiry::new()), leak(ServiceCommands::new()));
        let now = Instant::from_micros(1_000_000);
        let server = RequestServer::new(robot, inquiry, service_commands);
        let service = Service::new(Key::new(&KEY), [7; 32]);
        let mut rig = Self { robot, inquiry, server, service, caller: Caller::new(Key::new(&KEY), [1; 16], now), now };
        rig.send();
        assert_eq!(rig.receive(), Some(Learned::Open(EPOCH)));
        rig
    }

    /// Delivers the datagram that the client has written to the service.
    fn send(&mut self) {
        let datagram = self.caller.poll_output().expect("a datagram");
        self.service.receive_window()[..datagram.len()].copy_from_slice(datagram);
        self.service.commit(self.now, datagram.len(), 1, EPOCH);
    }

    /// Delivers the datagram that the service has written to the client.
    fn receive(&mut self) -> Option<Learned> {
        let (_, datagram) = self.service.poll_output()?;
        self.caller.receive_window()[..datagram.len()].copy_from_slice(datagram);
        self.caller.commit(self.now, datagram.len());
        self.caller.poll_event()
    }

    /// Sends a client's request, and returns the verdict if there is one at once.
    fn ask(&mut self, ask: ClientRequest<'_>) -> Option<Verdict> {
        self.caller.ask(self.now, EPOCH, Message { id: None, challenge: None, ask }).expect("room");
        self.send();
        self.server.take(&mut self.service, self.now);
        self.verdict()
    }

    /// Sends a request with a fresh challenge, which it gets by a status request.
    fn ask_freshly(&mut self, ask: ClientRequest<'_>) -> Option<Verdict> {
        assert_eq!(self.ask(ClientRequest::Status), None);
        assert_eq!(self.decided(), Some(Verdict::Done));
        self.ask(ask)
    }

    /// Simulates the control loop having received all requests, and returns the verdict on the newest request.
    fn decided(&mut self) -> Option<Verdict> {
        self.server.decide(self.now);
        self.verdict()
    }

    /// Returns the verdict on the newest request.
    fn verdict(&mut self) -> Option<Verdict> {
        let mut verdict = None;
        while self.server.answer_next(&mut self.service, self.now) {
            if let Some(Learned::Answer(EPOCH, reply)) = self.receive() {
                verdict = Some(reply.verdict);
            }
        }
        verdict
    }

    fn refused(&self, word: OperatorAction, by: Channel, reason: Reason) {
        self.inquiry.event::<()>(&Event::Refused(Refusal { word, by, reason }));
    }

    /// Asserts that no request is pending in the request server, and none waits for the control loop.
    fn assert_nothing_waits(&self) {
        assert!(self.server.pending.is_empty() && self.server.poll_timeout().is_none());
        assert!(!self.robot.is_waiting());
    }
}

#[test]
fn what_a_hand_a_force_or_a_motion_moves_is_refused_at_once_and_nothing_reaches_the_control_loop() {
    let mut rig = Rig::new();
    for ask in [
        ClientRequest::Freedrive { epoch: EPOCH, how: "tool-speed=0.1" },
        ClientRequest::Force { epoch: EPOCH, how: "z=-20" },
        ClientRequest::ToolContact { epoch: EPOCH, how: "on" },
        ClientRequest::Renew,
        ClientRequest::Stiffen,
        ClientRequest::Move { epoch: EPOCH, how: "q=0,-1.57,-1.57,-1.57,1.57,0 speed=0.5" },
        ClientRequest::Move { epoch: EPOCH, how: "begin=2" },
        ClientRequest::Move { epoch: EPOCH, how: "rows=0,0" },
        ClientRequest::Move { epoch: EPOCH, how: "end" },
        ClientRequest::Cancel,
    ] {
        assert_eq!(rig.ask_freshly(ask), Some(Verdict::Refused(Some(Reason::NoSuchProgram))), "{ask:?}");
        rig.assert_nothing_waits();
    }
    #[cfg(not(feature = "programs"))]
    for ask in [ClientRequest::HandBack(EPOCH), ClientRequest::Resend(EPOCH)] {
        assert_eq!(rig.ask_freshly(ask), Some(Verdict::Refused(Some(Reason::NoSuchProgram))), "{ask:?}");
        rig.assert_nothing_waits();
    }
}

#[test]
fn a_reading_an_unknown_output_and_an_unknown_command_are_bad_values() {
    let mut rig = Rig::new();
    for ask in [
        ClientRequest::Sample { epoch: EPOCH, source: "distance", values: SampleValue::scalar(0.05), seq: None },
        ClientRequest::Set { epoch: EPOCH, output: "digital-out.8=on" },
        ClientRequest::Set { epoch: EPOCH, output: "analog-out.0=1" },
        ClientRequest::Dashboard { epoch: EPOCH, how: "play" },
    ] {
        assert_eq!(rig.ask_freshly(ask), Some(Verdict::BadValue), "{ask:?}");
        rig.assert_nothing_waits();
    }
}

#[test]
fn another_epoch_and_a_motion_without_a_fresh_challenge_reach_nobody() {
    let mut rig = Rig::new();
    assert_eq!(rig.ask_freshly(ClientRequest::Request(Epoch::from_number(1))), Some(Verdict::WrongEpoch));
    assert_eq!(rig.ask_freshly(ClientRequest::Status), None);
    assert_eq!(rig.decided(), Some(Verdict::Done));
    rig.now = rig.now + Duration::from_secs(3);
    assert_eq!(rig.ask(ClientRequest::Request(EPOCH)), Some(Verdict::NotFresh));
    rig.assert_nothing_waits();
}

#[test]
fn a_request_is_answered_by_its_own_refusal_and_by_no_other() {
    let mut rig = Rig::new();
    assert_eq!(rig.ask_freshly(ClientRequest::Request(EPOCH)), None);
    assert!(rig.robot.is_waiting());
    rig.refused(OperatorAction::Request, Channel::Message, Reason::GradeLow);
    assert_eq!(rig.decided(), Some(Verdict::Refused(Some(Reason::GradeLow))));
    // Rejections of a contact, of another kind of request, and from a time without a pending request.
    assert_eq!(rig.ask_freshly(ClientRequest::Resume(EPOCH)), None);
    rig.refused(OperatorAction::Request, Channel::Pin, Reason::GradeLow);
    assert_eq!(rig.decided(), Some(Verdict::Ending), "it is not commanded");
    assert_eq!(rig.ask_freshly(ClientRequest::Request(EPOCH)), None);
    rig.refused(OperatorAction::Acknowledge, Channel::Message, Reason::GradeLow);
    assert_eq!(rig.decided(), Some(Verdict::Ending));
    assert_eq!(rig.ask(ClientRequest::Status), None);
    assert_eq!(rig.decided(), Some(Verdict::Done));
    rig.refused(OperatorAction::Request, Channel::Message, Reason::GradeLow);
    assert_eq!(rig.ask(ClientRequest::Request(EPOCH)), None);
    assert_eq!(rig.decided(), Some(Verdict::Ending));
}

#[test]
fn an_acknowledgement_is_refused_with_its_reason_and_a_release_never() {
    let mut rig = Rig::new();
    assert_eq!(rig.ask(ClientRequest::Acknowledge), None);
    assert_eq!(rig.decided(), Some(Verdict::Done));
    assert_eq!(rig.ask(ClientRequest::Acknowledge), None);
    rig.refused(OperatorAction::Acknowledge, Channel::Message, Reason::ProtectiveStop);
    assert_eq!(rig.decided(), Some(Verdict::Refused(Some(Reason::ProtectiveStop))));
    assert_eq!(rig.ask(ClientRequest::Release), None);
    rig.refused(OperatorAction::Acknowledge, Channel::Message, Reason::ProtectiveStop);
    assert_eq!(rig.decided(), Some(Verdict::Done));
}

#[test]
fn a_request_that_is_withdrawn_before_it_is_decided_is_answered_as_withdrawn() {
    let mut rig = Rig::new();
    assert_eq!(rig.ask_freshly(ClientRequest::Request(EPOCH)), None);
    let what = rig.caller.counter();
    assert_eq!(rig.ask(ClientRequest::Withdraw { what }), None);
    rig.server.decide(rig.now);
    let verdicts: std::vec::Vec<_> = rig.server.decided.iter().map(|(_, verdict)| *verdict).collect();
    assert_eq!(verdicts, [Verdict::Withdrawn, Verdict::Done]);
}

#[test]
fn an_output_is_answered_by_news_of_it_and_refused_where_too_many_wait() {
    let mut rig = Rig::new();
    let set = ClientRequest::Set { epoch: EPOCH, output: OUTPUT };
    let write = Write::Digital { output: DigitalOutput::Standard(3), high: true };
    let other = Write::Digital { output: DigitalOutput::Standard(3), high: false };
    assert_eq!(rig.ask(set), None);
    rig.inquiry.event::<()>(&Event::Output { write, news: WriteOutcome::Sent });
    rig.inquiry.event::<()>(&Event::Output { write: other, news: WriteOutcome::NeverShown });
    assert_eq!(rig.decided(), None, "it is open");
    rig.inquiry.event::<()>(&Event::Output { write, news: WriteOutcome::NotConfirmed });
    assert_eq!(rig.decided(), Some(Verdict::Output(OutputOutcome::NotConfirmed)));
    // The first one waits, too.
    for _ in 1..MAX_WRITES {
        assert_eq!(rig.ask(set), None);
    }
    assert_eq!(rig.ask(set), Some(Verdict::Full));
}

#[test]
fn one_command_at_a_time_goes_to_the_dashboard_server() {
    let mut rig = Rig::new();
    let release = ClientRequest::Dashboard { epoch: EPOCH, how: "brake-release" };
    assert_eq!(rig.ask_freshly(release), None);
    assert_eq!(rig.decided(), None, "the control loop does not decide it");
    assert_eq!(rig.ask_freshly(release), Some(Verdict::Dashboard(Outcome::Busy)));
    assert_eq!(rig.server.pending.len(), 1);
    rig.server.complete_dashboard(Outcome::Taken);
    assert_eq!(rig.server.decided.first().map(|(_, verdict)| *verdict), Some(Verdict::Dashboard(Outcome::Taken)));
    assert!(rig.server.pending.is_empty());
}

#[test]
fn whatever_is_not_decided_is_answered_in_the_end() {
    for (ask, patience, verdict) in [
        (ClientRequest::Status, LOOKED_IN, Verdict::Done),
        (ClientRequest::Release, DECIDED_IN, Verdict::Done),
        (ClientRequest::Request(EPOCH), DECIDED_IN, Verdict::Ending),
        (ClientRequest::Acknowledge, DECIDED_IN, Verdict::Ending),
        (ClientRequest::Set { epoch: EPOCH, output: OUTPUT }, NEWS_IN, Verdict::NoNews),
        (ClientRequest::Dashboard { epoch: EPOCH, how: "power-on" }, READY_IN, Verdict::Dashboard(Outcome::NoAnswer)),
    ] {
        let mut rig = Rig::new();
        assert_eq!(rig.ask_freshly(ask), None, "{ask:?}");
        let until = rig.now + patience;
        assert_eq!(rig.server.poll_timeout(), Some(until), "{ask:?}");
        rig.now = until - Duration::from_micros(1);
        rig.server.give_up(rig.now);
        assert_eq!(rig.verdict(), None, "{ask:?}");
        rig.now = until;
        rig.server.give_up(rig.now);
        assert_eq!(rig.verdict(), Some(verdict), "{ask:?}");
        assert_eq!(rig.server.poll_timeout(), None);
    }
}

#[test]
fn of_too_many_requests_the_oldest_is_not_answered() {
    let mut rig = Rig::new();
    for _ in 0..=PENDING_MAX {
        assert_eq!(rig.ask(ClientRequest::Status), None);
    }
    assert_eq!(rig.server.pending.len(), PENDING_MAX);
    assert_eq!(rig.decided(), Some(Verdict::Done), "the newest is");
    rig.server.decide(rig.now);
    assert!(rig.server.decided.is_empty() && rig.server.pending.is_empty());
}
