//! JSON pointers (RFC 6901) as a tree, so that one pass over a value follows all of them.

use super::super::part::RecordPart;
use super::slow_path::DEEPEST;

/// The uses of a value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Node {
    /// The parts that the value gives, each with its rank among the pointers to that part.
    pub parts: Vec<(RecordPart, usize)>,
    /// Members or elements that pointers lead into, by reference token.
    pub children: Vec<(Vec<u8>, Node)>,
}

impl Node {
    /// Adds a pointer to a part.
    pub fn add(
        &mut self,
        pointer: &str,
        part: RecordPart,
        rank: usize,
    ) -> Result<(), &'static str> {
        let mut node = self;
        // Section 3: `json-pointer = *( "/" reference-token )`.
        let tokens = match pointer.strip_prefix('/') {
            Some(tokens) => Some(tokens.split('/')),
            None if pointer.is_empty() => None,
            None => {
                return Err("a pointer begins with a slash, as in json:/url");
            }
        };
        for (depth, token) in tokens.into_iter().flatten().enumerate() {
            // No value is read from deeper, and functions of the tree call themselves for each level.
            if depth == DEEPEST {
                return Err("a pointer has at most 128 tokens, as JSON is read no deeper");
            }
            let token = unescaped(token)?;
            let place = match node.children.iter().position(|(known, _)| *known == token) {
                Some(place) => place,
                None => {
                    node.children.push((token, Node::default()));
                    node.children.len() - 1
                }
            };
            if !node.parts.is_empty() {
                return Err("one pointer leads into what another one takes as a whole");
            }
            node = &mut node.children[place].1;
        }
        if !node.children.is_empty() {
            return Err("one pointer leads into what another one takes as a whole");
        }
        node.parts.push((part, rank));
        Ok(())
    }

    /// True if the value is the URL itself.
    pub fn is_url(&self) -> bool {
        matches!(self.parts[..], [(RecordPart::Url, _)])
    }

    /// True if the value or one in it is such a part.
    pub fn gives(&self, is: impl Fn(RecordPart) -> bool + Copy) -> bool {
        self.parts.iter().any(|(part, _)| is(*part))
            || self.children.iter().any(|(_, child)| child.gives(is))
    }

    /// The pointers to a part, as tokens.
    pub fn pointers_to(&self, part: RecordPart) -> Vec<Vec<&[u8]>> {
        let own = self.parts.iter().any(|(other, _)| *other == part).then(Vec::new);
        let below = self.children.iter().flat_map(|(token, child)| {
            let mut pointers = child.pointers_to(part);
            pointers.iter_mut().for_each(|pointer| pointer.insert(0, token));
            pointers
        });
        own.into_iter().chain(below).collect()
    }

    /// True if the URL needs none of the values at this node or below it.
    pub fn is_aside(&self) -> bool {
        let aside = |part| {
            use RecordPart::{Method, Mime, Port, Scheme, Status};
            matches!(part, Scheme | Port | Method | Status | Mime)
        };
        self.parts.iter().all(|(part, _)| aside(*part))
            && self.children.iter().all(|(_, child)| child.is_aside())
    }

    /// True if the value gives the scheme.
    pub fn says_scheme(&self) -> bool {
        self.parts.iter().any(|(part, _)| *part == RecordPart::Scheme)
    }

    /// True if the pointer of this rank to a part leads to or through this node.
    pub fn holds(&self, part: RecordPart, rank: usize) -> bool {
        self.parts.contains(&(part, rank))
            || self.children.iter().any(|(_, child)| child.holds(part, rank))
    }

    /// True if the pointer to a query leads to or through the value at these tokens.
    pub fn holds_query(&self, tokens: &[Vec<u8>]) -> bool {
        match tokens.split_first() {
            Some((token, rest)) => self.child(token).is_some_and(|child| child.holds_query(rest)),
            None => {
                self.parts.iter().any(|(part, _)| part.is_query())
                    || self.children.iter().any(|(_, child)| child.holds_query(&[]))
            }
        }
    }

    /// The child of this token.
    pub fn child(&self, token: &[u8]) -> Option<&Node> {
        self.children.iter().find(|(known, _)| known == token).map(|(_, node)| node)
    }

    /// The child of this index. Section 4: "digits without a leading zero".
    pub fn element(&self, index: usize) -> Option<&Node> {
        let mut digits = [0; 20];
        let mut at = digits.len();
        let mut rest = index;
        loop {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        self.child(&digits[at..])
    }
}

/// Section 4: "first transforming any occurrence of the sequence '~1' to '/', and then transforming
/// any occurrence of the sequence '~0' to '~'".
pub(super) fn unescaped(token: &str) -> Result<Vec<u8>, &'static str> {
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
