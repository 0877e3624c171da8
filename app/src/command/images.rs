//! `drome race --image`: servers in containers. Every image is found and pinned before anything is measured.

use super::command_line;
use crate::failure::WrongInput;
use clap::Args;
use control::containers::{Launch, TOOLS, Tool};
use control::prepare::on_path;
use lab::setup::RacedImage;
use model::observation::ContainerImage;
use std::sync::atomic::AtomicBool;

/// Raw arguments.
#[derive(Debug, Args)]
pub struct ImageArgs {
    /// Container image to race, such as localhost/app:old, run by podman or docker and pulled if it is missing. Repeat it for
    /// each image; the others are compared with the first
    #[arg(long = "image", value_name = "NAME", group = "built_servers")]
    pub images: Vec<String>,
    /// Environment variable of every container, such as PORT={port}; {port} stands for the port that the server must
    /// listen on; may be repeated
    #[arg(long = "env", value_name = "NAME=VALUE", requires = "images")]
    pub variables: Vec<String>,
    /// Program that runs containers, with its own options, such as 'podman --runtime runc' [default: podman, else
    /// docker]
    #[arg(long, value_name = "TOOL", requires = "images")]
    pub container_tool: Option<String>,
    /// Option for the run command of the container tool, after drome's own, such as --memory=1g; may be repeated
    #[arg(long = "container-arg", value_name = "ARG", requires = "images", allow_hyphen_values = true)]
    pub container_args: Vec<String>,
}

/// The largest number of servers in a race.
const MOST: usize = 26;

impl ImageArgs {
    /// Whether the command line says enough to start a race of images. Where it has only the images, drome.toml may have the rest.
    pub fn are_whole(&self, start: Option<&str>) -> bool {
        !self.images.is_empty() && (start.is_some() || !self.variables.is_empty())
    }

    /// Whether images were named.
    pub fn are_named(&self) -> bool {
        !self.images.is_empty()
    }

    /// Finds and pins all images; `None` if none was asked for. `start`: the command line that follows an image's name.
    pub fn resolve(&self, start: Option<&str>, stop: &AtomicBool) -> anyhow::Result<Option<Vec<RacedImage>>> {
        if self.images.is_empty() {
            return Ok(None);
        }
        self.check(start)?;
        let split = |option: &str, line: &str| {
            command_line::words(line).map_err(|why| WrongInput(format!("--{option} `{line}`: {why}")))
        };
        let words = start.map_or(Ok(Vec::new()), |line| split("start", line))?;
        let tool = match &self.container_tool {
            Some(line) => Tool::of(split("container-tool", line)?),
            None => {
                TOOLS.into_iter().find(|name| on_path(name)).and_then(|name| Tool::of(vec![name.to_owned()]))
            }
        };
        let tool = tool.ok_or_else(|| {
            let why = "--image needs podman or docker, and neither is on PATH: `apt install podman`, or name another tool \
                       with --container-tool";
            WrongInput(why.to_owned())
        })?;
        let found =
            self.images.iter().map(|name| find(&tool, name, stop)).collect::<anyhow::Result<Vec<_>>>()?;
        warn_of_same(&found);
        let launch = Launch {
            sets_cpus: tool.sets_cpus(stop)?,
            tool,
            args: self.container_args.clone(),
            env: self.variables.clone(),
            image: String::new(),
            words,
        };
        let raced = found.into_iter().map(|image| {
            // podman accepts an ID only without the prefix `sha256:`, and docker with and without it.
            let id = image.id.strip_prefix("sha256:").unwrap_or(&image.id).to_owned();
            RacedImage { image, launch: Launch { image: id, ..launch.clone() } }
        });
        Ok(Some(raced.collect()))
    }

    /// Refuses arguments that are wrong for any container tool.
    fn check(&self, start: Option<&str>) -> Result<(), WrongInput> {
        if !(2..=MOST).contains(&self.images.len()) {
            return Err(WrongInput(format!(
                "--image: a race needs 2 to {MOST} images; give --image once for each"
            )));
        }
        let is_no_name =
            |name: &&String| name.is_empty() || name.starts_with('-') || name.contains(char::is_whitespace);
        if let Some(name) = self.images.iter().find(is_no_name) {
            return Err(WrongInput(format!("--image `{name}`: this is no name of an image")));
        }
        if let Some(variable) = self.variables.iter().find(|variable| !variable.contains('=')) {
            return Err(WrongInput(format!("--env `{variable}`: write NAME=VALUE")));
        }
        let has_port = |text: &str| text.contains("{port}");
        if start.is_some_and(has_port) || self.variables.iter().any(|variable| has_port(variable)) {
            return Ok(());
        }
        Err(WrongInput(
            "--image: neither --start nor --env has {port}, the port that drome chooses for each server. Write it where the \
             server's command takes its port, such as --start '/app --port {port}', or hand it over in a variable, such as \
             --env 'PORT={port}'"
                .to_owned(),
        ))
    }
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

    fn args(images: &[&str], variables: &[&str]) -> ImageArgs {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        ImageArgs {
            images: owned(images),
            variables: owned(variables),
            container_tool: None,
            container_args: Vec::new(),
        }
    }

    #[test]
    fn the_port_must_be_handed_over_in_one_way() {
        let two = ["a", "b"];
        for (variables, start) in
            [(&["PORT={port}"][..], None), (&[], Some("/app {port}")), (&["A=1"], Some("{port}"))]
        {
            assert!(args(&two, variables).check(start).is_ok(), "{variables:?} {start:?}");
        }
        for (variables, start) in [(&["PORT=80"][..], None), (&[], Some("/app")), (&[], None)] {
            let refused = args(&two, variables).check(start).unwrap_err().to_string();
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
            let refused = args(images, variables).check(None).unwrap_err().to_string();
            assert!(refused.contains(why), "{refused}");
        }
    }

    #[test]
    fn images_alone_are_not_enough_to_start() {
        let whole = |images: &[&str], variables: &[&str], start| args(images, variables).are_whole(start);
        assert!(whole(&["a"], &["P={port}"], None) && whole(&["a"], &[], Some("x")));
        assert!(!whole(&["a"], &[], None) && !whole(&[], &["P={port}"], Some("x")));
    }
}
