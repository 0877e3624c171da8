//! Resolves a request's target to a path below the served folder; pure. The result never begins with a slash and never has an
//! empty segment, `.`, `..` or a NUL in it, whatever the target is: it can't name anything outside, except through links, which
//! must be refused when it is opened.

/// What kind of thing a target asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// `/a/b`: a file, or a folder whose slash is missing.
    File,
    /// `/a/b/`: a folder. The path ends with a slash, or is empty for the served folder itself.
    Folder,
}

/// A target that can't be a path below the served folder: it does not begin with `/`, `http://` or `https://`, has a malformed escape,
/// contains `#` or NUL (escaped NUL included), or leads out of the folder by `..`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the target is no path below the served folder")]
pub struct Malformed;

/// Writes to `path` what the target names, relative to the served folder. The query is cut off, escapes are
/// decoded once, then empty segments, `.` and `..` are resolved (RFC 3986 section 5.2.4). A target in absolute
/// form (RFC 9112 section 3.2.2) is taken as its path.
pub fn resolve(target: &[u8], path: &mut Vec<u8>) -> Result<Asked, Malformed> {
    path.clear();
    let target = origin_form(target)?;
    let end = memchr::memchr(b'?', target).unwrap_or(target.len());
    let mut rest = &target[..end];
    // Where the segment that is being read begins.
    let mut start = 0;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'%' => match decoded(&mut rest)? {
                0 => return Err(Malformed),
                // An escaped slash divides as well: no name can have it.
                b'/' => start = end_segment(path, start)?,
                byte => path.push(byte),
            },
            b'/' => start = end_segment(path, start)?,
            // The fragment's sign is never sent (RFC 9110 section 7.1).
            0 | b'#' => return Err(Malformed),
            byte => path.push(byte),
        }
    }
    match &path[start..] {
        b"" => Ok(Asked::Folder),
        b"." | b".." => end_segment(path, start).map(|_| Asked::Folder),
        _ => Ok(Asked::File),
    }
}

/// Writes a path as a target again; what needs no escape stays as it is. A backslash is escaped, because browsers take it for a
/// slash.
pub fn escape(path: &[u8], target: &mut String) {
    for &byte in path {
        if byte.is_ascii_alphanumeric() || b"/-._~!$&'()*+,;=:@".contains(&byte) {
            target.push(byte.into());
        } else {
            target.push_str(&format!("%{byte:02X}"));
        }
    }
}

/// The target from its first slash on, without that slash.
fn origin_form(target: &[u8]) -> Result<&[u8], Malformed> {
    if let Some(path) = target.strip_prefix(b"/") {
        return Ok(path);
    }
    let after = |scheme: &[u8]| {
        let (start, rest) = target.split_at_checked(scheme.len())?;
        start.eq_ignore_ascii_case(scheme).then_some(rest)
    };
    let rest = after(b"http://").or_else(|| after(b"https://")).ok_or(Malformed)?;
    match rest.iter().position(|byte| matches!(byte, b'/' | b'?')) {
        Some(0) => Err(Malformed),
        None if rest.is_empty() => Err(Malformed),
        None => Ok(b""),
        Some(end) if rest[end] == b'?' => Ok(b""),
        Some(end) => Ok(&rest[end + 1..]),
    }
}

/// The byte that two hexadecimal digits stand for.
fn decoded(rest: &mut &[u8]) -> Result<u8, Malformed> {
    let digit = |byte: u8| (byte as char).to_digit(16).map(|digit| digit as u8).ok_or(Malformed);
    let ([high, low], after) = rest.split_first_chunk::<2>().ok_or(Malformed)?;
    *rest = after;
    Ok(digit(*high)? << 4 | digit(*low)?)
}

/// Ends the segment that begins at `start`; returns where the next one begins.
fn end_segment(path: &mut Vec<u8>, start: usize) -> Result<usize, Malformed> {
    match &path[start..] {
        b"" => {}
        b"." => path.truncate(start),
        b".." => {
            // Without the slash before `start`, the last slash is the one before the segment that goes.
            let parents = path[..start].strip_suffix(b"/").ok_or(Malformed)?;
            let keep = memchr::memrchr(b'/', parents).map_or(0, |slash| slash + 1);
            path.truncate(keep);
        }
        _ => path.push(b'/'),
    }
    Ok(path.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(target: &str) -> Result<(String, Asked), Malformed> {
        let mut path = b"left from before".to_vec();
        let asked = resolve(target.as_bytes(), &mut path)?;
        Ok((String::from_utf8(path).unwrap(), asked))
    }

    #[test]
    fn targets_become_paths() {
        let cases = [
            ("/", "", Asked::Folder),
            ("/a", "a", Asked::File),
            ("/a/", "a/", Asked::Folder),
            ("/a?b=/../c", "a", Asked::File),
            ("//a///b", "a/b", Asked::File),
            ("/./a/./b/.", "a/b/", Asked::Folder),
            ("/a/../b", "b", Asked::File),
            ("/a/b/../../c", "c", Asked::File),
            ("/a/..", "", Asked::Folder),
            ("/a/b/..", "a/", Asked::Folder),
            ("/a%2fb", "a/b", Asked::File),
            ("/%61%20+%C3%A9", "a +é", Asked::File),
            ("/%252e%252e/a", "%2e%2e/a", Asked::File),
            ("/...", "...", Asked::File),
            ("/..a/.b", "..a/.b", Asked::File),
            ("/a\\..\\b", "a\\..\\b", Asked::File),
            ("http://host:80/a?b", "a", Asked::File),
            ("HTTPS://host", "", Asked::Folder),
            ("http://host?/a", "", Asked::Folder),
        ];
        for (target, path, asked) in cases {
            assert_eq!(resolved(target), Ok((path.to_owned(), asked)), "{target}");
        }
    }

    #[test]
    fn what_names_nothing_is_refused() {
        for target in [
            "",
            "*",
            "a",
            "host:80",
            "ftp://host/a",
            "http://",
            "http:///a",
            "/..",
            "/../a",
            "/a/../..",
            "/%2e%2e",
            "/.%2E/a",
            "/a/%2e./..%2fb",
            "/..%2fa",
            "/%",
            "/%4",
            "/%zz",
            "/a%00",
            "/%00/../a",
            "/a#b",
            "/a/../../a/b",
        ] {
            assert_eq!(resolved(target), Err(Malformed), "{target}");
        }
    }
}
