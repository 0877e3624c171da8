//! Encodes names as parts of a path or a query, and reads query values.

use std::fmt::Write;

/// A name encoded as one part of a path, or as one value of a query.
pub fn part(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(byte as char),
            other => {
                let _ = write!(out, "%{other:02X}");
            }
        }
    }
    out
}

/// All values of a key, in order.
pub fn values<'p>(pairs: &'p [(String, String)], key: &str) -> impl Iterator<Item = &'p str> {
    let is_it = move |pair: &&(String, String)| pair.0 == key;
    pairs.iter().filter(is_it).map(|(_, value)| value.as_str())
}

/// The first value of a key.
pub fn value<'p>(pairs: &'p [(String, String)], key: &str) -> Option<&'p str> {
    pairs.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
}

#[cfg(test)]
mod tests {
    use super::part;

    #[test]
    fn a_name_can_not_leave_its_part() {
        assert_eq!(part("../a b?x=1&y#ü"), "..%2Fa%20b%3Fx%3D1%26y%23%C3%BC");
    }
}
