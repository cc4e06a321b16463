//! The connections of a program on the controller, and its reports.

use super::lag_detector::Lateness;
use super::listener::Listener;
use super::script_server::ScriptServer;
use super::{ProgramStage, Reverse};
use crate::engine::io::LinkId;
#[cfg(feature = "programs")]
use crate::engine::ur::command_path::Delivery;
use crate::engine::ur::event::ProgramEvent;
#[cfg(feature = "programs")]
use crate::mode::OperatorAction;
use crate::mode::TimedFact;
#[cfg(feature = "programs")]
use crate::robot::Reason;
use outrigger_wire::player_messages::PlayerReport;
use outrigger_wire::program_messages::{Ending, Hello, Report};
use outrigger_wire::time::{Duration, Instant};

impl Reverse {
    /// Records that the program on the controller accepts orders from now on.
    pub(super) fn begin(&mut self, now: Instant) {
        self.stage = ProgramStage::Ready;
        (self.counter, self.oldest, self.ending) = (0, 0, Ending::None);
        self.waiting.clear();
        self.answers.clear();
        self.mirrors = TimedFact::new(false, now);
        self.player.forget();
        #[cfg(feature = "urcap")]
        self.forward.forget();
        self.lag = 0;
        self.lateness = Lateness::default();
    }

    /// Records that the port on which a program is to connect to this device could not be listened on. Returns the time
    /// after which listening is tried again.
    pub(in crate::engine::ur) fn refused(&mut self, link: LinkId, now: Instant) -> Duration {
        self.door_mut(link).refused(now)
    }

    /// Records that a further connection of External Control, for trajectories or commands, is closed. If our program
    /// had made it, the other connections of the program are reset, because it is useless without this one. Returns the
    /// event about it, if any.
    pub(in crate::engine::ur) fn closed_beside(&mut self, link: LinkId) -> Option<ProgramEvent> {
        let door = self.door_mut(link);
        let (unproven, of_ours) = (door.is_unproven(), door.is_taken());
        let news = if unproven {
            self.no_proof(link)
        } else if of_ours && self.carries() {
            self.hang_up(ProgramStage::Away);
            Some(ProgramEvent::Ended(self.ending))
        } else {
            None
        };
        self.door_mut(link).closed();
        news
    }

    /// Takes bytes that the URCap sent. The text of the program is sent once the URCap has requested it. Returns the
    /// event about other bytes, if any.
    pub(in crate::engine::ur) fn asked(&mut self, count: usize, now: Instant) -> Option<ProgramEvent> {
        match self.script_mut()?.commit(count) {
            Some(true) => self.make(now),
            Some(false) => {}
            None => return self.no_proof(LinkId::SCRIPT),
        }
        None
    }

    /// Records that the URCap has closed its connection, or that another client has closed its own without a request.
    /// Returns the event about the latter, if one is due.
    pub(in crate::engine::ur) fn answered(&mut self) -> Option<ProgramEvent> {
        let silent = self.script().is_some_and(|fetch| fetch.door.is_unproven() && !fetch.has_asked());
        let news = if silent { self.no_proof(LinkId::SCRIPT) } else { None };
        self.script_mut().into_iter().for_each(|fetch| fetch.door.closed());
        news
    }

    pub(in crate::engine::ur) fn asking_window(&mut self) -> &mut [u8] {
        self.script_mut().map(ScriptServer::window).unwrap_or_default()
    }

    /// Ends the resident program, or sends it again, as an operator requests by `word`, unless `free` contains a reason
    /// against it.
    #[cfg(feature = "programs")]
    pub(in crate::engine::ur) fn told(
        &mut self,
        word: OperatorAction,
        free: Result<(), Reason>,
        now: Instant,
    ) -> Result<(), Reason> {
        let hand_back = word == OperatorAction::HandBack;
        let sent_to_stay = self.config.resident && self.config.by == Delivery::Text;
        if !self.stays() || (!hand_back && !sent_to_stay) {
            return Err(Reason::NoSuchProgram);
        }
        free?;
        match self.stage {
            ProgramStage::Ready if hand_back => {
                self.end(now);
                Ok(())
            }
            _ if hand_back => Err(Reason::ProgramAway),
            ProgramStage::Away | ProgramStage::Called(_) => {
                self.stage = ProgramStage::Away;
                self.call(now);
                Ok(())
            }
            ProgramStage::Ready | ProgramStage::Ending(..) => Err(Reason::ProgramRuns),
        }
    }

    /// Resets the connections of a program that does not acknowledge our bytes.
    pub(in crate::engine::ur) fn hang_up_now(&mut self) {
        self.hang_up(ProgramStage::Away);
    }

    /// Records that the program's connection was closed by the program or the network, or that it had not proved to be
    /// of our program. Returns the event about it, if any.
    pub(in crate::engine::ur) fn closed(&mut self) -> Option<ProgramEvent> {
        let news = if self.carries() {
            self.forget();
            Some(ProgramEvent::Ended(self.ending))
        } else if self.door.is_unproven() {
            self.no_proof(LinkId::REVERSE)
        } else {
            None
        };
        self.door.closed();
        news
    }

    /// Records that the program has ended: discards the order that waits, the unanswered orders, and the data about moves.
    pub(super) fn forget(&mut self) {
        self.stage = ProgramStage::Away;
        self.order.clear();
        self.waiting.clear();
        self.mirrors.value = false;
        self.player.forget();
        #[cfg(feature = "urcap")]
        self.forward.forget();
    }

    /// Resets all connections of the program, waits for the next ones, and puts the program at this `stage`.
    pub(super) fn hang_up(&mut self, stage: ProgramStage) {
        self.door.hang_up();
        self.beside_mut().iter_mut().for_each(Listener::hang_up);
        self.forget();
        self.stage = stage;
    }

    /// Returns `true` if the program on the controller takes orders.
    pub(in crate::engine::ur) fn is_ready(&self) -> bool {
        matches!(self.stage, ProgramStage::Ready)
    }

    /// Returns `true` if the program's connection carries orders, including the order to end.
    pub(in crate::engine::ur) fn carries(&self) -> bool {
        matches!(self.stage, ProgramStage::Ready | ProgramStage::Ending(..))
    }

    pub(in crate::engine::ur) fn window(&mut self) -> &mut [u8] {
        self.window.get_mut(self.filled..).unwrap_or_default()
    }

    /// Returns a buffer for received bytes that are discarded.
    pub(in crate::engine::ur) const fn ignored(&mut self) -> &mut [u8] {
        &mut self.unread
    }

    /// Takes `count` bytes that the program on the controller sent, which arrived at `arrival`. Calls `tell` with each event
    /// that they cause.
    pub(in crate::engine::ur) fn commit(&mut self, count: usize, arrival: Instant, mut tell: impl FnMut(ProgramEvent)) {
        #[cfg(feature = "urcap")]
        if self.is_foreign() {
            self.commit_foreign(LinkId::REVERSE, count, arrival).into_iter().for_each(tell);
            return;
        }
        self.filled = self.filled.saturating_add(count).min(self.window.len());
        let window = self.window;
        let mut rest = window.get(..self.filled).unwrap_or_default();
        loop {
            let (one, behind) = match self.stage {
                _ if self.door.is_unproven() => match rest.split_at_checked(Hello::LEN) {
                    Some((hello, behind)) => {
                        self.greet(hello, arrival, &mut tell);
                        (true, behind)
                    }
                    None => (false, rest),
                },
                ProgramStage::Ready | ProgramStage::Ending(..) if self.is_player() => match rest.split_first_chunk() {
                    Some((said, behind)) => {
                        let said = PlayerReport::from_bytes(*said);
                        if let Some(cycles) = self.player.observe(&said, arrival) {
                            tell(ProgramEvent::Contact { cycles });
                        }
                        let _ = self.take(said.report, arrival);
                        (true, behind)
                    }
                    None => (false, rest),
                },
                ProgramStage::Ready | ProgramStage::Ending(..) => match rest.split_first_chunk() {
                    Some((report, behind)) => {
                        if let Some(late) = self.take(Report::from_bytes(*report), arrival) {
                            tell(late);
                        }
                        (true, behind)
                    }
                    None => (false, rest),
                },
                // Bytes of a program whose connection was reset.
                ProgramStage::Away | ProgramStage::Called(_) => (false, &[][..]),
            };
            rest = behind;
            if !one {
                break;
            }
        }
        self.window.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        self.filled = rest.len();
    }

    /// Takes the report of the program in registers, with its token, from a state in which a program `runs` or not.
    /// Returns the event that our program has connected, has ended or lags behind, if any.
    #[cfg(feature = "programs")]
    pub(in crate::engine::ur) fn shows(
        &mut self,
        [said, token]: [i32; 2],
        runs: bool,
        arrival: Instant,
    ) -> Option<ProgramEvent> {
        let ours = self.made.is_some_and(|made| made.token == token);
        let report = Report::from_bytes(said.to_be_bytes());
        match self.stage {
            ProgramStage::Called(_) if ours && runs => {
                self.begin(arrival);
                self.counter = report.counter.wrapping_add(1);
                self.oldest = self.counter;
                Some(ProgramEvent::Connected)
            }
            ProgramStage::Ready | ProgramStage::Ending(..) => {
                let late = self.take(report, arrival);
                if ours && runs { late } else { self.closed() }
            }
            ProgramStage::Away | ProgramStage::Called(_) => None,
        }
    }

    /// Takes the program's report on an order. Returns the event that the arm lags behind the orders, if one is due.
    pub(super) fn take(&mut self, report: Report, arrival: Instant) -> Option<ProgramEvent> {
        if report.ending != Ending::None {
            self.ending = report.ending;
        }
        self.lag = report.lag;
        let mirrored = report.counter.wrapping_sub(self.oldest);
        if usize::from(mirrored) < self.waiting.len() {
            for _ in 0..=mirrored {
                self.waiting.pop_front();
                self.oldest = self.oldest.wrapping_add(1);
            }
            self.answers.reflected(report.counter, arrival);
            self.mirrors = TimedFact::new(true, arrival);
        }
        self.lateness.reported(self.kind, report.lag, self.fill, self.period).map(ProgramEvent::Late)
    }
}
