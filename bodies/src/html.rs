//! A small HTML document of an exact length.

use crate::BodyError;

const OPEN: &str = "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>drome</title></head>\n<body><p>";
const CLOSE: &str = "</p></body>\n</html>\n";
const WORDS: &str =
    "The same bytes for everyone who runs this course, counted and compared to the last one. ";

/// A valid document of `bytes` bytes.
pub fn document(bytes: usize) -> Result<Vec<u8>, BodyError> {
    let least = OPEN.len() + CLOSE.len();
    if bytes < least {
        return Err(BodyError { kind: "HTML document", bytes, least });
    }
    let text = WORDS.bytes().cycle().take(bytes - least);
    Ok(OPEN.bytes().chain(text).chain(CLOSE.bytes()).collect())
}
