//! Decisions of the model between the events that are possible at a moment.

use std::cell::RefCell;
use std::rc::Rc;

/// Decides between the events that are possible.
pub(crate) trait Choose {
    /// Returns a number in `0..of`; 0 is "no event".
    fn choose(&mut self, of: usize) -> usize;
}

/// Decides at random from a seed (SplitMix64).
pub(crate) struct Seeded(pub(crate) u64);

impl Choose for Seeded {
    fn choose(&mut self, of: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) % of as u64) as usize
    }
}

/// Enumerates all runs of a model with at most a given number of events; all other decisions are "no event".
#[derive(Clone)]
pub(crate) struct Every {
    /// The decisions of the current run: for each the choice, and the number of possibilities.
    made: Rc<RefCell<Vec<(usize, usize)>>>,
    at: Rc<RefCell<usize>>,
    interventions: usize,
}

impl Every {
    pub(crate) fn new(interventions: usize) -> Self {
        Self { made: Rc::default(), at: Rc::default(), interventions }
    }

    /// Starts the next run; returns `false` if there is none.
    pub(crate) fn next(&self) -> bool {
        *self.at.borrow_mut() = 0;
        let mut made = self.made.borrow_mut();
        while let Some((choice, of)) = made.pop() {
            let left = made.iter().filter(|(choice, _)| *choice != 0).count() < self.interventions;
            if choice + 1 < of && left {
                made.push((choice + 1, of));
                return true;
            }
        }
        false
    }
}

impl Choose for Every {
    fn choose(&mut self, of: usize) -> usize {
        let (mut made, mut at) = (self.made.borrow_mut(), self.at.borrow_mut());
        if *at == made.len() {
            made.push((0, of));
        }
        *at += 1;
        made[*at - 1].0
    }
}
