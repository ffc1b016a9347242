//! A short key that other programs can compute: `substr(sha256(url), 1, 32)` in Spark and DuckDB.

use sha2::{Digest, Sha256};

/// Bytes of the digest that are kept. Among 2^32 URLs, two collide with probability 2^-65.
const BYTES: usize = 16;

pub(super) fn append(url: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digest = Sha256::digest(url);
    for byte in &digest[..BYTES] {
        out.extend_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn hash_key_is_a_prefix_of_the_fips_180_sha256_examples() {
        // The examples of FIPS 180-4, as published by NIST.
        for (bytes, expected) in [
            (&b"abc"[..], "ba7816bf8f01cfea414140de5dae2223"),
            (b"", "e3b0c44298fc1c149afbf4c8996fb924"),
            (
                b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039",
            ),
        ] {
            let mut out = Vec::new();
            super::append(bytes, &mut out);
            assert_eq!(out, expected.as_bytes());
        }
    }
}
