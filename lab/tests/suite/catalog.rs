//! What a contender's folder may say, by the catalog's own eyes.

use control::Catalog;
use model::contender::{Track, Workers};

const CONTENDER: &str = r#"
title = "Some server"
language = "sh"
kind = "server"
homepage = "http://127.0.0.1/"
[version]
command = ["echo", "1.0"]
[run]
command = ["plain", "{port}"]
files = ["plain.conf"]
workers = 1
[settings]
keep_alive = "on"
logging = "to a file"
[tuned]
because = "the manual says so: https://example.org/manual"
command = ["fast", "{port}"]
workers = "cores"
[tuned.settings]
logging = "off"
[serves]
hello = "/hello"
"#;

fn read(contender: &str) -> Result<Catalog, String> {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("contenders/some");
    std::fs::create_dir_all(folder.join("src")).unwrap();
    std::fs::write(folder.join("contender.toml"), contender).unwrap();
    std::fs::write(folder.join("src/plain.conf"), "").unwrap();
    let mut catalog = Catalog::built_in().unwrap();
    catalog.add_folder(root.path()).map_err(|e| e.to_string())?;
    Ok(catalog)
}

#[test]
fn the_tuned_track_is_the_contender_with_what_its_documentation_advises() {
    let catalog = read(CONTENDER).unwrap();
    let plain = &catalog.contender("some").unwrap().contender;
    assert_eq!(plain.settings.logging.as_deref(), Some("to a file"));
    let tuned = plain.tuned().unwrap();
    assert_eq!(
        (tuned.title.as_str(), tuned.run.workers.map(|workers| workers.on(3))),
        ("Some server (tuned)", Some(3))
    );
    assert_eq!((tuned.run.command[0].as_str(), &tuned.run.files), ("fast", &plain.run.files));
    let settings = tuned.settings.all().map(|(_, value)| value);
    assert_eq!(settings, [Some("on"), Some("off"), None, None]);

    let two = read(&CONTENDER.replace("workers = \"cores\"", "workers = 2")).unwrap();
    let two = &two.contender("some").unwrap().contender;
    assert_eq!(two.tuned.as_ref().unwrap().workers, Some(Workers::Count(2)));
    let without = CONTENDER.split("[tuned]").next().unwrap().to_owned() + "[serves]\nhello = \"/hello\"\n";
    assert!(read(&without).unwrap().contender("some").unwrap().contender.tuned().is_none());
}

#[test]
fn a_contender_takes_part_on_every_track_that_it_has_and_that_is_asked_for() {
    let cache = tempfile::tempdir().unwrap();
    let names = |catalog: &Catalog, tracks: &[Track]| -> Vec<String> {
        let entry = catalog.contender("some").unwrap();
        let prepared = control::prepare::Prepared::write_sources("some", entry, cache.path()).unwrap();
        lab::setup::on_tracks(prepared, tracks).into_iter().map(|p| p.name).collect()
    };
    let both = read(CONTENDER).unwrap();
    assert_eq!(names(&both, &[Track::Default]), ["some"]);
    assert_eq!(names(&both, &[Track::Tuned]), ["some@tuned"]);
    assert_eq!(names(&both, &[Track::Tuned, Track::Default]), ["some", "some@tuned"]);
    let text = CONTENDER.split("[tuned]").next().unwrap().to_owned() + "[serves]\nhello = \"/hello\"\n";
    let one = read(&text).unwrap();
    assert_eq!(names(&one, &[Track::Tuned]), ["some"], "who has no tuned track enters once");
}

#[test]
fn what_a_contender_must_not_say_is_refused_with_what_is_allowed() {
    let cases = [
        ("because = ", "reason = ", "unknown field `reason`"),
        ("because = \"the manual says so: https://example.org/manual\"", "", "missing field `because`"),
        ("keep_alive", "keepalive", "did you mean `keep_alive`?"),
        (
            "workers = \"cores\"",
            "workers = \"all\"",
            "a whole number of at least 1, \"cores\", \"2 x cores\"",
        ),
        ("workers = \"cores\"", "workers = 0", "0 is out of range"),
        ("[tuned.settings]", "files = [\"x.conf\"]\n[tuned.settings]", "tuned.files names `x.conf`"),
    ];
    for (from, to, words) in cases {
        let error = read(&CONTENDER.replace(from, to)).unwrap_err();
        assert!(error.contains(words) && error.contains("contender.toml"), "{to}: {error}");
    }
}

#[test]
fn every_contender_that_is_built_in_says_how_it_is_set_up() {
    let catalog = Catalog::built_in().unwrap();
    let lacks = |(name, entry): (&String, &control::catalog::CatalogEntry)| {
        let silent = entry.contender.settings.all().into_iter().filter(|(_, value)| value.is_none());
        let silent: Vec<&str> = silent.map(|(setting, _)| setting).collect();
        (!silent.is_empty()).then(|| format!("{name}: {}", silent.join(", ")))
    };
    let silent: Vec<String> = catalog.contenders.iter().filter_map(lacks).collect();
    assert_eq!(silent, Vec::<String>::new());
}

#[test]
fn every_study_of_a_page_says_how_the_page_measured_and_what_was_unequal_there() {
    let catalog = Catalog::built_in().unwrap();
    for name in ["raspberry-pi", "monkey", "fly-static", "fly-app", "openresty", "snap-pong", "snap-file"] {
        let study = &catalog.studies[name];
        assert!(!study.unequal.is_empty() && study.published.is_some() && study.source.is_some(), "{name}");
        for page in &study.as_published {
            let published = study.published.as_ref().unwrap();
            // A command line with a title of its own is one that the page recommends, and has no figures of.
            assert!(
                page.title.is_some()
                    || study.contenders.iter().any(|c| published.figure(&page.cell, c).is_some()),
                "{name}: {}",
                page.cell
            );
        }
        assert!(!study.as_published.is_empty(), "{name}");
    }
    assert!(catalog.studies["today"].tracks.contains(&Track::Tuned));
}
