//! What tasks make of inputs before their turn.

use std::collections::VecDeque;

/// Results by the number of the input, without gaps from the first on.
pub(super) struct Early<T> {
    first: usize,
    /// None while a task works on it.
    results: VecDeque<Option<T>>,
}

impl<T> Default for Early<T> {
    fn default() -> Self {
        Self { first: 0, results: VecDeque::new() }
    }
}

impl<T> Early<T> {
    pub(super) fn len(&self) -> usize {
        self.results.len()
    }

    /// The input after the last one, if `next` is the one whose turn is next.
    pub(super) fn next_after(&self, next: usize) -> usize {
        if self.results.is_empty() { next } else { self.first + self.results.len() }
    }

    /// Notes that a task works on the input after the last one.
    pub(super) fn expect(&mut self, index: usize) {
        if self.results.is_empty() {
            self.first = index;
        }
        self.results.push_back(None);
    }

    /// Puts the result of a task. It is dropped if the run ends before the turn of the input.
    pub(super) fn put(&mut self, index: usize, result: T) {
        let at = index.checked_sub(self.first);
        if let Some(place) = at.and_then(|at| self.results.get_mut(at)) {
            *place = Some(result);
        }
    }

    /// Whether a task works on this input, which is the next one.
    pub(super) fn is_missing(&self, index: usize) -> bool {
        self.first == index && matches!(self.results.front(), Some(None))
    }

    /// The result for this input, which is the next one.
    pub(super) fn take(&mut self, index: usize) -> Option<T> {
        if self.first != index {
            return None;
        }
        let result = self.results.pop_front()?;
        self.first += 1;
        result
    }
}
