//! The switches of profiles.

use crate::bytes::FlagSet;
use crate::bytes::names::{flags, names};

/// A set of switches.
pub type Switches = FlagSet<Switch>;

names! {
    /// An optional step of a profile ([`Builder::with`](crate::Builder::with)): first
    /// those that keep something, then the others in the order of their steps.
    Switch "switch"
    KeepUserinfo "keep-userinfo" "credentials stay"
    KeepFragment "keep-fragment" "the fragment stays"
    FoldScheme "fold-scheme" "https becomes http where no port is left"
    StripWww "strip-www" "www. goes from the front of a host while two labels remain"
    LowerPath "lower-path" "the path goes to lower case, but for triplets"
    SqueezeSlashes "squeeze-slashes" "empty segments of the path go"
    StripSession "strip-session" "session ids go from path and query"
    StripIndex "strip-index" "index.html and kin go from the end of the path"
    StripTrailingSlash "strip-trailing-slash" "slashes at the end of the path go, but for the root"
    DropQuery "drop-query" "the query goes"
    StripTracking "strip-tracking" "parameters of the tracking list go"
    BlankValues "blank-values" "parameters keep their names and lose their values"
    SqueezeQuery "squeeze-query" "empty queries and blank parameters go"
    SortQuery "sort-query" "parameters are sorted by name, equal ones in the order they came in"
    KeepEmptySegments "keep-empty-segments" "empty segments of a servlet's path stay"
}

flags!(Switch);

/// Kept by the profiles that compare URLs as identifiers.
pub(crate) const KEPT: Switches = Switches::of(&[Switch::KeepUserinfo, Switch::KeepFragment]);

/// The steps that follow a rung of the ladder.
pub(crate) const STEPS: Switches = Switches::of(&[
    Switch::FoldScheme,
    Switch::StripWww,
    Switch::LowerPath,
    Switch::SqueezeSlashes,
    Switch::StripSession,
    Switch::StripIndex,
    Switch::StripTrailingSlash,
    Switch::DropQuery,
    Switch::StripTracking,
    Switch::BlankValues,
    Switch::SqueezeQuery,
    Switch::SortQuery,
]);

/// The switches of `aggressive` beyond `crawl`. The others cost more than they find: dropping whole
/// queries or all values in them, folding the case of paths, and folding a scheme that is needed for
/// retrieval.
pub(crate) const AGGRESSIVE: Switches = STEPS.without(Switches::of(&[
    Switch::DropQuery,
    Switch::BlankValues,
    Switch::LowerPath,
    Switch::FoldScheme,
]));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_switch_is_found_by_name() {
        for switch in Switch::ALL {
            assert_eq!(switch.to_string().parse::<Switch>(), Ok(*switch));
            assert!(Switches::from(*switch).iter().eq([*switch]));
        }
        assert!("Sort-Query".parse::<Switch>().is_err());
    }
}
