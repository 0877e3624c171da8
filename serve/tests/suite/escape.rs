//! There is no way out of a served folder: not by any target, not by links, not by renaming meanwhile.

use proptest::prelude::*;
use serve::files::resolve::{Asked, Malformed, escape, resolve};
use serve::{Opened, Resolver, Root};
use std::fs;
use std::io::Read;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

const SECRET: &str = "SECRET";
const RESOLVERS: [Resolver; 2] = [Resolver::Kernel, Resolver::Segments];

/// Names, dots in every spelling that ever got through somewhere, and the links of [`site`].
const SEGMENTS: &[&str] = &[
    "..",
    "..",
    "..",
    ".",
    "",
    "sub",
    "site",
    "secret.txt",
    "secret.txt",
    "out",
    "outdir",
    "top",
    "chain",
    "loop",
    "up",
    "%2e%2e",
    ".%2e",
    "%2E.",
    "%252e%252e",
    "%25%32%65%25%32%65",
    "%c0%ae%c0%ae",
    "%u002e%u002e",
    "..%00",
    "%00",
    "..\\",
    "\\..",
    "%5c..",
    "..;",
    "...",
    "....",
    "..%20",
    "~",
    "%",
    "%2",
    "é",
    "*",
    "proc",
    "self",
    "root",
];

const SEPARATORS: &[&str] =
    &["/", "/", "/", "%2f", "%2F", "//", "/./", "%252f", "\\", "%5c", "%c0%af", "/%2e/", "?", "#", "%2f%2f"];

fn targets() -> impl Strategy<Value = String> {
    let piece = (prop::sample::select(SEPARATORS), prop::sample::select(SEGMENTS));
    let start = prop::sample::select(&["", "", "", "http://h", "HTTPS://h:1", "/", "http:/"][..]);
    (start, prop::collection::vec(piece, 0..9)).prop_map(|(start, pieces)| {
        let path: String = pieces.into_iter().flat_map(|(separator, segment)| [separator, segment]).collect();
        format!("{start}{path}")
    })
}

/// What can never be in a path that was resolved.
fn assert_harmless(target: &[u8], path: &[u8], asked: Asked) {
    let shown = || format!("{} → {}", target.escape_ascii(), path.escape_ascii());
    assert!(!path.contains(&0), "{}", shown());
    let (names, is_folder) = match path.strip_suffix(b"/") {
        Some(names) => (names, true),
        None => (path, path.is_empty()),
    };
    assert_eq!(is_folder, asked == Asked::Folder, "{}", shown());
    for name in names.split(|byte| *byte == b'/').filter(|_| !path.is_empty()) {
        assert!(!matches!(name, b"" | b"." | b".."), "{}", shown());
    }
}

/// The same in the plainest way: cut, decode all, split, keep a stack.
fn by_the_book(path: &str) -> Option<Vec<u8>> {
    let path = path.split('?').next().unwrap().as_bytes();
    let (mut decoded, mut at) = (Vec::new(), 0);
    while at < path.len() {
        match path[at] {
            b'%' => {
                let digits = std::str::from_utf8(path.get(at + 1..at + 3)?).ok()?;
                let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
                decoded.push(is_hex.then(|| u8::from_str_radix(digits, 16).unwrap())?);
                at += 3;
            }
            b'#' => return None,
            byte => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    let mut names: Vec<&[u8]> = Vec::new();
    for name in decoded.split(|byte| *byte == b'/') {
        match name {
            b"" | b"." => {}
            b".." => drop(names.pop()?),
            name if name.contains(&0) => return None,
            name => names.push(name),
        }
    }
    Some(names.join(&b'/'))
}

/// A folder to be served, beside a secret, with links in it that lead out and some that don't.
fn site(home: &Path) {
    let site = home.join("site");
    fs::create_dir_all(site.join("sub/deep")).unwrap();
    fs::write(home.join("secret.txt"), SECRET).unwrap();
    fs::write(site.join("page"), "public").unwrap();
    fs::write(site.join("sub/page"), "public").unwrap();
    let links = [
        ("../secret.txt", "out"),
        ("..", "outdir"),
        ("/", "top"),
        ("out", "chain"),
        ("loop", "loop"),
        ("../..", "sub/up"),
        ("../../secret.txt", "sub/out"),
        ("/proc/self/root", "root"),
        ("sub/page", "inside"),
        ("../page", "sub/inside"),
    ];
    for (to, name) in links {
        symlink(to, site.join(name)).unwrap();
    }
    symlink(home.join("secret.txt"), site.join("absolute")).unwrap();
}

/// The bytes of a file that can be opened at this path.
fn opened(root: &Root, path: &[u8]) -> Option<String> {
    let Ok(Opened::File(mut file, _)) = root.open_below(path) else { return None };
    let mut text = String::new();
    // Of a device or the like, were one to be had, a little is enough.
    (&mut file).take(100).read_to_string(&mut text).unwrap_or_default();
    Some(text)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn what_is_resolved_is_harmless(target in targets()) {
        let mut path = Vec::new();
        if let Ok(asked) = resolve(target.as_bytes(), &mut path) {
            assert_harmless(target.as_bytes(), &path, asked);
            let mut again = "/".to_owned();
            escape(&path, &mut again);
            let mut same = Vec::new();
            prop_assert_eq!(resolve(again.as_bytes(), &mut same), Ok(asked));
            prop_assert_eq!(same, path);
        }
    }

    #[test]
    fn what_any_bytes_are_resolved_to_is_harmless(target in prop::collection::vec(any::<u8>(), 0..40)) {
        let mut path = Vec::new();
        for target in [target.clone(), [b"/".to_vec(), target].concat()] {
            if let Ok(asked) = resolve(&target, &mut path) {
                assert_harmless(&target, &path, asked);
            }
        }
    }

    #[test]
    fn paths_are_resolved_by_the_book(target in targets()) {
        let target = format!("/{target}");
        let mut path = Vec::new();
        let resolved = resolve(target.as_bytes(), &mut path).map(|_| path.strip_suffix(b"/").unwrap_or(&path));
        let expected = by_the_book(&target);
        prop_assert_eq!(resolved.ok(), expected.as_deref());
    }
}

#[test]
fn no_target_opens_anything_outside() {
    let home = tempfile::tempdir().unwrap();
    site(home.path());
    let roots = RESOLVERS.map(|resolver| Root::open(&home.path().join("site")).unwrap().with(resolver));
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(4000));
    let check = |target: String| {
        let mut path = Vec::new();
        let resolved = resolve(target.as_bytes(), &mut path);
        // What was not resolved is tried as it is too: the folder itself lets nothing out.
        let raw = target.trim_start_matches('/').replace("%2e", ".").replace("%2f", "/");
        for root in &roots {
            for path in [path.as_slice(), raw.as_bytes()] {
                let text = opened(root, path);
                prop_assert!(text.as_deref().is_none_or(|text| text == "public"), "{}: {:?}", target, text);
            }
        }
        prop_assert!(resolved.is_ok() || resolved == Err(Malformed));
        Ok(())
    };
    runner.run(&targets(), check).unwrap();
}

#[test]
fn links_that_stay_inside_are_followed_where_the_kernel_watches() {
    let home = tempfile::tempdir().unwrap();
    site(home.path());
    let open = |resolver, path: &str| {
        let root = Root::open(&home.path().join("site")).unwrap().with(resolver);
        opened(&root, path.as_bytes())
    };
    for path in ["page", "sub/page"] {
        assert!(RESOLVERS.iter().all(|resolver| open(*resolver, path).as_deref() == Some("public")));
    }
    for path in ["inside", "sub/inside"] {
        assert_eq!(open(Resolver::Kernel, path).as_deref(), Some("public"), "{path}");
        assert_eq!(open(Resolver::Segments, path), None, "{path}");
    }
    for path in
        ["out", "outdir/secret.txt", "chain", "absolute", "sub/out", "sub/up/secret.txt", "root/etc/passwd"]
    {
        assert!(RESOLVERS.iter().all(|resolver| open(*resolver, path).is_none()), "{path}");
    }
}

#[test]
fn a_folder_that_becomes_a_link_meanwhile_lets_nothing_out() {
    let home = tempfile::tempdir().unwrap();
    site(home.path());
    let path = home.path().join("site");
    fs::create_dir(path.join("flip")).unwrap();
    fs::write(path.join("flip/secret.txt"), "public").unwrap();
    symlink("..", path.join("other")).unwrap();
    let roots = RESOLVERS.map(|resolver| Root::open(&path).unwrap().with(resolver));
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let folder = fs::File::open(&path).unwrap();
            while !stop.load(Ordering::Relaxed) {
                let exchange = rustix::fs::RenameFlags::EXCHANGE;
                rustix::fs::renameat_with(&folder, "flip", &folder, "other", exchange).unwrap();
            }
        });
        let texts: Vec<_> =
            (0..5000).flat_map(|_| roots.iter().map(|root| opened(root, b"flip/secret.txt"))).collect();
        stop.store(true, Ordering::Relaxed);
        assert!(texts.iter().flatten().all(|text| text == "public"), "the secret is out");
    });
}

#[test]
fn what_is_no_file_is_not_opened() {
    let home = tempfile::tempdir().unwrap();
    let socket = std::os::unix::net::UnixListener::bind(home.path().join("socket")).unwrap();
    let pipe = home.path().join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    for resolver in RESOLVERS {
        let root = Root::open(home.path()).unwrap().with(resolver);
        for name in ["pipe", "socket", "none", &"x".repeat(300), &"x/".repeat(3000)] {
            assert!(root.open_below(name.as_bytes()).is_err(), "{name}");
        }
        assert!(matches!(root.open_below(b""), Ok(Opened::Folder)));
    }
    drop(socket);
}
