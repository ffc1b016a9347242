//! The parts of the generated URLs. No word holds a digit: the digits of a URL's last token
//! distinguish it from every other URL (see `url.rs`).

/// Words of hosts and paths; a power of two of them.
pub const WORDS: [&str; 128] = [
    "about", "account", "album", "alpha", "amber", "archive", "arrow", "article", "atlas",
    "autumn", "bakery", "basic", "beacon", "bike", "black", "blog", "blue", "board", "book",
    "border", "bridge", "bright", "camera", "canvas", "castle", "catalog", "cedar", "center",
    "chart", "city", "clear", "cloud", "coast", "coffee", "comment", "copper", "corner", "craft",
    "crystal", "daily", "data", "delta", "design", "digital", "direct", "docs", "dragon", "dream",
    "earth", "echo", "edition", "engine", "event", "express", "falcon", "field", "film", "first",
    "forest", "forum", "gallery", "game", "garden", "global", "golden", "grand", "green", "guide",
    "harbor", "health", "history", "home", "house", "image", "index", "island", "journal",
    "kitchen", "lake", "language", "library", "light", "local", "lunar", "market", "media",
    "metro", "mirror", "modern", "mountain", "museum", "music", "network", "news", "north",
    "ocean", "open", "orange", "paper", "park", "people", "photo", "planet", "point", "press",
    "product", "project", "public", "quick", "radio", "record", "report", "river", "school",
    "science", "search", "silver", "smart", "sound", "space", "sport", "stone", "story", "studio",
    "summer", "travel", "valley", "winter",
];

/// The prefix of a host's own labels, and the text that joins its two words.
pub const HOST_SHAPES: [(&str, &str); 16] = [
    ("www.", ""),
    ("www.", ""),
    ("www.", "-"),
    ("www.", ""),
    ("", ""),
    ("", ""),
    ("", "-"),
    ("", ""),
    ("", ""),
    ("blog.", ""),
    ("cdn.", ""),
    ("en.", ""),
    ("m.", ""),
    ("shop.", "-"),
    ("static.", ""),
    ("api.", ""),
];

/// Ends of hosts, by weight.
pub const TLDS: [&str; 16] = [
    ".com", ".com", ".com", ".com", ".com", ".com", ".org", ".org", ".net", ".net", ".de",
    ".co.uk", ".io", ".fr", ".com.br", ".jp",
];

/// A host label as a person types it, and as ToASCII writes it.
pub const IDN_LABELS: [(&str, &str); 6] = [
    ("bücher", "xn--bcher-kva"),
    ("münchen", "xn--mnchen-3ya"),
    ("españa", "xn--espaa-rta"),
    ("例え", "xn--r8jz45g"),
    ("café", "xn--caf-dma"),
    ("пример", "xn--e1afmkfd"),
];

/// Segments that are canonical although they hold more than letters.
pub const ODD_SEGMENTS: [&str; 12] = [
    "~admin",
    "Main_Page",
    "README",
    "@handle",
    "wp-content",
    "a,b",
    "c++",
    "v=latest;lang=en",
    "Talk:Home",
    "Mercury_(planet)",
    "node_modules",
    "O'Hara",
];

/// Words with triplets that are canonical as they stand; each is in the path or the query as it is.
pub const TRIPLET_WORDS: [&str; 12] = [
    "caf%C3%A9",
    "S%C3%A3o_Paulo",
    "%E6%97%A5%E6%9C%AC%E8%AA%9E",
    "hello%20world",
    "a%2Fb",
    "half%25-off",
    "%22quoted%22",
    "left%7Cright",
    "%5Bdraft%5D",
    "C%2B%2B",
    "M%C3%BCnchen",
    "%D0%9C%D0%B8%D1%80",
];

/// Names of query parameters.
pub const PARAMETERS: [&str; 24] = [
    "q",
    "id",
    "page",
    "lang",
    "sort",
    "ref",
    "utm_source",
    "utm_medium",
    "utm_campaign",
    "category",
    "tag",
    "view",
    "type",
    "order",
    "from",
    "to",
    "filter",
    "format",
    "size",
    "color",
    "session",
    "token",
    "redirect",
    "v",
];

/// Ends of file names.
pub const EXTENSIONS: [&str; 10] =
    [".html", ".html", ".php", ".jpg", ".png", ".css", ".js", ".pdf", ".xml", ".aspx"];

/// Fragments; `crawl` drops them all.
pub const FRAGMENTS: [&str; 8] = [
    "#",
    "#top",
    "#content",
    "#section-2",
    "#comments",
    "#/route?x=1",
    "#:~:text=open%20data",
    "#!page",
];

/// Userinfo; `crawl` drops it.
pub const USERINFOS: [&str; 4] = ["user:secret@", "admin@", "anonymous:@", "@"];

/// Lines of a list from which `crawl` gets no URL.
pub const REJECTS: [&str; 10] = [
    "/just/a/path",
    "not a url",
    "//example.com/no-scheme",
    "?query=only",
    "http:/example.com/one-slash",
    "https:\\\\example.com\\backslashes",
    "http://example.com:99999/port",
    "http://example.com:8o/port",
    "http://[::1/unclosed",
    "http:///no-host",
];

/// Blank lines.
pub const BLANKS: [&str; 3] = ["", " ", "\t "];

/// User agents, the most frequent first.
pub const AGENTS: [&str; 12] = [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15",
    "Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
    "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36",
    "curl/8.5.0",
    "python-requests/2.32.3",
    "Go-http-client/1.1",
    "UniversalFeedParser/4.2-pre-314-svn +http://feedparser.org/",
    "-",
];
