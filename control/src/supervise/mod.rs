//! A running server, or a build: started under a guard and watched. How it is stopped, and checked to be gone, is in `stopping.rs`.

pub mod guard;
pub mod image;
mod removal;
pub mod server_end;
mod stopping;

use crate::fault::Fault;
use crate::processes::container::Container;
use crate::processes::tree::{self, Tree};
use crate::shell;
use guard::GuardOrder;
use model::contender::StopSignal;
use net::Errno;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// How long the guard may take to answer. It answers at once, unless something is badly wrong with the machine.
const GUARD_PATIENCE: Duration = Duration::from_secs(30);

/// How the guard reports an end without an error.
pub const SUCCESS: &str = "exit status: 0";

/// How common servers stay in the foreground.
const FOREGROUND: &str = "nginx with `daemon off;`, Apache with -DFOREGROUND, lighttpd with -D, php-fpm with -F, HAProxy without -D, \
    gunicorn, uwsgi and puma without their options for daemons, Caddy with `run` instead of `start`, pm2 as `pm2-runtime`, a script with \
    `exec` and without `&`";

/// What to start and how. The command and the folder come from [`GuardedProcess::start`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuardedStart {
    /// The file for its output.
    pub log: PathBuf,
    /// The cores that it may use; empty: all.
    pub cpus: Vec<usize>,
    /// Its soft limit of descriptors; `None`: the one that drome has, which it has raised. Some servers size their tables by this limit.
    pub descriptors: Option<u64>,
    /// Where it listens, if it is a server. The address without the port is `DROME_HOST` in its environment.
    pub address: Option<SocketAddr>,
    /// Variables of its environment, in place of drome's own of the same names.
    pub env: Vec<(String, String)>,
    /// The signal that stops it.
    pub stop: StopSignal,
    /// The command that removes its container; empty: it runs in none.
    pub removal: Vec<String>,
}

/// A server, or another program that must not outlive drome, which has been started.
#[derive(Debug)]
pub struct GuardedProcess {
    start: GuardedStart,
    guard: Child,
    lines: Receiver<String>,
    pid: i32,
    /// Its container, once that was found.
    container: Option<Arc<Container>>,
    exit: Option<String>,
    /// Whether it had ended by itself when it was asked to stop; `None`: it was not asked yet.
    ended_early: Option<bool>,
}

impl GuardedProcess {
    /// Starts a program. `lay` fills its folder, which is its working directory, and returns its command.
    pub fn start(
        start: GuardedStart,
        lay: impl FnOnce(&Path) -> std::io::Result<Vec<String>>,
    ) -> Result<Self, Fault> {
        Self::start_holding(start, Stdio::inherit(), lay)
    }

    /// As [`Self::start`]; the guard holds this file open until nothing is left of what it started.
    pub fn start_holding(
        start: GuardedStart,
        held: Stdio,
        lay: impl FnOnce(&Path) -> std::io::Result<Vec<String>>,
    ) -> Result<Self, Fault> {
        let mut guard = image::command()
            .arg(guard::WORD)
            // The guard does not use this. In a list of processes it shows which server the guard belongs to.
            .arg(&start.log)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // A guard reports what is wrong on its standard output.
            .stderr(held)
            // A terminal's Ctrl-C is for drome alone, which then stops its servers in order.
            .process_group(0)
            .spawn()
            .map_err(|e| no_guard(&e))?;
        let (send, lines) = channel();
        if let Some(out) = guard.stdout.take() {
            std::thread::spawn(move || {
                BufReader::new(out).lines().map_while(Result::ok).try_for_each(|line| send.send(line))
            });
        }
        let (pid, container, exit, ended_early) = (0, None, None, None);
        let mut server = Self { start, guard, lines, pid, container, exit, ended_early };
        let dir = PathBuf::from(server.awaited("dir")?);
        let command = lay(&dir).map_err(|e| Fault::unable("can't write a server's files", &e))?;
        server.order(&GuardOrder { command, start: server.start.clone() })?;
        let pid = server.awaited("pid")?;
        server.pid = pid.parse().map_err(|_| Fault::Lab(format!("the guard sent `{pid}` as a PID")))?;
        Ok(server)
    }

    /// Waits for the guard's next line, which begins with this word unless something is wrong.
    fn awaited(&self, word: &str) -> Result<String, Fault> {
        let line = self.lines.recv_timeout(GUARD_PATIENCE).map_err(|why| {
            Fault::Lab(match why {
                RecvTimeoutError::Timeout => {
                    format!("the guard of a server did not answer within {GUARD_PATIENCE:?}")
                }
                RecvTimeoutError::Disconnected => "the guard of a server ended".to_owned(),
            })
        })?;
        match line.split_once(' ') {
            Some((first, rest)) if first == word => Ok(rest.to_owned()),
            Some(("refused", why)) => Err(Fault::Contender(why.to_owned())),
            Some(("failed", why)) => Err(Fault::Lab(why.to_owned())),
            _ => Err(Fault::Lab(format!("the guard of a server sent an unexpected line: `{line}`"))),
        }
    }

    fn order(&mut self, order: &GuardOrder) -> Result<(), Fault> {
        let line = serde_json::to_string(order)
            .map_err(|e| Fault::unable("can't tell the guard what to start", &e))?;
        let written = self.guard.stdin.as_mut().map_or(Ok(()), |stdin| writeln!(stdin, "{line}"));
        written.map_err(|e| Fault::unable("can't tell the guard what to start", &e))
    }

    /// The guard's PID; everything that was started for the server is below it, but perhaps not its container.
    fn root(&self) -> i32 {
        self.guard.id() as i32
    }

    /// The server's processes. Before its container was found, those of the program that runs the container are among them.
    pub fn tree(&self) -> Tree {
        match &self.container {
            Some(container) => Tree::Container(Arc::clone(container)),
            None => Tree::Below(self.root()),
        }
    }

    /// The PID of the server's first process.
    pub fn pid(&self) -> i32 {
        self.container.as_ref().map_or(self.pid, |container| container.pid)
    }

    /// Notes that the server runs in the container of this first process.
    pub fn runs_in(&mut self, pid: i32) {
        self.container = Some(Arc::new(Container::of(self.root(), pid)));
    }

    /// Whether its container was found.
    pub fn has_container(&self) -> bool {
        self.container.is_some()
    }

    /// What a report says of how its figures are taken, if that is not the usual way.
    pub fn caveat(&self) -> Option<&'static str> {
        self.container.as_ref()?.caveat()
    }

    /// How the server ended, if it has, with the last lines of its log.
    pub fn ended(&mut self) -> Option<String> {
        self.listen();
        let exit = self.exit.as_ref()?;
        // The tool that runs a container leaves processes of its own.
        let left = if self.start.removal.is_empty() { tree::living(self.root()).len() } else { 0 };
        let end = server_end::sentence(exit);
        Some(format!("{end}{}{}", in_background(exit, left), last_lines(&self.start.log)))
    }

    /// Waits for its end, but not longer than this; returns how it ended, as the system says it, if it has.
    pub fn ends_within(&mut self, time: Duration) -> Result<Option<String>, Fault> {
        match self.lines.recv_timeout(time) {
            Ok(line) => self.hear(&line),
            Err(RecvTimeoutError::Disconnected) if self.exit.is_none() => {
                return Err(Fault::Lab("the guard of a process ended".to_owned()));
            }
            Err(_) => {}
        }
        Ok(self.exit.clone())
    }

    fn listen(&mut self) {
        while let Ok(line) = self.lines.try_recv() {
            self.hear(&line);
        }
    }

    fn hear(&mut self, line: &str) {
        if let Some(exit) = line.strip_prefix("exit ") {
            self.exit = Some(exit.to_owned());
        }
    }
}

/// What to do about a command that ended although its server perhaps did not: it went to the background. `left`: the processes that it left.
fn in_background(exit: &str, left: usize) -> String {
    let what = match (left, exit) {
        (1.., _) => format!(" and left {left} process(es) in the background"),
        (0, SUCCESS) => ", as a command does that starts its server in the background".to_owned(),
        _ => return String::new(),
    };
    format!(
        "{what}: drome watches and stops what it starts itself, so a server must stay in the foreground: {FOREGROUND}"
    )
}

/// Why there is no guard. An emulator of programs, such as qemu-user, can't start `/proc/self/exe`: the kernel finds a program
/// for another processor there.
fn no_guard(error: &std::io::Error) -> Fault {
    if Errno::from_io_error(error) == Some(Errno::NOEXEC) {
        return Fault::Lab(
            "drome runs under an emulator of programs and can't supervise servers there. `drome load` and `drome serve` work. \
             For everything else, emulate a whole machine"
                .to_owned(),
        );
    }
    Fault::unable("can't start the guard of a server", error)
}

impl Drop for GuardedProcess {
    fn drop(&mut self) {
        if self.guard.stdin.is_some() {
            self.dismiss();
        }
    }
}

/// The last lines of a log, for an error.
pub fn last_lines(log: &Path) -> String {
    let last = shell::last_lines(&String::from_utf8_lossy(&std::fs::read(log).unwrap_or_default()));
    if last.is_empty() {
        "; it wrote nothing to its log".to_owned()
    } else {
        format!("; the last lines of its log, {}:\n    {last}", log.display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_left_its_server_in_the_background_is_told_how_it_stays_in_the_foreground() {
        let told = in_background(SUCCESS, 2);
        assert!(told.starts_with(" and left 2 process(es)") && told.contains("`daemon off;`"), "{told}");
        assert!(in_background("exit status: 1", 1).contains("in the foreground"));
        assert!(in_background(SUCCESS, 0).contains("in the foreground"), "a service manager has it");
        assert_eq!(in_background("exit status: 1", 0), "");
        assert_eq!(in_background("signal: 9 (SIGKILL)", 0), "");
        assert_eq!(SUCCESS, std::process::ExitStatus::default().to_string());
    }

    #[test]
    fn under_an_emulator_of_programs_the_message_says_what_works() {
        let error = std::io::Error::from_raw_os_error(Errno::NOEXEC.raw_os_error());
        assert!(no_guard(&error).to_string().contains("`drome load` and `drome serve` work"));
        let error = std::io::Error::from_raw_os_error(Errno::NOMEM.raw_os_error());
        assert!(no_guard(&error).to_string().starts_with("can't start the guard of a server: "));
    }
}
