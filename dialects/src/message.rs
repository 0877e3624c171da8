//! HTTP messages as bytes.

/// Where these bytes begin.
pub fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

/// The head of a message with its blank line, and what follows; all of it is head if that is incomplete.
pub fn head_and_body(message: &[u8]) -> (&[u8], &[u8]) {
    let end = find(message, b"\r\n\r\n").map_or(message.len(), |at| at + 4);
    message.split_at(end)
}
