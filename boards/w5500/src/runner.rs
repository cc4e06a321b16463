//! The task that carries frames between the W5500 chip and the network stack.

use core::future::pending;

use embassy_futures::select::select3;
use embassy_net_driver_channel as channel;
use embassy_net_driver_channel::driver::LinkState;
use embassy_time::{Duration, Instant, Timer};
use embedded_hal::digital::OutputPin;
use embedded_hal_async::digital::Wait;
use embedded_hal_async::spi::SpiDevice;

use crate::LONGEST;
use crate::chip::{Chip, Received, Waiting};
use crate::chip_errors::{Counts, Doubt, Tally, Trouble};
use crate::recovery_rule::{Care, Remedy};

/// The time between two polls of the W5500 chip without an interrupt: the longest delay of a frame if the interrupt
/// line fails.
const LOOK: Duration = Duration::from_millis(1);

/// The time between two checks of the W5500's link and settings.
const CHECK: Duration = Duration::from_millis(100);
/// The time between two checks of the W5500's link and settings while a frame waits until the one before it is sent.
const CHECK_WAITING: Duration = Duration::from_millis(10);

/// The time limit for the transmission of a frame while there is a link.
const SENT: Duration = Duration::from_millis(100);

/// The greatest number of frames sent to the W5500 chip before the next received one is read.
const BURST: usize = 8;

/// The number of interrupts in a row without a frame after which the W5500's interrupt line is ignored until the next
/// poll: a line that is stuck must not take all of the processor. One or two are normal, if a frame was read before it
/// was acknowledged.
const FRUITLESS: u8 = 4;

/// The task of the W5500's driver: carries frames between the chip and the network stack. Run it in a task of its own,
/// for ever.
pub struct Runner<'d, SPI, INT, RST> {
    chip: Chip<'d, SPI>,
    reset: RST,
    interrupt: INT,
    link: channel::StateRunner<'d>,
    rx: channel::RxRunner<'d, LONGEST>,
    tx: channel::TxRunner<'d, LONGEST>,
    tally: &'d Tally,
    care: Care,
    link_up: bool,
    /// The received frames that are known to wait in the W5500 chip.
    waiting: Waiting,
    /// `true` if the W5500 chip has reported a received frame by a low level of its interrupt line.
    interrupted: bool,
    fruitless: u8,
    look_at: Instant,
    check_at: Instant,
    /// `true` if the next frame of the network stack waits until the one before it is sent.
    blocked: bool,
}

impl<'d, SPI: SpiDevice, INT: Wait, RST: OutputPin> Runner<'d, SPI, INT, RST> {
    pub(crate) fn new(
        chip: Chip<'d, SPI>,
        channel: channel::Runner<'d, LONGEST>,
        (interrupt, reset): (INT, RST),
        tally: &'d Tally,
    ) -> Self {
        let (link, rx, tx) = channel.split();
        Self {
            chip,
            reset,
            interrupt,
            link,
            rx,
            tx,
            tally,
            care: Care::new(),
            link_up: false,
            waiting: Waiting { bytes: 0, at: 0 },
            interrupted: false,
            fruitless: 0,
            look_at: Instant::MIN,
            check_at: Instant::MIN,
            blocked: false,
        }
    }

    /// Resets the W5500 chip, carries frames, and recovers from errors, for ever. Never panics; errors are counted, see
    /// [`Watch::counts`].
    ///
    /// Dropping the future leaves the chip as it is; the interface then stays as it was and passes no frame.
    pub async fn run(mut self) -> ! {
        self.recover(Doubt::Chip).await;
        loop {
            if let Err(trouble) = self.turn().await {
                let doubt = self.note(trouble);
                self.recover(doubt).await;
            }
        }
    }

    /// Does one round of the driver's work: due checks, at most [`BURST`] frames to be sent, at most one received
    /// frame. Then waits for more work.
    async fn turn(&mut self) -> Result<(), Trouble> {
        // There is a turn at least every [`CHECK`].
        if self.tally.take_restart() {
            return Err(Trouble::Silent);
        }
        if Instant::now() >= self.check_at {
            self.check().await?;
        }
        self.send().await?;
        if self.waiting.bytes == 0 && self.is_to_look() {
            self.look().await?;
        }
        if self.waiting.bytes > 0 {
            self.receive().await?;
        }
        self.wait().await;
        Ok(())
    }

    async fn check(&mut self) -> Result<(), Trouble> {
        self.check_at = Instant::now() + CHECK;
        self.chip.check().await?;
        // A link that seems lost is read twice.
        let up = self.chip.link().await? || (self.link_up && self.chip.link().await?);
        if up == self.link_up {
            return Ok(());
        }
        if !up {
            self.tally.one(|counts| &mut counts.link_lost);
            // Frames left in the chip must not be sent once the link is back.
            self.reopen().await?;
        }
        self.set_link(up);
        Ok(())
    }

    /// Sends at most [`BURST`] of the network stack's frames. Drops them without a link: they would be sent too late.
    async fn send(&mut self) -> Result<(), Trouble> {
        self.blocked = false;
        for _ in 0..BURST {
            let Some(frame) = self.tx.try_tx_buf() else { break };
            if self.link_up {
                if !self.chip.transmit(frame).await? {
                    return self.block();
                }
                self.tally.one(|counts| &mut counts.sent);
            } else {
                self.tally.one(|counts| &mut counts.unsent);
            }
            self.tx.tx_done();
        }
        Ok(())
    }

    /// Postpones the next frame of the network stack to the next round, and moves the check of the link to an earlier
    /// time.
    fn block(&mut self) -> Result<(), Trouble> {
        self.tally.one(|counts| &mut counts.waited);
        self.blocked = true;
        let now = Instant::now();
        self.check_at = self.check_at.min(now + CHECK_WAITING);
        match self.chip.sending {
            Some(since) if now >= since + SENT => Err(Trouble::NotSent),
            _ => Ok(()),
        }
    }

    fn is_to_look(&self) -> bool {
        self.interrupted || Instant::now() >= self.look_at
    }

    /// Reads the number of received bytes that wait in the W5500, and counts the poll by its result.
    async fn look(&mut self) -> Result<(), Trouble> {
        self.look_at = Instant::now() + LOOK;
        let interrupted = core::mem::take(&mut self.interrupted);
        if interrupted {
            // First: a later frame interrupts again, and an earlier one is found.
            self.chip.acknowledge().await?;
        } else {
            self.tally.one(|counts| &mut counts.looks);
        }
        self.waiting = self.chip.waiting().await?;
        match (self.waiting.bytes > 0, interrupted) {
            (true, true) => self.fruitless = 0,
            (true, false) => self.tally.one(|counts| &mut counts.unannounced),
            (false, true) => {
                self.tally.one(|counts| &mut counts.fruitless);
                self.fruitless = self.fruitless.saturating_add(1);
            }
            (false, false) => {}
        }
        Ok(())
    }

    /// Passes the first received frame that waits to the network stack, if the stack has room.
    async fn receive(&mut self) -> Result<(), Trouble> {
        let Some(frame) = self.rx.try_rx_buf() else { return Ok(()) };
        match self.chip.receive(&mut self.waiting, frame).await? {
            Received::Frame(length) => {
                self.rx.rx_done(length);
                self.tally.one(|counts| &mut counts.received);
            }
            Received::Oversized => self.tally.one(|counts| &mut counts.oversized),
        }
        Ok(())
    }

    /// Waits until the driver has work: a frame in either direction, or a check that is due.
    async fn wait(&mut self) {
        let may_send = !self.blocked;
        if may_send && self.tx.try_tx_buf().is_some() {
            return;
        }
        let frames_wait = self.waiting.bytes > 0;
        if frames_wait && self.rx.try_rx_buf().is_some() || !frames_wait && self.is_to_look() {
            return;
        }
        // Frames in the chip wait for room in the stack then, and polling finds no more.
        let at = if frames_wait && !self.blocked { self.check_at } else { self.check_at.min(self.look_at) };
        let trusted = self.fruitless < FRUITLESS;
        let more = async {
            if frames_wait {
                self.rx.rx_buf().await;
            } else if !trusted || self.interrupt.wait_for_low().await.is_err() {
                pending::<()>().await;
            }
        };
        let to_send = async {
            if may_send {
                self.tx.tx_buf().await;
            } else {
                pending::<()>().await;
            }
        };
        let woken = select3(more, to_send, Timer::at(at)).await;
        if woken.is_first() && !frames_wait {
            self.interrupted = true;
        }
        if woken.is_third() {
            self.fruitless = 0;
        }
    }

    /// Closes and opens the W5500's socket, which drops all frames in the chip, and forgets which frames wait there.
    async fn reopen(&mut self) -> Result<(), Trouble> {
        self.forget();
        self.tally.one(|counts| &mut counts.reopened);
        self.chip.open().await
    }

    fn forget(&mut self) {
        (self.waiting, self.interrupted, self.look_at) = (Waiting { bytes: 0, at: 0 }, false, Instant::MIN);
        (self.fruitless, self.blocked) = (0, false);
    }

    fn set_link(&mut self, up: bool) {
        if up != self.link_up {
            self.link_up = up;
            self.link.set_link_state(if up { LinkState::Up } else { LinkState::Down });
        }
    }

    fn note(&mut self, trouble: Trouble) -> Doubt {
        self.tally.trouble(trouble);
        #[cfg(feature = "defmt")]
        defmt::warn!("W5500: {}", trouble);
        trouble.doubt()
    }

    /// Reopens the W5500's socket or resets the chip, until one of these succeeds. `doubt` is the part that the error
    /// puts in doubt; it is updated after each error.
    async fn recover(&mut self, mut doubt: Doubt) {
        loop {
            let result = match self.care.remedy(doubt, Instant::now()) {
                Remedy::Reopen => self.reopen().await,
                Remedy::Reset(at) => {
                    self.set_link(false);
                    self.pause(at).await;
                    self.forget();
                    self.check_at = Instant::MIN;
                    // A restart requested meanwhile is done.
                    let _ = self.tally.take_restart();
                    self.tally.one(|counts| &mut counts.resets);
                    #[cfg(feature = "defmt")]
                    defmt::info!("W5500: reset");
                    self.chip.start(&mut self.reset).await
                }
            };
            match result {
                Ok(()) => break,
                Err(trouble) => doubt = self.note(trouble),
            }
        }
        #[cfg(feature = "defmt")]
        defmt::info!("W5500: set up; {}", self.tally.get());
    }

    /// Waits until the time `at` without accessing the W5500 chip, and drops the network stack's frames meanwhile.
    async fn pause(&mut self, at: Instant) {
        while Instant::now() < at {
            while self.tx.try_tx_buf().is_some() {
                self.tx.tx_done();
                self.tally.one(|counts| &mut counts.unsent);
            }
            select3(self.tx.tx_buf(), Timer::at(at), pending::<()>()).await;
        }
    }
}

/// A handle on the running driver of a W5500 chip: its counts, and a request to reset the chip. Use it from the same
/// executor as the driver; it is neither `Send` nor `Sync`.
#[derive(Clone, Copy, Debug)]
pub struct Watch<'d>(pub(crate) &'d Tally);

impl Watch<'_> {
    /// Returns a copy of the driver's frame and error counts so far.
    #[must_use]
    pub fn counts(self) -> Counts {
        self.0.get()
    }

    /// Requests a reset of the W5500 by its reset line and a new setup, counted as [`Trouble::Silent`]: within 100 ms,
    /// or up to 8 s later if the chip was reset shortly before. The link is lost for some seconds.
    ///
    /// Useful where frames should arrive and none does: the driver cannot distinguish such silence from a quiet network.
    pub fn restart(self) {
        self.0.request_restart();
    }
}
