//! The static table (RFC 7541 appendix A).

/// Names and values; the first one has the index 1.
pub const FIXED: [(&str, &str); 61] = [
    (":authority", ""),
    (":method", "GET"),
    (":method", "POST"),
    (":path", "/"),
    (":path", "/index.html"),
    (":scheme", "http"),
    (":scheme", "https"),
    (":status", "200"),
    (":status", "204"),
    (":status", "206"),
    (":status", "304"),
    (":status", "400"),
    (":status", "404"),
    (":status", "500"),
    ("accept-charset", ""),
    ("accept-encoding", "gzip, deflate"),
    ("accept-language", ""),
    ("accept-ranges", ""),
    ("accept", ""),
    ("access-control-allow-origin", ""),
    ("age", ""),
    ("allow", ""),
    ("authorization", ""),
    ("cache-control", ""),
    ("content-disposition", ""),
    ("content-encoding", ""),
    ("content-language", ""),
    ("content-length", ""),
    ("content-location", ""),
    ("content-range", ""),
    ("content-type", ""),
    ("cookie", ""),
    ("date", ""),
    ("etag", ""),
    ("expect", ""),
    ("expires", ""),
    ("from", ""),
    ("host", ""),
    ("if-match", ""),
    ("if-modified-since", ""),
    ("if-none-match", ""),
    ("if-range", ""),
    ("if-unmodified-since", ""),
    ("last-modified", ""),
    ("link", ""),
    ("location", ""),
    ("max-forwards", ""),
    ("proxy-authenticate", ""),
    ("proxy-authorization", ""),
    ("range", ""),
    ("referer", ""),
    ("refresh", ""),
    ("retry-after", ""),
    ("server", ""),
    ("set-cookie", ""),
    ("strict-transport-security", ""),
    ("transfer-encoding", ""),
    ("user-agent", ""),
    ("vary", ""),
    ("via", ""),
    ("www-authenticate", ""),
];

/// The field with this index.
pub fn fixed_field(index: usize) -> Option<(&'static [u8], &'static [u8])> {
    let (name, value) = FIXED.get(index.checked_sub(1)?)?;
    Some((name.as_bytes(), value.as_bytes()))
}

/// The index of the field, if the table has it, or else of one with its name; whether the value is the same, too.
pub fn fixed_index(name: &[u8], value: &[u8]) -> Option<(usize, bool)> {
    let same_name = |(_, field): &(usize, &(&str, &str))| field.0.as_bytes() == name;
    let (first, _) = FIXED.iter().enumerate().find(same_name)?;
    // Fields of one name stand together.
    let named = FIXED.iter().enumerate().skip(first).take_while(same_name);
    let whole = named.into_iter().find(|(_, field)| field.1.as_bytes() == value);
    Some(whole.map_or((first + 1, false), |(at, _)| (at + 1, true)))
}
