//! Section 5.2.4, letter by letter.

/// Remove the dot segments of a path.
///
/// The input buffer only ever loses bytes at its front, or is replaced by `/` at its very end, so a
/// shrinking slice represents it.
pub fn remove_dot_segments(path: &[u8]) -> Vec<u8> {
    let mut input = path;
    let mut output = Vec::new();
    while !input.is_empty() {
        // A. "If the input buffer begins with a prefix of "../" or "./", then remove that prefix"
        if input.starts_with(b"../") {
            input = &input[3..];
        } else if input.starts_with(b"./") {
            input = &input[2..];
        // B. "a prefix of "/./" or "/.", where "." is a complete path segment, then replace that
        //    prefix with "/" in the input buffer"
        } else if input.starts_with(b"/./") {
            input = &input[2..];
        } else if input == b"/." {
            input = b"/";
        // C. "a prefix of "/../" or "/..", where ".." is a complete path segment, then replace that
        //    prefix with "/" in the input buffer and remove the last segment and its preceding "/"
        //    (if any) from the output buffer"
        } else if input.starts_with(b"/../") {
            input = &input[3..];
            remove_last_segment(&mut output);
        } else if input == b"/.." {
            input = b"/";
            remove_last_segment(&mut output);
        // D. "if the input buffer consists only of "." or "..", then remove that"
        } else if input == b"." || input == b".." {
            input = b"";
        // E. "move the first path segment in the input buffer to the end of the output buffer,
        //    including the initial "/" character (if any) and any subsequent characters up to, but
        //    not including, the next "/" character or the end of the input buffer"
        } else {
            let next = input[1..]
                .iter()
                .position(|&byte| byte == b'/')
                .map_or(input.len(), |slash| slash + 1);
            output.extend_from_slice(&input[..next]);
            input = &input[next..];
        }
    }
    output
}

fn remove_last_segment(output: &mut Vec<u8>) {
    let slash = output.iter().rposition(|&byte| byte == b'/').unwrap_or(0);
    output.truncate(slash);
}
