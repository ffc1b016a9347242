//! The value of `--limit-by`.

use clap::error::ErrorKind;

use super::DedupArgs;
use crate::args::suggestions::suggest;
use crate::args::{number, usage};
use uniqurl_engine::{Group, LimitBy};

/// Reads `GROUP:N`.
pub(super) fn limit_by(text: &str) -> Result<LimitBy, String> {
    let (name, most) = text.split_once(':').unwrap_or((text, ""));
    let group = Group::ALL.into_iter().find(|group| group.name() == name);
    let group = group.ok_or("expected template:N, domain:N, host:N or path:N")?;
    let most = number(1u64..)(most).map_err(|error| format!("N is {error}"))?;
    Ok(LimitBy { group, most })
}

impl DedupArgs {
    /// Rejects a group that the key does not tell.
    pub(super) fn check_limit_by(&self) -> Result<(), clap::Error> {
        let key = self.common.key();
        match self.limit_by {
            Some(LimitBy { group, .. }) if !group.is_told_by(key) => {
                let name = group.name();
                let message =
                    format!("--limit-by {name}:N needs a {name}, which --key {key} does not tell");
                let mut error = usage("dedup", ErrorKind::ArgumentConflict, message);
                suggest(&mut error, "leave --key out, or use --key url".into());
                Err(error)
            }
            _ => Ok(()),
        }
    }
}
