//! A board with a chip and a driver, and a test instead of a stack that receives and sends frames.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use embassy_net_driver_channel::driver::{Driver, LinkState, RxToken, TxToken};
use outrigger_emulated::SimTime;
use outrigger_emulated::executor::{BUSY, Task, clock, leak, run_all};
use outrigger_emulated::w5500::{Chip, Pins, Rate, Timing};
use outrigger_w5500::{Counts, Device, State, Watch};

/// The board's hardware address.
pub(crate) const OWN: [u8; 6] = [2, 0, 0, 0, 0, 15];

/// A chip at its pins, and the tasks and the interface of a driver.
pub(crate) struct Station {
    pub(crate) pins: Pins,
    tasks: Vec<Task>,
    device: Device<'static>,
    watch: Option<Watch<'static>>,
    woken: Arc<Flag>,
    now: SimTime,
    /// `true` if the stack takes received frames.
    pub(crate) takes: bool,
    /// The frames that the stack took, each with its time.
    pub(crate) received: Vec<(SimTime, Vec<u8>)>,
    /// The frames that left the chip, each with its time.
    pub(crate) left: Vec<(SimTime, Vec<u8>)>,
    /// The number of polls of the stack.
    pub(crate) polls: u64,
}

struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Returns a frame of this length to this address, with content from this seed.
pub(crate) fn frame(to: [u8; 6], length: usize, seed: u32) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9) | 1;
    let content = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    });
    to.into_iter().chain(content).take(length).collect()
}

impl Station {
    /// Returns a station with the driver of this crate, a chip whose pointers begin at `origin`, and the link up.
    pub(crate) fn new(origin: u16) -> Self {
        let mut station = Self::without_link(origin);
        assert!(station.run_until(SimTime::from_secs(1), Self::link), "{:?}", station.counts());
        station
    }

    /// Returns a station with the driver of this crate at time zero, before the link is up.
    pub(crate) fn without_link(origin: u16) -> Self {
        let pins = Pins::new(Chip::new(Timing::default(), origin), Rate::default());
        let state = leak(State::<8, 8>::new());
        let (device, runner, watch) = outrigger_w5500::new(OWN, state, pins.spi(), pins.interrupt(), pins.reset());
        let task = Task::new(async move {
            runner.run().await;
        });
        clock::begin();
        Self { watch: Some(watch), ..Self::at(SimTime::ZERO, pins, device, task) }
    }

    /// Returns a station with any driver, at this time.
    pub(crate) fn at(now: SimTime, pins: Pins, device: Device<'static>, task: Task) -> Self {
        Self {
            pins,
            tasks: vec![task],
            device,
            watch: None,
            woken: Arc::new(Flag(AtomicBool::new(true))),
            now,
            takes: true,
            received: vec![],
            left: vec![],
            polls: 0,
        }
    }

    pub(crate) fn now(&self) -> SimTime {
        self.now
    }

    pub(crate) fn nanos(&self) -> u64 {
        self.now.as_micros() * 1_000
    }

    pub(crate) fn counts(&self) -> Counts {
        self.watch.map(Watch::counts).unwrap_or_default()
    }

    /// Requests a restart of the chip.
    pub(crate) fn restart(&self) {
        self.watch.expect("a driver of this crate").restart();
    }

    /// Returns whether the driver reports a link.
    pub(crate) fn link(&mut self) -> bool {
        let waker = Waker::from(Arc::clone(&self.woken));
        self.device.link_state(&mut Context::from_waker(&waker)) == LinkState::Up
    }

    /// Sends a frame from the stack; returns `false` if the driver's memory is full.
    pub(crate) fn send(&mut self, frame: &[u8]) -> bool {
        let waker = Waker::from(Arc::clone(&self.woken));
        let token = self.device.transmit(&mut Context::from_waker(&waker));
        token.map(|token| token.consume(frame.len(), |room| room.copy_from_slice(frame))).is_some()
    }

    /// Runs the station for this time.
    pub(crate) fn run_for(&mut self, span: Duration) {
        let end = self.now + span;
        self.run_until(end, |_| false);
    }

    /// Runs until `done`, which is called after every event, or until `end`; returns `false` if `end` came first.
    pub(crate) fn run_until(&mut self, end: SimTime, mut done: impl FnMut(&mut Self) -> bool) -> bool {
        loop {
            self.settle();
            if done(self) {
                return true;
            }
            if self.now >= end {
                return false;
            }
            self.now = self.now.max(self.pins.next_event().min(clock::next_alarm())).min(end);
        }
    }

    fn settle(&mut self) {
        clock::advance(self.now);
        for _ in 0..BUSY {
            self.pins.advance(self.now);
            let mut busy = run_all(&mut self.tasks);
            self.left.extend(std::iter::from_fn(|| self.pins.take()));
            while self.takes && self.woken.0.swap(false, Ordering::Relaxed) {
                self.polls += 1;
                busy = true;
                let waker = Waker::from(Arc::clone(&self.woken));
                while let Some((token, _)) = self.device.receive(&mut Context::from_waker(&waker)) {
                    self.received.push((self.now, token.consume(|frame| frame.to_vec())));
                }
            }
            if !busy {
                return;
            }
        }
        panic!("the board does not come to rest at {}: {:?}", self.now, self.counts());
    }
}
