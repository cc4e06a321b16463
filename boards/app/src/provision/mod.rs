//! The settings of a board, written over a serial line at the bench and stored in flash:
//! `core/docs/protocol/outrigger-provision.md`.
//!
//! The image that was compiled in remains the default. An image that this firmware cannot use is rejected before
//! anything is written. Of the two copies in flash one is complete whenever the power fails. Erasing flash may stop the
//! core for seconds. It is therefore done only after the control loop was shut down, which a commanding board rejects,
//! and the board restarts after it.

mod image_selection;
mod image_store;
mod settings_receiver;
#[cfg(test)]
mod tests;

use embassy_time::{Duration, Timer};
use embedded_io_async::{Read, Write};
use embedded_storage::nor_flash::NorFlash;
use outrigger_core::engine::Controller;
use outrigger_embassy::Handle;
pub use outrigger_remote::provision::Image;
use outrigger_remote::provision::{BootInfo, PendingRequest, Refusal, Service, admits};

pub use self::image_selection::Built;
pub(crate) use self::image_selection::stored_settings;
use self::image_selection::{Selection, Unfit, judged};
pub use self::settings_receiver::Bench;
// A bound of public types; boards do not name it.
#[doc(hidden)]
pub use self::image_selection::StoredSettings;
use self::image_store::{NotTaken, Store};
use crate::log_event::PeerEvent;
use crate::shared::Shared;

/// The length of the longest image of settings \[B\]: settings, a key, and a motion of about eighty waypoints.
pub const IMAGE_MAX: usize = 8192;

/// The memory for the image of settings in effect and for an image that is being received. It is all zeros and takes
/// no flash.
pub struct Memory {
    in_force: [u8; IMAGE_MAX],
    incoming: [u8; IMAGE_MAX],
}

impl Memory {
    /// Creates unused memory for the images of settings.
    #[must_use]
    pub const fn new() -> Self {
        Self { in_force: [0; IMAGE_MAX], incoming: [0; IMAGE_MAX] }
    }

    /// Returns the memory for the image of settings in effect, and that for an image that is being received.
    const fn split(&'static mut self) -> (&'static mut [u8], &'static mut [u8]) {
        (&mut self.in_force, &mut self.incoming)
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

/// The provisioning of a board over a serial line, with its flash.
pub struct Serving<S, P, F> {
    /// The selection of the image of settings in effect, with its origin.
    selection: Selection<S>,
    /// The memory for an image of settings that is being received.
    incoming: &'static mut [u8],
    /// The name of the board in telemetry.
    board: &'static str,
    /// The identifier of the firmware's build, which a client at the bench can query.
    build: &'static str,
    /// A random number that differs at each start.
    boot: u32,
    /// The serial line over which a PC at the bench writes settings to the board.
    port: P,
    /// The flash with the two copies of the image of settings.
    store: Store<F>,
    /// A function that makes the watchdog wait as long as writing to flash may take; a reset follows.
    patience: fn(),
    /// A function that restarts the board, after settings were written to the flash or erased.
    reset: fn(),
}

/// The time that the last answer to the PC at the bench needs to leave the serial port, at any useful rate.
const LAST_WORD: Duration = Duration::from_millis(100);

impl<S: StoredSettings, P: Read + Write, F: NorFlash> Serving<S, P, F> {
    /// Answers requests at the serial line; never returns. Requests are checked one at a time, which takes time from
    /// the control loop: an image is read and checked as at a start, which takes some ten thousand instructions.
    /// This is done only while the arm is not commanded.
    pub async fn serve<const N: usize, Q: Controller<N, Event: PeerEvent>>(
        self,
        robot: Handle<'_>,
        shared: &Shared<N, Q>,
    ) -> ! {
        let Self { selection, incoming, board, build, boot, mut port, mut store, patience, reset } = self;
        let room = incoming.len().min(store.room());
        let (incoming, _) = incoming.split_at_mut(room);
        let mut service = Service::new(incoming);
        loop {
            // Lost bytes are requested again.
            let count = port.read(service.receive_window()).await.unwrap_or(0);
            if count == 0 {
                Timer::after_millis(1).await;
            }
            service.commit(count);
            loop {
                let mode = shared.mode();
                let asked = service.poll_asked(mode);
                let mut granted = None;
                match asked {
                    None => {}
                    Some(PendingRequest::Hello) => service.here(&BootInfo {
                        board,
                        build,
                        boot,
                        kind: S::KIND,
                        format: Selection::<S>::FORMAT,
                        room: u32::try_from(room).unwrap_or(u32::MAX),
                        requests: selection.built.requests,
                        motion: selection.built.motion,
                        mode,
                        origin: selection.origin,
                        in_force: selection.fingerprint,
                        copies: selection.copies,
                        why: &selection.why,
                    }),
                    Some(PendingRequest::Keep) => match judged::<S>(service.image(), selection.built) {
                        Err(Unfit { why, text }) => {
                            info!("settings: those that were told now are refused: {}", text.as_str());
                            service.refuse(why, &text);
                        }
                        Ok(_) => granted = asked,
                    },
                    Some(PendingRequest::Erase) => granted = asked,
                }
                if granted.is_some() {
                    service.writing();
                }
                let Some(answer) = service.poll_output() else { break };
                let _ = port.write_all(&answer).await;
                let Some(granted) = granted else { continue };
                let _ = port.flush().await;
                // Commanding may have started meanwhile.
                if let Err(why) = admits(shared.mode()) {
                    service.refuse(why, "");
                    if let Some(answer) = service.poll_output() {
                        let _ = port.write_all(&answer).await;
                    }
                    continue;
                }
                info!("settings: told others, the control loop is shut down");
                shared.end(robot).await;
                shared.flush();
                patience();
                let done = if granted == PendingRequest::Erase {
                    store.erase(selection.next.0 ^ 1).map(|()| service.erased())
                } else {
                    let (copy, sequence) = selection.next;
                    store.keep(copy, sequence, service.image()).map(|()| service.kept(copy, sequence))
                };
                if let Err(NotTaken(at)) = done {
                    info!("settings: the flash did not take them, at {}", at);
                    service.refuse(Refusal::Flash { at }, "");
                }
                if let Some(answer) = service.poll_output() {
                    let _ = port.write_all(&answer).await;
                    let _ = port.flush().await;
                }
                Timer::after(LAST_WORD).await;
                reset();
            }
        }
    }
}
