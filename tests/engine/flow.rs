//! All orders in which a few tasks can take their steps, on the real sequencer.
//!
//! The tasks of `crates/engine/src/flow.rs` stand here once more, cut into the steps that others can see: one use of a
//! sequencer, a lane, or the output each. A worker takes tasks from one queue, and after any step another worker may
//! go on. Up to a few times in a run it does though the first one could: that is where mistakes of order show.
//! Each run must end with everything written once and in order, or with a part of it from the start where there is an
//! error, a stop or a change of the set.

use std::collections::VecDeque;
use std::sync::Arc;

use sequencer::Sequencer;

#[path = "../../crates/engine/src/sequencer.rs"]
#[allow(dead_code, reason = "the engine uses all of it")]
mod sequencer;

const BATCHES: u64 = 4;
const LANES: usize = 2;
/// Batches that may be on their way: the ring is full while there are more to read.
const ROOM: usize = 3;

/// What goes wrong, or otherwise than usual.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
enum Event {
    #[default]
    Nothing,
    /// The chunk of this batch makes two.
    Rest(u64),
    /// The set has to change before it takes this batch.
    Change(u64),
    /// This batch cannot be formatted.
    Error(u64),
    /// The run is stopped when so many batches are read.
    Stop(u64),
}

/// A task, at its next step.
#[derive(Debug, Clone)]
enum Task {
    Read(u64),
    Collect,
    /// A batch is on its way into the lanes from this one on.
    Insert(Arc<u64>, usize),
    Serve(usize),
    /// The lane has taken these batches.
    Add(usize, Vec<Arc<u64>>),
    Format(u64),
    Write,
    /// These batches are taken to be written.
    Put(Vec<u64>),
    ReadMore,
}

/// One run.
#[derive(Default)]
struct Run {
    event: Event,
    read: Sequencer<u64>,
    lanes: [Sequencer<Arc<u64>>; LANES],
    formatted: Sequencer<u64>,
    /// Batches that each lane took, and that were written.
    taken: [Vec<u64>; LANES],
    written: Vec<u64>,
    next_read: u64,
    next_batch: u64,
    rest: Option<u64>,
    on_way: usize,
    is_closed: bool,
    has_ended: bool,
    has_changed: bool,
    /// Tasks that no worker has taken yet.
    queue: VecDeque<Task>,
}

impl Run {
    fn new(event: Event) -> Self {
        Self { event, queue: VecDeque::from([Task::ReadMore]), ..Self::default() }
    }

    /// Takes one step of a task. Returns what is left of the task.
    fn step(&mut self, task: Task) -> Option<Task> {
        if self.has_ended {
            return None;
        }
        match task {
            Task::ReadMore => {
                if self.is_closed {
                    return None;
                }
                if let Some(rest) = self.rest.take() {
                    self.queue.push_back(Task::Read(rest));
                } else if self.next_read < BATCHES && self.on_way < ROOM {
                    self.on_way += 1;
                    self.queue.push_back(Task::Read(self.next_read));
                    self.next_read += 1;
                } else {
                    return None;
                }
                Some(Task::ReadMore)
            }
            Task::Read(number) => {
                self.has_ended |= self.event == Event::Stop(number);
                Some(if self.read.put(number, number) { Task::Collect } else { Task::ReadMore })
            }
            Task::Collect => {
                let Some(number) = self.read.take() else { return Some(Task::ReadMore) };
                if self.is_closed || (self.event == Event::Change(number) && !self.has_changed) {
                    self.is_closed = true;
                    self.read.pause(number);
                    return None;
                }
                // Both under the lock of the reader, so one step: nobody can put the rest before the number repeats.
                if self.event == Event::Rest(number) {
                    self.event = Event::Nothing;
                    self.read.repeat();
                    self.rest = Some(number);
                    self.on_way += 1;
                }
                self.next_batch += 1;
                Some(Task::Insert(Arc::new(self.next_batch - 1), 0))
            }
            Task::Insert(batch, lane) if lane < LANES => {
                if self.lanes[lane].push(Arc::clone(&batch)) {
                    self.queue.push_back(Task::Serve(lane));
                }
                Some(Task::Insert(batch, lane + 1))
            }
            Task::Insert(batch, _) => {
                self.hand_on(batch);
                if self.rest.is_some() {
                    self.queue.push_back(Task::ReadMore);
                }
                Some(Task::Collect)
            }
            Task::Serve(lane) => {
                let batches = self.lanes[lane].take_all();
                (!batches.is_empty()).then_some(Task::Add(lane, batches))
            }
            Task::Add(lane, batches) => {
                self.taken[lane].extend(batches.iter().map(|batch| **batch));
                batches.into_iter().for_each(|batch| self.hand_on(batch));
                Some(Task::Serve(lane))
            }
            Task::Format(number) => {
                if self.event == Event::Error(number) {
                    self.has_ended = true;
                    return None;
                }
                self.formatted.put(number, number).then_some(Task::Write)
            }
            Task::Write => {
                let batches = self.formatted.take_all();
                Some(if batches.is_empty() { Task::ReadMore } else { Task::Put(batches) })
            }
            Task::Put(batches) => {
                self.on_way -= batches.len();
                self.written.extend(batches);
                self.queue.push_back(Task::ReadMore);
                Some(Task::Write)
            }
        }
    }

    fn hand_on(&mut self, batch: Arc<u64>) {
        self.queue.extend(Arc::into_inner(batch).map(Task::Format));
    }

    /// Takes all steps with so many workers. `switches` are the steps after which another worker goes on, and how many
    /// workers further. Returns the number of steps.
    fn flow(&mut self, workers: usize, switches: &[(usize, usize)], mut steps: usize) -> usize {
        let mut working: Vec<Option<Task>> = vec![None; workers];
        let mut worker = 0;
        loop {
            for task in working.iter_mut().filter(|task| task.is_none()) {
                *task = self.queue.pop_front();
            }
            // A worker goes on until it has nothing to do.
            let Some(next) =
                (0..workers).map(|n| (worker + n) % workers).find(|n| working[*n].is_some())
            else {
                return steps;
            };
            worker = next;
            working[worker] = working[worker].take().and_then(|task| self.step(task));
            if let Some((_, by)) = switches.iter().find(|(step, _)| *step == steps) {
                worker = (worker + by) % workers;
            }
            steps += 1;
        }
    }
}

/// Runs a flow to its end, and checks it. Returns the number of steps.
fn check(event: Event, workers: usize, switches: &[(usize, usize)]) -> usize {
    let mut run = Run::new(event);
    let mut steps = run.flow(workers, switches, 0);
    let told = || format!("{event:?}, {workers} workers, {switches:?}");
    if run.read.is_paused() {
        // Nothing is on its way but what waits for the change.
        assert_eq!(event, Event::Change(run.next_batch), "{}", told());
        assert_eq!(run.written, (0..run.next_batch).collect::<Vec<_>>(), "{}", told());
        (run.is_closed, run.has_changed) = (false, true);
        if run.read.go_on() {
            run.queue.push_back(Task::Collect);
        }
        run.queue.push_back(Task::ReadMore);
        steps = run.flow(workers, switches, steps);
    }
    let all = BATCHES + u64::from(matches!(event, Event::Rest(_)));
    let in_order: Vec<u64> = (0..all).collect();
    for list in run.taken.iter().chain([&run.written]) {
        assert!(in_order.starts_with(list), "{}: {list:?}", told());
    }
    match event {
        Event::Error(number) => assert!(run.written.len() as u64 <= number, "{}", told()),
        Event::Stop(_) => assert!(run.written.len() < in_order.len(), "{}", told()),
        _ => {
            assert_eq!(run.written, in_order, "{}", told());
            assert_eq!(run.on_way, 0, "{}", told());
        }
    }
    steps
}

/// Checks all runs with up to `left` more switches, all of them after `from`.
fn check_all(
    event: Event,
    workers: usize,
    left: usize,
    switches: &mut Vec<(usize, usize)>,
    runs: &mut u64,
) {
    let steps = check(event, workers, switches);
    *runs += 1;
    if left == 0 {
        return;
    }
    let from = switches.last().map_or(0, |(step, _)| step + 1);
    for step in from..steps {
        for by in 1..workers {
            switches.push((step, by));
            check_all(event, workers, left - 1, switches, runs);
            switches.pop();
        }
    }
}

#[test]
fn every_order_of_steps_writes_all_batches_in_order() {
    let events = [
        Event::Nothing,
        Event::Rest(1),
        Event::Change(0),
        Event::Change(2),
        Event::Error(1),
        Event::Stop(2),
    ];
    std::thread::scope(|scope| {
        for event in events {
            scope.spawn(move || {
                let mut runs = 0;
                for (workers, switches) in [(2, 3), (3, 2)] {
                    check_all(event, workers, switches, &mut Vec::new(), &mut runs);
                }
                assert!(runs > 1_000, "{event:?}: {runs} runs");
            });
        }
    });
}
