//! What must hold for any target at all. The fuzz target and the tests of the corpus use it alike.

use serve::files::resolve::{Asked, escape, resolve};

/// Whatever is asked for, what comes out names something below the served folder, and the same as a slower and
/// plainer reading of the same target.
pub fn check_target(target: &[u8]) {
    let mut path = b"left from before".to_vec();
    let resolved = resolve(target, &mut path).ok();
    assert_eq!(resolved.map(|asked| (path.clone(), asked)), plainly(target));
    let Some(asked) = resolved else {
        return;
    };
    assert!(!path.starts_with(b"/") && !path.contains(&0), "{path:?}");
    assert_eq!(asked == Asked::Folder, path.is_empty() || path.ends_with(b"/"), "{path:?}");
    let named = path.strip_suffix(b"/").unwrap_or(&path);
    let is_plain = |segment: &[u8]| !matches!(segment, b"" | b"." | b"..");
    assert!(path.is_empty() || named.split(|b| *b == b'/').all(is_plain), "{path:?}");

    let mut again = "/".to_owned();
    escape(&path, &mut again);
    let mut same = Vec::new();
    assert_eq!(
        (resolve(again.as_bytes(), &mut same), &same),
        (Ok(asked), &path),
        "written as a target again"
    );
}

/// The same in steps: cut, decode, split, walk.
fn plainly(target: &[u8]) -> Option<(Vec<u8>, Asked)> {
    let lower = target.to_ascii_lowercase();
    let path = if target.starts_with(b"/") {
        target
    } else {
        let scheme = [b"http://".as_slice(), b"https://"].into_iter().find(|s| lower.starts_with(s))?;
        let rest = &target[scheme.len()..];
        let host = rest.iter().take_while(|b| !b"/?".contains(b)).count();
        let rest = &rest[host..];
        match (host, rest.first()) {
            (0, _) => return None,
            (_, Some(b'/')) => rest,
            _ => b"/",
        }
    };
    let path = path.split(|b| *b == b'?').next()?;
    if path.contains(&b'#') || path.contains(&0) {
        return None;
    }
    let decoded = decode(path)?;
    let mut names: Vec<&[u8]> = Vec::new();
    let segments: Vec<&[u8]> = decoded.split(|b| *b == b'/').collect();
    for segment in &segments {
        match *segment {
            b"" | b"." => {}
            b".." => drop(names.pop()?),
            name => names.push(name),
        }
    }
    let is_folder = segments.last().is_none_or(|last| matches!(*last, b"" | b"." | b".."));
    let mut path = names.join(&b'/');
    if is_folder && !path.is_empty() {
        path.push(b'/');
    }
    Some((path, if is_folder { Asked::Folder } else { Asked::File }))
}

fn decode(path: &[u8]) -> Option<Vec<u8>> {
    let mut parts = path.split(|b| *b == b'%');
    let mut decoded = parts.next()?.to_vec();
    for part in parts {
        let digits = part.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
        let byte =
            u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok().filter(|byte| *byte != 0)?;
        decoded.push(byte);
        decoded.extend_from_slice(&part[2..]);
    }
    Some(decoded)
}
