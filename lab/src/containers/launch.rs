//! How an image is run as a server: the command line of its container, and the one that removes the container.

use super::{ContainerError, Tool};
use net::clock;
use stats::random;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// How often a container's first process is asked for.
const ATTEMPTS: u32 = 5;

/// The time between two attempts.
const PAUSE: Duration = Duration::from_millis(200);

/// What stands for the port.
const PORT: &str = "{port}";

/// Options of `run` for every container. The network is the machine's, so that no proxy is between load and server. The
/// output comes through the tool to the server's log and is kept nowhere else. A removal kills at once: the server was asked before.
const OPTIONS: [&str; 5] =
    ["--rm", "--pull=never", "--network=host", "--log-driver=none", "--stop-timeout=0"];

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
    static GIVEN: AtomicU64 = AtomicU64::new(0);
    let nth = GIVEN.fetch_add(1, Ordering::Relaxed);
    format!("drome-{:016x}", random::derive(&[clock::now_ns(), std::process::id().into(), nth]))
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
    fn no_two_containers_have_the_same_name() {
        let (one, other) = (new_name(), new_name());
        assert!(one != other && one.starts_with("drome-") && one.len() == 22, "{one} {other}");
    }
}
