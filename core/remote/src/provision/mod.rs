//! Provisioning of a board with settings over a serial line, without a compiler.
//!
//! [`Service`] is the board's side and [`Caller`] the other one. Neither has a port or reads a clock. The settings are
//! transmitted as an [`Image`], with the key for requests and the waypoints of a motion. The service assembles it in
//! memory of the caller and answers; its port checks the settings, stores them and restarts the board. Every byte of
//! the protocol is defined in `core/docs/protocol/outrigger-provision.md`.
//!
//! ```
//! use outrigger_core::mode::Mode;
//! use outrigger_remote::provision::{Caller, Event, Image, PendingRequest, Service};
//! use outrigger_wire::time::Instant;
//!
//! let mut bytes = [0; 64];
//! let image = Image { settings: b"what a build script makes of board.toml", ..Image::default() };
//! let length = image.to_bytes(&mut bytes).expect("enough room");
//! let (mut memory, mut kept) = ([0; 64], None);
//! let mut board = Service::new(&mut memory);
//! let mut host = Caller::put(&bytes[..length], 0, Instant::ZERO);
//!
//! // What one sends, the other one is given; here nothing is lost.
//! while kept.is_none() {
//!     let request = host.poll_output().expect("a request");
//!     board.receive_window()[..request.len()].copy_from_slice(&request);
//!     board.commit(request.len());
//!     if board.poll_asked(Mode::Monitor) == Some(PendingRequest::Keep) {
//!         kept = Some(board.image().to_vec());
//!         board.writing();
//!     } // else a begin, or a piece: answered by itself
//!     let answer = board.poll_output().expect("an answer");
//!     host.receive_window()[..answer.len()].copy_from_slice(&answer);
//!     host.commit(answer.len());
//!     while host.poll_event(Instant::ZERO).is_some_and(|event| event != Event::Writing) {}
//! }
//! assert_eq!(kept.as_deref().and_then(Image::from_bytes), Some(image));
//! ```

mod frame_extraction;
mod provision_client;
mod provision_messages;
mod service;
mod settings_image;
#[cfg(test)]
mod tests;

pub use provision_client::{Caller, Event};
pub use provision_messages::{
    Answer, BootInfo, CHUNK_MAX, Copy, FRAME_MAX, Fingerprint, Origin, Refusal, Refused, Request, Unread, VERSION,
};
pub use service::{PendingRequest, Service, admits};
pub use settings_image::{Image, REQUESTS_LEN};
