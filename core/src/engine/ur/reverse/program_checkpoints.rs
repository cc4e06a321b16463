//! The recorder's side of the connection of a program, and its checkpoints.

use super::{Moment, Reverse};
use crate::engine::io::LinkId;
use crate::engine::ur::outbox::Outbox;
use crate::recorder::{Loader, Saver};
use outrigger_wire::time::Duration;

impl Reverse {
    /// Returns the order to the program and the points of a trajectory that were made in this call of the engine.
    pub(in crate::engine::ur) fn made(&self) -> [&[u8]; 2] {
        #[cfg(feature = "urcap")]
        let points = self.forward.points.made();
        #[cfg(not(feature = "urcap"))]
        let points = [].as_slice();
        [self.order.made(), points]
    }

    /// Returns the order to the program that waits, then the points of a trajectory, for a comparison in a replay.
    /// Discards all other output of the program's connections, and its text.
    pub(in crate::engine::ur) fn next_made(&mut self) -> Option<&[u8]> {
        while self.door.poll_output(LinkId::REVERSE).is_some() {}
        if let Some(fetch) = self.script_mut() {
            while fetch.door.poll_output(LinkId::SCRIPT).is_some() {}
        }
        for (door, link) in self.beside_mut().iter_mut().zip([LinkId::TRAJECTORY, LinkId::COMMAND]) {
            while door.poll_output(link).is_some() {}
        }
        self.sent = None;
        if !self.order.is_empty() {
            return Some(self.order.take());
        }
        #[cfg(feature = "urcap")]
        if self.has_points() {
            return Some(self.forward.points.take());
        }
        None
    }

    /// Returns the bytes of the program that were received into the window.
    pub(in crate::engine::ur) fn received(&mut self, count: usize) -> &[u8] {
        self.window().get(..count).unwrap_or_default()
    }

    pub(in crate::engine::ur) fn save(&self, to: &mut Saver<'_>) -> Option<()> {
        // Every field is named, so that none is left out by mistake.
        let Self {
            door,
            fetch,
            stage,
            others,
            stopped,
            spoke,
            software,
            made,
            // No text, order or point waits between two calls of the engine.
            sent: _,
            piece: _,
            fetched: _,
            order: _,
            called: _,
            window,
            // Discarded bytes.
            unread: _,
            filled,
            counter,
            waiting,
            oldest,
            mirrors,
            ending,
            answers,
            tokens,
            // These values are those of the configuration.
            path: _,
            kind: _,
            hold: _,
            config: _,
            limits: _,
            beside,
            positions,
            player,
            // Only its account is saved; nothing else of it lasts.
            #[cfg(feature = "urcap")]
                forward: _,
            lag,
            // Both follow from the configuration and the session.
            fill: _,
            period: _,
            lateness,
            #[cfg(feature = "motions")]
            convergence,
            // The state is used only after `prepare`.
            moment: Moment { now, mode, state: _, pause },
            rests,
        } = self;
        to.put(&(door, beside, fetch, spoke, stage, software, made, tokens))?;
        to.put(&(counter, waiting, oldest, mirrors, ending, stopped, others))?;
        #[cfg(feature = "motions")]
        let convergence = Some(convergence.saved());
        #[cfg(not(feature = "motions"))]
        let convergence = None::<()>;
        to.put(&(positions, player, lag, lateness, convergence))?;
        to.put(&(now, mode, pause, rests))?;
        #[cfg(feature = "urcap")]
        to.put(&self.is_foreign().then_some(self.forward.account))?;
        #[cfg(not(feature = "urcap"))]
        to.put(&None::<()>)?;
        to.put(&(filled, window.first_chunk::<32>(), window.last_chunk::<32>()))?;
        to.put(answers)
    }

    /// Restores a saved state of the program's connection, in a session whose states have this `period`, if there is a
    /// session.
    pub(in crate::engine::ur) fn load(&mut self, from: &mut Loader<'_>, period: Option<Duration>) -> Option<()> {
        (self.door, self.beside, self.fetch, self.spoke, self.stage, self.software, self.made, self.tokens) =
            from.take()?;
        (self.counter, self.waiting, self.oldest, self.mirrors, self.ending, self.stopped, self.others) =
            from.take()?;
        #[cfg(feature = "motions")]
        let convergence: Option<_>;
        #[cfg(not(feature = "motions"))]
        let convergence: Option<()>;
        (self.positions, self.player, self.lag, self.lateness, convergence) = from.take()?;
        #[cfg(feature = "motions")]
        self.convergence.resume(convergence.unwrap_or_default());
        #[cfg(not(feature = "motions"))]
        let _ = convergence;
        (self.moment.now, self.moment.mode, self.moment.pause, self.rests) = from.take()?;
        if let Some(period) = period.filter(|_| self.is_chosen()) {
            (self.period, self.fill) = (period, self.config.fill(period));
        }
        #[cfg(feature = "urcap")]
        {
            self.forward.forget();
            self.forward.account = from.take::<Option<_>>()?.unwrap_or(self.forward.account);
        }
        #[cfg(not(feature = "urcap"))]
        from.take::<Option<()>>()?;
        let (filled, low, high): (usize, Option<[u8; 32]>, Option<[u8; 32]>) = from.take()?;
        self.filled = filled.min(self.window.len());
        self.window.iter_mut().zip(low?.iter().chain(&high?)).for_each(|(to, from)| *to = *from);
        self.answers = from.take()?;
        (self.sent, self.order) = (None, Outbox::EMPTY);
        Some(())
    }
}
