//! `uniqurl set`: union, intersection and difference of sorted sets, streaming.

mod sorted;

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::io::{self, Write};

use crate::args::set::{Operation, SetArgs};
use crate::signals::Signals;
use crate::status::{Status, eprint_hinted, status_of};
use crate::{hints, inputs, open_files};
use sorted::{SetError, SortedSet};
use uniqurl_engine::output::Output;
use uniqurl_formats::input;

/// The reason why nothing was written.
enum SetFailure {
    /// Its message is printed already.
    Reported,
    Message(SetError),
    Output(io::Error),
}

impl From<String> for SetFailure {
    fn from(text: String) -> Self {
        SetFailure::Message(SetError::from(text))
    }
}

impl From<SetError> for SetFailure {
    fn from(error: SetError) -> Self {
        SetFailure::Message(error)
    }
}

impl From<io::Error> for SetFailure {
    fn from(error: io::Error) -> Self {
        SetFailure::Output(error)
    }
}

/// Runs the subcommand.
pub(crate) fn main(set: &SetArgs) -> Status {
    match run(set) {
        Ok(()) => Status::Complete,
        Err(SetFailure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            status_of(Err(error))
        }
        Err(end) => {
            match end {
                SetFailure::Reported => {}
                SetFailure::Message(SetError { text, hint }) => eprint_hinted(text, hint),
                SetFailure::Output(error) => eprint_hinted(&error, hints::of_output(&error)),
            }
            Status::Failed
        }
    }
}

fn run(set: &SetArgs) -> Result<(), SetFailure> {
    let signals = Signals::watch(|| {});
    let signals = signals.map_err(|error| format!("cannot watch for signals: {error}"))?;
    let (inputs, errors) = input::check(&set.files);
    for error in &errors {
        eprint_hinted(error, hints::of_set(error));
    }
    if !errors.is_empty() {
        return Err(SetFailure::Reported);
    }
    inputs::warn_of_emptied(&set.files, &set.output);
    open_files::suffice_for(inputs.len() as u64, "sets")?;
    // Before the sets are opened, so that an output that cannot be written fails at once.
    let mut out = Output::create(&set.output)?;
    let open = |input| SortedSet::open(input, set);
    let sets: Vec<SortedSet> = inputs.iter().map(open).collect::<Result<_, _>>()?;
    merge(sets, set, &mut out)?;
    out.prepare()?;
    signals.hold_off();
    Ok(out.commit()?)
}

/// Writes the keys that `set` asks for. Takes time for each key, and memory for the longest.
fn merge(sets: Vec<SortedSet>, set: &SetArgs, out: &mut impl Write) -> Result<(), SetFailure> {
    let all = sets.len();
    let mut heads = BinaryHeap::with_capacity(all);
    for (place, mut sorted) in sets.into_iter().enumerate() {
        // A set without lines has no head and still counts, since an intersection with it is empty.
        if sorted.advance()? {
            heads.push(Head { sorted, place });
        }
    }
    let (mut key, mut line) = (Vec::new(), Vec::new());
    while let Some(head) = heads.peek() {
        key.clear();
        key.extend_from_slice(head.sorted.key());
        // Each set yields a key only once, so this counts the sets that hold it.
        let (mut holders, mut in_first, mut count) = (0, false, 0u64);
        // The head changes in its place, which sifts it once. To pop and to push it would sift twice.
        while let Some(mut head) = heads.peek_mut()
            && head.sorted.key() == key
        {
            holders += 1;
            in_first |= head.place == 0;
            count = head.sorted.add_to(count)?;
            if !head.sorted.advance()? {
                PeekMut::pop(head);
            }
        }
        let wanted = match set.operation {
            Operation::Union => true,
            Operation::Intersect => holders == all,
            Operation::Diff => in_first && holders == 1,
        };
        if wanted {
            line.clear();
            if set.count {
                write!(line, "{count}\t")?;
            }
            line.extend_from_slice(&key);
            line.push(set.separator().byte());
            out.write_all(&line)?;
        }
    }
    Ok(())
}

/// The next key of a set.
struct Head {
    sorted: SortedSet,
    /// The index of the set.
    place: usize,
}

impl Ord for Head {
    /// Reverses the order of the keys: the heap pops the greatest, and the first key has to come first.
    fn cmp(&self, other: &Self) -> Ordering {
        other.sorted.key().cmp(self.sorted.key())
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Head {}
