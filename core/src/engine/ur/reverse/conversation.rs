//! Who connects, and what a program says.

use core::net::SocketAddr;

use super::door::Door;
use super::fetch::Fetch;
use super::lateness::Lateness;
use super::{Reverse, Stage};
use crate::engine::io::LinkId;
use crate::engine::ur::event::ProgramNews;
#[cfg(feature = "reverse")]
use crate::engine::ur::path::Delivery;
use crate::mode::Held;
#[cfg(feature = "reverse")]
use crate::mode::Word;
#[cfg(feature = "reverse")]
use crate::robot::Reason;
use crate::time::{Duration, Instant};
use crate::wire::player::PlayerReport;
use crate::wire::program::{Ending, Hello, Report};

impl Reverse {
    pub(in crate::engine::ur) fn accepted(
        &mut self,
        link: LinkId,
        from: SocketAddr,
        now: Instant,
    ) -> Option<ProgramNews> {
        if let (LinkId::SCRIPT, Some(fetch)) = (link, &mut self.fetch) {
            return fetch.accepted(from, now).and_then(told);
        }
        let door = self.door_mut(link);
        if !door.accepted(from) {
            door.turn_away();
            return told(door.strangers());
        }
        if link != LinkId::REVERSE {
            return None;
        }
        self.filled = 0;
        self.stage = Stage::Greeting(now);
        if self.is_foreign() {
            self.begin(now);
            return Some(ProgramNews::Connected);
        }
        None
    }

    pub(super) fn door_mut(&mut self, link: LinkId) -> &mut Door {
        let Self { door, beside: [trajectory, command], .. } = self;
        match link {
            LinkId::TRAJECTORY => trajectory,
            LinkId::COMMAND => command,
            _ => door,
        }
    }

    /// The program takes orders from now on.
    pub(super) fn begin(&mut self, now: Instant) {
        self.stage = Stage::Ready;
        (self.counter, self.oldest, self.ending) = (0, 0, Ending::None);
        self.waiting.clear();
        self.answers.clear();
        self.mirrors = Held::new(false, now);
        self.player.forget();
        #[cfg(feature = "urcap")]
        self.forward.forget();
        self.lag = 0;
        self.lateness = Lateness::default();
    }

    /// The port could not listen: after how long it is tried again.
    pub(in crate::engine::ur) fn refused(&mut self, link: LinkId, now: Instant) -> Duration {
        match &mut self.fetch {
            Some(fetch) if link == LinkId::SCRIPT => fetch.door.refused(now),
            _ => self.door_mut(link).refused(now),
        }
    }

    /// A connection is gone that is nothing but there.
    pub(in crate::engine::ur) fn closed_beside(&mut self, link: LinkId) {
        self.door_mut(link).closed();
    }

    /// What the URCap says, or that it has read and left.
    pub(in crate::engine::ur) fn asked(&mut self, count: usize, now: Instant) {
        let complete = self.fetch.as_mut().is_some_and(|fetch| fetch.commit(count));
        if complete {
            self.make(now);
        }
    }

    /// The URCap has left.
    pub(in crate::engine::ur) fn answered(&mut self) {
        self.fetch.iter_mut().for_each(Fetch::closed);
    }

    pub(in crate::engine::ur) fn asking_window(&mut self) -> &mut [u8] {
        self.fetch.as_mut().map(Fetch::window).unwrap_or_default()
    }

    /// The program, which stays, is to end, or is to be sent again; where that is `free` to be done.
    #[cfg(feature = "reverse")]
    pub(in crate::engine::ur) fn told(
        &mut self,
        word: Word,
        free: Result<(), Reason>,
        now: Instant,
    ) -> Result<(), Reason> {
        let hand_back = word == Word::HandBack;
        let sent_to_stay = self.config.resident && self.config.by == Delivery::Text;
        if !self.stays() || (!hand_back && !sent_to_stay) {
            return Err(Reason::NoSuchProgram);
        }
        free?;
        match self.stage {
            Stage::Ready if hand_back => {
                self.end(now);
                Ok(())
            }
            _ if hand_back => Err(Reason::ProgramAway),
            Stage::Away | Stage::Called(_) => {
                self.stage = Stage::Away;
                self.call(now);
                Ok(())
            }
            Stage::Greeting(_) | Stage::Ready | Stage::Ending(..) => Err(Reason::ProgramRuns),
        }
    }

    /// It acknowledges nothing.
    pub(in crate::engine::ur) fn hang_up_now(&mut self) {
        self.hang_up(Stage::Away);
    }

    /// The program has closed its connection, or the network has.
    pub(in crate::engine::ur) fn closed(&mut self) -> Option<ProgramNews> {
        let told = matches!(self.stage, Stage::Ready | Stage::Ending(..)).then_some(self.ending);
        self.door.closed();
        self.forget();
        told.map(ProgramNews::Ended)
    }

    /// Nothing is known of a program any more.
    pub(super) fn forget(&mut self) {
        self.stage = Stage::Away;
        self.order.clear();
        self.waiting.clear();
        self.mirrors.value = false;
        self.player.forget();
        #[cfg(feature = "urcap")]
        self.forward.forget();
    }

    /// The connection is reset, and the next one is waited for.
    pub(super) fn hang_up(&mut self, stage: Stage) {
        if matches!(self.stage, Stage::Greeting(_) | Stage::Ready | Stage::Ending(..)) {
            self.door.hang_up();
        }
        self.forget();
        self.stage = stage;
    }

    pub(in crate::engine::ur) fn is_connected(&self) -> bool {
        matches!(self.stage, Stage::Greeting(_) | Stage::Ready | Stage::Ending(..))
    }

    /// Everything written to it would be a program's.
    pub(in crate::engine::ur) fn is_ready(&self) -> bool {
        matches!(self.stage, Stage::Ready)
    }

    /// Whether the connection carries orders.
    pub(in crate::engine::ur) fn carries(&self) -> bool {
        matches!(self.stage, Stage::Ready | Stage::Ending(..))
    }

    pub(in crate::engine::ur) fn window(&mut self) -> &mut [u8] {
        self.window.get_mut(self.filled..).unwrap_or_default()
    }

    /// Room for what nobody reads.
    pub(in crate::engine::ur) const fn ignored(&mut self) -> &mut [u8] {
        &mut self.unread
    }

    /// Bytes of the program, which arrived at `arrival`.
    pub(in crate::engine::ur) fn commit(&mut self, count: usize, arrival: Instant, mut tell: impl FnMut(ProgramNews)) {
        self.filled = self.filled.saturating_add(count).min(self.window.len());
        let window = self.window;
        let mut rest = window.get(..self.filled).unwrap_or_default();
        loop {
            let (one, behind) = match self.stage {
                Stage::Greeting(_) => match rest.split_at_checked(Hello::LEN) {
                    Some((hello, behind)) => {
                        self.greet(hello, arrival, &mut tell);
                        (true, behind)
                    }
                    None => (false, rest),
                },
                // It has nothing to say.
                Stage::Ready | Stage::Ending(..) if self.is_foreign() => (false, &[][..]),
                Stage::Ready | Stage::Ending(..) if self.is_player() => match rest.split_first_chunk() {
                    Some((said, behind)) => {
                        let said = PlayerReport::from_bytes(*said);
                        if let Some(cycles) = self.player.observe(&said, arrival) {
                            tell(ProgramNews::Contact { cycles });
                        }
                        let _ = self.take(said.report, arrival);
                        (true, behind)
                    }
                    None => (false, rest),
                },
                Stage::Ready | Stage::Ending(..) => match rest.split_first_chunk() {
                    Some((report, behind)) => {
                        if let Some(late) = self.take(Report::from_bytes(*report), arrival) {
                            tell(late);
                        }
                        (true, behind)
                    }
                    None => (false, rest),
                },
                // What a program says that is hung up on.
                Stage::Away | Stage::Called(_) => (false, &[][..]),
            };
            rest = behind;
            if !one {
                break;
            }
        }
        self.window.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        self.filled = rest.len();
    }

    pub(super) fn greet(&mut self, hello: &[u8], arrival: Instant, tell: &mut impl FnMut(ProgramNews)) {
        let ours = self.made.map(|made| (made.kind, made.token));
        match Hello::new_checked(hello).map(Hello::repr) {
            Ok(hello) if hello.version == Hello::VERSION && ours == Some((hello.kind, hello.token)) => {
                self.begin(arrival);
                self.others = 0;
                tell(ProgramNews::Connected);
            }
            hello => {
                let version = hello.map_or(0, |hello| hello.version);
                if let Some(news) = self.turn_away(version) {
                    tell(news);
                }
            }
        }
    }

    /// Hangs up on a program that is none of ours. Returns the news of it, where it is told.
    pub(super) fn turn_away(&mut self, version: i32) -> Option<ProgramNews> {
        self.hang_up(Stage::Away);
        self.others = self.others.saturating_add(1);
        is_told(self.others).then_some(ProgramNews::Other { version })
    }

    /// What the program shows of itself in registers, with its token, in a state by which a program `runs` or none does.
    #[cfg(feature = "reverse")]
    pub(in crate::engine::ur) fn shows(
        &mut self,
        [said, token]: [i32; 2],
        runs: bool,
        arrival: Instant,
    ) -> Option<ProgramNews> {
        let ours = self.made.is_some_and(|made| made.token == token);
        let report = Report::from_bytes(said.to_be_bytes());
        match self.stage {
            Stage::Called(_) if ours && runs => {
                self.begin(arrival);
                self.counter = report.counter.wrapping_add(1);
                self.oldest = self.counter;
                Some(ProgramNews::Connected)
            }
            Stage::Ready | Stage::Ending(..) => {
                let late = self.take(report, arrival);
                if ours && runs { late } else { self.closed() }
            }
            Stage::Away | Stage::Called(_) | Stage::Greeting(_) => None,
        }
    }

    /// Takes what the program reports of an order. Returns the news that the arm falls behind.
    pub(super) fn take(&mut self, report: Report, arrival: Instant) -> Option<ProgramNews> {
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
            self.mirrors = Held::new(true, arrival);
        }
        self.lateness.reported(self.kind, report.lag, self.fill, self.period).map(ProgramNews::Late)
    }
}

/// Returns the news of strangers, where it is told.
fn told(strangers: u32) -> Option<ProgramNews> {
    is_told(strangers).then_some(ProgramNews::Stranger(strangers))
}

/// Returns whether the latest of so many is told: the first, the second, the fourth and so on, so that whoever knocks without end fills no log.
pub(super) const fn is_told(count: u32) -> bool {
    count.is_power_of_two()
}
