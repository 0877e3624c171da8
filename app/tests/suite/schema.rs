//! `drome generate schema`: the formats, and the schema of each, by the real binary.

use crate::common::{Finished, Home, assert_as_schema, load, run, serve};
use serde_json::Value;

#[test]
fn every_format_that_is_listed_has_a_schema() {
    let home = Home::new();
    let listed = run(&mut home.drome(&["generate", "schema"]));
    assert!(listed.code == 0 && listed.out.starts_with("contender "), "{}", listed.out);
    for line in listed.out.lines() {
        let (name, title) = line.split_once(' ').unwrap();
        let schema: Value =
            serde_json::from_str(&run(&mut home.drome(&["generate", "schema", name])).out).unwrap();
        assert_eq!(schema["title"], title.trim());
    }
    let Finished { code, err, .. } = run(&mut home.drome(&["generate", "schema", "contendr"]));
    assert!(code == 2 && err.contains("contender"), "{code}: {err}");
}

#[test]
fn a_measurement_is_as_the_schema_says() {
    let server = serve(&[]);
    let (_, json) = load(server.address, "/hello", &["-n", "100"]);
    assert_as_schema(&Home::new(), "load", &json);
}
