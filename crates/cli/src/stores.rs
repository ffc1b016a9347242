//! The stores of a run: those in which it looks its keys up, and the one that it changes.

use std::path::PathBuf;
use std::sync::Arc;

use crate::status::eprint_message;
use uniqurl_engine::SeenBefore;
use uniqurl_engine::output::place;
use uniqurl_store::seen::{
    Changed, Novelty, PreparedRun, RunBuilder, SeenStore, SeenStoreError, SeenWriter, StoreRules,
    UnixTime, WhenBusy,
};

/// The stores that the arguments name.
#[derive(Debug, Default)]
pub(crate) struct StoreOptions {
    /// Stores of `--seen`.
    pub(crate) before: Vec<PathBuf>,
    /// How many seconds ago a key was added at most, if it counts.
    pub(crate) max_age: Option<u64>,
    pub(crate) change: Option<StoreChange>,
}

/// The change of a store by a run.
#[derive(Debug)]
pub(crate) struct StoreChange {
    pub(crate) store: PathBuf,
    pub(crate) kind: ChangeKind,
    pub(crate) when_busy: WhenBusy,
}

/// Which keys come or go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChangeKind {
    /// Those that the run writes come. It writes none that are in the store.
    AddWritten,
    /// Those of the inputs come.
    Add,
    /// Those of the inputs go.
    Remove,
}

impl StoreOptions {
    /// Whether keys are looked up in a store.
    pub(crate) fn are_asked(&self) -> bool {
        !self.before.is_empty() || self.adds_written()
    }

    /// Whether the run writes no URLs, because it only changes a store.
    pub(crate) fn only_change(&self) -> bool {
        self.change.is_some() && !self.adds_written()
    }

    fn adds_written(&self) -> bool {
        self.change.as_ref().is_some_and(|change| change.kind == ChangeKind::AddWritten)
    }
}

/// The same stores, open.
#[derive(Debug, Default)]
pub(crate) struct Stores {
    pub(crate) before: Vec<SeenBefore>,
    change: Option<OpenChange>,
}

#[derive(Debug)]
struct OpenChange {
    writer: SeenWriter,
    kind: ChangeKind,
    novelty: Novelty,
}

impl Stores {
    /// Opens the stores, and takes the right to write before it reads: two runs at once would else take the
    /// same keys for new.
    ///
    /// # Errors
    ///
    /// A store is missing, damaged or busy, or has other rules than these.
    pub(crate) fn open(options: &StoreOptions, rules: &StoreRules) -> Result<Self, SeenStoreError> {
        let now = UnixTime::now().0;
        // An age may reach back to before 1970.
        let since = options.max_age.map(|age| UnixTime(now.saturating_sub(age)));
        let mut stores = Self::default();
        // That store is opened below: it need not be there yet.
        let own = options.change.as_ref().filter(|_| options.adds_written());
        let own = own.map(|change| place(&change.store));
        for path in options.before.iter().filter(|path| own.as_ref() != Some(&place(path))) {
            let store = SeenStore::open(path)?;
            store.check_rules(rules)?;
            stores.before.push(SeenBefore { store: Arc::new(store), since });
        }
        let Some(StoreChange { store, kind, when_busy }) = &options.change else {
            return Ok(stores);
        };
        let writer = match kind {
            ChangeKind::AddWritten | ChangeKind::Add => {
                SeenWriter::create_or_open(store, rules, *when_busy)?
            }
            ChangeKind::Remove => {
                let writer = SeenWriter::open(store, *when_busy)?;
                writer.store().check_rules(rules)?;
                writer
            }
        };
        if *kind == ChangeKind::AddWritten {
            let store = Arc::new(SeenStore::open(store)?);
            stores.before.push(SeenBefore { store, since });
        }
        // Keys that were looked up are new, unless they were only too old.
        let novelty = match (kind, since) {
            (ChangeKind::AddWritten, None) => Novelty::AllNew,
            _ => Novelty::Unknown,
        };
        stores.change = Some(OpenChange { writer, kind: *kind, novelty });
        Ok(stores)
    }

    /// Begins the change. It does nothing if it is dropped.
    ///
    /// # Errors
    ///
    /// The store cannot be written.
    pub(crate) fn begin(&self) -> Result<Option<RunBuilder<'_>>, SeenStoreError> {
        let Some(change) = &self.change else { return Ok(None) };
        let begun = match change.kind {
            ChangeKind::AddWritten | ChangeKind::Add => {
                change.writer.begin_add(UnixTime::now(), change.novelty)
            }
            ChangeKind::Remove => change.writer.begin_removal(),
        };
        begun.map(Some)
    }

    /// Makes the change, and merges within `memory` bytes. What fails after the change is a warning.
    ///
    /// # Errors
    ///
    /// The manifest cannot be renamed, and nothing is changed.
    pub(crate) fn commit(
        self,
        run: Option<PreparedRun>,
        memory: usize,
    ) -> Result<(), SeenStoreError> {
        let (Some(OpenChange { mut writer, .. }), Some(run)) = (self.change, run) else {
            return Ok(());
        };
        warn(writer.commit(run, memory)?);
        Ok(())
    }
}

/// Prints the warning of a change, if it has one, and returns the number of keys.
pub(crate) fn warn(Changed { keys, warning }: Changed) -> u64 {
    if let Some(warning) = warning {
        eprint_message(format_args!("warning: {warning}"));
    }
    keys
}
