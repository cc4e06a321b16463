//! Two modelled boards at the ends of a cable, in virtual time. No part of this file runs on a board.

use std::time::Duration;

use embassy_time::Instant;
use outrigger_emulated::SimTime;
use outrigger_emulated::executor::{BUSY, Task, clock, run_all};

use crate::model::{Machine, Port, Seeded};

/// The longest simulated time that a run of the example may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A modelled Ethernet controller with the tasks of its board.
pub(crate) struct Board {
    pub(crate) port: Port,
    pub(crate) tasks: Vec<Task>,
}

/// Returns a modelled Ethernet controller with rings of four and eight descriptors. Random numbers that start from
/// `seed` choose the steps of its DMA between accesses of the core.
pub(crate) fn controller(seed: u64) -> Port {
    Port::new(Machine::new(Seeded(seed), 4, 8))
}

impl Board {
    /// Runs the controller, its interrupt and the tasks once; returns whether a task had work.
    fn advance(&mut self) -> bool {
        {
            let mut machine = self.port.machine.borrow_mut();
            machine.now = Instant::now().as_micros();
            machine.settle();
        }
        self.port.interrupt();
        run_all(&mut self.tasks)
    }

    /// Removes and returns the frames that the controller has sent.
    fn sent(&self) -> Vec<Vec<u8>> {
        let mut machine = self.port.machine.borrow_mut();
        machine.settle();
        std::mem::take(&mut machine.sent)
    }

    fn deliver(&self, frames: Vec<Vec<u8>>) {
        let mut machine = self.port.machine.borrow_mut();
        frames.into_iter().for_each(|frame| machine.arrive_frame(frame));
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
        settle(boards);
        if done() {
            return now.since(SimTime::ZERO);
        }
        now = now.max(clock::next_alarm());
    }
    panic!("not done after {PATIENCE:?}");
}

/// Runs both boards until no task has work at the present simulated time.
fn settle(boards: &mut [Board; 2]) {
    for _ in 0..BUSY {
        let busy = boards.iter_mut().fold(false, |busy, board| board.advance() | busy);
        let [left, right] = &*boards;
        let (to_right, to_left) = (left.sent(), right.sent());
        let moved = !to_right.is_empty() || !to_left.is_empty();
        left.deliver(to_left);
        right.deliver(to_right);
        if !busy && !moved {
            return;
        }
    }
    panic!("the boards do not come to rest");
}
