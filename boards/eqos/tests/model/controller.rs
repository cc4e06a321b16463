//! The registers, the reset, and the transceiver of the model.

use outrigger_eqos::registers as r;

use super::machine::{Machine, Side, State};

impl Machine {
    pub(super) fn read(&mut self, register: usize) -> u32 {
        match register {
            r::DMACSR => self.status,
            r::DMACIER => self.enabled,
            r::DMAMR => {
                if self.resetting.is_some_and(|until| self.now >= until && self.clocked) {
                    self.resetting = None;
                }
                u32::from(self.resetting.is_some())
            }
            r::DMADSR => {
                let reception = match self.rx.state {
                    State::Stopped => r::STOPPED,
                    State::Suspended => r::SUSPENDED,
                    _ => 3,
                };
                let transmission = match self.tx.state {
                    State::Stopped => 0,
                    State::Suspended => r::TX_SUSPENDED,
                    _ => 3,
                };
                reception << r::DMADSR_RPS0 | transmission << r::DMADSR_TPS0
            }
            r::MACCR => self.maccr,
            r::MACMDIOAR => u32::from(self.smi_until.is_some_and(|until| self.now < until || !self.smi_works)),
            r::MACMDIODR => self.smi_data,
            _ => 0,
        }
    }

    pub(super) fn write(&mut self, register: usize, value: u32) {
        // A register write waits only for stores before the last barrier.
        self.drain(false);
        match register {
            r::DMACSR => self.status &= !value,
            r::DMACIER => self.enabled = value,
            r::DMAMR => {
                self.reset();
                self.resetting = Some(self.now + 2_000);
                self.resets.push(self.now);
            }
            r::DMACRXDTPR => self.demand(Side::Rx, value),
            r::DMACTXDTPR => self.demand(Side::Tx, value),
            r::DMACRXRLR => self.rx.length = value as usize + 1,
            r::DMACTXRLR => self.tx.length = value as usize + 1,
            r::DMACRXCR if value & r::DMACRXCR_SR != 0 => {
                assert_eq!(self.rx.length, self.rx.words.len(), "length of the ring");
                self.rx.state = State::Fetch;
                self.dma_started = Some(self.now);
            }
            r::DMACTXCR if value & r::DMACTXCR_ST != 0 => {
                assert_eq!(self.tx.length, self.tx.words.len(), "length of the ring");
                self.tx.state = State::Fetch;
            }
            r::MACCR => self.maccr = value,
            r::MACMDIODR => self.smi_data = value,
            r::MACMDIOAR => self.transfer(value),
            _ => {}
        }
    }

    fn demand(&mut self, side: Side, tail: u32) {
        let unseen = self.deaf && self.choose.choose(4) == 1;
        let ring = self.ring(side);
        ring.tail = tail;
        if ring.state == State::Suspended && !unseen {
            ring.state = State::Fetch;
        }
    }

    pub(super) fn reset(&mut self) {
        (self.status, self.enabled, self.maccr, self.smi_until) = (0, 0, 0, None);
        for side in [Side::Rx, Side::Tx] {
            let ring = self.ring(side);
            (ring.state, ring.current, ring.tail, ring.length) = (State::Stopped, 0, 0, 0);
        }
    }

    fn transfer(&mut self, command: u32) {
        assert!(self.resetting.is_none(), "a transfer while the controller is in reset");
        assert!(self.smi_until.is_none_or(|until| self.now >= until), "a transfer while another is under way");
        self.transfers += 1;
        self.smi_until = Some(self.now + 33);
        let (phy, register) = ((command >> 21 & 0x1f) as u8, command >> 16 & 0x1f);
        let answers = self.phy == Some(phy);
        if command >> 2 & 3 == 3 {
            self.smi_data = if answers { self.phy_read(register).into() } else { 0xffff };
        } else if answers {
            match (register, self.smi_data as u16) {
                (0, control) if control & 1 << 15 != 0 => {
                    self.phy_reset_until = self.now.saturating_add(self.phy_resets);
                }
                (4, abilities) => self.advertised = abilities,
                _ => {}
            }
        }
    }

    fn phy_read(&self, register: u32) -> u16 {
        match register {
            0 => u16::from(self.now < self.phy_reset_until) << 15 | 0x1000,
            1 => 0x7809 | if self.linked { 1 << 5 | 1 << 2 } else { 0 },
            2 => 0x0007,
            3 => 0xc131,
            5 => self.partner,
            _ => 0,
        }
    }
}
