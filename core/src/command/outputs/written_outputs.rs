//! The output values that this session has written, and whether the controller has confirmed each.

use super::reported_outputs::{ReportedOutputs, digital_bit};
use super::write::{SLOTS, Write};
use outrigger_urscript::DigitalOutput;

/// The values of the controller's outputs that were written in this session. Outputs that it never wrote are not
/// included: they belong to other writers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Image {
    /// `true` once this session has written any output of the controller.
    used: bool,
    /// The levels of the digital outputs that this session with the controller has written, each in its bit by
    /// [`digital_bit`].
    digital: u32,
    /// The digital outputs that this session with the controller has written, as bits by [`digital_bit`].
    written: u32,
    /// The written digital outputs that the controller has confirmed, as bits by [`digital_bit`].
    confirmed: u32,
    /// The last writes of the other outputs that controllers publish, by [`Write::slot`], each with `true` if it was
    /// confirmed.
    settings: [Option<(Write, bool)>; SLOTS],
}

impl Image {
    /// Returns the written levels of the digital outputs, each in its bit by [`digital_bit`], and a mask of those that
    /// were written.
    #[must_use]
    pub const fn digital(&self) -> (u32, u32) {
        (self.digital, self.written)
    }

    /// Returns the written levels of the analog outputs, 0 to 1; 0 for those that were not written.
    #[must_use]
    pub fn analog(&self) -> [f64; 2] {
        [0, 1].map(|slot: usize| match self.settings.get(slot) {
            Some(Some((Write::Analog { level, .. }, _))) => f64::from(*level),
            _ => 0.0,
        })
    }

    /// Returns whether this session has written no output yet.
    pub(super) const fn is_empty(&self) -> bool {
        !self.used
    }

    /// Records the value of a controller's output that is being sent.
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

    /// Records that the controller has confirmed the written value of an output.
    pub(super) fn confirm(&mut self, write: &Write) {
        if let Write::Digital { output, .. } = *write {
            self.confirmed |= digital_bit(output) & self.written;
        } else if let Some(Some((_, confirmed))) = write.slot().and_then(|slot| self.settings.get_mut(slot)) {
            *confirmed = true;
        }
    }

    /// Returns a confirmed write of an output that the controller now shows with another value, because another writer
    /// changed it; the write no longer counts as confirmed. `None` if there is none.
    pub(super) fn overwritten(&mut self, shown: &ReportedOutputs, tolerance: f32) -> Option<Write> {
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

/// Returns the digital output of the lowest bit that is set, by [`digital_bit`]; `None` if there is none.
fn lowest(bits: u32) -> Option<DigitalOutput> {
    match u8::try_from(bits.trailing_zeros()).ok()? {
        bit @ 0..8 => Some(DigitalOutput::Standard(bit)),
        bit @ 8..16 => Some(DigitalOutput::Configurable(bit.wrapping_sub(8))),
        bit @ 16..18 => Some(DigitalOutput::Tool(bit.wrapping_sub(16))),
        _ => None,
    }
}
