//! Forms with files: what must hold for any bytes at all. The first line is the Content-Type, the rest is the body.

use wire::multipart::files;

/// Reads, and compares with a slow and obvious reading.
pub fn check(bytes: &[u8]) {
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let (kind, body) = (String::from_utf8_lossy(&bytes[..end]), bytes.get(end + 1..).unwrap_or_default());
    let Ok(found) = files(&kind, body) else { return };
    let boundary = kind.to_ascii_lowercase().contains("boundary");
    assert!(
        boundary && kind.trim_start().to_ascii_lowercase().starts_with("multipart/form-data"),
        "{kind:?}"
    );
    let mut from = body.as_ptr() as usize;
    for file in &found {
        assert!(!file.name.is_empty(), "a field without a file");
        // Each is a piece of the body, after the one before.
        let at = file.bytes.as_ptr() as usize;
        assert!(at >= from && at + file.bytes.len() <= body.as_ptr() as usize + body.len());
        from = at + file.bytes.len();
    }
    // The end of a form ends it: what follows is not looked at.
    let longer = [body, b"--\r\n--b\r\nx: y\r\n\r\n".as_slice()].concat();
    assert_eq!(files(&kind, &longer).map(|again| again.len()), Ok(found.len()));
    // Nothing can be cut off but what follows the end.
    let whole: Vec<usize> = (0..=body.len()).filter(|n| files(&kind, &body[..*n]).is_ok()).take(1).collect();
    for n in whole {
        assert_eq!(files(&kind, &body[..n]).as_deref(), Ok(&found[..]), "cut at {n}");
    }
}
