//! Answers as they are sent, `core/docs/protocol/outrigger-requests.md` 5.

use zerocopy::byteorder::big_endian::{U16, U32, U64};

use super::wire::Body;
use crate::request::FaultKind;
use outrigger_core::link::Grade;
use outrigger_core::mode::Mode;
use outrigger_core::robot::{Reason, ReasonSet};
use outrigger_wire::dashboard::Outcome;
use outrigger_wire::time::Duration;

/// The state of a session, and the verdict on a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The verdict on the request.
    pub verdict: Verdict,
    /// The present mode.
    pub mode: Mode,
    /// The quality of the link to the controller.
    pub grade: Grade,
    /// The latched reason.
    pub latch: Option<Reason>,
    /// The reasons for which a request would be refused.
    pub unmet: ReasonSet,
    /// The process in command is about to end.
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

/// The verdict on a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// Done, or begun.
    Done,
    /// Its sender saw another epoch than the present.
    WrongEpoch,
    /// For this reason; `None` where it was not learned.
    Refused(Option<Reason>),
    /// The process in command is about to end, or has not decided in time.
    Ending,
    /// The fate of an output.
    Output(News),
    /// No news of an output within the timeout.
    NoNews,
    /// Too many outputs wait.
    Full,
    /// A value that is not had here: an output, a source, how many numbers.
    BadValue,
    /// The outcome of a command to the controller's dashboard server.
    Dashboard(Outcome),
    /// A request that causes motion came without a challenge of this session that is unused and younger than
    /// [`FRESH_FOR`](crate::request::FRESH_FOR). Nothing was done.
    NotFresh,
    /// Its sender has withdrawn it.
    Withdrawn,
    /// A line that is not understood.
    Fault(FaultKind, u16),
}

/// The final fate of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum News {
    /// The controller shows it, so long after it was sent.
    Confirmed(Duration),
    /// Sent, and not shown by anything that this controller publishes.
    NeverShown,
    /// The controller shows something else after the time allowed.
    NotConfirmed,
    /// A later one for the same output took its place.
    Superseded,
    /// No session with a controller.
    NotConnected,
    /// This arm, or this software, has no such thing, or a number is out of its range.
    Impossible,
    /// The controller is in local control.
    LocalControl,
    /// RTDE has no input for it that is ours.
    NoInput,
    /// Outputs are not to be set.
    Off,
    /// The link was stale, or did not take text, for too long.
    LinkStale,
    /// A change of motion while the arm is commanded or not at rest.
    Commanding,
    /// This kind of controller has no such output.
    NoSuchOutput,
    /// The handshake with the program on the controller sets this variable.
    Reserved,
    /// Too many wait to be sent or confirmed.
    Full,
}

/// In place of a reason.
const NONE: u8 = 0xff;
const ENDING: u8 = 1;

const NEWS: [News; 14] = [
    News::Confirmed(Duration::ZERO),
    News::NeverShown,
    News::NotConfirmed,
    News::Superseded,
    News::NotConnected,
    News::Impossible,
    News::LocalControl,
    News::NoInput,
    News::Off,
    News::LinkStale,
    News::Commanding,
    News::NoSuchOutput,
    News::Reserved,
    News::Full,
];

/// In the order of their numbers.
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
            Verdict::Output(News::Confirmed(after)) => (4, 0, 0, u32::try_from(after.as_micros()).unwrap_or(u32::MAX)),
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

    /// `None` where something stands there that this version does not know.
    pub(super) fn read(body: &Body) -> Option<Self> {
        let detail = usize::from(body.detail);
        let verdict = match body.verdict {
            0 => Verdict::Done,
            1 => Verdict::WrongEpoch,
            2 => Verdict::Refused(reason_at(body.detail)?),
            3 => Verdict::Ending,
            4 => Verdict::Output(match NEWS.get(detail)? {
                News::Confirmed(_) => News::Confirmed(Duration::from_micros(u64::from(body.after.get()))),
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
        // One form of each answer: what was left out of it would be something that this version does not know.
        (zerocopy::IntoBytes::as_bytes(&reply.write()) == zerocopy::IntoBytes::as_bytes(body)).then_some(reply)
    }
}
