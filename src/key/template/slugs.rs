//! Segments with many values, such as titles, which no type finds: `{slug}`.
//!
//! In: all templates of a run, and how many values may stand under one parent. Out: each template with `{slug}` in the
//! place of the values that are too many. The plain idea is a trie of segments for each host: from the root down, a node
//! with too many values makes all of them `{slug}`, and joins what is below them. Nothing but the set of templates counts.
//!
//! Here a node is a group of templates, sorted by their next segment. A group of few templates is never taken apart, since
//! nothing in it has many values; so a template is looked at only as far as its parents are crowded.

use std::ops::Range;

use memchr::memchr;

use super::extension;
use super::part_type::PartType;
use super::routes::{Routes, path_start, segment_end};
use crate::bytes::{AllocError, alloc};

const SLUG: &[u8] = PartType::Slug.braced().as_bytes();

/// Which segments of templates become `{slug}`.
#[derive(Debug)]
pub struct Slugs {
    /// For each template the last of its segments that do, as an index of `named`; the first stands for none.
    last: Vec<u32>,
    /// The one before it in the same templates, and its number in the path.
    named: Vec<(u32, u32)>,
}

/// A template of a group: its number, and where its next segment starts.
#[derive(Debug, Clone, Copy)]
struct Member {
    number: u32,
    at: u32,
}

/// Templates under one parent.
struct Group {
    members: Range<usize>,
    /// The number of their next segment.
    depth: u32,
    /// The last segment of the parent that became `{slug}`.
    named: u32,
}

impl Slugs {
    /// Names the values where more than `most` different ones stand under the same parent. Paths of declared routes stay
    /// as they are, and their segments do not count.
    ///
    /// ```
    /// use uniqurl::internal::Slugs;
    ///
    /// let templates = [&b"/news/one.html"[..], b"/news/two", b"/news/two/{int}", b"/news/{int}", b"/about"];
    /// for (most, expected) in [(2, &templates[..]), (1, &[b"/{slug}/{slug}.html", b"/{slug}/{slug}", b"/{slug}/{slug}/{int}", b"/{slug}/{int}", b"/{slug}"])] {
    ///     let slugs = Slugs::of(&templates, most, None)?;
    ///     for (number, template) in templates.iter().enumerate() {
    ///         let mut named = Vec::new();
    ///         slugs.append(number, template, &mut named);
    ///         assert_eq!(named, expected[number]);
    ///     }
    /// }
    /// # Ok::<(), uniqurl::internal::AllocError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Memory ran out.
    pub fn of(templates: &[&[u8]], most: u64, routes: Option<&Routes>) -> Result<Self, AllocError> {
        let mut last = Vec::new();
        alloc::try_reserve_exact(&mut last, templates.len())?;
        last.resize(templates.len(), 0);
        let mut all = Vec::new();
        alloc::try_reserve_exact(&mut all, templates.len())?;
        for (number, template) in templates.iter().enumerate() {
            let path = path_start(template);
            // An opaque path has no segments.
            if template.get(path) == Some(&b'/')
                && routes.is_none_or(|routes| routes.find(template).is_none())
            {
                all.push(Member { number: number as u32, at: path as u32 + 1 });
            }
        }
        let text = |member: &Member| templates[member.number as usize];
        let host = |member: &Member| &text(member)[..member.at as usize];
        all.sort_unstable_by(|one, other| host(one).cmp(host(other)));
        let (mut groups, mut start) = (Vec::new(), 0);
        for members in all.chunk_by(|one, other| host(one) == host(other)) {
            groups.push(Group { members: start..start + members.len(), depth: 0, named: 0 });
            start += members.len();
        }
        let mut named = vec![(0, 0)];
        while let Some(Group { members, depth, named: parent }) = groups.pop() {
            let group = &mut all[members.clone()];
            if group.len() as u64 <= most {
                group.iter().for_each(|member| last[member.number as usize] = parent);
                continue;
            }
            let segment = |member: &Member| Segment::at(&text(member)[member.at as usize..]);
            group.sort_unstable_by(|one, other| segment(one).cmp(&segment(other)));
            let values = group.chunk_by(|one, other| segment(one).value == segment(other).value);
            let is_crowded =
                values.filter(|same| !segment(&same[0]).value.is_empty()).count() as u64 > most;
            let mut of_group = parent;
            if is_crowded {
                alloc::try_reserve(&mut named, 1)?;
                of_group = named.len() as u32;
                named.push((parent, depth));
                group.sort_unstable_by(|one, other| {
                    segment(one).named().cmp(&segment(other).named())
                });
            }
            let key = |member: &Member| {
                let segment = segment(member);
                if is_crowded { segment.named() } else { segment }
            };
            let mut start = members.start;
            while start < members.end {
                let first = key(&all[start]);
                let same = all[start..members.end]
                    .iter()
                    .take_while(|member| key(member) == first)
                    .count();
                // Those that go on come to the front, and the others are done.
                let mut end = start;
                for place in start..start + same {
                    let Member { number, at } = all[place];
                    let next = at as usize + segment_end(&text(&all[place])[at as usize..]);
                    if text(&all[place]).get(next) == Some(&b'/') {
                        all[end] = Member { number, at: next as u32 + 1 };
                        end += 1;
                    } else {
                        last[number as usize] = of_group;
                    }
                }
                alloc::try_reserve(&mut groups, 1)?;
                groups.push(Group { members: start..end, depth: depth + 1, named: of_group });
                start += same;
            }
        }
        Ok(Self { last, named })
    }

    /// Appends the template of this number, with its slugs.
    pub fn append(&self, number: usize, template: &[u8], out: &mut Vec<u8>) {
        let mut depths = Vec::new();
        let mut at = self.last[number];
        while at != 0 {
            let (before, depth) = self.named[at as usize];
            depths.push(depth);
            at = before;
        }
        // They were found from the last to the first.
        let (mut start, mut depth) = (path_start(template) + 1, 0);
        let mut written = 0;
        while let Some(next) = depths.pop() {
            while depth < next {
                start += segment_end(&template[start..]) + 1;
                depth += 1;
            }
            let Segment { value, .. } = Segment::at(&template[start..]);
            if !value.is_empty() {
                out.extend_from_slice(&template[written..start]);
                out.extend_from_slice(SLUG);
                written = start + value.len();
            }
        }
        out.extend_from_slice(&template[written..]);
    }
}

/// A segment of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Segment<'t> {
    is_slug: bool,
    /// What may become `{slug}`: the segment without its extensions and its parameters, if it holds a letter or a digit
    /// outside of variables. Else nothing.
    value: &'t [u8],
    rest: &'t [u8],
}

impl<'t> Segment<'t> {
    /// The segment at the start of `text`.
    fn at(text: &'t [u8]) -> Self {
        let segment = &text[..segment_end(text)];
        let mut end = memchr(b';', segment).unwrap_or(segment.len());
        // As many as rule 3 sets aside.
        for _ in 0..2 {
            match extension::dot(&segment[..end]) {
                Some(dot) if extension::is_extension(&segment[dot + 1..end]) => end = dot,
                _ => break,
            }
        }
        let end = if has_text(&segment[..end]) { end } else { 0 };
        let (value, rest) = segment.split_at(end);
        Self { is_slug: false, value, rest }
    }

    /// The same as `{slug}`, if it has a value or is one already.
    fn named(self) -> Self {
        let slug = |rest| Self { is_slug: true, value: &[], rest };
        match self.value {
            [] => self.rest.strip_prefix(SLUG).map_or(self, slug),
            _ => slug(self.rest),
        }
    }
}

/// Whether a letter, a digit or a triplet stands outside of variables.
fn has_text(text: &[u8]) -> bool {
    let mut is_variable = false;
    text.iter().any(|byte| {
        is_variable = *byte == b'{' || is_variable && *byte != b'}';
        !is_variable && (byte.is_ascii_alphanumeric() || *byte == b'%')
    })
}
