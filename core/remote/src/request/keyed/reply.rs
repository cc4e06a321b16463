//! The answers to keyed requests and their encoding, `core/docs/protocol/outrigger-requests.md` 5.

use zerocopy::byteorder::big_endian::{U16, U32, U64};

use super::datagram_layout::Body;
use crate::request::FaultKind;
use outrigger_core::link::Grade;
use outrigger_core::mode::Mode;
use outrigger_core::robot::{Reason, ReasonSet};
use outrigger_wire::dashboard::Outcome;
use outrigger_wire::time::Duration;

/// The answer to a keyed request (one authenticated with a shared key): its outcome, and the state of the session with
/// the robot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The outcome of the request that is answered.
    pub verdict: Verdict,
    /// The present mode of the control loop.
    pub mode: Mode,
    /// The quality of the link to the controller, in four grades from unacceptable to perfect.
    pub grade: Grade,
    /// The first fault since the last acknowledgement for which arming or commanding ended; `None` if there is none.
    pub latch: Option<Reason>,
    /// The reasons for which a request to command would be refused now.
    pub unmet: ReasonSet,
    /// `true` if the process that commands the robot is about to end.
    pub ending: bool,
}

impl Default for Reply {
    fn default() -> Self {
        Self {
            verdict: Verdict::Done,
            mode: Mode::Offline,
            grade: Grade::Unacceptable,
            latch: None,
            unmet: ReasonSet::EMPTY,
            ending: false,
        }
    }
}

/// The outcome of a keyed request, which is one authenticated with a shared key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The request was carried out, or its execution has begun.
    Done,
    /// The sender observed another epoch than the present one of the session with the robot, a counter of connections
    /// and losses of authority.
    WrongEpoch,
    /// The request was refused for this reason; `None` if the reason is not known.
    Refused(Option<Reason>),
    /// The process that commands the robot is about to end, or did not decide about the request in time.
    Ending,
    /// The outcome of setting an output of the controller.
    Output(OutputOutcome),
    /// The time that the service waits for the outcome of setting an output has passed, and the outcome is not known.
    NoNews,
    /// The output was not set, because too many output writes are pending.
    Full,
    /// The request names an output of the controller or a sensor that does not exist here, or has the wrong number of
    /// values.
    BadValue,
    /// The outcome of a command to the controller's dashboard server.
    Dashboard(Outcome),
    /// A request that causes motion arrived without an unused challenge of this session younger than
    /// [`FRESH_FOR`](crate::request::FRESH_FOR). It was not carried out.
    NotFresh,
    /// The sender has withdrawn the request before it was carried out.
    Withdrawn,
    /// The request line contains an error of this kind at this position, in bytes.
    Fault(FaultKind, u16),
}

/// The outcome of setting an output of the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputOutcome {
    /// The controller shows the output's new value, this long after it was sent.
    Confirmed(Duration),
    /// The output's value was sent, but this controller does not publish the output.
    NeverShown,
    /// The output's value was sent, but the controller shows another value after the time allowed.
    NotConfirmed,
    /// A later write for the same output replaced this write before it was confirmed.
    Superseded,
    /// The output was not set: no session with a controller is established.
    NotConnected,
    /// The output was not set: this arm or its software has no such output, or a number in the request is out of range.
    Impossible,
    /// The output was not set: the controller is in local control and accepts no writes of outputs.
    LocalControl,
    /// The output was not set: the session with the controller owns no RTDE input for it.
    NoInput,
    /// The output was not set: the configuration disables setting outputs.
    Off,
    /// The output was not set: it could not be sent in time, because no recent state of the robot arrived, or the connection
    /// to the controller accepted no text.
    LinkStale,
    /// The output was not set: setting it would change motion, and the arm is commanded or not at rest.
    Commanding,
    /// The output was not set: this kind of controller has no such output.
    NoSuchOutput,
    /// The output was not set: its RTDE variable is reserved for the handshake with the program on the controller.
    Reserved,
    /// The output was not set, because too many writes are pending.
    Full,
}

/// The byte that encodes the absence of a reason in an answer datagram.
const NONE: u8 = 0xff;
const ENDING: u8 = 1;

const NEWS: [OutputOutcome; 14] = [
    OutputOutcome::Confirmed(Duration::ZERO),
    OutputOutcome::NeverShown,
    OutputOutcome::NotConfirmed,
    OutputOutcome::Superseded,
    OutputOutcome::NotConnected,
    OutputOutcome::Impossible,
    OutputOutcome::LocalControl,
    OutputOutcome::NoInput,
    OutputOutcome::Off,
    OutputOutcome::LinkStale,
    OutputOutcome::Commanding,
    OutputOutcome::NoSuchOutput,
    OutputOutcome::Reserved,
    OutputOutcome::Full,
];

/// The kinds of errors in a request line, in the order of their numbers.
const FAULTS: [FaultKind; 10] = [
    FaultKind::TooLong,
    FaultKind::NotText,
    FaultKind::Syntax,
    FaultKind::UnknownKey,
    FaultKind::RepeatedKey,
    FaultKind::UnexpectedKey,
    FaultKind::MissingKey,
    FaultKind::WrongType,
    FaultKind::OutOfRange,
    FaultKind::UnknownWord,
];

fn number_of<T>(all: &[T], is: impl Fn(&T) -> bool) -> u8 {
    all.iter().position(is).and_then(|at| u8::try_from(at).ok()).unwrap_or(NONE)
}

fn reason_at(number: u8) -> Option<Option<Reason>> {
    if number == NONE { Some(None) } else { Reason::ALL.get(usize::from(number)).copied().map(Some) }
}

impl Reply {
    pub(super) fn write(&self) -> Body {
        let of_reason = |reason: Option<Reason>| reason.map_or(NONE, |reason| reason as u8);
        let (verdict, detail, at, after) = match self.verdict {
            Verdict::Done => (0, 0, 0, 0),
            Verdict::WrongEpoch => (1, 0, 0, 0),
            Verdict::Refused(reason) => (2, of_reason(reason), 0, 0),
            Verdict::Ending => (3, 0, 0, 0),
            Verdict::Output(OutputOutcome::Confirmed(after)) => {
                (4, 0, 0, u32::try_from(after.as_micros()).unwrap_or(u32::MAX))
            }
            Verdict::Output(news) => (4, number_of(&NEWS, |one| *one == news), 0, 0),
            Verdict::NoNews => (5, 0, 0, 0),
            Verdict::Full => (6, 0, 0, 0),
            Verdict::BadValue => (7, 0, 0, 0),
            Verdict::Dashboard(outcome) => (9, number_of(&Outcome::ALL, |one| *one == outcome), 0, 0),
            Verdict::NotFresh => (10, 0, 0, 0),
            Verdict::Withdrawn => (11, 0, 0, 0),
            Verdict::Fault(kind, at) => (8, number_of(&FAULTS, |one| *one == kind), at, 0),
        };
        let bit = |reason: Reason, first: u32| 1_u64.unbounded_shl((reason as u32).wrapping_sub(first));
        let unmet = self.unmet.iter().fold(0, |bits, reason| bits | bit(reason, 0));
        let more = self.unmet.iter().fold(0, |bits, reason| bits | bit(reason, 64) as u32);
        Body {
            verdict,
            detail,
            mode: number_of(&Mode::ALL, |one| *one == self.mode),
            grade: number_of(&Grade::ALL, |one| *one == self.grade),
            latch: of_reason(self.latch),
            flags: if self.ending { ENDING } else { 0 },
            at: U16::new(at),
            unmet: U64::new(unmet),
            after: U32::new(after),
            unmet_more: U32::new(more),
        }
    }

    /// Decodes the reply in an answer datagram; `None` if it contains values that this version does not know.
    pub(super) fn read(body: &Body) -> Option<Self> {
        let detail = usize::from(body.detail);
        let verdict = match body.verdict {
            0 => Verdict::Done,
            1 => Verdict::WrongEpoch,
            2 => Verdict::Refused(reason_at(body.detail)?),
            3 => Verdict::Ending,
            4 => Verdict::Output(match NEWS.get(detail)? {
                OutputOutcome::Confirmed(_) => {
                    OutputOutcome::Confirmed(Duration::from_micros(u64::from(body.after.get())))
                }
                news => *news,
            }),
            5 => Verdict::NoNews,
            6 => Verdict::Full,
            7 => Verdict::BadValue,
            9 => Verdict::Dashboard(*Outcome::ALL.get(detail)?),
            10 => Verdict::NotFresh,
            11 => Verdict::Withdrawn,
            8 => Verdict::Fault(*FAULTS.get(detail)?, body.at.get()),
            _ => return None,
        };
        let reply = Self {
            verdict,
            mode: *Mode::ALL.get(usize::from(body.mode))?,
            grade: *Grade::ALL.get(usize::from(body.grade))?,
            latch: reason_at(body.latch)?,
            unmet: Reason::ALL
                .iter()
                .copied()
                .filter(|reason| {
                    let at = *reason as u32;
                    let [low, more] = [
                        body.unmet.get().unbounded_shr(at),
                        body.unmet_more.get().unbounded_shr(at.wrapping_sub(64)).into(),
                    ];
                    (low | more) & 1 != 0
                })
                .collect(),
            ending: body.flags & ENDING != 0,
        };
        // Each reply has exactly one encoding: other bytes would contain something that this version does not know.
        (zerocopy::IntoBytes::as_bytes(&reply.write()) == zerocopy::IntoBytes::as_bytes(body)).then_some(reply)
    }
}
