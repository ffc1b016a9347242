//! Every scanner gives the result of the scalar one, under every profile, and the result is a fixed
//! point. The first byte chooses the profile.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use uniqurl::internal::Backend;
use uniqurl::{Normalizer, Profile, Reject};

/// For each profile the scalar normalizer and all others.
static NORMALIZERS: LazyLock<Vec<(Normalizer, Vec<Normalizer>)>> = LazyLock::new(|| {
    let with = |profile, backend| Normalizer::new(profile).with_backend(backend);
    let others =
        |profile| Backend::available().into_iter().map(move |backend| with(profile, backend));
    let profiles = Profile::ALL.iter().copied();
    profiles.map(|profile| (with(profile, Backend::Scalar), others(profile).collect())).collect()
});

fn answer(normalize: impl Fn(&mut Vec<u8>) -> Result<(), Reject>) -> (Result<(), Reject>, Vec<u8>) {
    let mut out = Vec::new();
    (normalize(&mut out), out)
}

fuzz_target!(|data: &[u8]| {
    let Some((&choice, url)) = data.split_first() else { return };
    let (scalar, others) = &NORMALIZERS[choice as usize % NORMALIZERS.len()];
    let of_url = answer(|out| scalar.append(url, out));
    let of_target = answer(|out| scalar.for_targets().append(url, out));
    for other in others {
        let name = (other.profile().name(), other.backend().name());
        assert_eq!(answer(|out| other.append(url, out)), of_url, "{name:?}");
        assert_eq!(
            answer(|out| other.for_targets().append(url, out)),
            of_target,
            "{name:?}: target"
        );
        // `is_clean` is a proof, so no scanner may claim it of any other URL.
        if other.is_clean(url) {
            assert_eq!(of_url, (Ok(()), url.to_vec()), "{name:?}: clean");
        }
    }
    if of_url.0 == Ok(()) {
        assert_eq!(answer(|out| scalar.append(&of_url.1, out)), of_url, "a fixed point");
        let steps = scalar.explain(url).expect("it is no reject");
        let last = steps.last().map_or(url, |step| &step.after);
        assert_eq!(last, of_url.1, "the rules lead to the canonical form");
    }
});
