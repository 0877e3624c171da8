//! `drome verify` of some contenders that Debian's packages give in seconds, on both tracks: what CI can afford. All of the catalog is verified by `drome verify --install --yes`.

use crate::common::{Home, assert_as_schema, run};
use serde_json::Value;

/// What `cargo xtask test` installs is enough for these.
const QUICKLY_HAD: [&str; 13] = [
    "apache-prefork",
    "bottle",
    "haproxy",
    "lighttpd",
    "nginx",
    "ngx-lua",
    "node",
    "perl-http-daemon",
    "perl-http-server-simple",
    "perl-mojolicious",
    "python-http-server",
    "reference",
    "starman",
];

#[test]
fn what_is_had_quickly_does_all_that_it_declares() {
    let home = Home::new();
    let mut command = home.drome(&["verify", "--format", "json"]);
    let finished = run(command.args(QUICKLY_HAD));
    let rows: Vec<Value> =
        serde_json::from_str(&finished.out).unwrap_or_else(|e| panic!("{e}: {}", finished.err));
    assert_as_schema(&home, "verify", &Value::from(rows.clone()));
    for row in &rows {
        assert!(row["wrong"].as_array().unwrap().is_empty() && row["missing"].is_null(), "{row:#}");
        assert!(row["right"] == row["served"] && row["right"].as_u64().unwrap() > 0, "{row:#}");
    }
    for name in QUICKLY_HAD {
        assert!(rows.iter().any(|row| row["name"] == name), "{name} was not verified");
    }
    assert!(finished.code == 0 && rows.len() > QUICKLY_HAD.len(), "both tracks: {}", finished.err);
    home.assert_clean();
}
