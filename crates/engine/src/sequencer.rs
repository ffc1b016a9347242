//! Items that come in any order and are taken in the order of their numbers.
//!
//! Whoever puts an item where the next one was missing serves: it takes items until the next one is missing again.
//! So nobody waits: a task that puts an item while another serves goes on with other work, and the one that serves
//! takes it.
//!
//! ```text
//!          next
//!           ▼
//! numbers   7  8  9  10
//! items     -  8  9  -      put(7): the caller serves, and takes 7, 8 and 9
//! ```

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Items by number, from 0. One task at a time takes them.
#[derive(Debug)]
pub(crate) struct Sequencer<T>(Mutex<Waiting<T>>);

#[derive(Debug)]
struct Waiting<T> {
    /// The number of the first item.
    next: u64,
    /// The items from there on, with gaps.
    items: VecDeque<Option<T>>,
    /// Whether a task takes them.
    is_served: bool,
    /// Whether the items wait until [`Sequencer::go_on`].
    is_paused: bool,
}

impl<T> Default for Sequencer<T> {
    fn default() -> Self {
        let items = VecDeque::new();
        Self(Mutex::new(Waiting { next: 0, items, is_served: false, is_paused: false }))
    }
}

impl<T> Sequencer<T> {
    /// Puts the item of a number. Returns whether the caller has to serve.
    #[must_use]
    pub(crate) fn put(&self, number: u64, item: T) -> bool {
        let mut waiting = self.lock();
        // A number comes again only after `repeat`, so it is never below the next one.
        let at = number.checked_sub(waiting.next).expect("a number that is yet to come") as usize;
        if waiting.items.len() <= at {
            waiting.items.resize_with(at + 1, || None);
        }
        waiting.items[at] = Some(item);
        waiting.begin_to_serve()
    }

    /// Puts an item after all others. Returns whether the caller has to serve.
    #[must_use]
    pub(crate) fn push(&self, item: T) -> bool {
        let mut waiting = self.lock();
        waiting.items.push_back(Some(item));
        waiting.begin_to_serve()
    }

    /// Takes the next item. If it is missing, the caller no longer serves.
    pub(crate) fn take(&self) -> Option<T> {
        let mut waiting = self.lock();
        let item = waiting.take();
        // The server leaves under the same lock under which it found nothing. Otherwise an item that is put in
        // between would find a server, and stay for ever.
        waiting.is_served = item.is_some();
        item
    }

    /// Takes all items up to the first that is missing. If there are none, the caller no longer serves.
    pub(crate) fn take_all(&self) -> Vec<T> {
        let mut waiting = self.lock();
        let items: Vec<T> = std::iter::from_fn(|| waiting.take()).collect();
        waiting.is_served = !items.is_empty();
        items
    }

    /// Has the number of the item that was taken last come once more.
    pub(crate) fn repeat(&self) {
        let mut waiting = self.lock();
        waiting.next -= 1;
        // The gap keeps back the items after it until this number has come once more.
        waiting.items.push_front(None);
    }

    /// Puts the item back that was taken last, and takes none until [`go_on`](Self::go_on). The caller no longer
    /// serves.
    pub(crate) fn pause(&self, item: T) {
        let mut waiting = self.lock();
        waiting.next -= 1;
        waiting.items.push_front(Some(item));
        (waiting.is_served, waiting.is_paused) = (false, true);
    }

    /// Ends the pause. Returns whether the caller has to serve.
    #[must_use]
    pub(crate) fn go_on(&self) -> bool {
        let mut waiting = self.lock();
        waiting.is_paused = false;
        waiting.begin_to_serve()
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.lock().is_paused
    }

    /// What `look` says of the next item, if it is there. It may not use the sequencer.
    pub(crate) fn first<R>(&self, look: impl FnOnce(&T) -> R) -> Option<R> {
        self.lock().items.front()?.as_ref().map(look)
    }

    /// What `measure` says of all items together.
    pub(crate) fn sum(&self, measure: impl Fn(&T) -> usize) -> usize {
        self.lock().items.iter().flatten().map(measure).sum()
    }

    /// No code of others runs under the lock but `measure`, so a panic leaves the items intact.
    fn lock(&self) -> MutexGuard<'_, Waiting<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Waiting<T> {
    fn begin_to_serve(&mut self) -> bool {
        let begins =
            !self.is_served && !self.is_paused && matches!(self.items.front(), Some(Some(_)));
        self.is_served |= begins;
        begins
    }

    fn take(&mut self) -> Option<T> {
        let item = self.items.front_mut()?.take()?;
        self.items.pop_front();
        self.next += 1;
        Some(item)
    }
}
