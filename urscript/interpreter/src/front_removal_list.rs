//! A list whose newest part can be removed from its front while all other indices remain valid.

use std::collections::VecDeque;

/// A list of compiled items: those of a program, and behind them those that interpreter mode adds. The index of an
/// item that [`Growing::forget`] removed is not used again, so it remains invalid.
#[derive(Clone, Debug)]
pub(super) struct Growing<T> {
    fixed: Vec<T>,
    /// The number of items that were removed from the front of `recent`.
    forgotten: usize,
    /// The removable items; `None` until the whole program is compiled, because until then items are pushed to `fixed`.
    recent: Option<VecDeque<T>>,
}

impl<T> Default for Growing<T> {
    fn default() -> Self {
        Self { fixed: Vec::new(), forgotten: 0, recent: None }
    }
}

impl<T> Growing<T> {
    /// Makes all items that are pushed to the list from now on removable.
    pub(super) fn seal(&mut self) {
        self.recent.get_or_insert_default();
    }

    fn recent_at(&self, index: usize) -> Option<usize> {
        index.checked_sub(self.fixed.len())?.checked_sub(self.forgotten)
    }

    pub(super) fn get(&self, index: usize) -> Option<&T> {
        self.fixed.get(index).or_else(|| self.recent.as_ref()?.get(self.recent_at(index)?))
    }

    pub(super) fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        if index < self.fixed.len() {
            return self.fixed.get_mut(index);
        }
        let at = self.recent_at(index)?;
        self.recent.as_mut()?.get_mut(at)
    }

    /// Returns the index of the next item that is pushed to the list.
    pub(super) fn len(&self) -> usize {
        let recent = self.recent.as_ref().map_or(0, VecDeque::len);
        self.fixed.len().saturating_add(self.forgotten).saturating_add(recent)
    }

    pub(super) fn push(&mut self, item: T) {
        match &mut self.recent {
            Some(recent) => recent.push_back(item),
            None => self.fixed.push(item),
        }
    }

    /// Removes the items that were pushed to the list since it had the length `len`.
    pub(super) fn truncate(&mut self, len: usize) {
        let keep = len.saturating_sub(self.fixed.len()).saturating_sub(self.forgotten);
        self.recent.iter_mut().for_each(|recent| recent.truncate(keep));
    }

    /// Removes the removable items of the list whose index is below `before`.
    pub(super) fn forget(&mut self, before: usize) {
        let Some(recent) = &mut self.recent else { return };
        let count = before.saturating_sub(self.fixed.len()).saturating_sub(self.forgotten).min(recent.len());
        recent.drain(..count);
        self.forgotten = self.forgotten.saturating_add(count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_stay_while_the_front_of_the_newest_part_is_forgotten() {
        let mut list = Growing::default();
        list.push('a');
        list.seal();
        "bcd".chars().for_each(|item| list.push(item));
        list.forget(3);
        assert_eq!([0, 1, 2, 3, 4].map(|index| list.get(index).copied()), [Some('a'), None, None, Some('d'), None]);
        list.push('e');
        assert_eq!((list.len(), list.get(4)), (5, Some(&'e')));
        list.truncate(4);
        assert_eq!((list.len(), list.get(4)), (4, None));
        list.forget(0);
        list.forget(100);
        assert_eq!((list.len(), list.get(3), list.get(0)), (4, None, Some(&'a')));
    }
}
