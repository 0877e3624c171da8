//! The rules of CONTRIBUTING that a machine can check, over every contender that is compiled in.

use control::Catalog;
use control::catalog::CatalogEntry;
use model::contender::{Contender, Track, Workers};
use model::study::REFERENCE;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Directives that write a line for every request.
const ACCESS_LOGS: [&str; 8] = [
    "access.log",
    "--access-log=",
    "--access-log ",
    "--access-logfile",
    "CustomLog",
    "accesslog.filename",
    "access-log:",
    "option httplog",
];

/// Options that are there for speed: they belong on the tuned track.
const TUNING: [&str; 19] = [
    "tcp_nopush",
    "tcp_nodelay",
    "backlog",
    "reuseport",
    "open_file_cache",
    "multi_accept",
    "tcp_defer_accept",
    "aio threads",
    "max-worker",
    "-Dtuned",
    "GOGC",
    "GOMAXPROCS",
    "GOMEMLIMIT",
    "+RTS",
    "-Xm",
    "-XX:",
    "gthread",
    "DROME_UNLIMITED",
    "epoll",
];

/// Where a number of workers may be written out.
const WORKERS: [&str; 7] =
    ["worker_processes ", "--workers ", "--workers=", "-w ", "max-worker = ", "nbthread ", "-N"];

/// What a contender is started with on a track: its command and its files, without comments.
fn started_with(entry: &CatalogEntry, track: Track) -> Option<String> {
    let contender = match track {
        Track::Default => entry.contender.clone(),
        Track::Tuned => entry.contender.tuned()?,
    };
    let files = contender.run.files.iter().map(|file| source(entry, file));
    // A start script is a part of the command.
    let scripts = entry.sources.keys().filter(|path| path.extension().is_some_and(|e| e == "sh"));
    let scripts = scripts.map(|path| source(entry, path));
    let text = [contender.run.command.join(" ")].into_iter().chain(files).chain(scripts);
    let is_said = |line: &&str| !line.trim_start().starts_with(['#', ';']);
    let lines = text.flat_map(|text| text.lines().filter(is_said).map(str::to_owned).collect::<Vec<_>>());
    Some(without_the_other_track(&lines.collect::<Vec<_>>(), track))
}

/// Apache has both tracks in one file.
fn without_the_other_track(lines: &[String], track: Track) -> String {
    let other = match track {
        Track::Default => "<IfDefine tuned>",
        Track::Tuned => "<IfDefine !tuned>",
    };
    let mut is_other = false;
    let mut kept = String::new();
    for line in lines {
        is_other |= line.trim() == other;
        if !is_other {
            kept += line;
            kept.push('\n');
        }
        is_other &= line.trim() != "</IfDefine>";
    }
    kept
}

fn source(entry: &CatalogEntry, path: impl AsRef<Path>) -> String {
    entry.sources.get(path.as_ref()).map_or_else(String::new, |b| String::from_utf8_lossy(b).into_owned())
}

/// All contenders that are compiled in, and the templates that `drome new contender` begins with.
fn contenders() -> BTreeMap<String, CatalogEntry> {
    let mut catalog = Catalog::built_in().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let templates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../app/templates");
    for template in std::fs::read_dir(templates).unwrap().flatten() {
        let to = folder.path().join(format!("contenders/template-{}", template.file_name().display()));
        std::fs::create_dir_all(to.join("src")).unwrap();
        for below in ["", "src"] {
            let files = std::fs::read_dir(template.path().join(below)).unwrap().flatten();
            for file in files.filter(|file| file.file_type().unwrap().is_file()) {
                std::fs::copy(file.path(), to.join(below).join(file.file_name())).unwrap();
            }
        }
    }
    catalog.add_folder(folder.path()).unwrap();
    catalog.contenders
}

/// What breaks a rule, a line each.
fn broken(rule: impl Fn(&str, &CatalogEntry) -> Vec<String>) -> Vec<String> {
    let contenders = contenders();
    let all = contenders.iter().filter(|(name, _)| *name != REFERENCE);
    all.flat_map(|(name, entry)| {
        rule(name, entry).into_iter().map(|why| format!("{name}: {why}")).collect::<Vec<_>>()
    })
    .collect()
}

/// The words of `all` that a track is started with.
fn found(entry: &CatalogEntry, track: Track, all: &[&str]) -> Vec<String> {
    let Some(text) = started_with(entry, track) else { return Vec::new() };
    all.iter()
        .filter(|word| text.contains(*word))
        .map(|word| format!("{} has `{word}`", track.word()))
        .collect()
}

#[test]
fn no_contender_logs_requests() {
    let says_so = |c: &Contender| {
        let logging = c.settings.logging.clone().unwrap_or_default();
        ["off", "access log off", "no access log", "errors only", "lines are made"]
            .iter()
            .any(|words| logging.starts_with(words))
    };
    let broken = broken(|_, entry| {
        let mut all = found(entry, Track::Default, &ACCESS_LOGS);
        all.extend(found(entry, Track::Tuned, &ACCESS_LOGS));
        let both = [Some(entry.contender.clone()), entry.contender.tuned()];
        all.extend(
            both.iter().flatten().filter(|c| !says_so(c)).map(|c| format!("{:?}", c.settings.logging)),
        );
        all
    });
    assert_eq!(broken, Vec::<String>::new());
}

#[test]
fn the_default_track_has_no_option_that_is_there_for_speed() {
    // Vert.x and Netty name their transport; that of the default track is their own default.
    let broken = broken(|_, entry| found(entry, Track::Default, &TUNING));
    assert_eq!(broken, Vec::<String>::new());
}

#[test]
fn the_number_of_workers_is_the_servers_default_or_follows_the_cores() {
    let digits_after = |text: &str, word: &str| {
        text.match_indices(word)
            .any(|(at, _)| text[at + word.len()..].starts_with(|c: char| c.is_ascii_digit()))
    };
    let broken = broken(|_, entry| {
        let contender = &entry.contender;
        let mut all = Vec::new();
        let says =
            |text: &str, n: usize| text.split(|c: char| !c.is_ascii_digit()).any(|d| d == n.to_string());
        if let Some(workers) = contender.run.workers {
            let words = contender.settings.workers.clone().unwrap_or_default();
            let is_said = matches!(workers, Workers::Count(n) if says(&words, n));
            if !is_said || !words.contains("default") {
                all.push(format!("run.workers = {workers} is no default by its settings: {words}"));
            }
        }
        if let Some(tuned) = &contender.tuned
            && let Some(Workers::Count(n)) = tuned.workers
            && !says(&tuned.because, n)
        {
            all.push(format!("tuned.workers = {n}, which `because` does not give a source for"));
        }
        for track in [Track::Default, Track::Tuned] {
            let text = started_with(entry, track).unwrap_or_default();
            let fixed = WORKERS.iter().filter(|word| digits_after(&text, word));
            all.extend(fixed.map(|word| format!("{}: `{word}` with a number", track.word())));
        }
        all
    });
    assert_eq!(broken, Vec::<String>::new());
}

#[test]
fn whatever_is_built_names_its_compiler_and_is_built_anew_for_another() {
    let broken = broken(|_, entry| {
        let contender = &entry.contender;
        let Some(build) = &contender.build else { return Vec::new() };
        // The version of a server of Go's own library is Go's.
        let is_its_own = contender.version.command.first() == build.command.first();
        let is_named = contender.toolchain.is_some() || is_its_own;
        if is_named { Vec::new() } else { vec!["it has [build] and no [toolchain]".to_owned()] }
    });
    assert_eq!(broken, Vec::<String>::new());
}

#[test]
fn no_recipe_is_tied_to_one_release_of_debian() {
    // Packages whose name has the version in it, where Debian has one without.
    let versioned = ["php8", "php7", "openjdk-", "libphp8", "php-fpm8", "python3.1", "ruby3", "nodejs-"];
    let broken = broken(|_, entry| {
        let mut text = entry.contender.install.apt.join(" ") + " ";
        text += &entry.contender.version.command.join(" ");
        for track in [Track::Default, Track::Tuned] {
            text += &started_with(entry, track).unwrap_or_default();
        }
        versioned.iter().filter(|v| text.contains(*v)).map(|v| format!("names `{v}…`")).collect()
    });
    assert_eq!(broken, Vec::<String>::new());
}

/// Where a server is told the address to listen on: in its command line or configuration, or in its environment.
const ADDRESSES: [&str; 2] = ["{host}", "DROME_HOST"];

/// Addresses that a server would listen on wherever it is.
const FIXED_ADDRESSES: [&str; 4] = ["127.0.0.1", "0.0.0.0", "localhost:", "[::"];

#[test]
fn every_contender_listens_where_it_is_told_so_that_another_machine_can_have_it() {
    let has = |text: &str, all: &[&str]| all.iter().any(|word| text.contains(word));
    let mut broken = Vec::new();
    for (name, entry) in &contenders() {
        let tuned = entry.contender.tuned();
        let files = |c: &Contender| c.run.files.clone();
        let laid_out: Vec<_> =
            files(&entry.contender).into_iter().chain(tuned.iter().flat_map(files)).collect();
        // The rest is what the server is made of, on both tracks.
        let own = entry
            .sources
            .keys()
            .filter(|path| !laid_out.iter().any(|file| Path::new(file) == path.as_path()));
        let own: Vec<String> = own.map(|path| source(entry, path)).collect();
        let is_own = own.iter().any(|text| text.contains(ADDRESSES[1]));
        for track in [Track::Default, Track::Tuned] {
            let Some(text) = started_with(entry, track) else { continue };
            if !has(&text, &ADDRESSES) && !is_own {
                broken.push(format!("{name}: {} has neither {}", track.word(), ADDRESSES.join(" nor ")));
            }
            if has(&text, &FIXED_ADDRESSES) {
                broken.push(format!("{name}: {} has a fixed address", track.word()));
            }
        }
        let is_fixed = |text: &&String| has(text, &FIXED_ADDRESSES[..2]) && !text.contains(ADDRESSES[1]);
        broken.extend(own.iter().find(is_fixed).map(|_| format!("{name}: its source has a fixed address")));
    }
    assert_eq!(broken, Vec::<String>::new());
}

/// nginx and PHP-FPM are one server: when either ends, so does the script that started both, and nothing is left behind.
#[test]
fn a_server_of_two_ends_when_either_ends() {
    let catalog = Catalog::built_in().unwrap();
    let script = source(catalog.contender("nginx-php-fpm").unwrap(), "start.sh");
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let program = |name: &str, text: &str| {
        use std::os::unix::fs::PermissionsExt;
        std::fs::write(at(name), text).unwrap();
        std::fs::set_permissions(at(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    std::fs::write(at("start.sh"), script).unwrap();
    let socket =
        "perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Local => shift, Listen => 1)' \"$DIR/php.sock\"";
    // The one that ends does so when both have been started.
    let ends = r#"sh -c 'until [ $(($(wc -l < "$DIR/pids") % 2)) = 0 ]; do sleep 0.01; done'"#;
    for (nginx, php) in [(ends, "sleep 3000"), ("sleep 3000", ends)] {
        let _ = std::fs::remove_file(at("php.sock"));
        // A later version than any that is installed.
        program("php-fpm99.1", &format!("#!/bin/sh\necho $$ >> \"$DIR/pids\"\n{socket}\nexec {php}\n"));
        program("nginx", &format!("#!/bin/sh\necho $$ >> \"$DIR/pids\"\nexec {nginx}\n"));
        let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
        let mut both = std::process::Command::new("bash");
        both.arg(at("start.sh")).arg(folder.path()).env("PATH", path).env("DIR", folder.path());
        assert_eq!(both.status().unwrap().code(), Some(1), "{nginx}, {php}");
    }
    let pids: BTreeSet<String> =
        std::fs::read_to_string(at("pids")).unwrap().lines().map(str::to_owned).collect();
    assert_eq!(pids.len(), 4, "both were started, twice");
    let alive: Vec<&String> = pids.iter().filter(|pid| Path::new("/proc").join(pid).exists()).collect();
    assert_eq!(alive, Vec::<&String>::new());
}
