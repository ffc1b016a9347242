//! The names that the options of `uniqurl bench` take.

use crate::args;
use uniqurl::internal::Backend;
use uniqurl_bench::corpus::Kind;
use uniqurl_bench::measure::stage::Stage;
use uniqurl_bench::placement::Pin;

/// Largest size of a corpus, which stays in memory together with a copy of it.
const MAX_SIZE: u64 = 64 << 30;

pub(super) fn or_all<T: Copy>(chosen: &[T], all: &[T]) -> Vec<T> {
    if chosen.is_empty() { all.to_vec() } else { chosen.to_vec() }
}

pub(super) fn unique<T: PartialEq>(list: Vec<T>) -> Vec<T> {
    list.into_iter().fold(Vec::new(), |mut unique, item| {
        if !unique.contains(&item) {
            unique.push(item);
        }
        unique
    })
}

/// The corpora for measuring; `sample` is one for tests.
pub(super) const KINDS: [Kind; 5] =
    [Kind::Clean, Kind::Mixed, Kind::Dirty, Kind::Dup, Kind::Access];

pub(super) fn kinds() -> Vec<&'static str> {
    KINDS.iter().map(|kind| kind.name()).collect()
}

pub(super) fn kind(name: String) -> Kind {
    Kind::named(&name).expect("only names of corpora are accepted")
}

pub(super) fn stages() -> Vec<&'static str> {
    Stage::ALL.iter().map(|stage| stage.name()).collect()
}

pub(super) fn stage(name: String) -> Stage {
    Stage::named(&name).expect("only names of stages are accepted")
}

pub(super) fn pins() -> Vec<&'static str> {
    Pin::ALL.iter().map(|pin| pin.name()).collect()
}

pub(super) fn pin(name: String) -> Pin {
    Pin::named(&name).expect("only names of placements are accepted")
}

pub(super) fn backends() -> Vec<&'static str> {
    Backend::ALL.iter().map(|backend| backend.name()).collect()
}

pub(super) fn size(text: &str) -> Result<u64, String> {
    match args::size(text)? {
        0 => Err("nothing can be measured on no bytes".into()),
        bytes if bytes > MAX_SIZE => Err("more than 64G".into()),
        bytes => Ok(bytes),
    }
}
