//! The task that carries frames between the chip and the stack.

use core::future::pending;

use embassy_futures::select::select3;
use embassy_net_driver_channel as channel;
use embassy_net_driver_channel::driver::LinkState;
use embassy_time::{Duration, Instant, Timer};
use embedded_hal::digital::OutputPin;
use embedded_hal_async::digital::Wait;
use embedded_hal_async::spi::SpiDevice;

use crate::LONGEST;
use crate::care::{Care, Remedy};
use crate::chip::{Chip, Received, Waiting};
use crate::trouble::{Counts, Doubt, Tally, Trouble};

/// Without an interrupt the chip is looked at so often: longest time a frame may lie in it where the line fails, short
/// beside a cycle of 2 ms.
const LOOK: Duration = Duration::from_millis(1);

/// Link and settings are looked at so often; and so often while a frame waits for the one before it.
const CHECK: Duration = Duration::from_millis(100);
const CHECK_WAITING: Duration = Duration::from_millis(10);

/// A frame that is not sent after so long, with a link, never is.
const SENT: Duration = Duration::from_millis(100);

/// Frames sent before the next received one is taken: as many as the stack can have waiting.
const BURST: usize = 8;

/// So many interrupts in a row that nothing is behind, and the line is not listened to until the next look: one that is
/// stuck must not take all the time there is. One or two are natural, where a frame was taken before it was acknowledged.
const FRUITLESS: u8 = 4;

/// Carries frames; to be run in a task of its own.
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
    /// Frames that are known to wait.
    waiting: Waiting,
    /// The chip said that it has received something.
    interrupted: bool,
    fruitless: u8,
    look_at: Instant,
    check_at: Instant,
    /// The next frame waits for the one before it.
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

    /// Resets the chip, carries frames, and does what is to be done where something is wrong, for ever.
    pub async fn run(mut self) -> ! {
        self.mend(Doubt::Chip).await;
        loop {
            if let Err(trouble) = self.turn().await {
                let doubt = self.note(trouble);
                self.mend(doubt).await;
            }
        }
    }

    /// One round: what is due of the chip, all that waits to be sent, one received frame.
    async fn turn(&mut self) -> Result<(), Trouble> {
        // A turn comes at least every [`CHECK`].
        if self.tally.is_restart_asked() {
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
        // A link that seems lost is asked for twice.
        let up = self.chip.link().await? || (self.link_up && self.chip.link().await?);
        if up == self.link_up {
            return Ok(());
        }
        if !up {
            self.tally.one(|counts| &mut counts.link_lost);
            // What is left of before must not go out when the link is back.
            self.reopen().await?;
        }
        self.set_link(up);
        Ok(())
    }

    /// Sends what waits. Without a link it is thrown away: by the time there is one, it is old.
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

    /// The next frame has to wait: it is tried again after whatever is next, and the link is looked at sooner.
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

    /// Asks the chip what has arrived.
    async fn look(&mut self) -> Result<(), Trouble> {
        self.look_at = Instant::now() + LOOK;
        let interrupted = core::mem::take(&mut self.interrupted);
        if interrupted {
            // First: what arrives from here on interrupts anew, and what arrived before is found.
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

    /// Hands the first frame that waits to the stack, where that has room.
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

    /// Until there is something to do.
    async fn wait(&mut self) {
        let may_send = !self.blocked;
        if may_send && self.tx.try_tx_buf().is_some() {
            return;
        }
        let frames_wait = self.waiting.bytes > 0;
        if frames_wait && self.rx.try_rx_buf().is_some() || !frames_wait && self.is_to_look() {
            return;
        }
        // What waits in the chip waits for room here then, and no look finds more.
        let at = if frames_wait && !self.blocked { self.check_at } else { self.check_at.min(self.look_at) };
        let heeded = self.fruitless < FRUITLESS;
        let more = async {
            if frames_wait {
                self.rx.rx_buf().await;
            } else if !heeded || self.interrupt.wait_for_low().await.is_err() {
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

    /// Everything in the chip is forgotten, and what is known of it.
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

    /// Does what is to be done until nothing is in doubt any more.
    async fn mend(&mut self, mut doubt: Doubt) {
        loop {
            let result = match self.care.remedy(doubt, Instant::now()) {
                Remedy::Reopen => self.reopen().await,
                Remedy::Reset(at) => {
                    self.set_link(false);
                    self.rest(at).await;
                    self.forget();
                    self.check_at = Instant::MIN;
                    // Whoever asked for it meanwhile has it.
                    let _ = self.tally.is_restart_asked();
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

    /// Until `at`, without the chip: what the stack would send is thrown away.
    async fn rest(&mut self, at: Instant) {
        while Instant::now() < at {
            while self.tx.try_tx_buf().is_some() {
                self.tx.tx_done();
                self.tally.one(|counts| &mut counts.unsent);
            }
            select3(self.tx.tx_buf(), Timer::at(at), pending::<()>()).await;
        }
    }
}

/// How the driver stands, for who shows it; and what it can be asked for.
#[derive(Clone, Copy, Debug)]
pub struct Watch<'d>(pub(crate) &'d Tally);

impl Watch<'_> {
    /// What has happened so far.
    #[must_use]
    pub fn counts(self) -> Counts {
        self.0.get()
    }

    /// The chip is to be reset by its line and set up anew, whatever it says of itself: within 100 ms, at most once a
    /// second. The link is lost meanwhile, and made anew.
    pub fn restart(self) {
        self.0.ask_for_restart();
    }
}
