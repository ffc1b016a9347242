//! File extensions. `com` is none of them, since domains end in it.

/// The length of the longest extension.
const LONGEST: usize = 8;

/// In order, for a binary search.
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

/// True if `text` is a file extension, of any case and without its dot.
pub(super) fn is_extension(text: &[u8]) -> bool {
    let mut lower = [0; LONGEST];
    let Some(lower) = lower.get_mut(..text.len()) else { return false };
    lower.copy_from_slice(text);
    lower.make_ascii_lowercase();
    EXTENSIONS.binary_search_by(|extension| extension.as_bytes().cmp(lower)).is_ok()
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
