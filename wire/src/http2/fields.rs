//! What names of header fields may be (RFC 9113 sections 8.2.1 and 8.2.2).

/// Whether this can be the name of a field that is no pseudo-header.
pub fn is_name(name: &[u8]) -> bool {
    let is_allowed = |byte: &u8| byte.is_ascii_graphic() && !byte.is_ascii_uppercase() && *byte != b':';
    !name.is_empty() && name.iter().all(is_allowed)
}

/// Whether a field of this name belongs to a connection of HTTP/1, and has no place in HTTP/2.
pub fn is_of_connection(name: &[u8]) -> bool {
    matches!(name, b"connection" | b"keep-alive" | b"proxy-connection" | b"transfer-encoding" | b"upgrade")
}
