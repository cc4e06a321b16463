//! Two modelled chips at the ends of a cable, in virtual time. No part of this file runs on a board.

use std::time::Duration;

use outrigger_emulated::SimTime;
use outrigger_emulated::executor::{BUSY, Task, clock, run_all};
use outrigger_emulated::w5500::{Chip, Interrupt, Pins, Rate, Reset, Spi, Timing};

/// The longest simulated time that a run of the example may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A simulated W5500 chip at its pins, with its board's tasks.
pub(crate) struct Board {
    pins: Pins,
    tasks: Vec<Task>,
}

impl Board {
    /// Returns a board with a chip on a bus of 25 MHz, and no task yet.
    pub(crate) fn new() -> Self {
        Self { pins: Pins::new(Chip::new(Timing::default(), 0), Rate::default()), tasks: vec![] }
    }

    /// Returns the simulated board, which runs `tasks` from now on.
    pub(crate) fn with(self, tasks: impl IntoIterator<Item = Task>) -> Self {
        Self { tasks: tasks.into_iter().collect(), ..self }
    }

    /// Returns the SPI bus to the simulated W5500, with the select line.
    pub(crate) fn spi(&self) -> Spi {
        self.pins.spi()
    }

    /// Returns the simulated W5500's interrupt line.
    pub(crate) fn interrupt(&self) -> Interrupt {
        self.pins.interrupt()
    }

    /// Returns the simulated W5500's reset line.
    pub(crate) fn reset(&self) -> Reset {
        self.pins.reset()
    }

    /// Runs the simulated chip and the tasks once; returns whether a task had work.
    fn advance(&mut self, now: SimTime) -> bool {
        self.pins.advance(now);
        run_all(&mut self.tasks)
    }

    /// Passes the frames that the W5500 of this board has sent to that of the other board; returns whether there was
    /// one.
    fn pass(&self, to: &Self) -> bool {
        let frames: Vec<_> = std::iter::from_fn(|| self.pins.take()).collect();
        let any = !frames.is_empty();
        frames.into_iter().for_each(|(_, frame)| to.pins.deliver(frame));
        any
    }
}

/// Runs both boards until `done`, and returns the simulated time that has passed.
///
/// # Panics
///
/// After a minute.
pub(crate) fn run(boards: &mut [Board; 2], done: impl Fn() -> bool) -> Duration {
    let mut now = SimTime::ZERO;
    while now.since(SimTime::ZERO) < PATIENCE {
        clock::advance(now);
        settle(boards, now);
        if done() {
            return now.since(SimTime::ZERO);
        }
        let events = boards.iter().map(|board| board.pins.next_event());
        now = now.max(events.fold(clock::next_alarm(), SimTime::min));
    }
    panic!("not done after {PATIENCE:?}");
}

/// Runs both boards until no task has work at the present simulated time.
fn settle(boards: &mut [Board; 2], now: SimTime) {
    for _ in 0..BUSY {
        let busy = boards.iter_mut().fold(false, |busy, board| board.advance(now) | busy);
        let [left, right] = &*boards;
        let moved = left.pass(right) | right.pass(left);
        if !busy && !moved {
            return;
        }
    }
    panic!("the boards do not come to rest");
}
