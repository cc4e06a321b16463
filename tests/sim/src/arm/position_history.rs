//! The measured joint positions of the last control cycles.

use std::collections::VecDeque;

/// Measured joint positions of past control cycles, the newest first.
#[derive(Clone, Debug)]
pub(super) struct Past {
    positions: VecDeque<[f64; 6]>,
    length: usize,
}

impl Past {
    /// Returns a history that stores `length` cycles, at least one. Every entry is `q` at first.
    pub(super) fn new(length: usize, q: [f64; 6]) -> Self {
        Self { positions: VecDeque::from([q]), length: length.max(1) }
    }

    pub(super) fn push(&mut self, q: [f64; 6]) {
        self.positions.truncate(self.length - 1);
        self.positions.push_front(q);
    }

    /// Returns the joint positions `cycles` control cycles ago; `None` if that is longer ago than the history. For
    /// times before the first cycle the result is the arm's start position.
    pub(super) fn get(&self, cycles: usize) -> Option<[f64; 6]> {
        if cycles >= self.length {
            return None;
        }
        self.positions.get(cycles).or(self.positions.back()).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_kept_as_long_as_asked_for() {
        let mut past = Past::new(3, [0.0; 6]);
        for n in 1..6 {
            past.push([f64::from(n); 6]);
        }
        assert_eq!([0, 2, 3].map(|cycles| past.get(cycles).map(|q| q[0])), [Some(5.0), Some(3.0), None]);
        assert_eq!(Past::new(9, [0.5; 6]).get(8), Some([0.5; 6]));
    }
}
