//! The options of `cargo xtask soak`: which scenes, and how long each.

use super::scenes::{SCENES, Scene};
use clap::Parser;
use clap::builder::{PossibleValue, PossibleValuesParser};
use std::path::PathBuf;
use std::time::Duration;

/// The scene that is watched in another way: the local page.
const UI: &str = "ui";

/// Raw arguments.
#[derive(Parser)]
#[command(override_usage = "cargo xtask soak [OPTIONS] [SCENE]...")]
pub struct Options {
    /// Scenes to run [default: all]
    #[arg(value_name = "SCENE", value_parser = PossibleValuesParser::new(names()))]
    scenes: Vec<String>,
    /// Length of each scene, from 1min to 24h
    #[arg(short, long, default_value = "30min", value_name = "TIME", value_parser = time)]
    duration: Duration,
    /// Watch this program instead of a release build of drome
    #[arg(long, value_name = "PROGRAM")]
    pub drome: Option<PathBuf>,
}

impl Options {
    /// The selected scenes but the local page; all if none was named.
    pub fn scenes(&self) -> impl Iterator<Item = &'static Scene> {
        SCENES.iter().filter(|scene| self.selects(scene.name))
    }

    /// Whether the local page is selected.
    pub fn has_ui(&self) -> bool {
        self.selects(UI)
    }

    /// Length of each scene.
    pub fn length(&self) -> Duration {
        self.duration
    }

    fn selects(&self, name: &str) -> bool {
        self.scenes.is_empty() || self.scenes.iter().any(|scene| scene == name || scene == "all")
    }
}

/// A time in which it shows whether a process grows.
fn time(text: &str) -> Result<Duration, String> {
    let time = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    let range = Duration::from_mins(1)..=Duration::from_hours(24);
    if range.contains(&time) { Ok(time) } else { Err("must be a time from 1min to 24h".to_owned()) }
}

fn names() -> impl Iterator<Item = PossibleValue> {
    let scenes = SCENES.iter().map(|scene| (scene.name, scene.about));
    let others = [(UI, "the local page with clients that misbehave"), ("all", "all of these")];
    scenes.chain(others).map(|(name, about)| PossibleValue::new(name).help(about))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Options, clap::Error> {
        Options::try_parse_from(["soak"].into_iter().chain(text.split_whitespace()))
    }

    fn selected(text: &str) -> (Vec<&'static str>, bool) {
        let options = read(text).unwrap();
        (options.scenes().map(|scene| scene.name).collect(), options.has_ui())
    }

    #[test]
    fn scenes_are_selected_by_name_and_all_of_them_by_default() {
        let all = SCENES.iter().map(|scene| scene.name).collect::<Vec<_>>();
        assert_eq!(selected(""), (all.clone(), true));
        assert_eq!(selected("tls all"), (all, true));
        assert_eq!(selected("tls ui"), (vec!["tls"], true));
        assert_eq!(selected("open load"), (vec!["load", "open"], false));
    }

    #[test]
    fn a_scene_takes_half_an_hour_by_default() {
        let options = read("--duration 2min --drome ./drome tls").unwrap();
        assert_eq!((options.length().as_secs(), options.drome), (120, Some("./drome".into())));
        let options = read("").unwrap();
        assert_eq!((options.length().as_secs(), options.drome), (1800, None));
    }

    #[test]
    fn bad_input_is_refused() {
        for bad in ["--duration", "--duration 59s", "--duration 25h", "--duration 2", "--drome", "tsl"] {
            assert!(read(bad).is_err(), "{bad}");
        }
        let error = read("tsl").err().unwrap().to_string();
        assert!(error.contains("'tsl'"), "{error}");
        assert!(error.contains("serve, load, tls, open, faults, ui, all"), "{error}");
    }

    #[test]
    fn the_help_says_what_each_scene_is() {
        let help = read("--help").err().unwrap().to_string();
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(help.contains("Usage: cargo xtask soak [OPTIONS] [SCENE]..."), "{help}");
        assert!(SCENES.iter().all(|scene| help.contains(scene.about)), "{help}");
    }
}
