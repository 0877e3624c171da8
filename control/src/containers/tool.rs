//! The program that runs containers: podman, docker, or one with the same command line.

use super::ContainerError;
use crate::shell::{self, Ended, Printed};
use model::run::ContainerImage;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// A tool that takes longer to answer a question is taken for hung.
const PATIENCE: Duration = Duration::from_mins(1);

/// An image that takes longer to arrive is given up.
const PULL_PATIENCE: Duration = Duration::from_hours(2);

/// The ID of an image, and its names with digests.
const IDENTITY: &str = "{{.Id}} {{range .RepoDigests}}{{.}} {{end}}";

/// The variables of an image, a line for each.
const VARIABLES: &str = "{{range .Config.Env}}{{println .}}{{end}}";

/// The length of an ID in hexadecimal digits.
const ID_DIGITS: usize = 64;

/// A tool: its program and its own options, which are part of every call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    words: Vec<String>,
}

impl Tool {
    /// A tool of this program and these options of its own; `None`: there is no program.
    pub fn of(words: Vec<String>) -> Option<Self> {
        (!words.is_empty()).then_some(Self { words })
    }

    /// The program and its own options.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// The program.
    pub fn program(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }

    /// A whole command: the program, its own options, and these words.
    pub fn command(&self, args: &[&str]) -> Vec<String> {
        self.words.iter().cloned().chain(args.iter().map(|arg| (*arg).to_owned())).collect()
    }

    /// The image of this name, if it is on this machine.
    pub fn image(&self, name: &str, stop: &AtomicBool) -> Result<Option<ContainerImage>, ContainerError> {
        match self.ask(&["image", "inspect", "--format", IDENTITY, name], PATIENCE, stop) {
            Ok(printed) => Ok(image(name, &printed)),
            Err(ContainerError::Failed { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The variables of an image's environment, as `NAME=VALUE`.
    pub fn variables(&self, image: &str, stop: &AtomicBool) -> Result<Vec<String>, ContainerError> {
        let printed = self.ask(&["image", "inspect", "--format", VARIABLES, image], PATIENCE, stop)?;
        Ok(printed.lines().map(str::to_owned).collect())
    }

    /// Gets the image of this name from its registry.
    pub fn pull(&self, name: &str, stop: &AtomicBool) -> Result<ContainerImage, ContainerError> {
        let missing = |why: String| ContainerError::NoImage { name: name.to_owned(), why };
        match self.ask(&["pull", name], PULL_PATIENCE, stop) {
            Ok(_) => {}
            Err(error @ ContainerError::Failed { .. }) => return Err(missing(error.to_string())),
            Err(error) => return Err(error),
        }
        let found = self.image(name, stop)?;
        found.ok_or_else(|| {
            missing(format!("`{} pull {name}` succeeded, but the image is not there", self.program()))
        })
    }

    /// The process ID of a running container's first process.
    pub fn first_process(&self, container: &str, stop: &AtomicBool) -> Result<i32, ContainerError> {
        let args = ["container", "inspect", "--format", "{{.State.Pid}}", container];
        let printed = self.ask(&args, PATIENCE, stop)?;
        let pid = printed.trim().parse().ok().filter(|pid: &i32| *pid > 0);
        pid.ok_or_else(|| ContainerError::Failed {
            command: self.command(&args).join(" "),
            how: "named no process".to_owned(),
            last: last_lines(&printed),
        })
    }

    /// Whether it can keep containers on certain cores. Without root, podman often can't: the control groups of users lack the
    /// controller for it. A tool that does not say is assumed to be able.
    pub fn sets_cpus(&self, stop: &AtomicBool) -> Result<bool, ContainerError> {
        if !self.is_podman() {
            return Ok(true);
        }
        match self.ask(&["info", "--format", "{{.Host.CgroupControllers}}"], PATIENCE, stop) {
            Ok(printed) => Ok(printed.contains("cpuset")),
            Err(ContainerError::Failed { .. }) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Whether it is podman, by its name.
    pub fn is_podman(&self) -> bool {
        self.name().starts_with("podman")
    }

    fn name(&self) -> String {
        let file = Path::new(self.program()).file_name();
        file.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Runs the tool and returns what it printed to its standard output.
    fn ask(&self, args: &[&str], patience: Duration, stop: &AtomicBool) -> Result<String, ContainerError> {
        let lost = |source| ContainerError::Output { program: self.program().to_owned(), source };
        let mut command = Command::new(self.program());
        command.args(self.words.iter().skip(1)).args(args).stdin(Stdio::null());
        let printed = Printed::by(&mut command).map_err(lost)?;
        let ended = shell::finish(&mut command, patience, stop).map_err(|source| ContainerError::NoTool {
            program: self.program().to_owned(),
            package: if self.name().starts_with("docker") { "docker.io" } else { "podman" },
            source,
        })?;
        let [out, err] = printed.read().map_err(lost)?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let how = match ended {
            Ended::Exited(status) if status.success() => return Ok(text(&out)),
            Ended::Exited(status) => format!("failed ({status})"),
            Ended::TimedOut => format!("did not end within {patience:?}"),
            Ended::Stopped => return Err(ContainerError::Interrupted),
        };
        let command = self.command(args).join(" ");
        Err(ContainerError::Failed { command, how, last: last_lines(&text(&[out, err].concat())) })
    }
}

/// The image by its ID and its names with digests, as the tool printed them. podman prints the ID without the name of the digest.
fn image(name: &str, printed: &str) -> Option<ContainerImage> {
    let mut words = printed.split_whitespace();
    let id = words.next()?;
    let digits = id.strip_prefix("sha256:").unwrap_or(id);
    let is_id = digits.len() == ID_DIGITS && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let digest = words.next().map(str::to_owned);
    is_id.then(|| ContainerImage { name: name.to_owned(), id: format!("sha256:{digits}"), digest })
}

fn last_lines(printed: &str) -> String {
    let last = shell::last_lines(printed);
    if last.is_empty() { "; it printed nothing".to_owned() } else { format!(":\n    {last}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tool of this name that does what a shell script says. It is the shell, by another name: a script that was just written can't be
    /// run as a program while another test starts one.
    fn tool(folder: &Path, name: &str, script: &str) -> Tool {
        let (program, file) = (folder.join(name), folder.join(format!("{name}.sh")));
        std::fs::write(&file, script).unwrap();
        let _ = std::fs::remove_file(&program);
        std::os::unix::fs::symlink("/bin/sh", &program).unwrap();
        let words = [program.display().to_string(), file.display().to_string()];
        Tool::of(words.into_iter().chain(["--root".to_owned(), "x y".to_owned()]).collect()).unwrap()
    }

    #[test]
    fn an_image_has_the_same_identity_whichever_tool_prints_it() {
        let hex = "0123456789abcdef".repeat(4);
        let podman = image("app:old", &format!("{hex} localhost/app@sha256:77 \n")).unwrap();
        let docker = image("app:old", &format!("sha256:{hex} \n")).unwrap();
        assert_eq!((&podman.id, &podman.id), (&docker.id, &format!("sha256:{hex}")));
        assert_eq!((podman.digest.as_deref(), docker.digest), (Some("localhost/app@sha256:77"), None));
        for odd in ["", "no", "sha256:12", &"x".repeat(64)] {
            assert_eq!(image("app", odd), None, "{odd}");
        }
    }

    #[test]
    fn a_tool_is_called_with_its_own_options_first() {
        let (folder, go) = (tempfile::tempdir().unwrap(), AtomicBool::new(false));
        let echo = tool(folder.path(), "podman", "for word; do echo \"<$word>\"; done");
        assert_eq!(echo.ask(&["rm", "a b"], PATIENCE, &go).unwrap(), "<--root>\n<x y>\n<rm>\n<a b>\n");
        assert!(echo.is_podman() && !echo.sets_cpus(&go).unwrap(), "it names no controller");
        let seven = tool(folder.path(), "docker", "echo 7");
        assert_eq!((seven.first_process("x", &go).unwrap(), seven.sets_cpus(&go).unwrap()), (7, true));
    }

    #[test]
    fn what_fails_says_what_the_tool_said() {
        let (folder, go) = (tempfile::tempdir().unwrap(), AtomicBool::new(false));
        let failing = tool(folder.path(), "docker", "echo 'manifest unknown' >&2; exit 125");
        assert!(failing.image("nowhere", &go).unwrap().is_none());
        let why = failing.pull("nowhere", &go).unwrap_err().to_string();
        assert!(why.starts_with("there is no image nowhere on this machine"), "{why}");
        assert!(why.contains("docker.sh --root x y pull nowhere` failed (exit status: 125)"), "{why}");
        assert!(why.ends_with("manifest unknown"), "{why}");
        let dead = tool(folder.path(), "podman", "echo 0").first_process("x", &go).unwrap_err();
        assert!(dead.to_string().contains("named no process"), "{dead}");
        let absent =
            Tool::of(vec!["/no/docker".to_owned()]).unwrap().image("x", &go).unwrap_err().to_string();
        assert!(absent.contains("apt install docker.io"), "{absent}");
        let slow = tool(folder.path(), "slow", "sleep 100");
        let stopped = slow.image("x", &AtomicBool::new(true)).unwrap_err();
        assert!(matches!(stopped, ContainerError::Interrupted), "{stopped}");
        assert!(Tool::of(Vec::new()).is_none());
    }
}
