//! Every window of bytes that a kernel function can see, and every small URL.
//!
//! A bit of a mask depends on one byte, a decision about it on the two bytes before or behind it, and on
//! whether an edge of a register lies between them. So each byte, pair and triple at each offset is all that
//! there is to try. An enumeration gives each a number; whoever asks for all of them proves, and whoever
//! asks for some takes a sample.

use uniqurl::internal::{Backend, Span, lines};
use uniqurl::{Normalizer, Profile};

/// A numbered set of URLs.
pub struct Windows {
    pub name: String,
    pub count: u64,
    /// The URL of a number below `count`.
    url: Box<dyn Fn(u64) -> Vec<u8> + Sync>,
}

impl Windows {
    fn new(
        name: &str,
        sizes: &[usize],
        url: impl Fn(&[usize]) -> Vec<u8> + Sync + 'static,
    ) -> Self {
        let sizes = sizes.to_vec();
        Windows {
            name: name.to_owned(),
            count: sizes.iter().map(|size| *size as u64).product(),
            url: Box::new(move |mut number| {
                let digits = sizes.iter().map(|size| {
                    let digit = number % *size as u64;
                    number /= *size as u64;
                    digit as usize
                });
                url(&digits.collect::<Vec<_>>())
            }),
        }
    }

    pub fn url(&self, number: u64) -> Vec<u8> {
        (self.url)(number)
    }
}

/// Before every window; the path is clean.
const FRONT: &[u8] = b"http://h/";
/// Bytes of a URL with a window: two blocks, which are checked unconditionally, and a third.
const LENGTH: usize = 3 * 64 + 7;
/// Offsets before and behind the edges of registers of 16, 32 and 64 bytes.
const EDGES: [usize; 16] = [13, 14, 15, 16, 29, 30, 31, 45, 47, 61, 62, 63, 64, 125, 127, 190];

/// The nearest of them, for what is too many otherwise.
const AT_EDGES: [usize; 8] = [14, 15, 30, 31, 62, 63, 126, 127];

/// A clean URL with a window from `at` on.
fn url_with(windows: &[(usize, &[u8])]) -> Vec<u8> {
    let mut url = FRONT.to_vec();
    url.resize(LENGTH, b'a');
    for (at, window) in windows {
        let room = url.get_mut(*at..).unwrap_or_default();
        let length = window.len().min(room.len());
        room[..length].copy_from_slice(&window[..length]);
    }
    url
}

/// What a vector function tells from a clean byte, or a system's rules do.
const WORDS: [&[u8]; 20] = [
    b"/", b"//", b"/.", b"/..", b"?", b"#", b"%41", b"%2e", b"%2E", b"%2F", b"%c3", b"%Cz", b"%",
    b";", b"&", b"=", b"A", b".", b"\\", b"a",
];

/// The windows, smallest first.
pub fn windows() -> Vec<Windows> {
    let behind = LENGTH - FRONT.len();
    let classes = classes();
    let kinds = classes.len();
    vec![
        Windows::new("each byte at each offset", &[256, LENGTH], |n| {
            url_with(&[(n[1], &[n[0] as u8])])
        }),
        Windows::new("each pair of bytes at edges", &[256, 256, EDGES.len()], |n| {
            url_with(&[(EDGES[n[2]], &[n[0] as u8, n[1] as u8])])
        }),
        Windows::new("each triplet and what is none at each offset", &[256, 256, behind], |n| {
            // Beside another triplet: of a single one vector code decides nothing.
            url_with(&[
                (FRONT.len(), b"%C3"),
                (FRONT.len() + n[2], &[b'%', n[0] as u8, n[1] as u8]),
            ])
        }),
        Windows::new(
            "each triple of classes at each offset",
            &[kinds, kinds, kinds, behind],
            move |n| {
                let triple = [classes[n[0]], classes[n[1]], classes[n[2]]];
                url_with(&[(FRONT.len() + n[3], &triple)])
            },
        ),
        words("each two words beside each other at each offset", (FRONT.len()..LENGTH).collect()),
        Windows::new(
            "each two words at each two edges",
            &[WORDS.len(), WORDS.len(), EDGES.len(), EDGES.len()],
            |n| url_with(&[(EDGES[n[2]], WORDS[n[0]]), (EDGES[n[3]], WORDS[n[1]])]),
        ),
        Windows::new("each byte in each host", &[256, 80, 3], |n| {
            let mut host = vec![b'a'; n[1] + 1];
            host[n[1] / [1, 2, n[1] + 1][n[2]]] = n[0] as u8;
            [b"http://", &host[..], b"/b"].concat()
        }),
        Windows::new("each last byte of each length", &[256, 2 * LENGTH, 2], |n| {
            let scheme = ["http://", "https://"][n[2]];
            [scheme.as_bytes(), b"h/", &vec![b'a'; n[1]], &[n[0] as u8]].concat()
        }),
    ]
}

/// Two words beside each other at the edges of blocks: few enough to try all of them often.
pub fn words_at_edges() -> Windows {
    words("each two words beside each other at edges of blocks", vec![62, 63, 64, 126, 127, 191])
}

/// Two words with up to two bytes between them, from each of these offsets on.
fn words(name: &str, offsets: Vec<usize>) -> Windows {
    Windows::new(name, &[WORDS.len(), WORDS.len(), offsets.len(), 3], move |n| {
        let first = offsets[n[2]];
        let second = first + WORDS[n[0]].len() + n[3];
        url_with(&[(first, WORDS[n[0]]), (second, WORDS[n[1]])])
    })
}

/// Texts of lines: each three of a line feed, a carriage return and another byte at each offset, with one
/// more line end at each offset, between lines, blank lines or carriage returns.
pub fn texts() -> Windows {
    const OTHERS: [&[u8]; 3] = [b"\n", b"\r\n", b"\r"];
    let behind = 2 * 64 + 5;
    Windows::new(
        "each three of a line end's bytes at each offset",
        &[27, behind, 3, behind, 3],
        move |n| {
            let mut text = vec![b"a\n\r"[n[4]]; behind + 3];
            text[n[3]..][..OTHERS[n[2]].len()].copy_from_slice(OTHERS[n[2]]);
            let three = [n[0] % 3, n[0] / 3 % 3, n[0] / 9].map(|symbol| b"a\n\r"[symbol]);
            text[n[1]..][..3].copy_from_slice(&three);
            text
        },
    )
}

/// Whether this backend splits a text into the lines that it has.
pub fn are_lines_of(backend: Backend, text: &[u8]) -> bool {
    let mut spans: Vec<Span> = Vec::new();
    lines(backend, text, &mut spans);
    let whole = text.split_inclusive(|byte| *byte == b'\n').map(|line| match line {
        [line @ .., b'\r', b'\n'] | [line @ .., b'\n'] => line,
        line => line,
    });
    whole.eq(spans.iter().map(|span| span.of(text)))
}

/// Each triple of bytes, at the edges.
pub fn triples() -> Windows {
    Windows::new("each triple of bytes at edges", &[256, 256, 256, AT_EDGES.len()], |n| {
        url_with(&[(AT_EDGES[n[3]], &[n[0] as u8, n[1] as u8, n[2] as u8])])
    })
}

/// One byte of each class. Bytes are of one class if every profile finds a URL with the one clean where
/// that with the other is: in a host, in a path, in a query, behind a slash, as a digit of a triplet.
/// That is what the tables of the vector code say of a byte.
pub fn classes() -> Vec<u8> {
    const AROUND: [(&str, &str); 8] = [
        ("http://h", "x/"),
        ("http://h.", "/"),
        ("http://h/a", "a"),
        ("http://h/", ""),
        ("http://h/?a", "a"),
        ("http://h/%", "1"),
        ("http://h/%C", "a"),
        ("http://h/a?b=%2", "&"),
    ];
    let normalizers: Vec<Normalizer> = Profile::ALL
        .iter()
        .map(|profile| Normalizer::new(*profile).with_backend(Backend::Scalar))
        .collect();
    // These are searched for one by one.
    let searched = |byte: u8| b"/.?#%\r\n&=;".iter().position(|known| *known == byte);
    let signature = |byte: u8| {
        let clean = normalizers.iter().flat_map(|normalizer| {
            AROUND.map(|(before, after)| {
                normalizer.is_clean(&[before.as_bytes(), &[byte], after.as_bytes()].concat())
            })
        });
        (searched(byte), clean.collect::<Vec<_>>())
    };
    let mut known = Vec::new();
    (0..=255)
        .filter(|byte| {
            let signature = signature(*byte);
            let is_new = !known.contains(&signature);
            if is_new {
                known.push(signature);
            }
            is_new
        })
        .collect()
}

/// One of each kind of symbol that some rule tells from another.
const SYMBOLS: &[u8; 14] = b"/.%2eA:?#@;&\\\xE9";
const FRONTS: [&str; 9] =
    ["http://h/", "http://h", "http://", "https://a.b/c", "//", "x:", "x://h/", "file:///", ""];

/// Every URL of `symbols` symbols behind each front.
pub fn small_urls(symbols: usize) -> Windows {
    let mut sizes = vec![SYMBOLS.len(); symbols];
    sizes.push(FRONTS.len());
    Windows::new(&format!("each URL of {symbols} symbols behind each front"), &sizes, |n| {
        let (front, symbols) = n.split_last().expect("a front");
        let symbols = symbols.iter().map(|symbol| SYMBOLS[*symbol]);
        FRONTS[*front].bytes().chain(symbols).collect()
    })
}

/// Every request target of a slash and `symbols` symbols.
pub fn small_targets(symbols: usize) -> Windows {
    Windows::new(
        &format!("each target of a slash and {symbols} symbols"),
        &vec![SYMBOLS.len(); symbols],
        |n| std::iter::once(b'/').chain(n.iter().map(|symbol| SYMBOLS[*symbol])).collect(),
    )
}
