//! The day, and the versions of drome and of the programs that it is compared with.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use xtask::packages;

/// The other programs, and the option that makes each print its version.
const OTHERS: &[(&str, &str)] = &[("wrk", "-v"), ("h2load", "--version"), ("ab", "-V"), ("nginx", "-v")];

/// Versions of drome and of each other program that is installed.
pub fn all(drome: &Path) -> BTreeMap<String, Option<String>> {
    let others = OTHERS.iter().filter_map(|(name, option)| Some((*name, packages::find(name)?, *option)));
    let all = others.chain([("drome", drome.to_owned(), "--version")]);
    let version = |program: &Path, option: &str| output_of(&program.display().to_string(), &[option]);
    all.map(|(name, program, option)| {
        (name.to_owned(), version(&program, option).as_deref().and_then(version_in).map(str::to_owned))
    })
    .collect()
}

/// The date in UTC, such as 2026-01-31.
pub fn today() -> String {
    output_of("date", &["-u", "+%F"]).unwrap_or_else(|| "date unknown".to_owned())
}

/// The first word that looks like a version, such as `nginx/1.22.1`, without the name.
fn version_in(text: &str) -> Option<&str> {
    let mut words = text.split_whitespace();
    let word = words.find(|word| word.contains('.') && word.bytes().any(|b| b.is_ascii_digit()))?;
    word.rsplit('/').next()
}

/// What a program prints, on standard output or standard error.
fn output_of(program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).output().ok()?;
    let text = [output.stdout, output.stderr].concat();
    Some(String::from_utf8_lossy(&text).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_programs_print() {
        let cases = [
            ("wrk debian/4.1.0-3+b2 [epoll] Copyright (C) 2012", Some("4.1.0-3+b2")),
            ("nginx version: nginx/1.22.1", Some("1.22.1")),
            ("This is ApacheBench, Version 2.3 <$Revision$>", Some("2.3")),
            ("no version", None),
        ];
        for (text, version) in cases {
            assert_eq!(version_in(text), version, "{text}");
        }
    }
}
