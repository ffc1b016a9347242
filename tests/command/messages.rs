//! The messages of the command: `messages/` holds those of each command, as a shell would show them.
//!
//! Below `$ ` and a command stand the lines of its standard error, without times, and the exit status if it is
//! not 0. `# ` begins a comment. A wrong use writes nothing but its message.
//!
//! `UNIQURL_WRITE=1 cargo test -p uniqurl-cli --test command messages` writes the messages into the files, and
//! takes a new line with a command alone.

use super::Place;
use super::packed::gzip;
use std::fs;
use std::path::Path;

/// Files and stores of every kind that messages are about.
fn place() -> Place {
    let place = Place::with([
        ("in", b"http://a/\n".as_slice()),
        ("other", b"http://b/\n"),
        ("bad", b"x\ny\n"),
        ("paths", b"/a\n"),
        ("some", b"http://b/\nno url\n"),
        ("surts", b"com,a)/\ncom,b)/\n"),
        ("urls", b"http://a/\nhttp://b/\nnowhere\nhttp://c/\n"),
        ("dash", b"-\n"),
        (
            "access.log",
            b"h - - [10/Oct/2025:13:55:36 +0000] \"GET /a HTTP/1.1\" 200 5 \"-\" \"a bot\"\n",
        ),
        ("table.csv", b"url,status\nhttp://a/,200\n"),
        ("table.csv.gz", &gzip(b"url,status\nhttp://a/,200\n")),
        ("names.csv", "größe,a\\b\n1,2\n".as_bytes()),
        ("tabs.csv", b"http://a/\t1\n"),
        ("quoted.tsv", b"\"Address\"\t\"b\"\n\"http://h/a\"\t\"1\"\n"),
        // Files that are not read.
        ("nul", b"http://a/\0http://b/\0"),
        ("returns", b"http://a/\rhttp://b/"),
        ("utf-16", b"\xFF\xFEh\0\n\0"),
        ("sep.csv", b"sep=;\nurl;n\nhttp://a/;1\n"),
        ("sheet.xlsx", b"PK\x03\x04aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
        ("file.zip", &zip_entry("archive/readme.txt")),
        ("file.wacz", &[zip_entry("x"), zip_entry("archive/data.warc.gz")].concat()),
        (
            "file.tar",
            &[&b"list"[..], &[0; 253], b"ustar\x0000", &[0; 248], b"http://a/\n"].concat(),
        ),
        ("twice.gz", &gzip(&gzip(b"http://a/\n"))),
        ("cut.gz", &gzip(b"http://a/\thttp://b/\n")[..20]),
        ("array.json", b"[\n  {\"url\": \"http://h/\"},\n"),
        ("cluster.idx", b"com,e)/ 20240101000000\tcdx-00000.gz\t0\t188224\t1\n"),
        (
            "marked.warc",
            b"\xEF\xBB\xBFWARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n",
        ),
        // Rules, and redirects.
        ("of-ia.toml", b"name = 'a'\nversion = 1\nbase = 'crawl'\n[host.wiki]\nbase = 'ia'\n"),
        ("ports.toml", b"name = 'a'\nversion = 1\nbase = 'crawl'\n[ports]\nhttp = 8080\n"),
        ("unknown.toml", b"name = 'a'\nversions = 1\n"),
        ("binary.toml", b"name = 'a'\nversion = 1\n# \xFF\nbase = 'crawl'\n"),
        ("contradiction", b"http://h/a\thttp://h/b\nhttp://h/a\thttp://h/c\n"),
        ("moved", b"http://x/\thttp://y/\n"),
        ("filters", b"$removeparam=a\n||h.$removeparam=b\n||h^\n"),
        ("others", b"http://x/\thttp://z/\n"),
        // Sets.
        ("unsorted", b"http://b/\nhttp://c/\n\nhttp://a:SECRET@a/\x1b[31m?q\nhttp://d/\n"),
        ("counted", b"2\thttp://a/\n1\thttp://b/\n"),
        ("most", b"1\thttp://a/\n18446744073709551615\thttp://b/\n1\thttp://b/\n"),
    ]);
    fs::create_dir(place.path("empty")).expect("made");
    fs::create_dir(place.path("dir")).expect("made");
    place.write("dir/mine", "mine");
    for arguments in [
        &["--save-seen", "store"][..],
        &["--save-seen", "redirected", "--redirects", "moved"],
        &["-o", "table.parquet"],
        &["--fields", "host,path", "-o", "two.parquet"],
    ] {
        place.run([&["dedup", "-q", "in"], arguments].concat()).exits(0);
    }
    place
}

/// The head of a file in a zip archive.
fn zip_entry(name: &str) -> Vec<u8> {
    let head = [&b"PK\x03\x04"[..], &[0; 22], &[name.len() as u8, 0, 0, 0]].concat();
    [&head, name.as_bytes()].concat()
}

/// What a line says, as its file shows it, and the rules of messages that it breaks.
fn said(place: &Place, line: &str) -> (String, Vec<&'static str>) {
    let before = place.names();
    let run = place.shell(line);
    let (err, status) = (run.err, run.status.expect("no signal"));
    let (mut text, mut broken) = (String::new(), Vec::new());
    let mut rule = |is_kept: bool, rule| broken.extend((!is_kept).then_some(rule));
    rule(status != 2 || run.out.is_empty(), "a failure writes nothing");
    rule(place.names() == before, "a failure leaves no file");
    rule(!err.contains("SECRET"), "secrets are masked");
    let mut may_hint = false;
    for line in err.lines() {
        let (is_summary, is_hint) = (line.starts_with("records "), line.starts_with("hint: "));
        let is_known = line.starts_with("uniqurl: ") || is_summary || (is_hint && may_hint);
        rule(is_known, "a message has one line and at most one hint");
        rule(is_hint || !(line.contains("tip: ") || line.contains("hint: ")), "hints have lines");
        may_hint = line.starts_with("uniqurl: ");
        let time = if is_summary { line.rfind(" in ") } else { None };
        text += &format!("{}\n", &line[..time.unwrap_or(line.len())]);
    }
    broken.dedup();
    (if status == 0 { text } else { format!("{text}[{status}]\n") }, broken)
}

/// Compares the messages of a file with those of its commands.
fn check(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = path.join("../../tests/command/messages").join(name);
    let page = fs::read_to_string(&path).expect(name);
    let place = place();
    let (mut written, mut wrong) = (String::new(), Vec::new());
    for line in page.lines() {
        if line.is_empty() || line.starts_with("# ") {
            written += &format!("{line}\n");
        } else if let Some(command) = line.strip_prefix("$ ") {
            let (text, broken) = said(&place, command);
            wrong.extend(broken.iter().map(|rule| format!("not kept: {rule}: {line}\n{text}")));
            written += &format!("{line}\n{text}");
        }
    }
    if std::env::var_os("UNIQURL_WRITE").is_some() {
        fs::write(path, &written).expect("written");
    } else if written != page {
        let both = written.split("\n$ ").zip(page.split("\n$ "));
        let other = both.filter(|(found, expected)| found != expected);
        wrong.extend(other.map(|(found, expected)| format!("{found}\n\nand not {expected}\n")));
        wrong.push(format!("UNIQURL_WRITE=1 writes {name}"));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn messages_without_a_command() {
    check("uniqurl.txt");
}

#[test]
fn messages_of_dedup() {
    check("dedup.txt");
}

#[test]
fn messages_of_normalize() {
    check("normalize.txt");
}

#[test]
fn messages_of_seen() {
    check("seen.txt");
}

#[test]
fn messages_of_set() {
    check("set.txt");
}

#[test]
fn messages_of_explain() {
    check("explain.txt");
}

#[test]
fn messages_of_compare() {
    check("compare.txt");
}

#[test]
fn messages_of_bench() {
    check("bench.txt");
}

#[test]
fn messages_of_runs_that_succeed() {
    check("warnings.txt");
}

#[test]
fn messages_of_lists() {
    check("lists.txt");
}
