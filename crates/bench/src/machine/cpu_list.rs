//! Lists of CPUs as the kernel writes them: `0-3,8`.

/// The numbers of a list, ascending. `0-3:2/4`, a form of boot options alone, is not read.
pub fn parse(text: &str) -> Option<Vec<usize>> {
    let mut cpus = Vec::new();
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.trim().parse().ok()?, last.trim().parse::<usize>().ok()?);
        // More than any kernel supports.
        if last > 1 << 20 {
            return None;
        }
        cpus.extend(first..=last);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Some(cpus)
}

/// The list of these numbers.
pub fn format(cpus: &[usize]) -> String {
    let mut cpus = cpus.to_vec();
    cpus.sort_unstable();
    let runs = cpus.chunk_by(|a, b| *b <= a + 1).map(|run| match run {
        [one] => one.to_string(),
        run => format!("{}-{}", run[0], run[run.len() - 1]),
    });
    runs.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_written() {
        for (text, cpus) in
            [("0", vec![0]), ("0-3,8", vec![0, 1, 2, 3, 8]), ("", vec![]), ("2,5-6", vec![2, 5, 6])]
        {
            assert_eq!(parse(text), Some(cpus.clone()));
            assert_eq!(format(&cpus), text);
        }
        assert_eq!(parse(" 8,0-1\n"), Some(vec![0, 1, 8]));
        assert_eq!(parse("a-b"), None);
        assert_eq!(parse("0-99999999999"), None);
    }
}
