//! `drome agent` over a real ssh and sshd, on this machine: what works, and what stands in the way, each told in a sentence.

use super::agent::{CLEAN, copies, folder_with_drome, is_there, other_version, own};
use super::common::process::spawn;
use super::common::{Finished, Home, processes_with, run, wait_for};
use agent::{Link, LinkError};
use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A real sshd with keys of its own, and a user who may log in.
struct Sshd {
    home: Home,
    /// The home folder of who logs in.
    user: PathBuf,
    child: Child,
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn key(path: &Path) -> String {
    let made = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(path).status();
    assert!(made.unwrap().success(), "`cargo xtask test` installs what the tests need");
    fs::read_to_string(path.with_extension("pub")).unwrap()
}

impl Sshd {
    /// `path`: where programs are found there; `more`: further lines of its configuration.
    fn start(home: Home, path: &Path, more: &str) -> Self {
        let (server, client, user) =
            (home.path().join("server"), home.path().join("client"), home.path().join("user"));
        [&server, &client, &user].iter().for_each(|folder| fs::create_dir(folder).unwrap());
        // Of root's sshd: it separates its privileges there.
        let _ = fs::create_dir_all("/run/sshd");
        let host_key = key(&server.join("host"));
        fs::write(server.join("authorized"), key(&client.join("key"))).unwrap();
        key(&client.join("wrong"));
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let known: Vec<&str> = host_key.split(' ').take(2).collect();
        fs::write(client.join("known"), format!("[127.0.0.1]:{port} {}\n", known.join(" "))).unwrap();
        fs::write(client.join("unknown"), "").unwrap();
        for (name, key, known) in
            [("config", "key", "known"), ("wrong-key", "wrong", "known"), ("no-host", "key", "unknown")]
        {
            let mut config = format!(
                "Host board\nHostName 127.0.0.1\nPort {port}\nIdentitiesOnly yes\nStrictHostKeyChecking yes\n"
            );
            let at = client.display();
            let _ = write!(
                config,
                "IdentityFile {at}/{key}\nUserKnownHostsFile {at}/{known}\nGlobalKnownHostsFile /dev/null\n"
            );
            fs::write(client.join(name), config).unwrap();
        }
        let at = server.display();
        let config = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {at}/host\nAuthorizedKeysFile {at}/authorized\nPidFile none\nStrictModes no\n\
             UsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\n\
             SetEnv HOME={} PATH={}\n{more}\n",
            user.display(),
            path.display(),
        );
        fs::write(server.join("config"), config).unwrap();
        let log = fs::File::create(server.join("log")).unwrap();
        let mut command = Command::new("/usr/sbin/sshd");
        command.args(["-D", "-e", "-f"]).arg(server.join("config")).stdin(Stdio::null()).stderr(log);
        let child = spawn(&mut command);
        wait_for(|| TcpStream::connect(("127.0.0.1", port)).is_ok(), "sshd to listen");
        Self { home, user, child }
    }

    /// With drome there.
    fn usual() -> Self {
        let home = Home::new();
        let bin = folder_with_drome(&home);
        Self::start(home, &bin, "")
    }

    fn config(&self, name: &str) -> String {
        self.home.path().join("client").join(name).display().to_string()
    }

    fn check(&self, config: &str, more: &[&str]) -> Finished {
        let words = format!("ssh -F {} board", self.config(config));
        run(self.home.drome(&["agent", "--check", &words]).args(more))
    }

    fn link(&self) -> Link {
        let mut command = Command::new("ssh");
        command.args(["-F", &self.config("config"), "board", "drome", "agent"]);
        Link::start("board", command, &own(), Duration::from_mins(1)).unwrap()
    }

    /// The processes of sshd for connections that are open.
    fn sessions(&self) -> Vec<u32> {
        let children = |pid: u32| {
            let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
            text.split_whitespace().map(|pid| pid.parse().unwrap()).collect::<Vec<u32>>()
        };
        let mut all = children(self.child.id());
        let mut at = 0;
        while at < all.len() {
            all.extend(children(all[at]));
            at += 1;
        }
        all
    }

    /// Nothing is left on either side.
    fn assert_clean(&self) {
        let client = self.home.path().join("client").display().to_string();
        wait_for(|| processes_with(&client).is_empty(), "no ssh to be left here");
        wait_for(|| self.sessions().is_empty(), "no session to be left there");
        wait_for(|| processes_with(&self.user.display().to_string()).is_empty(), "no agent to be left there");
    }
}

fn signal(signal: &str, pids: &[u32]) {
    let sent =
        Command::new("kill").arg(signal).args(pids.iter().map(u32::to_string)).stderr(Stdio::null()).status();
    sent.unwrap();
}

/// In one sentence.
fn assert_told(finished: &Finished, told: &str) {
    assert_eq!(finished.code, 1, "{}", finished.err);
    assert!(
        finished.err.contains(told) && finished.err.trim().lines().count() == 1,
        "{told}: {}",
        finished.err
    );
}

#[test]
fn drome_over_there_is_used() {
    let sshd = Sshd::usual();
    let checked = sshd.check("config", &[]);
    assert!(checked.code == 0 && checked.out.contains("round trip"), "{}\n{}", checked.out, checked.err);
    let link = sshd.link();
    assert!(matches!(link.ask::<_, Value>("unheard.of", &(), None, &mut |_| {}), Err(LinkError::Refused(_))));
    let bytes = vec![7; 3 << 20];
    link.send_blob(&bytes).unwrap();
    let agent = link.hello().pid;
    drop(link);
    wait_for(|| !is_there(agent), "the agent to end");
    sshd.assert_clean();
}

#[test]
fn who_may_not_log_in_and_an_unknown_host_are_told() {
    let sshd = Sshd::usual();
    assert_told(&sshd.check("wrong-key", &[]), "refuses the key or the user");
    assert_told(&sshd.check("no-host", &[]), "has a host key that `ssh` does not know");
    sshd.assert_clean();
}

#[test]
fn a_host_without_drome_or_with_another_is_told_and_drome_can_be_put_there() {
    let home = Home::new();
    let other = other_version(&home);
    let path = format!("{}:/usr/bin:/bin", other.display());
    let sshd = Sshd::start(home, Path::new(&path), "");
    assert_told(&sshd.check("config", &[]), "has drome 9.9.9");
    drop(sshd);
    // Where only the system's programs are.
    let home = Home::new();
    let bin = home.path().join("system");
    fs::create_dir(&bin).unwrap();
    for program in
        ["sh", "cat", "mkdir", "chmod", "mv", "rm", "ls", "wc", "uname", "sync", "grep", "tail", "sha256sum"]
    {
        let found = ["/usr/bin", "/bin"]
            .iter()
            .map(|folder| Path::new(folder).join(program))
            .find(|file| file.exists());
        std::os::unix::fs::symlink(found.unwrap(), bin.join(program)).unwrap();
    }
    let sshd = Sshd::start(home, &bin, "");
    assert_told(&sshd.check("config", &[]), "has no drome");
    let put = sshd.check("config", &["--put"]);
    assert!(put.code == 0 && put.out.contains("round trip"), "{}\n{}", put.out, put.err);
    assert_eq!(copies(&sshd.user).len(), 1);
    sshd.assert_clean();
}

#[test]
fn a_full_disk_there_is_told_and_no_part_of_a_copy_stays() {
    let home = Home::new();
    // A limit of a file's size is a full disk that needs no right to mount one.
    let limited = "ForceCommand ulimit -f 200; eval \"$SSH_ORIGINAL_COMMAND\"";
    let sshd = Sshd::start(home, Path::new("/usr/bin:/bin"), limited);
    let full = sshd.check("config", &["--put", "--quiet"]);
    assert_told(&full, "has no room for drome");
    assert_eq!(copies(&sshd.user), Vec::<PathBuf>::new());
    sshd.assert_clean();
}

#[test]
fn a_connection_that_is_cut_is_noticed_on_both_sides() {
    let sshd = Sshd::usual();
    let link = sshd.link();
    let agent = link.hello().pid;
    // An agent is no process of sshd's own.
    let sessions: Vec<u32> = sshd.sessions().into_iter().filter(|pid| *pid != agent).collect();
    let began = Instant::now();
    signal("-KILL", &sessions);
    wait_for(|| link.lost().is_some() && !is_there(agent), "both sides to notice");
    assert!(began.elapsed() < CLEAN, "{:?}", began.elapsed());
    let told = link.ask::<_, Value>("x", &(), None, &mut |_| {}).unwrap_err().to_string();
    assert!(told.contains("the link to board is lost"), "{told}");
    drop(link);
    sshd.assert_clean();
}

#[test]
fn a_network_that_carries_nothing_any_more_is_noticed_on_both_sides() {
    let sshd = Sshd::usual();
    let link = sshd.link();
    let agent = link.hello().pid;
    let sessions: Vec<u32> = sshd.sessions().into_iter().filter(|pid| *pid != agent).collect();
    let began = Instant::now();
    // Nothing is said and nothing is closed.
    signal("-STOP", &sessions);
    wait_for(|| link.lost().is_some() && !is_there(agent), "both sides to notice");
    assert!(began.elapsed() < CLEAN, "{:?}", began.elapsed());
    assert!(link.lost().unwrap().contains("nothing came for 5 s"));
    drop(link);
    signal("-KILL", &sessions);
    sshd.assert_clean();
}

#[test]
fn an_agent_that_hangs_is_left_and_ends_when_it_goes_on() {
    let sshd = Sshd::usual();
    let link = sshd.link();
    let agent = link.hello().pid;
    let began = Instant::now();
    signal("-STOP", &[agent]);
    let told = link.ask::<_, Value>("x", &(), None, &mut |_| {}).unwrap_err().to_string();
    assert!(told.contains("nothing came for 5 s") && began.elapsed() < CLEAN, "{told}");
    drop(link);
    assert!(began.elapsed() < CLEAN);
    signal("-CONT", &[agent]);
    wait_for(|| !is_there(agent), "the agent to end");
    sshd.assert_clean();
}
