//! Encodes names as parts of a path or a query, and reads query values.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What is encoded: all but letters, digits and the other characters that mean nothing in an address (RFC 3986, 2.3).
const SPECIAL: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A name encoded as one part of a path, or as one value of a query.
pub fn part(name: &str) -> String {
    utf8_percent_encode(name, SPECIAL).to_string()
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
