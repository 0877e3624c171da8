//! What a build depends on besides its sources: the tools that its command names, and the environment that they read.

use crate::shell;
use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::Duration;

/// How long a tool may take to say its version.
const PATIENCE: Duration = Duration::from_secs(30);

/// Programs in a build command, and the command that prints the version of what they build with.
const TOOLS: &[(&str, &[&str])] = &[
    ("cargo", &["rustc", "-vV"]),
    ("rustc", &["rustc", "-vV"]),
    ("go", &["go", "version"]),
    ("make", &["cc", "--version"]),
    ("cmake", &["cc", "--version"]),
    ("meson", &["cc", "--version"]),
    ("ninja", &["cc", "--version"]),
    ("cc", &["cc", "--version"]),
    ("gcc", &["gcc", "--version"]),
    ("g++", &["g++", "--version"]),
    ("clang", &["clang", "--version"]),
    ("zig", &["zig", "version"]),
    ("npm", &["node", "--version"]),
    ("node", &["node", "--version"]),
    ("mvn", &["java", "-version"]),
    ("gradle", &["java", "-version"]),
    ("gradlew", &["java", "-version"]),
    ("javac", &["java", "-version"]),
    ("dotnet", &["dotnet", "--version"]),
    ("python3", &["python3", "--version"]),
    ("pip", &["python3", "--version"]),
];

/// Variables that these tools read begin with one of these.
const VARIABLES: &[&str] = &[
    "CARGO",
    "RUST",
    "GO",
    "CC",
    "CXX",
    "CFLAGS",
    "CPPFLAGS",
    "LD",
    "MAKE",
    "NODE",
    "NPM",
    "JAVA",
    "MAVEN",
    "GRADLE",
    "DOTNET",
    "PYTHON",
    "PATH",
    "PKG_CONFIG",
];

/// Versions and variables as text; the text is the same if and only if they are.
pub fn describe(build: &str) -> String {
    let variables: BTreeMap<_, _> = std::env::vars_os()
        .filter(|(name, _)| VARIABLES.iter().any(|begin| name.to_string_lossy().starts_with(begin)))
        .collect();
    let versions: Vec<String> = tools(build).into_iter().map(version).collect();
    format!("{versions:?} {variables:?}")
}

/// The version commands of the tools that a build command names.
fn tools(build: &str) -> Vec<&'static [&'static str]> {
    let words: Vec<&str> = build
        .split(|c: char| c.is_whitespace() || ";&|()'\"`$".contains(c))
        .filter_map(|word| word.rsplit('/').next())
        .collect();
    let mut found: Vec<&'static [&'static str]> = Vec::new();
    for (tool, command) in TOOLS {
        if words.contains(tool) && !found.contains(command) {
            found.push(command);
        }
    }
    found
}

/// What a version command prints; some print it as an error.
fn version(command: &[&str]) -> String {
    let mut asked = Command::new(command[0]);
    shell::output(asked.args(&command[1..]).stdin(Stdio::null()), PATIENCE).map_or_else(
        |error| error.to_string(),
        |output| String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tools_of_a_command_line_are_found_by_their_names() {
        let of = |build: &str| tools(build).into_iter().map(|command| command[0]).collect::<Vec<_>>();
        assert_eq!(of("cargo build --release"), ["rustc"]);
        assert_eq!(of("./configure && make -j2"), ["cc"]);
        assert_eq!(of("cd web; npm ci && (/usr/bin/go build)"), ["go", "node"]);
        assert!(of("true").is_empty() && of("echo cargonaut").is_empty());
    }

    #[test]
    fn the_same_is_described_the_same_way() {
        assert_eq!(describe("cc -O2 x.c"), describe("cc -O2 x.c"));
        assert_ne!(describe("true"), describe("cc x.c"), "another tool");
    }
}
