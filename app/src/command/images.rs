//! `drome race --image`: servers in containers. Every image is found and pinned before anything is measured.

use super::command_line;
use super::race_settings::{MOST, RaceSettings};
use crate::failure::WrongInput;
use control::containers::{Launch, TOOLS, Tool};
use control::prepare::on_path;
use lab::setup::RacedImage;
use model::run::ContainerImage;
use std::sync::atomic::AtomicBool;

/// Finds and pins all images.
pub fn resolve(settings: &RaceSettings, stop: &AtomicBool) -> anyhow::Result<Vec<RacedImage>> {
    check(settings)?;
    let split = |option: &str, line: &str| {
        command_line::words(line).map_err(|why| WrongInput(format!("--{option} `{line}`: {why}")))
    };
    let words = settings.start.as_deref().map_or(Ok(Vec::new()), |line| split("start", line))?;
    let tool = match &settings.container_tool {
        Some(line) => Tool::of(split("container-tool", line)?),
        None => TOOLS.into_iter().find(|name| on_path(name)).and_then(|name| Tool::of(vec![name.to_owned()])),
    };
    let tool = tool.ok_or_else(|| {
        let why = "--image needs podman or docker, and neither is on PATH: `apt install podman`, or name another tool \
                   with --container-tool";
        WrongInput(why.to_owned())
    })?;
    let found =
        settings.images.iter().map(|name| find(&tool, name, stop)).collect::<anyhow::Result<Vec<_>>>()?;
    warn_of_same(&found);
    let launch = Launch {
        sets_cpus: tool.sets_cpus(stop)?,
        tool,
        args: settings.container_args.clone(),
        env: settings.env.clone(),
        image: String::new(),
        words,
    };
    let raced = found.into_iter().map(|image| {
        // podman accepts an ID only without the prefix `sha256:`, and docker with and without it.
        let id = image.id.strip_prefix("sha256:").unwrap_or(&image.id).to_owned();
        RacedImage { image, launch: Launch { image: id, ..launch.clone() } }
    });
    Ok(raced.collect())
}

/// Refuses arguments that are wrong for any container tool.
fn check(settings: &RaceSettings) -> Result<(), WrongInput> {
    if !(2..=MOST).contains(&settings.images.len()) {
        refuse!("--image: a race needs 2 to {MOST} images; give --image once for each");
    }
    let is_no_name =
        |name: &&String| name.is_empty() || name.starts_with('-') || name.contains(char::is_whitespace);
    if let Some(name) = settings.images.iter().find(is_no_name) {
        refuse!("--image `{name}`: this is no name of an image");
    }
    if let Some(variable) = settings.env.iter().find(|variable| !variable.contains('=')) {
        refuse!("--env `{variable}`: write NAME=VALUE");
    }
    let has_port = |text: &str| text.contains("{port}");
    if settings.start.as_deref().is_some_and(has_port)
        || settings.env.iter().any(|variable| has_port(variable))
    {
        return Ok(());
    }
    refuse!(
        "--image: neither --start nor --env has {{port}}, the port that drome chooses for each server. Write it where the \
         server's command takes its port, such as --start '/app --port {{port}}', or hand it over in a variable, such as \
         --env 'PORT={{port}}'"
    )
}

/// The image of this name, which is pulled if it is not on this machine.
fn find(tool: &Tool, name: &str, stop: &AtomicBool) -> anyhow::Result<ContainerImage> {
    if let Some(image) = tool.image(name, stop)? {
        return Ok(image);
    }
    note!("pulling {name} with {}", tool.program());
    Ok(tool.pull(name, stop)?)
}

/// Says which images are the same: a race of them shows only noise.
fn warn_of_same(images: &[ContainerImage]) {
    for (i, one) in images.iter().enumerate() {
        if let Some(other) = images.iter().skip(i + 1).find(|other| one.id == other.id) {
            let (one, other, id) = (&one.name, &other.name, &one.id);
            alert!("drome: {one} and {other} are the same image ({id}), so the race can show only noise");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(images: &[&str], variables: &[&str], start: Option<&str>) -> RaceSettings {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let start = start.map(str::to_owned);
        RaceSettings { images: owned(images), env: owned(variables), start, ..RaceSettings::default() }
    }

    #[test]
    fn the_port_must_be_handed_over_in_one_way() {
        let two = ["a", "b"];
        for (variables, start) in
            [(&["PORT={port}"][..], None), (&[], Some("/app {port}")), (&["A=1"], Some("{port}"))]
        {
            assert!(check(&settings(&two, variables, start)).is_ok(), "{variables:?} {start:?}");
        }
        for (variables, start) in [(&["PORT=80"][..], None), (&[], Some("/app")), (&[], None)] {
            let refused = check(&settings(&two, variables, start)).unwrap_err().to_string();
            assert!(refused.contains("--env 'PORT={port}'"), "{refused}");
        }
    }

    #[test]
    fn what_is_no_list_of_images_is_refused() {
        for (images, variables, why) in [
            (&["a"][..], &["P={port}"][..], "a race needs 2 to 26 images"),
            (&["a", "--all"], &["P={port}"], "--image `--all`: this is no name"),
            (&["a", ""], &["P={port}"], "--image ``"),
            (&["a", "b c"], &["P={port}"], "--image `b c`"),
            (&["a", "b"], &["P"], "write NAME=VALUE"),
        ] {
            let refused = check(&settings(images, variables, None)).unwrap_err().to_string();
            assert!(refused.contains(why), "{refused}");
        }
    }
}
