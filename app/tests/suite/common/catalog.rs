//! Studies and contenders for a test's own catalog, in which nothing takes long.

use super::Home;
use std::collections::BTreeMap;

/// The command of a contender that is drome's own server. Answers come after a moment, so that its turns leave the cores to other tests.
pub const SERVES: &str = r#"["{drome}", "serve", "--port", "{port}", "--fault", "delay=1ms"]"#;

const CONTENDER: &str = r#"
title = "TITLE"
language = "Rust"
class = "native"
kind = "server"
homepage = "http://127.0.0.1/"
[version]
command = ["echo", "1.0"]
[run]
command = COMMAND
[serves]
hello = "/hello"
"#;

/// What a study's design says where a test needs nothing else. No server is warmed up for longer than the limit, whatever it is.
const DESIGN: [(&str, &str); 7] = [
    ("rounds", "[1, 1]"),
    ("slice", "'20ms'"),
    ("warmup", "'10ms'"),
    ("warmup_limit", "'300ms'"),
    ("measure", "'100ms'"),
    ("precision", "0.9"),
    ("budget", "'2h'"),
];

/// A contender of class `native` that answers `hello`, as its file is written. `command`: a list as TOML writes it.
pub fn contender(title: &str, command: &str) -> String {
    CONTENDER.replace("TITLE", title).replace("COMMAND", command)
}

/// The same, and it answers `pong` too.
pub fn contender_with_pong(title: &str, command: &str) -> String {
    contender(title, command) + "pong = \"/pong\"\n"
}

/// A cell of a study. `load`: such as `closed = { connections = 2 }`.
pub fn cell(title: &str, workload: &str, load: &str) -> String {
    format!("[[cell]]\ntitle = \"{title}\"\nworkload = \"{workload}\"\nload = {{ {load} }}\n")
}

/// The cell of most studies.
pub fn keep_alive(connections: usize) -> String {
    cell("keep-alive", "hello", &format!("closed = {{ connections = {connections} }}"))
}

/// A study, as its file is written. `cells`: as TOML writes them; `design`: what takes the place of [`DESIGN`]'s, or is added to it.
pub fn study(contenders: &[&str], cells: &str, design: &[(&str, &str)]) -> String {
    let keys: BTreeMap<&str, &str> = DESIGN.iter().chain(design).copied().collect();
    let design: String = keys.iter().map(|(key, value)| format!("{key} = {value}\n")).collect();
    format!("title = \"A small study\"\ncontenders = {contenders:?}\n{cells}[design]\n{design}")
}

impl Home {
    /// Adds a study of one cell with so many rounds to the catalog `own`.
    pub fn add_study(&self, name: &str, contenders: &[&str], rounds: usize) {
        let rounds = format!("[{rounds}, {rounds}]");
        self.write_study(name, &study(contenders, &keep_alive(2), &[("rounds", &rounds)]));
    }

    /// Adds a contender of class `native` to the catalog `own`.
    pub fn add_contender(&self, name: &str, command: &str) {
        self.write_contender(name, &contender(name, command));
    }

    pub fn write_study(&self, name: &str, text: &str) {
        self.write(&format!("own/studies/{name}.toml"), text);
    }

    pub fn write_contender(&self, name: &str, text: &str) {
        self.write(&format!("own/contenders/{name}/contender.toml"), text);
    }
}
