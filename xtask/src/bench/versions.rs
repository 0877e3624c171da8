//! What was compared: the day, and the version of drome and of each peer.

use crate::packages;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// How each peer is asked for its version.
const PEERS: &[(&str, &str)] = &[("wrk", "-v"), ("h2load", "--version"), ("ab", "-V"), ("nginx", "-v")];

/// Of drome, and of each peer that is installed.
pub fn all(release: &Path) -> BTreeMap<String, Option<String>> {
    let peers = PEERS.iter().filter_map(|(peer, option)| Some((*peer, packages::find(peer)?, *option)));
    let all = peers.chain([("drome", release.join("drome"), "--version")]);
    let version = |program: &Path, option: &str| said(&program.display().to_string(), &[option]);
    all.map(|(name, program, option)| {
        (name.to_owned(), version(&program, option).as_deref().and_then(version_in).map(str::to_owned))
    })
    .collect()
}

/// In UTC, as 2026-01-31.
pub fn today() -> String {
    said("date", &["-u", "+%F"]).unwrap_or_else(|| "date unknown".to_owned())
}

/// The first word that looks like one: `nginx/1.22.1`.
fn version_in(text: &str) -> Option<&str> {
    let mut words = text.split_whitespace();
    let word = words.find(|word| word.contains('.') && word.bytes().any(|b| b.is_ascii_digit()))?;
    word.rsplit('/').next()
}

/// What a program says, wherever it says it.
fn said(program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).output().ok()?;
    let text = [output.stdout, output.stderr].concat();
    Some(String::from_utf8_lossy(&text).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_programs_say() {
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
