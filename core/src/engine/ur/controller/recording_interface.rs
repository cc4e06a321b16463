//! The functions that recordings and their checkpoints need of the conversation with a controller.

use super::super::config::UrConfig;
use super::super::memory::Memory;
use super::super::reverse::{Reverse, exclusive, shared};
use super::super::rtde::StateLink;
use super::Ur;
use crate::engine::controller::{MemorySizes, Recorded};
use crate::engine::cycle::CycleConfig;
use crate::engine::io::LinkId;
use crate::recorder::{Loader, Saver};

impl<'m> Recorded<6> for Ur<'m> {
    fn received(&mut self, link: LinkId, count: usize) -> &[u8] {
        match link {
            LinkId::PRIMARY => self.primary.received(count),
            LinkId::REALTIME => self.realtime.received(count),
            LinkId::REVERSE => exclusive(&mut self.program).map(|program| program.received(count)).unwrap_or_default(),
            LinkId::SCRIPT => {
                let window = exclusive(&mut self.program).map(Reverse::asking_window).unwrap_or_default();
                window.get(..count).unwrap_or_default()
            }
            LinkId::TRAJECTORY => {
                let window = exclusive(&mut self.program).map(Reverse::result_window).unwrap_or_default();
                window.get(..count).unwrap_or_default()
            }
            LinkId::COMMAND => {
                let room = exclusive(&mut self.program).map(Reverse::ignored).unwrap_or_default();
                room.get(..count).unwrap_or_default()
            }
            _ => self.rtde.as_deref_mut().map(|rtde| rtde.received(count)).unwrap_or_default(),
        }
    }

    fn memory_sizes(&self) -> MemorySizes {
        let rtde = self.rtde.as_deref().map_or(0, StateLink::memory_size);
        let sizes = [self.primary.memory_size(), self.realtime.memory_size(), rtde, 0];
        sizes.map(|size| u32::try_from(size).unwrap_or(u32::MAX))
    }

    fn exactly(memory: Memory<'m>, sizes: MemorySizes) -> Option<Memory<'m>> {
        let [primary, realtime, rtde, _] = sizes.map(|size| usize::try_from(size).unwrap_or(usize::MAX));
        let rtde = match memory.rtde {
            _ if rtde == 0 => None,
            Some(link) => {
                link.shrink(rtde)?;
                Some(link)
            }
            None => return None,
        };
        Some(Memory {
            primary: memory.primary.get_mut(..primary)?,
            realtime: memory.realtime.get_mut(..realtime)?,
            rtde,
        })
    }

    fn made(&self) -> [&[u8]; 3] {
        let [order, points] = shared(&self.program).map(Reverse::made).unwrap_or_default();
        [if order.is_empty() { self.motion.made() } else { order }, points, self.outputs.made()]
    }

    fn next_made(&mut self) -> Option<&[u8]> {
        // Outputs about links and questions are dropped here.
        while self.connector.poll_output().is_some() {}
        if let Some(rtde) = self.rtde.as_deref_mut() {
            while rtde.poll_output().is_some() {}
        }
        if let Some(order) = exclusive(&mut self.program).and_then(Reverse::next_made) {
            return Some(order);
        }
        let text = if self.motion.is_waiting() { self.motion.take() } else { self.outputs.take_text() };
        (!text.is_empty()).then_some(text)
    }

    fn save(&self, to: &mut Saver<'_>) -> Option<()> {
        // Every field is named, so that none is left out by mistake.
        let Self {
            connector,
            primary,
            realtime,
            rtde,
            identity,
            software,
            motion,
            program,
            unfit,
            other,
            outputs,
            unacked,
            refusal,
        } = self;
        to.put(&(connector, identity, software, motion.take_over(), unacked, refusal))?;
        primary.save(to)?;
        realtime.save(to)?;
        outputs.save(to)?;
        to.put(&(unfit, other))?;
        shared(program).map_or(Some(()), |program| program.save(to))?;
        rtde.as_deref().map_or(Some(()), |rtde| rtde.save(to))
    }

    fn load(&mut self, from: &mut Loader<'_>, config: &UrConfig) -> Option<CycleConfig> {
        let take_over;
        (self.connector, self.identity, self.software, take_over, self.unacked, self.refusal) = from.take()?;
        self.primary.load(from)?;
        self.realtime.load(from)?;
        self.outputs.load(from)?;
        (self.unfit, self.other) = from.take()?;
        let period = self.identity.map(|identity| identity.period);
        exclusive(&mut self.program).map_or(Some(()), |program| program.load(from, period))?;
        // The text follows from the software, and is not saved.
        self.motion.restore(take_over, config.peer.text, self.identity.map(|identity| identity.software));
        self.rtde.as_deref_mut().map_or(Some(()), |rtde| rtde.load(from))?;
        let by_rtde = self.identity.is_some_and(|identity| identity.states == LinkId::RTDE);
        Some(config.cycle(period.unwrap_or(Self::FIRST_PERIOD), by_rtde))
    }
}
