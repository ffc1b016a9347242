//! Writes several slices at a time.

use std::io::{self, IoSlice};

/// Writes all of `parts` by calls of `write`, which returns the number of bytes it took.
pub fn write_all<'p>(
    parts: impl Iterator<Item = &'p [u8]>,
    mut write: impl FnMut(&[IoSlice<'p>]) -> io::Result<usize>,
) -> io::Result<()> {
    let mut parts: Vec<_> = parts.map(IoSlice::new).collect();
    let mut parts = parts.as_mut_slice();
    // Those of no bytes in front are left out: a write of nothing would read as a full disk.
    IoSlice::advance_slices(&mut parts, 0);
    while !parts.is_empty() {
        match write(parts) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => IoSlice::advance_slices(&mut parts, written),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The first of `parts` that is not empty, for writers that take one slice at a time.
pub fn first<'p>(parts: &'p [IoSlice<'_>]) -> &'p [u8] {
    parts.iter().find(|part| !part.is_empty()).map_or(&[], |part| part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partial_writes_are_completed() {
        let parts = [&b""[..], b"abc", b"", b"d", b"efghij", b""];
        for most in 1..12 {
            let mut taken = Vec::new();
            let mut disturbed = false;
            write_all(parts.into_iter(), |slices| {
                disturbed = !disturbed;
                if disturbed {
                    return Err(io::ErrorKind::Interrupted.into());
                }
                let all = slices.iter().flat_map(|slice| slice.iter().copied());
                let before = taken.len();
                taken.extend(all.take(most));
                Ok(taken.len() - before)
            })
            .unwrap();
            assert_eq!(taken, b"abcdefghij");
        }
    }

    #[test]
    fn zero_length_write_is_an_error_and_empty_parts_are_not_written() {
        let error = write_all([&b"a"[..]].into_iter(), |_| Ok(0)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WriteZero);
        let error = write_all([&b"a"[..]].into_iter(), |_| Err(io::ErrorKind::BrokenPipe.into()));
        assert_eq!(error.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
        write_all([&b""[..], b""].into_iter(), |_| panic!("there is nothing to write")).unwrap();
    }

    #[test]
    fn the_first_part_is_the_first_with_bytes() {
        let slices = [b"", &b"ab"[..], b"c"].map(IoSlice::new);
        assert_eq!(first(&slices), b"ab");
        assert_eq!(first(&slices[..1]), b"");
        assert_eq!(first(&[]), b"");
    }
}
