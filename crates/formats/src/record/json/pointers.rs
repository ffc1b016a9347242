//! JSON pointers (RFC 6901) as a tree, so that one scan of a value follows all of them.
//!
//! An element of an array is found by its index, or by a member of its own, which the standard lacks:
//! `/headers/name=host/value`, as some logs list the headers of a request.

use super::scan::{Controls, Scan, Scanned, members, string};

/// The reference tokens of a pointer.
pub(in crate::record) type Pointer = Vec<Vec<u8>>;

/// Limit on nesting where pointers lead, the same as in `serde_json`. The functions of the tree call
/// themselves for each level.
const DEEPEST: usize = 128;

/// Pointers to follow.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pointers {
    root: Node,
    count: usize,
}

/// A value on the path of pointers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Node {
    /// The pointers that lead to it, by their number.
    ends: Vec<usize>,
    /// Members or elements that pointers lead into, by reference token.
    children: Vec<(Vec<u8>, Node)>,
}

/// Takes the values that pointers lead to.
pub(in crate::record) trait Sink<'a> {
    /// Scans the value that comes next in a scan, to which a pointer leads. Of several the last counts.
    fn take(&mut self, pointer: usize, scan: &mut Scan<'a>) -> Scanned;

    /// A pointer leads to nothing, or into a value that is neither object nor array.
    fn lack(&mut self, pointer: usize, is_of_other_type: bool);
}

impl<'a, F: AsMut<[Found<'a>]>> Sink<'a> for F {
    #[inline]
    fn take(&mut self, pointer: usize, scan: &mut Scan<'a>) -> Scanned {
        self.as_mut()[pointer] = Some(scan.value(Controls::Pass)?);
        Ok(())
    }

    fn lack(&mut self, pointer: usize, is_of_other_type: bool) {
        self.as_mut()[pointer] = is_of_other_type.then_some(b"");
    }
}

/// A value that a pointer leads to, as the text writes it. Empty if the pointer leads into a value that is
/// neither object nor array.
pub(in crate::record) type Found<'a> = Option<&'a [u8]>;

impl Pointers {
    pub(in crate::record) fn new<'p>(pointers: impl IntoIterator<Item = &'p [Vec<u8>]>) -> Self {
        let mut new = Self::default();
        for tokens in pointers {
            let mut node = &mut new.root;
            for token in tokens {
                let place = match node.children.iter().position(|(known, _)| known == token) {
                    Some(place) => place,
                    None => {
                        node.children.push((token.clone(), Node::default()));
                        node.children.len() - 1
                    }
                };
                node = &mut node.children[place].1;
            }
            node.ends.push(new.count);
            new.count += 1;
        }
        new
    }

    /// The value at each pointer, in their order. If a name occurs twice in an object, the last one counts.
    pub(in crate::record) fn read<'a>(&self, text: &'a [u8]) -> Scanned<Vec<Found<'a>>> {
        let (found, end) = self.scan(text, Controls::Fail);
        end.map(|()| found)
    }

    /// The same of a text that was read by other pointers, which may lead to control characters. A text that is
    /// cut gives the values before its end, and an error.
    pub(in crate::record) fn read_again<'a>(&self, text: &'a [u8]) -> (Vec<Found<'a>>, Scanned) {
        self.scan(text, Controls::Pass)
    }

    fn scan<'a>(&self, text: &'a [u8], others: Controls) -> (Vec<Found<'a>>, Scanned) {
        let mut scan = Scan::new(text, others);
        let mut found = vec![None; self.count];
        let end = self.follow(&mut scan, &mut found).and_then(|()| scan.end());
        (found, end)
    }

    /// Follows the pointers through the value that comes next in a scan.
    pub(in crate::record) fn follow<'a>(
        &self,
        scan: &mut Scan<'a>,
        sink: &mut dyn Sink<'a>,
    ) -> Scanned {
        self.root.follow(scan, sink)
    }
}

impl Node {
    fn follow<'a>(&self, scan: &mut Scan<'a>, sink: &mut dyn Sink<'a>) -> Scanned {
        match (&self.ends[..], &self.children[..]) {
            ([], _) => self.enter(scan, sink),
            ([end], []) => sink.take(*end, scan),
            (ends, children) => {
                let value = scan.value(Controls::Pass)?;
                for end in ends {
                    sink.take(*end, &mut Scan::new(value, Controls::Pass))?;
                }
                // A pointer may lead into what another one takes as a whole.
                if children.is_empty() {
                    Ok(())
                } else {
                    self.enter(&mut Scan::new(value, Controls::Pass), sink)
                }
            }
        }
    }

    /// Goes through an object or array.
    fn enter<'a>(&self, scan: &mut Scan<'a>, sink: &mut dyn Sink<'a>) -> Scanned {
        let mut is_first = true;
        if scan.skip(b'{') {
            while let Some(name) = scan.member(is_first)? {
                is_first = false;
                let Some(child) = self.child(&name.content()) else {
                    scan.other()?;
                    continue;
                };
                // The last of several members of one name counts, so what an earlier one gave
                // through this node is taken back.
                if !child.children.is_empty() {
                    child.lack(false, sink);
                }
                child.follow(scan, sink)?;
            }
        } else if scan.skip(b'[') {
            let has_keys = self.children.iter().any(|(token, _)| key(token).is_some());
            let mut index = 0;
            while scan.element(index == 0)? {
                if let Some(child) = self.element(index) {
                    child.follow(scan, sink)?;
                } else {
                    // The member that identifies an element may come after the one that is asked
                    // for, so the element is scanned whole and then read again.
                    let element = scan.other()?;
                    if has_keys && let Some(child) = self.element_with_key(element) {
                        child.follow(&mut Scan::new(element, Controls::Pass), sink)?;
                    }
                }
                index += 1;
            }
        } else {
            let value = scan.other()?;
            self.children.iter().for_each(|(_, child)| child.lack(value != b"null", sink));
        }
        Ok(())
    }

    /// Tells that all pointers through this node lead to nothing.
    fn lack<'a>(&self, is_of_other_type: bool, sink: &mut dyn Sink<'a>) {
        self.ends.iter().for_each(|end| sink.lack(*end, is_of_other_type));
        self.children.iter().for_each(|(_, child)| child.lack(is_of_other_type, sink));
    }

    /// The child of this token.
    fn child(&self, token: &[u8]) -> Option<&Node> {
        self.children.iter().find(|(known, _)| known == token).map(|(_, node)| node)
    }

    /// The child of this index. Section 4: "digits without a leading zero".
    fn element(&self, index: usize) -> Option<&Node> {
        let is_it = |token: &[u8]| {
            let is_canonical = token.len() == 1 || !token.starts_with(b"0");
            let digits = std::str::from_utf8(token).ok().filter(|_| is_canonical);
            // `parse` alone would take `+1`.
            token.iter().all(u8::is_ascii_digit)
                && digits.is_some_and(|digits| digits.parse() == Ok(index))
        };
        self.children.iter().find(|(token, _)| is_it(token)).map(|(_, node)| node)
    }

    /// The child of an element with one of the members that tokens ask for. Case is ignored, as in the names of
    /// headers.
    fn element_with_key(&self, element: &[u8]) -> Option<&Node> {
        let has = |(name, wanted): (&[u8], &[u8])| {
            let named = members(element).filter(|(known, _)| *known == name);
            let value = named.last().and_then(|(_, value)| string(value));
            value.is_some_and(|value| value.eq_ignore_ascii_case(wanted))
        };
        self.children.iter().find(|(token, _)| key(token).is_some_and(has)).map(|(_, node)| node)
    }
}

/// The name and the value in a token `name=value`.
fn key(token: &[u8]) -> Option<(&[u8], &[u8])> {
    let equals = memchr::memchr(b'=', token)?;
    Some((&token[..equals], &token[equals + 1..]))
}

/// Parses a pointer. Section 3: `json-pointer = *( "/" reference-token )`.
pub(super) fn parse(pointer: &str) -> Result<Pointer, &'static str> {
    let Some(tokens) = pointer.strip_prefix('/') else {
        let is_whole = pointer.is_empty();
        return is_whole.then(Vec::new).ok_or("a pointer begins with a slash, as in json:/url");
    };
    let tokens: Pointer = tokens.split('/').map(unescaped).collect::<Result<_, _>>()?;
    if tokens.len() > DEEPEST {
        return Err("a pointer has at most 128 tokens, as JSON is read no deeper");
    }
    Ok(tokens)
}

/// Section 4: "first transforming any occurrence of the sequence '~1' to '/', and then transforming
/// any occurrence of the sequence '~0' to '~'".
fn unescaped(token: &str) -> Result<Vec<u8>, &'static str> {
    let mut out = Vec::new();
    let mut bytes = token.bytes();
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'~' => match bytes.next() {
                Some(b'0') => b'~',
                Some(b'1') => b'/',
                _ => return Err("in a pointer, ~ stands only in ~0 (a tilde) and ~1 (a slash)"),
            },
            byte => byte,
        });
    }
    Ok(out)
}

/// The value at a pointer's tokens, as the text writes it; none if the text is not JSON.
pub(in crate::record) fn at<'a>(text: &'a [u8], tokens: &[impl AsRef<[u8]>]) -> Option<&'a [u8]> {
    let tokens: Pointer = tokens.iter().map(|token| token.as_ref().to_vec()).collect();
    let found = Pointers::new([&tokens[..]]).read(text).ok()?;
    found[0].filter(|value| !value.is_empty())
}
