//! The outputs as we want them, and whether the controller has shown them so.

use super::shown::{Shown, digital_bit};
use super::write::{SLOTS, Write};
use outrigger_urscript::DigitalOutput;

/// The one image of what we wrote in this session. What we never wrote is not in it: it belongs to others.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Image {
    /// Whether we wrote anything.
    used: bool,
    /// Levels of the digital outputs, by [`digital_bit`].
    digital: u32,
    /// Which of them we wrote.
    written: u32,
    /// Which of those were shown.
    confirmed: u32,
    /// Everything else that is shown, by its slot, and whether it was.
    settings: [Option<(Write, bool)>; SLOTS],
}

impl Image {
    /// Levels of the digital outputs as they were written, by [`digital_bit`], and which of them were.
    #[must_use]
    pub const fn digital(&self) -> (u32, u32) {
        (self.digital, self.written)
    }

    /// Levels of the analog outputs as they were written, 0 to 1; 0 where they were not.
    #[must_use]
    pub fn analog(&self) -> [f64; 2] {
        [0, 1].map(|slot: usize| match self.settings.get(slot) {
            Some(Some((Write::Analog { level, .. }, _))) => f64::from(*level),
            _ => 0.0,
        })
    }

    /// Whether we wrote nothing.
    pub(super) const fn is_empty(&self) -> bool {
        !self.used
    }

    /// Takes in what is on its way.
    pub(super) fn write(&mut self, write: &Write) {
        self.used = true;
        if let Write::Digital { output, high } = *write {
            let bit = digital_bit(output);
            self.digital = if high { self.digital | bit } else { self.digital & !bit };
            self.written |= bit;
            self.confirmed &= !bit;
        } else if let Some(setting) = write.slot().and_then(|slot| self.settings.get_mut(slot)) {
            *setting = Some((*write, false));
        }
    }

    /// The controller has shown it.
    pub(super) fn confirm(&mut self, write: &Write) {
        if let Write::Digital { output, .. } = *write {
            self.confirmed |= digital_bit(output) & self.written;
        } else if let Some(Some((_, confirmed))) = write.slot().and_then(|slot| self.settings.get_mut(slot)) {
            *confirmed = true;
        }
    }

    /// Takes out, one after the other, what was confirmed and is now shown otherwise: somebody else changed it.
    pub(super) fn overwritten(&mut self, shown: &Shown, tolerance: f32) -> Option<Write> {
        let changed = shown.digital.map_or(0, |levels| (levels ^ self.digital) & self.confirmed);
        if let Some(output) = lowest(changed) {
            let bit = digital_bit(output);
            self.confirmed &= !bit;
            return Some(Write::Digital { output, high: self.digital & bit != 0 });
        }
        for setting in &mut self.settings {
            if let Some((write, confirmed @ true)) = setting
                && shown.shows(write, tolerance) == Some(false)
            {
                *confirmed = false;
                return Some(*write);
            }
        }
        None
    }
}

/// The output of the lowest bit.
fn lowest(bits: u32) -> Option<DigitalOutput> {
    match u8::try_from(bits.trailing_zeros()).ok()? {
        bit @ 0..8 => Some(DigitalOutput::Standard(bit)),
        bit @ 8..16 => Some(DigitalOutput::Configurable(bit.wrapping_sub(8))),
        bit @ 16..18 => Some(DigitalOutput::Tool(bit.wrapping_sub(16))),
        _ => None,
    }
}
