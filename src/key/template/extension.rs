//! File extensions. `com` is none of them, since domains end in it.

/// The length of the longest extension.
const LONGEST: usize = 8;

/// In order.
const EXTENSIONS: &[&str] = &[
    "3gp", "7z", "aac", "action", "ai", "amp", "apk", "appimage", "arw", "ashx", "asmx", "asp",
    "aspx", "atom", "avi", "avif", "axd", "bat", "bib", "bin", "bmp", "br", "bz2", "cab", "cfm",
    "cgi", "class", "cms", "conf", "cpp", "crt", "csh", "css", "csv", "cur", "dat", "deb", "dll",
    "dmg", "do", "doc", "docm", "docx", "dtd", "eot", "eps", "epub", "exe", "feed", "flac", "flv",
    "gif", "gpx", "gz", "heic", "heif", "htm", "html", "ical", "ico", "ics", "img", "ini", "ipa",
    "ipynb", "iso", "jar", "jfif", "jhtml", "jp2", "jpe", "jpeg", "jpg", "js", "json", "jsonl",
    "jsonld", "jsp", "jspa", "jspx", "jsx", "key", "kml", "kmz", "less", "log", "lz4", "lzma",
    "m3u", "m3u8", "m4a", "m4s", "m4v", "map", "markdown", "md", "mdx", "mht", "mhtml", "min",
    "mjs", "mkv", "mobi", "mov", "mp2", "mp3", "mp4", "mpd", "mpeg", "mpg", "msi", "mspx", "nsf",
    "nupkg", "odp", "ods", "odt", "ogg", "ogv", "opus", "otf", "parquet", "patch", "pcap", "pdf",
    "pem", "phar", "php", "php3", "php4", "php5", "phtml", "pkg", "pl", "png", "pps", "ppt",
    "pptx", "proto", "ps", "psd", "py", "rar", "rb", "rdf", "rpm", "rss", "rst", "rtf", "sass",
    "scss", "sh", "sha1", "sha256", "sha512", "shtm", "shtml", "sig", "sql", "srt", "stm", "svg",
    "svgz", "swf", "tar", "tbz2", "tex", "tgz", "tif", "tiff", "toml", "torrent", "ts", "tsv",
    "tsx", "ttf", "txt", "txz", "vcf", "vtt", "vue", "war", "wasm", "wav", "webm", "webp", "whl",
    "wma", "wmv", "woff", "woff2", "xht", "xhtml", "xls", "xlsm", "xlsx", "xml", "xsd", "xsl",
    "xslt", "xz", "yaml", "yml", "zip", "zst",
];

/// Places for the extensions.
const PLACES: usize = 1024;
/// With this factor each extension is at its place or the one after.
const FACTOR: u64 = 0x9B81_0E76_6EC9_D287;

/// The extensions as words.
static TABLE: [u64; PLACES + 1] = {
    let mut table = [0; PLACES + 1];
    let mut i = 0;
    while i < EXTENSIONS.len() {
        let text = EXTENSIONS[i].as_bytes();
        let (mut word, mut n) = (0, 0);
        while n < text.len() {
            word |= (text[n] as u64) << (8 * n);
            n += 1;
        }
        let at = place(word);
        let at = if table[at] == 0 { at } else { at + 1 };
        assert!(table[at] == 0, "another factor is needed");
        table[at] = word;
        i += 1;
    }
    table
};

const fn place(word: u64) -> usize {
    (word.wrapping_mul(FACTOR) >> (64 - PLACES.trailing_zeros())) as usize
}

/// True if `text` is a file extension, of any case and without its dot.
pub(super) fn is_extension(text: &[u8]) -> bool {
    // Zeros are what a word is padded with.
    is_extension_before(text, text.len(), text.len()) && !text.contains(&0)
}

/// As [`is_extension`], for the last `length` bytes of `text[..end]`, which are literals.
#[inline(always)]
pub(super) fn is_extension_before(text: &[u8], end: usize, length: usize) -> bool {
    (length <= LONGEST) & is_listed(last_word(text, end, length))
}

/// The last `length` bytes of `text[..end]` as a word, padded with zeros, or the last eight.
#[inline(always)]
pub(super) fn last_word(text: &[u8], end: usize, length: usize) -> u64 {
    match text[..end].last_chunk() {
        // For no bytes the shift would be by 64.
        Some(last) if length > 0 => {
            u64::from_le_bytes(*last) >> (8 * (LONGEST - length.min(LONGEST)))
        }
        _ => first_word(&text[end - length..end]),
    }
}

/// Of fewer than eight bytes.
#[cold]
#[inline(never)]
fn first_word(text: &[u8]) -> u64 {
    text.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// The word is text padded with zeros.
#[inline(always)]
fn is_listed(word: u64) -> bool {
    // Lower case differs in one bit. Other bytes that get it are still no letter and no digit.
    let lower = word | (word & 0x4040_4040_4040_4040) >> 1;
    let at = place(lower);
    // No branch: which names have extensions is unpredictable.
    (lower != 0) & ((TABLE[at] == lower) | (TABLE[at + 1] == lower))
}

/// The last dot of `text`, if text stands before it and an extension may follow.
pub(super) fn dot(text: &[u8]) -> Option<usize> {
    let tail = text.len().saturating_sub(LONGEST + 1);
    let dot = tail + text[tail..].iter().rposition(|byte| *byte == b'.')?;
    (dot > 0).then_some(dot)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_are_sorted_and_fit_the_buffer() {
        assert!(EXTENSIONS.is_sorted_by(|a, b| a < b));
        assert_eq!(EXTENSIONS.iter().map(|extension| extension.len()).max(), Some(LONGEST));
    }
}
