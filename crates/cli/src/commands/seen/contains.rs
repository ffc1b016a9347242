//! `uniqurl seen contains`: which URLs are in a store.
//!
//! URLs are looked up many at a time, since the store reads each of its blocks once for all of them. Standard
//! input is read in such portions, so memory does not grow with it.

use std::io::{self, BufRead, BufWriter, Write};
use std::sync::Arc;

use super::failure::SeenFailure;
use crate::args::seen::ContainsArgs;
use crate::status::Status;
use uniqurl::key::Routes;
use uniqurl::{Key, Normalizer};
use uniqurl_store::seen::{SeenStore, StoreRules};
use uniqurl_text::Printable;

/// URLs that are looked up at a time, and their bytes.
const AT_ONCE: usize = 1 << 16;
const BYTES_AT_ONCE: usize = 16 << 20;

/// Runs the subcommand.
pub(super) fn main(args: &ContainsArgs) -> Result<Status, SeenFailure> {
    let normalizer = args.normalizer().map_err(SeenFailure::Usage)?;
    let routes = args.routes.read().map_err(SeenFailure::Usage)?;
    let store = SeenStore::open(&args.store)?;
    store.check_rules(&StoreRules::of(&normalizer, args.key, routes.as_deref()))?;
    let mut asked =
        Asked { store, normalizer, key: args.key, routes, urls: Vec::new(), bytes: 0, all: true };
    let mut out = BufWriter::new(io::stdout().lock());
    for url in &args.urls {
        if url == "-" {
            let mut lines = io::stdin().lock();
            let mut line = Vec::new();
            while lines.read_until(b'\n', &mut line)? > 0 {
                let url = line.strip_suffix(b"\n").unwrap_or(&line);
                // Lists from Windows end their lines with CR and LF.
                let url = url.strip_suffix(b"\r").unwrap_or(url);
                if !url.is_empty() {
                    asked.push(url, &mut out)?;
                }
                line.clear();
            }
        } else {
            asked.push(url.as_encoded_bytes(), &mut out)?;
        }
    }
    asked.answer(&mut out)?;
    out.flush()?;
    Ok(if asked.all { Status::Complete } else { Status::Incomplete })
}

/// URLs that are to be looked up.
struct Asked {
    store: SeenStore,
    normalizer: Normalizer,
    key: Key,
    routes: Option<Arc<Routes>>,
    /// Each URL with its key; without one, the URL is rejected.
    urls: Vec<(Vec<u8>, Option<Vec<u8>>)>,
    /// Bytes of these.
    bytes: usize,
    /// Whether all URLs so far are in the store.
    all: bool,
}

impl Asked {
    fn push(&mut self, url: &[u8], out: &mut impl Write) -> Result<(), SeenFailure> {
        let mut scratch = Vec::new();
        let mut bytes = Vec::new();
        let canonical = self.normalizer.canonical(url, &mut scratch).ok();
        let canonical = canonical.filter(|url| self.key.takes(url.as_bytes()));
        let key = canonical.map(|url| {
            self.key.append_by(self.routes.as_deref(), url.as_bytes(), &mut bytes);
            bytes
        });
        self.bytes += url.len() + key.as_ref().map_or(0, Vec::len);
        self.urls.push((url.to_vec(), key));
        if self.urls.len() < AT_ONCE && self.bytes < BYTES_AT_ONCE {
            return Ok(());
        }
        self.answer(out)
    }

    /// Writes a line for each URL.
    fn answer(&mut self, out: &mut impl Write) -> Result<(), SeenFailure> {
        let mut keys: Vec<&[u8]> = self.urls.iter().filter_map(|(_, key)| key.as_deref()).collect();
        // The store is asked in order, and for each key once.
        keys.sort_unstable();
        keys.dedup();
        let found = self.store.look_up(&keys[..], None)?;
        for (url, key) in &self.urls {
            let is_seen =
                // Found by search, since the lines go out in the order of the URLs.
                key.as_deref().map(|key| keys.binary_search(&key).is_ok_and(|index| found[index]));
            let answer = match is_seen {
                Some(true) => "seen",
                Some(false) => "new",
                None => "rejected",
            };
            self.all &= is_seen == Some(true);
            writeln!(out, "{answer}\t{}", Printable(url))?;
        }
        self.urls.clear();
        self.bytes = 0;
        Ok(())
    }
}
