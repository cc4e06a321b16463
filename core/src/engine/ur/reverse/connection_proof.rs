//! The proof that a connection is of our program in this session (`core/docs/protocol/outrigger-programs.md 2`).
//!
//! | link | proof |
//! |---|---|
//! | `REVERSE` | a greeting with the token of the newest text; of External Control the token alone |
//! | `TRAJECTORY`, `COMMAND` | that token |
//! | `SCRIPT` | none: the URCap's request is answered by the text, which has the token |
//!
//! UR's own program ([`Delivery::Nobody`](crate::engine::ur::command_path::Delivery::Nobody)) has no token. It counts as
//! connected while all three of its connections exist, and sends nothing on `REVERSE`.

use core::net::SocketAddr;

use super::listener::Listener;
use super::script_server::ScriptServer;
use super::{GREETING, ProgramStage, Reverse};
use crate::engine::io::LinkId;
use crate::engine::ur::command_path::Delivery;
use crate::engine::ur::event::ProgramEvent;
use outrigger_wire::program_messages::Hello;
use outrigger_wire::time::Instant;

/// The links on which a program on the controller connects to us.
const LINKS: &[LinkId] = match cfg!(feature = "urcap") {
    true => &[LinkId::REVERSE, LinkId::TRAJECTORY, LinkId::COMMAND],
    false => &[LinkId::REVERSE],
};

impl Reverse {
    /// Takes a new connection to a port of ours for a program. A connection from the controller's address has yet to
    /// prove that it is of our program; any other is closed and counted. Returns the event to report, if any.
    pub(in crate::engine::ur) fn accepted(
        &mut self,
        link: LinkId,
        from: SocketAddr,
        now: Instant,
    ) -> Option<ProgramEvent> {
        if let (LinkId::SCRIPT, Some(fetch)) = (link, self.script_mut()) {
            return fetch.accepted(from, now).and_then(strangers);
        }
        let door = self.door_mut(link);
        if !door.accepted(from, now) {
            door.turn_away();
            return strangers(door.strangers());
        }
        match link {
            LinkId::REVERSE => self.filled = 0,
            #[cfg(feature = "urcap")]
            LinkId::TRAJECTORY => self.forward.forget_part(),
            _ => {}
        }
        if self.has_token() {
            return None;
        }
        if link != LinkId::REVERSE {
            self.door_mut(link).prove();
        }
        let whole = self.door.is_unproven() && self.beside().iter().all(Listener::is_taken);
        whole.then(|| self.connected(now))
    }

    /// Returns `true` if the program that is to connect comes from a text of this driver, which contains a token as the
    /// proof.
    fn has_token(&self) -> bool {
        !cfg!(feature = "urcap") || self.config.by != Delivery::Nobody
    }

    /// Records that the connected program has proved to be ours, and accepts orders from now on. Returns the event about it.
    pub(super) fn connected(&mut self, now: Instant) -> ProgramEvent {
        self.door.prove();
        self.begin(now);
        self.others = 0;
        ProgramEvent::Connected
    }

    /// Takes bytes on a connection of External Control: a proof that it is of our program, the result of a trajectory,
    /// or bytes that do not belong there.
    #[cfg(feature = "urcap")]
    pub(in crate::engine::ur) fn commit_foreign(
        &mut self,
        link: LinkId,
        count: usize,
        now: Instant,
    ) -> Option<ProgramEvent> {
        let carries = self.carries();
        let Self { made, door, beside: [trajectory, command], window, unread, forward, .. } = self;
        let (door, room) = match link {
            LinkId::REVERSE => (door, &window[..]),
            LinkId::TRAJECTORY => (trajectory, forward.account.said()),
            _ => (command, &unread[..]),
        };
        let came = room.get(..count).unwrap_or_default();
        if door.is_unproven() {
            let fits = made.is_some_and(|made| door.hear(came, made.token.to_be_bytes()));
            if fits {
                return (link == LinkId::REVERSE && door.is_taken()).then(|| self.connected(now));
            }
        } else if link == LinkId::TRAJECTORY {
            return self.commit_result(count);
        } else if link == LinkId::COMMAND || !carries {
            return None;
        }
        let (bytes, said) = (door.heard().max(came.len() as u8), first(came));
        self.turn_away(link, bytes, said, 0)
    }

    /// Takes a whole greeting of a program: accepts its connection, or closes it if the program is not ours.
    pub(super) fn greet(&mut self, hello: &[u8], arrival: Instant, tell: &mut impl FnMut(ProgramEvent)) {
        let ours = self.made.map(|made| (made.kind, made.token));
        let news = match Hello::new_checked(hello).map(Hello::repr) {
            Ok(hello) if hello.version == Hello::VERSION && ours == Some((hello.kind, hello.token)) => {
                Some(self.connected(arrival))
            }
            other => {
                let version = other.map_or(0, |hello| hello.version);
                self.turn_away(LinkId::REVERSE, Hello::LEN as u8, first(hello), version)
            }
        };
        news.into_iter().for_each(tell);
    }

    /// Closes connections that have not proved in time to be of our program.
    pub(super) fn wake_unproven(&mut self, now: Instant, mut tell: impl FnMut(ProgramEvent)) {
        for link in LINKS.iter().copied() {
            let door = self.door_mut(link);
            door.wake(now);
            if door.is_overdue(GREETING, now) {
                self.no_proof(link).into_iter().for_each(&mut tell);
            }
        }
        if self.script_mut().is_some_and(|fetch| fetch.wake(now)) {
            self.no_proof(LinkId::SCRIPT).into_iter().for_each(&mut tell);
        }
    }

    /// Closes a connection that has not proved so far to be of our program, or one that the other side has closed. Returns
    /// the event about it, if one is due.
    pub(super) fn no_proof(&mut self, link: LinkId) -> Option<ProgramEvent> {
        let heard = self.door_mut(link).heard();
        let came = match (link, self.script()) {
            (LinkId::REVERSE, _) => self.window.get(..self.filled),
            (LinkId::SCRIPT, Some(fetch)) => Some(fetch.said()),
            _ => None,
        };
        let came = came.unwrap_or_default();
        let (bytes, said) = (heard.max(came.len() as u8), first(came));
        self.turn_away(link, bytes, said, 0)
    }

    /// Closes a connection that is not of our program. Returns the event about it; `None` unless it is the first,
    /// second, fourth and so on.
    pub(super) fn turn_away(&mut self, link: LinkId, bytes: u8, said: i32, version: i32) -> Option<ProgramEvent> {
        if link == LinkId::REVERSE && self.carries() {
            self.hang_up(ProgramStage::Away);
        } else {
            self.door_mut(link).hang_up();
        }
        self.others = self.others.saturating_add(1);
        is_told(self.others).then_some(ProgramEvent::Other { link, bytes, said, version })
    }

    /// Returns the port of ours at which the URCap requests the program; `None` if the program is delivered in another
    /// way, or in a build without the URCap.
    pub(super) fn script(&self) -> Option<&ScriptServer> {
        self.fetch.as_ref().filter(|_| cfg!(feature = "urcap"))
    }

    /// Returns the port of ours at which the URCap requests the program, for changes; `None` as for
    /// [`script`](Self::script).
    pub(super) fn script_mut(&mut self) -> Option<&mut ScriptServer> {
        self.fetch.as_mut().filter(|_| cfg!(feature = "urcap"))
    }

    /// Returns the further ports of ours that External Control connects to, for trajectories and for commands; none in
    /// a build without it.
    pub(super) const fn beside(&self) -> &[Listener] {
        if cfg!(feature = "urcap") { &self.beside } else { &[] }
    }

    /// Returns the further ports of ours that External Control connects to, so that they can be changed.
    pub(super) const fn beside_mut(&mut self) -> &mut [Listener] {
        if cfg!(feature = "urcap") { &mut self.beside } else { &mut [] }
    }

    /// Returns the port of ours at which this link is connected.
    pub(super) fn door_mut(&mut self, link: LinkId) -> &mut Listener {
        if !cfg!(feature = "urcap") {
            return &mut self.door;
        }
        let Self { door, fetch, beside: [trajectory, command], .. } = self;
        match (link, fetch) {
            (LinkId::TRAJECTORY, _) => trajectory,
            (LinkId::COMMAND, _) => command,
            (LinkId::SCRIPT, Some(ScriptServer { door, .. })) => door,
            _ => door,
        }
    }
}

/// Returns the first four bytes of received data as a big-endian number, 0 if there are fewer.
fn first(bytes: &[u8]) -> i32 {
    bytes.first_chunk().map_or(0, |first| i32::from_be_bytes(*first))
}

/// Returns the event for the `count`-th connection that is from another address than the controller's, or not expected;
/// `None` unless it is the first, second, fourth and so on.
fn strangers(count: u32) -> Option<ProgramEvent> {
    is_told(count).then_some(ProgramEvent::Stranger(count))
}

/// Returns `true` if an event that has occurred for the `count`-th time is to be reported: the first, the second, the
/// fourth and so on, so that endless connection attempts do not fill a log.
pub(super) const fn is_told(count: u32) -> bool {
    count.is_power_of_two()
}
