//! The baseline of `scripts/bench-inputs` for reading gzip: the same library, and nothing else.
//! Also writes the archives that it reads.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use flate2::Compression;
use flate2::bufread::{GzDecoder, MultiGzDecoder};
use flate2::write::GzEncoder;

const USAGE: &str = "usage: inflate members FILE THREADS
       inflate stream FILE
       inflate archive URLS BODY FILE
       inflate list URLS FILE

members, stream  unpack a gzip file and print the seconds and the bytes: its members on several
                 threads, their places known before, or all from front to back
archive          writes a WARC file with a member for each URL of a list, and a body of about so many
                 bytes in each
list             writes the list as one gzip member";

/// Bytes of members that a thread takes at once.
const SHARE: u64 = 1 << 20;

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["members", file, threads] => members(file, threads.parse().expect("a number")),
        ["stream", file] => stream(file),
        ["archive", urls, body, file] => archive(urls, body.parse().expect("a number"), file),
        ["list", urls, file] => list(urls, file),
        _ => {
            eprintln!("{USAGE}");
            std::process::exit(2)
        }
    }
}

/// The offsets at which shares of whole members begin, and the end of the file.
fn shares(file: &str) -> io::Result<Vec<u64>> {
    let mut bytes = Vec::new();
    File::open(file)?.read_to_end(&mut bytes)?;
    let (mut rest, mut starts) = (&bytes[..], vec![0]);
    while !rest.is_empty() {
        let at = (bytes.len() - rest.len()) as u64;
        if starts.last().is_some_and(|start| at - start >= SHARE) {
            starts.push(at);
        }
        let mut member = GzDecoder::new(rest);
        io::copy(&mut member, &mut io::sink())?;
        rest = member.into_inner();
    }
    starts.push(bytes.len() as u64);
    Ok(starts)
}

fn members(name: &str, threads: usize) -> io::Result<()> {
    let shares = shares(name)?;
    let begun = Instant::now();
    let file = File::open(name)?;
    let (next, unpacked) = (AtomicUsize::new(0), AtomicU64::new(0));
    let work = || -> io::Result<()> {
        let (mut packed, mut bytes) = (Vec::new(), Vec::new());
        while let Some([start, end]) =
            shares.get(next.fetch_add(1, Ordering::Relaxed)..).and_then(|s| s.first_chunk())
        {
            packed.resize((end - start) as usize, 0);
            file.read_exact_at(&mut packed, *start)?;
            bytes.clear();
            MultiGzDecoder::new(&packed[..]).read_to_end(&mut bytes)?;
            unpacked.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        }
        Ok(())
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
    })?;
    tell(begun, unpacked.into_inner());
    Ok(())
}

fn stream(name: &str) -> io::Result<()> {
    let begun = Instant::now();
    let file = BufReader::with_capacity(64 << 10, File::open(name)?);
    let mut file = MultiGzDecoder::new(file);
    let (mut bytes, mut all) = (vec![0; 64 << 10], 0);
    loop {
        match file.read(&mut bytes)? {
            0 => break,
            read => all += read as u64,
        }
    }
    tell(begun, all);
    Ok(())
}

fn tell(begun: Instant, bytes: u64) {
    println!("{:.4} {bytes}", begun.elapsed().as_secs_f64());
}

fn archive(urls: &str, body: usize, file: &str) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(file)?);
    // A page holds the next links of the list.
    let urls: Vec<String> = BufReader::new(File::open(urls)?).lines().collect::<io::Result<_>>()?;
    for (n, url) in urls.iter().enumerate() {
        let mut page = String::from("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n");
        let mut links = urls.iter().cycle().skip(n + 1);
        while page.len() < body
            && let Some(link) = links.next()
        {
            page.push_str(&format!("<li><a href=\"{link}\">page {}</a></li>\n", link.len()));
        }
        let mut member = GzEncoder::new(&mut out, Compression::default());
        let length = page.len();
        write!(member, "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\n")?;
        write!(member, "Content-Length: {length}\r\n\r\n{page}\r\n\r\n")?;
        member.finish()?;
    }
    out.flush()
}

fn list(urls: &str, file: &str) -> io::Result<()> {
    let mut out = GzEncoder::new(File::create(file)?, Compression::default());
    io::copy(&mut File::open(urls)?, &mut out)?;
    out.finish().map(drop)
}
