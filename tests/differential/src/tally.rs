//! Counts of executions and checks.

use uniqurl::Profile;

/// Profiles in the order of the report.
pub const PROFILES: [&str; Profile::ALL.len()] = {
    let mut names = [""; Profile::ALL.len()];
    let mut i = 0;
    while i < names.len() {
        names[i] = Profile::ALL[i].name();
        i += 1;
    }
    names
};

/// The properties checked for a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Law {
    Backends,
    Bulk,
    Second,
    Ada,
    Idempotent,
    Structure,
    Grammar,
    Bytes,
    Length,
    Apart,
    Respelled,
    NeverSplits,
    Explained,
}

/// The laws in order, each with its sentence.
pub const LAWS: [(Law, &str); 13] = [
    (Law::Backends, "every backend gives what scalar gives"),
    (Law::Bulk, "every backend in bulk gives what scalar gives alone"),
    (Law::Second, "the library gives what its oracle gives"),
    (Law::Ada, "whatwg gives what ada gives"),
    (Law::Idempotent, "n(n(x)) = n(x)"),
    (Law::Structure, "an absent component stays absent"),
    (Law::Grammar, "the output matches Appendix A"),
    (Law::Bytes, "the output is of 0x21-0x7E"),
    (Law::Length, "the output is no longer than the law allows"),
    (Law::Apart, "a reserved byte and its triplet stay apart"),
    (Law::Respelled, "another spelling by the rung's rules comes out equal"),
    (Law::NeverSplits, "a coarser rung never splits"),
    (Law::Explained, "the steps of an explanation lead to the canonical form"),
];

/// Executions of each profile, and checks of each law.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tally {
    laws: [u64; LAWS.len()],
    executed: [u64; PROFILES.len()],
    accepted: [u64; PROFILES.len()],
}

impl Tally {
    pub fn count(&mut self, law: Law, times: usize) {
        self.laws[law as usize] += times as u64;
    }

    pub fn executed(&mut self, profile: &str, times: usize, accepted: usize) {
        let place = PROFILES.iter().position(|name| *name == profile).unwrap();
        self.executed[place] += times as u64;
        self.accepted[place] += accepted as u64;
    }

    pub fn executions(&self) -> u64 {
        self.executed.iter().sum()
    }

    pub fn add(&mut self, other: &Tally) {
        let mut lines = other.lines();
        for count in self.counts() {
            *count += lines.next().unwrap().2;
        }
    }

    /// Every number with its name, in one order.
    pub fn lines(&self) -> impl Iterator<Item = (&'static str, &'static str, u64)> {
        let of = |kind, counts: &[u64; PROFILES.len()]| {
            PROFILES.into_iter().zip(*counts).map(move |(name, count)| (kind, name, count))
        };
        let laws = LAWS.into_iter().zip(self.laws);
        of("executions", &self.executed)
            .chain(of("accepted", &self.accepted))
            .chain(laws.map(|((_, name), count)| ("law", name, count)))
    }

    /// The numbers, in the same order.
    fn counts(&mut self) -> impl Iterator<Item = &mut u64> {
        self.executed.iter_mut().chain(&mut self.accepted).chain(&mut self.laws)
    }

    /// Parses the output of [`Tally::lines`]: lines of three fields with tabs between them.
    pub fn read(lines: &[&str]) -> Option<Tally> {
        let mut tally = Tally::default();
        let names: Vec<_> = tally.lines().map(|(kind, name, _)| (kind, name)).collect();
        if lines.len() != names.len() {
            return None;
        }
        for ((line, (kind, name)), count) in lines.iter().zip(names).zip(tally.counts()) {
            let rest = line.strip_prefix(kind)?.strip_prefix('\t')?.strip_prefix(name)?;
            *count = rest.strip_prefix('\t')?.parse().ok()?;
        }
        Some(tally)
    }
}
