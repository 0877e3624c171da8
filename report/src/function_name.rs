//! Shortens the names of functions where there is little room.

/// The name in at most `most` characters. The folders of its file are left out first, then its beginning, because the end says more.
pub fn within(name: &str, most: usize) -> String {
    let is_long = |name: &str| name.chars().count() > most;
    if !is_long(name) {
        return name.to_owned();
    }
    let name = without_folders(name);
    if !is_long(&name) {
        return name;
    }
    let beginning = (name.chars().count() + 1).saturating_sub(most);
    let end: String = name.chars().skip(beginning).collect();
    format!("…{end}")
}

/// `JS:*handle …/server.js:7:3` of `JS:*handle /srv/app/server.js:7:3`, and likewise of `py::handle:/srv/app/server.py`.
fn without_folders(name: &str) -> String {
    let path = [" /", ":/"].iter().filter_map(|mark| name.find(mark)).min().map(|at| at + 1);
    let file = path.and_then(|path| name[path..].rfind('/').map(|last| (path, path + last)));
    match file {
        Some((path, last)) if path < last => format!("{}…{}", &name[..path], &name[last..]),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_too_long_loses_folders_then_its_beginning() {
        assert_eq!(within("JS:*handle /srv/a.js:7:3", 24), "JS:*handle /srv/a.js:7:3", "it fits");
        assert_eq!(within("JS:*handle /srv/app/server.js:7:3", 32), "JS:*handle …/server.js:7:3");
        assert_eq!(within("py::handle:/srv/app/server.py_[j]", 32), "py::handle:…/server.py_[j]");
        assert_eq!(within("py::f:/a.py", 8), "…f:/a.py", "no folder");
        assert_eq!(within("äa::write", 6), "…write");
        let long = format!("{}::write", "x".repeat(60));
        let shown = within(&long, 44);
        assert_eq!(shown.chars().count(), 44);
        assert!(shown.starts_with('…') && shown.ends_with("x::write"), "{shown}");
        assert_eq!(within("a", 0), "…");
    }
}
