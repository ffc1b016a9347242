//! A selection of the records of a run, each by its input and its number.

use std::io::{self, Write};

use crate::output::number;

/// A selection of the records of a run: a bit for each record up to the last selected one of its input.
///
/// It is written as text, a line for each record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// By input.
    bits: Vec<Vec<u64>>,
    /// The start of a line that is still to come.
    begun: Vec<u8>,
}

impl Selection {
    /// Appends the line of a record, whose number is counted from 1.
    pub(crate) fn append(input: usize, record: u64, out: &mut Vec<u8>) {
        number(input as u64, out);
        out.push(b' ');
        number(record, out);
        out.push(b'\n');
    }

    /// Whether it has the record of this number, counted from 1.
    pub fn has(&self, input: usize, record: u64) -> bool {
        let at = record.saturating_sub(1);
        let word = self.bits.get(input).and_then(|bits| bits.get((at / 64) as usize));
        word.is_some_and(|word| word >> (at % 64) & 1 == 1)
    }

    fn select(&mut self, line: &[u8]) -> io::Result<()> {
        let mut numbers = line
            .split(|byte| *byte == b' ')
            .map(|text| text.iter().fold(0_u64, |sum, digit| sum * 10 + u64::from(digit - b'0')));
        let (Some(input), Some(record)) = (numbers.next(), numbers.next()) else { return Ok(()) };
        let (input, at) = (input as usize, record.saturating_sub(1));
        if self.bits.len() <= input {
            self.bits.resize_with(input + 1, Vec::new);
        }
        let (bits, word) = (&mut self.bits[input], (at / 64) as usize);
        if bits.len() <= word {
            // It grows with the input, so running out of memory has to be an error and not an abort.
            bits.try_reserve(word + 1 - bits.len()).map_err(|_| io::ErrorKind::OutOfMemory)?;
            bits.resize(word + 1, 0);
        }
        bits[word] |= 1 << (at % 64);
        Ok(())
    }
}

impl Write for Selection {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let mut begun = std::mem::take(&mut self.begun);
        let mut lines = text.split_inclusive(|byte| *byte == b'\n');
        lines.try_for_each(|line| match line.strip_suffix(b"\n") {
            Some(line) if begun.is_empty() => self.select(line),
            Some(line) => {
                begun.extend_from_slice(line);
                self.select(&std::mem::take(&mut begun))
            }
            None => {
                begun.extend_from_slice(line);
                Ok(())
            }
        })?;
        self.begun = begun;
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_select_their_records_wherever_writes_are_cut() {
        let places = [(0, 1), (0, 64), (0, 65), (3, 1_000), (3, 999), (1 << 20, 2)];
        let mut text = Vec::new();
        places.iter().for_each(|(input, record)| Selection::append(*input, *record, &mut text));
        for step in 1..text.len() {
            let mut selection = Selection::default();
            text.chunks(step).for_each(|part| selection.write_all(part).unwrap());
            for input in [0, 1, 2, 3, 1 << 20, (1 << 20) + 1] {
                for record in [1, 2, 63, 64, 65, 66, 999, 1_000, 1_001] {
                    let is_there = places.contains(&(input, record));
                    assert_eq!(selection.has(input, record), is_there, "{input} {record}");
                }
            }
        }
    }
}
