//! What is asked for on the command line: which scenes, and how long each.

use super::scenes::{SCENES, Scene};
use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use std::time::Duration;

const MINUTES: u64 = 30;

/// The local page beside careless clients.
const PAGE: &str = "ui";

pub struct Options {
    pub scenes: Vec<&'static Scene>,
    /// Whether the local page is one of them, which is looked at in another way.
    pub is_page: bool,
    pub length: Duration,
    /// Instead of a release build.
    pub drome: Option<PathBuf>,
}

impl Options {
    /// `None`: help is asked for.
    pub fn read(args: &[String]) -> Result<Option<Self>> {
        let (mut scenes, mut is_page, mut minutes, mut drome) = (Vec::new(), false, MINUTES, None);
        let mut args = args.iter().map(String::as_str);
        while let Some(arg) = args.next() {
            match arg {
                "--help" | "-h" => return Ok(None),
                "--minutes" => match args.next().and_then(|text| text.parse().ok()) {
                    Some(n) if (1..=24 * 60).contains(&n) => minutes = n,
                    _ => bail!("--minutes takes a whole number from 1 to 1440"),
                },
                "--drome" => drome = Some(args.next().context("--drome takes a program")?.into()),
                "all" => {
                    is_page = true;
                    scenes.extend(SCENES);
                }
                PAGE => is_page = true,
                _ => match SCENES.iter().find(|scene| scene.name == arg) {
                    Some(scene) => scenes.push(scene),
                    None => bail!("`{arg}` is no scene; there are: {} {PAGE} all", names()),
                },
            }
        }
        if scenes.is_empty() && !is_page {
            is_page = true;
            scenes.extend(SCENES);
        }
        Ok(Some(Self { scenes, is_page, length: Duration::from_mins(minutes), drome }))
    }
}

fn names() -> String {
    SCENES.iter().map(|scene| scene.name).collect::<Vec<_>>().join(" ")
}

/// What can be asked for.
pub fn help() -> String {
    let scenes: String =
        SCENES.iter().map(|scene| format!("  {:<8} {}\n", scene.name, scene.about)).collect();
    format!(
        "cargo xtask soak [--minutes N] [--drome PROGRAM] [SCENE…]\n  --minutes  how long each takes [{MINUTES}]\n  --drome    what is watched, instead of a release build\n{scenes}  {PAGE:<8} the local page, beside clients that do not behave\n"
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    fn read(text: &str) -> Result<Option<Options>> {
        Options::read(&text.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn scenes_and_minutes_are_read_and_what_is_neither_is_refused() {
        let options = read("--minutes 2 tls ui").unwrap().unwrap();
        let names: Vec<_> = options.scenes.iter().map(|scene| scene.name).collect();
        assert_eq!((names, options.is_page, options.length.as_secs()), (vec!["tls"], true, 120));
        let all = read("").unwrap().unwrap();
        assert_eq!((all.scenes.len(), all.is_page), (SCENES.len(), true));
        for bad in ["--minutes", "--minutes 0", "tsl"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
