//! The recorder's side of the connection of a program, and its checkpoints.

use super::Reverse;
use crate::engine::io::LinkId;
use crate::engine::ur::outbox::Outbox;
use crate::recorder::{Loader, Saver};

impl Reverse {
    /// The order that was made in this call, and points.
    pub(in crate::engine::ur) fn made(&self) -> [&[u8]; 2] {
        #[cfg(feature = "urcap")]
        let points = self.forward.points.made();
        #[cfg(not(feature = "urcap"))]
        let points = [].as_slice();
        [self.order.made(), points]
    }

    /// The next order that waits, then points, with everything else left out.
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

    /// Bytes that were received into the window.
    pub(in crate::engine::ur) fn received(&mut self, count: usize) -> &[u8] {
        self.window().get(..count).unwrap_or_default()
    }

    pub(in crate::engine::ur) fn save(&self, to: &mut Saver<'_>) -> Option<()> {
        to.put(&(self.door, self.beside, &self.fetch, self.spoke, self.stage, self.software, self.made, self.tokens))?;
        to.put(&(self.counter, &self.waiting, self.oldest, self.mirrors, self.ending, self.stopped, self.others))?;
        to.put(&(&self.positions, &self.player, self.lag, self.lateness))?;
        #[cfg(feature = "urcap")]
        to.put(&self.is_foreign().then_some(self.forward.account))?;
        #[cfg(not(feature = "urcap"))]
        to.put(&None::<()>)?;
        to.put(&(self.filled, self.window.first_chunk::<32>(), self.window.last_chunk::<32>()))?;
        to.put(&self.answers)
    }

    pub(in crate::engine::ur) fn load(&mut self, from: &mut Loader<'_>) -> Option<()> {
        (self.door, self.beside, self.fetch, self.spoke, self.stage, self.software, self.made, self.tokens) =
            from.take()?;
        (self.counter, self.waiting, self.oldest, self.mirrors, self.ending, self.stopped, self.others) =
            from.take()?;
        (self.positions, self.player, self.lag, self.lateness) = from.take()?;
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
