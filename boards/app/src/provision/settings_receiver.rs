//! The choice of settings at a start, and the flash and memory for the task that receives settings at the bench.

use embedded_storage::nor_flash::NorFlash;
use outrigger_core::engine::SettingsError;
use outrigger_remote::provision::Image;
use outrigger_remote::telemetry::Device;

use super::image_selection::{Built, InForce, Selection, StoredSettings};
use super::image_store::Store;
use super::{Memory, Serving};
use crate::boot::BootRecord;

/// The flash and the memory of a board that has started, for the task that receives settings over a serial line at the
/// bench.
pub struct Bench<S, F> {
    selection: Selection<S>,
    incoming: &'static mut [u8],
    store: Store<F>,
}

impl<S: StoredSettings, F: NorFlash> Bench<S, F> {
    /// Returns the settings in effect and their image, and reports to `begun` if the newest copy is rejected.
    ///
    /// # Errors
    /// [`SettingsError`] if the image that was compiled in cannot be used either: it was not made by the build script
    /// of this firmware.
    pub fn choose(
        flash: F,
        memory: &'static mut Memory,
        compiled_in: &'static [u8],
        built: Built,
        begun: &mut BootRecord,
    ) -> Result<(S, Image<'static>, Self), SettingsError> {
        let (in_force, incoming) = memory.split();
        let mut store = Store::new(flash);
        let InForce { settings, image, selection } = InForce::choose(&mut store, in_force, compiled_in, built)?;
        if let Some(why) = selection.refused() {
            begun.refuses_settings(why);
        }
        Ok((settings, image, Self { selection, incoming, store }))
    }

    /// Returns the task that receives settings for `device` over the serial line `port`. `patience` makes the watchdog
    /// wait while flash is written, `reset` restarts the board.
    pub fn serving<P>(self, device: Device<'static>, port: P, patience: fn(), reset: fn()) -> Serving<S, P, F> {
        let Self { selection, incoming, store } = self;
        let Device { board, build, boot, .. } = device;
        Serving { selection, incoming, board, build, boot, port, store, patience, reset }
    }
}
