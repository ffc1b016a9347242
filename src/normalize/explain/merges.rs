//! Explains the heuristic merges: applies the switches one by one until none changes anything.

use super::rule::Rule;
use crate::normalize::exact::heuristic::Heuristics;
use crate::normalize::trace::Trace;
use crate::profile::Switch;
use crate::simd::UrlKind;

/// The rule of each switch, in the order in which they act. Lists of parameters have none.
const STEPS: &[(Rule, Option<Switch>)] = &[
    (Rule::FoldScheme, Some(Switch::FoldScheme)),
    (Rule::StripWww, Some(Switch::StripWww)),
    (Rule::LowerPath, Some(Switch::LowerPath)),
    (Rule::SqueezeSlashes, Some(Switch::SqueezeSlashes)),
    (Rule::StripSession, Some(Switch::StripSession)),
    (Rule::StripIndex, Some(Switch::StripIndex)),
    (Rule::StripTrailingSlash, Some(Switch::StripTrailingSlash)),
    (Rule::DropQuery, Some(Switch::DropQuery)),
    (Rule::ListedParameters, None),
    (Rule::StripTracking, Some(Switch::StripTracking)),
    (Rule::BlankValues, Some(Switch::BlankValues)),
    (Rule::SqueezeQuery, Some(Switch::SqueezeQuery)),
    (Rule::SortQuery, Some(Switch::SortQuery)),
];

/// Rounds in which each rule acts alone. A path like `/index.html/index.html/` takes one round for each
/// segment, so after this many rounds the next rule that acts is shown with all remaining changes.
const ROUNDS: usize = 16;

/// Reports each rule that acts on a URL or target in the canonical form of its rung. The exact path applies
/// all rules at once; here the same functions apply each rule alone.
pub(in crate::normalize) fn tell(
    all: &Heuristics,
    mut text: Vec<u8>,
    kind: UrlKind,
    trace: &mut impl Trace,
) {
    let rewritten = |heuristics: &Heuristics, text: &[u8]| {
        let mut out = text.to_vec();
        heuristics.rewrite(0, kind, &mut out);
        out
    };
    let end = rewritten(all, &text);
    let steps: Vec<_> = STEPS.iter().map(|(rule, switch)| (*rule, all.alone(*switch))).collect();
    for round in 0..=ROUNDS {
        let mut acted = false;
        for (rule, step) in steps.iter().filter(|(_, step)| step.act()) {
            if text == end {
                return;
            }
            let mut after = rewritten(step, &text);
            if after != text {
                if round == ROUNDS {
                    after.clone_from(&end);
                }
                text = after;
                acted = true;
                trace.whole(*rule, &text);
            }
        }
        if !acted {
            return;
        }
    }
}
