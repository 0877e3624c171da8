//! How an image is run as a server: the command line of its container, and the one that removes the container.

use super::{ContainerError, Tool};
use crate::random_bits;
use std::ffi::OsString;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The number of attempts to get the process ID of a container's first process.
const ATTEMPTS: u32 = 5;

/// The time between two attempts.
const PAUSE: Duration = Duration::from_millis(200);

/// The placeholder for the port.
const PORT: &str = "{port}";

/// Options of `run` for every container. The network is the machine's, so that no proxy is between load and server. The
/// output comes through the tool to the server's log and is kept nowhere else. A removal kills at once, because the server was asked to end before.
const OPTIONS: [&str; 5] =
    ["--rm", "--pull=never", "--network=host", "--log-driver=none", "--stop-timeout=0"];

/// Makes environment variables. The function that it is given returns the value that a variable has so far.
pub type Variables<'a> = dyn Fn(&dyn Fn(&str) -> Option<OsString>) -> Vec<(String, String)> + 'a;

/// Everything about a container but its name, its port and its cores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The tool that runs it.
    pub tool: Tool,
    /// More options of `run`, after drome's own.
    pub args: Vec<String>,
    /// Environment variables, as `NAME=VALUE`.
    pub env: Vec<String>,
    /// The image's ID.
    pub image: String,
    /// The words after the image: arguments of its entry point, or a command in place of its own.
    pub words: Vec<String>,
    /// Whether the tool can keep the container on certain cores. Else, a container inherits those of its guard, if at all.
    pub sets_cpus: bool,
}

impl Launch {
    /// The command that runs a container of this name in the foreground, on these cores; none: on all.
    pub fn command(&self, name: &str, cpus: &[usize], port: u16) -> Vec<String> {
        let fill = |text: &String| text.replace(PORT, &port.to_string());
        let mut command = self.tool.command(&["run", "--name", name]);
        command.extend(OPTIONS.map(str::to_owned));
        if self.sets_cpus && !cpus.is_empty() {
            let cpus: Vec<String> = cpus.iter().map(ToString::to_string).collect();
            command.push(format!("--cpuset-cpus={}", cpus.join(",")));
        }
        command.extend(self.args.iter().cloned());
        command.extend(self.env.iter().map(|variable| format!("--env={}", fill(variable))));
        command.push(self.image.clone());
        command.extend(self.words.iter().map(fill));
        command
    }

    /// The value of a variable in the container: the one that the tool is given, else that of the image. `of_image`: the image's variables.
    fn variable<'a>(&'a self, name: &str, of_image: &'a [String]) -> Option<&'a str> {
        let value = |variable: &'a String| variable.strip_prefix(name)?.strip_prefix('=');
        self.env.iter().rev().chain(of_image).find_map(value)
    }

    /// The same container with the variables that `more` gives, which replace its own of the same names. `more` can look up the values that
    /// variables have so far.
    pub fn with_environment(&self, more: &Variables<'_>, stop: &AtomicBool) -> Result<Self, ContainerError> {
        let of_image = self.tool.variables(&self.image, stop)?;
        let more = more(&|name| self.variable(name, &of_image).map(OsString::from));
        // A variable that the user's own options of the tool mention, in whatever form, stays as it is.
        let is_told = |name: &str| self.args.iter().any(|arg| arg.contains(name));
        let more = more.into_iter().filter(|(name, _)| !is_told(name));
        let env = self.env.iter().cloned().chain(more.map(|(name, value)| format!("{name}={value}")));
        Ok(Self { env: env.collect(), ..self.clone() })
    }

    /// The command that kills the container of this name, if it runs, and removes it.
    pub fn removal(&self, name: &str) -> Vec<String> {
        let mut command = self.tool.command(&["rm", "--force"]);
        if self.tool.is_podman() {
            command.push("--ignore".to_owned());
        }
        command.push(name.to_owned());
        command
    }

    /// The process ID of the first process in the running container of this name. A server may answer a moment before its tool says
    /// that it runs.
    pub fn first_process(&self, name: &str, stop: &AtomicBool) -> Result<i32, ContainerError> {
        let mut tried = 1;
        loop {
            match self.tool.first_process(name, stop) {
                Err(ContainerError::Failed { .. }) if tried < ATTEMPTS => tried += 1,
                found => return found,
            }
            std::thread::sleep(PAUSE);
        }
    }
}

/// A name for a container that no other container has.
pub fn new_name() -> String {
    format!("drome-{:016x}", random_bits())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(tool: &[&str]) -> Launch {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        Launch {
            tool: Tool::of(owned(tool)).unwrap(),
            args: owned(&["--ulimit", "nofile=20000:20000"]),
            env: owned(&["PORT={port}", "MODE=fast"]),
            image: "sha256:12".to_owned(),
            words: owned(&["/app", "--port={port}"]),
            sets_cpus: true,
        }
    }

    #[test]
    fn a_container_is_run_and_removed_by_its_name() {
        let mut podman = launch(&["/usr/bin/podman", "--runtime", "runc"]);
        let command = podman.command("drome-1", &[2, 3], 8080).join(" ");
        assert_eq!(
            command,
            "/usr/bin/podman --runtime runc run --name drome-1 --rm --pull=never --network=host --log-driver=none \
             --stop-timeout=0 --cpuset-cpus=2,3 --ulimit nofile=20000:20000 --env=PORT=8080 --env=MODE=fast sha256:12 /app \
             --port=8080"
        );
        assert!(!podman.command("x", &[], 1).join(" ").contains("cpuset"), "no cores are known");
        podman.sets_cpus = false;
        assert!(!podman.command("x", &[2], 1).join(" ").contains("cpuset"));
        assert_eq!(podman.removal("a").join(" "), "/usr/bin/podman --runtime runc rm --force --ignore a");
        assert_eq!(launch(&["docker"]).removal("a"), ["docker", "rm", "--force", "a"]);
    }

    #[test]
    fn variables_are_those_of_the_user_then_those_of_the_image() {
        let launch = launch(&["docker"]);
        let of_image = ["MODE=slow", "MODEL=x", "PATH=/bin:/a=b"].map(str::to_owned);
        let of = |name| launch.variable(name, &of_image);
        assert_eq!((of("MODE"), of("MODEL"), of("PATH")), (Some("fast"), Some("x"), Some("/bin:/a=b")));
        assert_eq!((of("MOD"), of("")), (None, None));
    }

    #[test]
    fn more_variables_stand_after_the_containers_own() {
        let folder = tempfile::tempdir().unwrap();
        let tool = folder.path().join("podman");
        std::fs::write(&tool, "#!/bin/sh\necho MODE=slow\necho OPTIONS=-a\n").unwrap();
        let mut launch = launch(&["sh", &tool.display().to_string()]);
        launch.args.push("--env=TOLD=1".to_owned());
        let more = |own: &dyn Fn(&str) -> Option<OsString>| {
            let of = |name: &str| own(name).map_or_else(String::new, |value| value.into_string().unwrap());
            let added = ["MODE", "OPTIONS", "NEW", "TOLD"].map(|name| (name.to_owned(), of(name) + "+"));
            added.to_vec()
        };
        let with = launch.with_environment(&more, &AtomicBool::new(false)).unwrap();
        assert_eq!(with.env, ["PORT={port}", "MODE=fast", "MODE=fast+", "OPTIONS=-a+", "NEW=+"]);
    }

    #[test]
    fn no_two_containers_have_the_same_name() {
        let (one, other) = (new_name(), new_name());
        assert!(one != other && one.starts_with("drome-") && one.len() == 22, "{one} {other}");
    }
}
