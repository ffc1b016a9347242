//! What a template reports: which rule found which type where.

use std::ops::Range;

use super::part_type::PartType;

/// The rule that found a part. Numbers are those of [`Template`](crate::Template#rules); rule 2 finds
/// no parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum TemplateRule {
    /// Rule 1: a date over two or three segments.
    DateSegments,
    /// Rule 3: a whole segment, perhaps before file extensions.
    WholeSegment,
    /// Rule 4: a part of a segment.
    Inside,
    /// Rule 5: a whole name of the query.
    QueryName,
    /// Rule 6: a name that stood in braces already.
    Braced,
}

impl TemplateRule {
    /// A few words that say where the part was found.
    pub const fn summary(self) -> &'static str {
        match self {
            TemplateRule::DateSegments => "a date over segments",
            TemplateRule::WholeSegment => "a whole segment",
            TemplateRule::Inside => "inside a segment",
            TemplateRule::QueryName => "a query name",
            TemplateRule::Braced => "a name in braces",
        }
    }
}

/// A part of a URL that a template names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct TypedPart {
    /// Its bytes in the URL.
    pub range: Range<usize>,
    /// The type.
    pub part_type: PartType,
    /// The rule that found it.
    pub rule: TemplateRule,
}
