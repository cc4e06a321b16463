//! The board's side of the provisioning protocol.

use super::frame_extraction::Intake;
use super::provision_messages::{Answer, BootInfo, Fingerprint, Frame, Refusal, Refused, Request, Unread, VERSION};
use outrigger_core::mode::Mode;
use outrigger_wire::checksum::crc32;

/// A provisioning task that a [`Service`] leaves to its port, the program that owns the serial line and the flash. The
/// port has to carry it out and answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PendingRequest {
    /// Report the board's identity and state by [`here`](Service::here).
    Hello,
    /// Check the complete settings [image](Service::image). Answer by [`refuse`](Service::refuse), or by
    /// [`writing`](Service::writing) and, once the image is written to flash, by [`kept`](Service::kept).
    Keep,
    /// Erase both copies of the settings in the flash. Answer by [`writing`](Service::writing), then by
    /// [`erased`](Service::erased).
    Erase,
}

/// The board's side of the provisioning protocol, which assembles an image from requests. It answers by itself unless
/// its port, the program around it, has to act, and sends nothing without a request.
#[derive(Debug)]
pub struct Service<'m> {
    memory: &'m mut [u8],
    begun: Option<Fingerprint>,
    /// The number of bytes of the settings image received without a gap from its beginning.
    received: usize,
    intake: Intake,
    /// The turn, the number that pairs request and answer, of the request that is answered next.
    turn: u16,
    out: Frame,
}

impl<'m> Service<'m> {
    /// Creates a service that accepts settings images as long as `memory`.
    #[must_use]
    pub const fn new(memory: &'m mut [u8]) -> Self {
        Self { memory, begun: None, received: 0, intake: Intake::new(), turn: 0, out: Frame::new() }
    }

    /// Returns the free part of the buffer, to write received bytes to. The slice is empty only if the buffer is full
    /// of bytes that wait for [`poll_asked`](Self::poll_asked), which processes none while an answer waits for
    /// [`poll_output`](Self::poll_output).
    pub fn receive_window(&mut self) -> &mut [u8] {
        self.intake.window()
    }

    /// Processes `n` bytes from the client that were written to the beginning of the [window](Self::receive_window).
    pub fn commit(&mut self, n: usize) {
        self.intake.commit(n);
    }

    /// Returns the next provisioning task for the port; `mode` is that of the control loop. `None` if there is none, or
    /// while an answer waits to be sent.
    pub fn poll_asked(&mut self, mode: Mode) -> Option<PendingRequest> {
        while self.out.is_empty() && self.intake.poll() {
            let Self { memory, begun, received, intake, .. } = self;
            let (turn, answer) = match Request::from_content(intake.content()) {
                Ok((turn, Request::Hello)) => (turn, Ok(PendingRequest::Hello)),
                Ok((turn, Request::Begin(whole))) => (turn, Err(begin(memory, begun, received, whole, mode))),
                Ok((turn, Request::Chunk { offset, bytes })) => {
                    (turn, Err(take(memory, *begun, received, offset, bytes)))
                }
                Ok((turn, Request::Commit(whole))) => {
                    let judged = admits(mode).and_then(|()| check(memory, begun, *received, whole));
                    (turn, judged.map(|()| PendingRequest::Keep).map_err(Err))
                }
                Ok((turn, Request::Erase)) => (turn, admits(mode).map(|()| PendingRequest::Erase).map_err(Err)),
                Err(Unread::OtherVersion { turn, found }) => {
                    (turn, Err(Err(Refusal::OtherVersion { found, expected: VERSION })))
                }
                Err(Unread::Malformed { turn }) => (turn, Err(Err(Refusal::NoRequest))),
                Err(Unread::TooShort) => continue,
            };
            self.turn = turn;
            match answer {
                Ok(asked) => return Some(asked),
                Err(Ok(received)) => self.answer(&Answer::Received(received)),
                Err(Err(why)) => self.refuse(why, ""),
            }
        }
        None
    }

    /// Returns the part of the settings image received so far.
    #[must_use]
    pub fn image(&self) -> &[u8] {
        self.memory.get(..self.received).unwrap_or_default()
    }

    /// Answers a request for the board's identity and state. Texts longer than 48 bytes, and `why` longer than 96, are
    /// truncated.
    pub fn here(&mut self, here: &BootInfo<'_>) {
        self.answer(&Answer::Here(*here));
    }

    /// Refuses the client's present request for the reason `why`; `text` contains details, in up to 96 bytes.
    pub fn refuse(&mut self, why: Refusal, text: &str) {
        self.answer(&Answer::Refused(Refused { why, text }));
    }

    /// Answers that the settings image will now be written to flash, or the copies erased.
    pub fn writing(&mut self) {
        self.answer(&Answer::Writing);
    }

    /// Answers that the settings image was written to this copy in the flash, with this sequence number.
    pub fn kept(&mut self, copy: u8, sequence: u32) {
        self.answer(&Answer::Kept { copy, sequence });
    }

    /// Answers that both copies of the settings in the flash are erased.
    pub fn erased(&mut self) {
        self.answer(&Answer::Erased);
    }

    /// Returns the next complete provisioning frame to send to the client; `None` if there is none.
    pub fn poll_output(&mut self) -> Option<Frame> {
        let frame = core::mem::take(&mut self.out);
        (!frame.is_empty()).then_some(frame)
    }

    fn answer(&mut self, answer: &Answer<'_>) {
        self.out = answer.to_frame(self.turn).unwrap_or_default();
    }
}

/// Checks that a board may be provisioned in this mode. Provisioning shuts the control loop down, which is not
/// permitted while the board may be moving the arm.
///
/// # Errors
/// [`Refusal::Commanding`] if it is not permitted.
pub const fn admits(mode: Mode) -> Result<(), Refusal> {
    if mode.drives() { Err(Refusal::Commanding(mode)) } else { Ok(()) }
}

fn begin(
    memory: &[u8],
    begun: &mut Option<Fingerprint>,
    received: &mut usize,
    whole: Fingerprint,
    mode: Mode,
) -> Result<u32, Refusal> {
    admits(mode)?;
    let expected = number(memory.len());
    if whole.length > expected {
        return Err(Refusal::TooLong { found: whole.length, expected });
    }
    if *begun != Some(whole) {
        (*begun, *received) = (Some(whole), 0);
    }
    Ok(number(*received))
}

fn take(
    memory: &mut [u8],
    begun: Option<Fingerprint>,
    received: &mut usize,
    offset: u32,
    bytes: &[u8],
) -> Result<u32, Refusal> {
    let whole = begun.ok_or(Refusal::NoBegin)?;
    let expected = number(*received);
    if offset > expected {
        return Err(Refusal::Gap { found: offset, expected });
    }
    let end = offset.saturating_add(number(bytes.len()));
    let too_long = Refusal::TooLong { found: end, expected: whole.length };
    if end > whole.length {
        return Err(too_long);
    }
    let range = (offset as usize)..(end as usize);
    memory.get_mut(range).ok_or(too_long)?.copy_from_slice(bytes);
    *received = (*received).max(end as usize);
    Ok(number(*received))
}

fn check(memory: &[u8], begun: &mut Option<Fingerprint>, received: usize, whole: Fingerprint) -> Result<(), Refusal> {
    if *begun != Some(whole) {
        return Err(Refusal::NoBegin);
    }
    if number(received) < whole.length {
        return Err(Refusal::Incomplete { found: number(received), expected: whole.length });
    }
    let found = crc32(memory.get(..received).unwrap_or_default());
    if found != whole.crc {
        // A damaged image must not be continued.
        *begun = None;
        return Err(Refusal::Damaged { found, expected: whole.crc });
    }
    Ok(())
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
