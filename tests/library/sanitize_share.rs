//! The share of real URLs that each check of `sanitize` refuses, as docs/profiles.md states it.

use crate::shared::{say, unpacked};
use uniqurl::{Normalizer, Profile, RejectReason};

#[test]
#[ignore = "needs ../shared"]
fn sanitize_refuses_at_most_one_in_2000_real_urls() {
    let text = unpacked("urls.txt.gz");
    let scheme = Normalizer::new(Profile::Scheme);
    let plain = Normalizer::new(Profile::Sanitize);
    let off = Profile::Sanitize.checks_off();
    let strict = plain.clone().with_denied(off.iter()).unwrap();
    let (mut accepted, mut refused) = (0u32, 0u32);
    let checks: Vec<RejectReason> = Profile::Sanitize.checks().iter().collect();
    let mut counts = vec![0u32; checks.len()];
    for url in text.split(|byte| *byte == b'\n') {
        let url = url.strip_suffix(b"\r").unwrap_or(url);
        let mut out = Vec::new();
        if scheme.append(url, &mut out) != Ok(()) {
            continue;
        }
        accepted += 1;
        refused += u32::from(plain.append(url, &mut out) != Ok(()));
        if let Err(reject) = strict.append(url, &mut out) {
            for (check, count) in checks.iter().zip(&mut counts) {
                *count += u32::from(reject.codes.contains(*check));
            }
        }
    }
    let share = |count: u32| f64::from(count) / f64::from(accepted) * 100.0;
    let rows = checks.iter().zip(&counts);
    let rows: Vec<String> =
        rows.map(|(check, count)| format!("{check} {count} ({:.4} %)", share(*count))).collect();
    say(&format!(
        "{accepted} URLs; by default {refused} ({:.4} %); {}",
        share(refused),
        rows.join(", ")
    ));
    assert!(share(refused) <= 0.05, "{refused} of {accepted}");
}
