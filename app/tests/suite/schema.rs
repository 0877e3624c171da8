//! `drome generate schema`: the formats, and the schema of each, by the real binary.

use crate::common::{Home, run};
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
    run(&mut home.drome(&["generate", "schema", "contendr"])).assert_err(2, &["contender"]);
}
