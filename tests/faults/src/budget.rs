//! The memory budget: input that would fill the memory of a careless program.

use crate::place::Place;
use crate::{Extent, Row, Torture};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Memory a process may use besides its budget.
const BESIDE: u64 = 80 << 20;

/// Extra memory for the code of an unoptimized build, which short runs use.
const UNOPTIMIZED: u64 = 12 << 20;

/// A run that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(1800);

/// Memory that each thread may use besides.
const BESIDE_THREAD: u64 = 12 << 20;

/// How a run ended.
pub struct End {
    pub code: Option<i32>,
    /// The largest resident size, polled every millisecond.
    pub peak: u64,
    pub said: String,
    time: Duration,
}

/// The most that a run on so many threads may hold.
pub fn promised(extent: Extent, budget: u64, threads: u64) -> u64 {
    let beside = BESIDE + threads * BESIDE_THREAD;
    budget + beside + if extent == Extent::Short { UNOPTIMIZED } else { 0 }
}

/// Runs to the end while feeding standard input.
pub fn run(
    command: &mut Command,
    feed: impl FnOnce(&mut dyn Write) -> io::Result<()> + Send,
) -> Result<End, String> {
    let start = Instant::now();
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let (input, mut errors) = (child.stdin.take(), child.stderr.take());
    thread::scope(|scope| {
        // A run that refuses its input closes the pipe.
        scope.spawn(move || input.map(|input| feed(&mut BufWriter::with_capacity(1 << 20, input))));
        let said = scope.spawn(move || {
            let mut said = String::new();
            let _ = errors.as_mut().map(|errors| errors.read_to_string(&mut said));
            said
        });
        let (code, peak) = watch(&mut child, start)?;
        Ok(End { code, peak, said: said.join().expect("read"), time: start.elapsed() })
    })
}

/// Waits for the end. Returns the status and the peak.
fn watch(child: &mut Child, start: Instant) -> Result<(Option<i32>, u64), String> {
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    loop {
        if let Some(kibibytes) = fs::read_to_string(&status).ok().as_deref().and_then(high_water) {
            peak = peak.max(kibibytes << 10);
        }
        if let Some(status) = child.try_wait().expect("waited for") {
            return Ok((status.code(), peak));
        }
        if start.elapsed() > LIMIT {
            let _ = child.kill();
            let _ = child.wait();
            return Err("it hangs".to_owned());
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// `VmHWM` of a process, in KiB.
fn high_water(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

/// Records a run that held more than it may on so many threads, or did not exit with `code`. Gives how it ended.
pub fn judge(
    extent: Extent,
    row: &mut Row,
    what: &str,
    (budget, threads): (u64, u64),
    code: i32,
    end: Result<End, String>,
) -> Option<End> {
    let end = match end {
        Ok(end) => end,
        Err(why) => {
            row.broken.push(format!("{what}: {why}"));
            return None;
        }
    };
    let most = promised(extent, budget, threads);
    if end.peak > most {
        row.broken.push(format!("{what}: peak of {} MB, of {}", mega(end.peak), mega(most)));
    }
    if end.code != Some(code) {
        row.broken.push(format!("{what}: status {:?}, and it said {:?}", end.code, end.said));
    }
    Some(end)
}

/// Without -j the command has a thread for each core.
fn cores() -> u64 {
    thread::available_parallelism().map_or(1, |threads| threads.get() as u64)
}

/// Writes `size` bytes of one line.
fn line(size: u64, out: &mut dyn Write) -> io::Result<()> {
    let block = [b'a'; 1 << 16];
    for _ in 0..size >> 16 {
        out.write_all(&block)?;
    }
    out.flush()
}

/// A single line as long as the input.
pub fn one_line(torture: &mut Torture) -> Row {
    let mut row = Row::new("a line without end: rejected in constant memory, what follows it read");
    let place = Place::new(torture, "line", 10);
    let size: u64 = if torture.extent == Extent::Full { 10 << 30 } else { 64 << 20 };
    let budget = 16 << 20;
    let mut command = place.command(&torture.command);
    let end = run(command.args(["dedup", "--memory", "16M", "-o", "out"]), |input| {
        line(size, input)?;
        input.write_all(b"\nhttp://a.example/\n")?;
        input.flush()
    });
    if let Some(end) = judge(torture.extent, &mut row, "the line", (budget, cores()), 0, end) {
        if place.read("out") != b"http://a.example/\n" || !end.said.contains("rejected 1 ") {
            row.broken.push(format!("it made {:?} of it", end.said));
        }
        row.figure =
            format!("{} MB; peak {} MB of {}", size / 1_000_000, mega(end.peak), mega(budget));
    }
    row
}

/// Small files that unpack to a lot, and a window larger than the budget.
pub fn bombs(torture: &mut Torture) -> Row {
    let mut row =
        Row::new("bombs of gzip and zstd: in constant memory, or refused with the reason");
    let place = Place::new(torture, "bombs", 10);
    let size: u64 = if torture.extent == Extent::Full { 10 << 30 } else { 64 << 20 };
    let budget = 16 << 20;
    let mut peaks = Vec::new();
    let made = gzip(&place.path.join("more.gz"), size)
        .and_then(|()| fs::write(place.path.join("more.zst"), zstd(17, 0, size)))
        .and_then(|()| fs::write(place.path.join("more-window.zst"), zstd(27, 0, size)));
    if let Err(error) = made {
        return row.skipped(error.to_string());
    }
    let rejected = "rejected 1 ";
    for (name, told) in [
        ("more.gz", rejected),
        ("more.zst", rejected),
        ("more-window.zst", "limit: zstd: its window is beyond"),
    ] {
        let mut command = place.command(&torture.command);
        let end = run(command.args(["dedup", "--memory", "16M", "-o", "out", name]), |_| Ok(()));
        // The only record is too long, so nothing is left to write. Or a limit stops the run at
        // once.
        if let Some(end) = judge(torture.extent, &mut row, name, (budget, cores()), 3, end) {
            peaks.push(mega(end.peak));
            if !end.said.contains(told) {
                row.broken.push(format!("{name}: it said {:?}", end.said));
            }
        }
    }
    row.figure = format!("{} MB each; peaks {peaks:?} MB of {}", size / 1_000_000, mega(budget));
    row
}

fn gzip(path: &Path, size: u64) -> io::Result<()> {
    let mut command = Command::new("gzip");
    command.arg("-1").stdin(Stdio::piped()).stdout(File::create(path)?);
    let mut child = command.spawn()?;
    if let Some(mut input) = child.stdin.take() {
        line(size, &mut input)?;
    }
    child.wait().map(drop)
}

/// A frame of this many bytes (RFC 8878 section 3.1.1), which asks for a window of `1 << window`: a block of `raw`
/// bytes, and blocks of one byte and its repeat count.
pub fn zstd(window: u8, raw: u32, size: u64) -> Vec<u8> {
    const BLOCK: u64 = 128 << 10;
    const RLE: u64 = 1;
    let mut frame = vec![0x28, 0xB5, 0x2F, 0xFD, 0, (window - 10) << 3];
    if raw > 0 {
        frame.extend_from_slice(&(raw << 3).to_le_bytes()[..3]);
        frame.extend((0..raw).map(|i| b'a' + (i * i % 23) as u8));
    }
    let blocks = size.div_ceil(BLOCK);
    for block in 1..=blocks {
        let header = BLOCK << 3 | RLE << 1 | u64::from(block == blocks);
        frame.extend_from_slice(&header.to_le_bytes()[..3]);
        frame.push(b'a');
    }
    frame
}

/// More distinct URLs than fit in memory.
pub fn distinct_urls(torture: &mut Torture) -> Row {
    let mut row =
        Row::new("more distinct URLs than the budget holds: all there, within the budget");
    let place = Place::new(torture, "distinct", 10);
    let runs: &[(u64, &str, u64)] = match torture.extent {
        Extent::Full => &[(50_000_000, "1G", 1 << 30), (200_000_000, "1G", 1 << 30)],
        Extent::Short => &[(300_000, "8M", 8 << 20)],
    };
    let mut figures = Vec::new();
    for (count, memory, budget) in runs {
        let mut command = place.command(&torture.command);
        command.args(["dedup", "--memory", memory, "--temp-dir", ".", "-o", "more-out"]);
        let end = run(&mut command, |input| write_urls(*count, input));
        let Some(end) =
            judge(torture.extent, &mut row, &format!("{count} URLs"), (*budget, cores()), 0, end)
        else {
            continue;
        };
        let lines = count_lines(&place.path.join("more-out"));
        if lines != *count {
            row.broken.push(format!("{lines} of {count} URLs came out"));
        }
        if !end.said.contains("spilled") {
            row.broken.push(format!("{count} URLs were not spilled: {:?}", end.said));
        }
        figures.push(format!(
            "{count}: {} MB of {}, {} s",
            mega(end.peak),
            mega(*budget),
            end.time.as_secs()
        ));
        let _ = fs::remove_file(place.path.join("more-out"));
    }
    row.figure = figures.join("; ");
    row
}

/// Columns of the last record of each URL, which are longer than those of the first.
pub fn longer_lines(torture: &mut Torture) -> Row {
    let mut row = Row::new("lines that become longer once the set is full: within the budget");
    let place = Place::new(torture, "longer", 10);
    let (urls, memory, budget) = match torture.extent {
        Extent::Full => (1_000_000, "256M", 256 << 20),
        Extent::Short => (100_000, "8M", 8 << 20),
    };
    let mut command = place.command(&torture.command);
    command.args(["dedup", "-f", "tsv:1", "--carry", "2", "--keep", "last", "--memory", memory]);
    command.args(["--temp-dir", ".", "-o", "more-out"]);
    let end = run(&mut command, |input| {
        let long = "x".repeat(700);
        for column in ["x", long.as_str()] {
            for i in 0..urls {
                writeln!(input, "https://www.host{}.example.com/{i}\t{column}", i % 9973)?;
            }
        }
        input.flush()
    });
    if let Some(end) = judge(torture.extent, &mut row, "the lines", (budget, cores()), 0, end) {
        let written = fs::metadata(place.path.join("more-out")).map_or(0, |out| out.len());
        let lines = count_lines(&place.path.join("more-out"));
        if lines != urls || written < urls * 700 {
            row.broken.push(format!("{lines} lines of {urls}, {written} bytes"));
        }
        row.figure = format!(
            "{urls} lines, {} MB; peak {} MB of {}, {} s",
            mega(written),
            mega(end.peak),
            mega(budget),
            end.time.as_secs()
        );
    }
    let _ = fs::remove_file(place.path.join("more-out"));
    row
}

/// Distinct URLs of about 64 bytes, in no order.
fn write_urls(count: u64, out: &mut dyn Write) -> io::Result<()> {
    for i in 0..count {
        // Multiplying by an odd number keeps all numbers distinct.
        let number = i.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let host = number % 9973;
        writeln!(out, "https://www.host{host}.example.com/articles/{number:016x}/page.html")?;
    }
    out.flush()
}

fn count_lines(path: &Path) -> u64 {
    let Ok(file) = File::open(path) else { return 0 };
    let mut reader = BufReader::with_capacity(1 << 20, file);
    let mut lines = 0;
    loop {
        let Ok(block) = reader.fill_buf() else { return 0 };
        if block.is_empty() {
            return lines;
        }
        lines += block.iter().filter(|byte| **byte == b'\n').count() as u64;
        let length = block.len();
        reader.consume(length);
    }
}

/// In megabytes.
pub fn mega(bytes: u64) -> u64 {
    bytes / 1_000_000
}
