//! A real sshd with keys of its own, as another machine has it.

use super::namespace::Namespace;
use super::process::spawn;
use super::{Finished, Home, processes_with, run, wait_for};
use crate::agent::{folder_with_drome, own};
use agent::Link;
use std::fmt::Write;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A real sshd with keys of its own, and a user who may log in.
pub struct Sshd {
    pub home: Home,
    /// The home folder of who logs in.
    pub user: PathBuf,
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
    pub fn start(home: Home, path: &Path, more: &str) -> Self {
        Self::start_at("127.0.0.1", &[], home, path, more)
    }

    /// In a namespace, with drome there.
    pub fn within(namespace: &Namespace) -> Self {
        let home = Home::new();
        let bin = format!("{}:/usr/sbin:/usr/bin:/sbin:/bin", folder_with_drome(&home).display());
        let inside = ["ip", "netns", "exec", &namespace.name];
        Self::start_at(&namespace.address, &inside, home, Path::new(&bin), "")
    }

    /// `inside`: the words before the command that starts it.
    fn start_at(address: &str, inside: &[&str], home: Home, path: &Path, more: &str) -> Self {
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
        fs::write(client.join("known"), format!("[{address}]:{port} {}\n", known.join(" "))).unwrap();
        fs::write(client.join("unknown"), "").unwrap();
        for (name, key, known) in
            [("config", "key", "known"), ("wrong-key", "wrong", "known"), ("no-host", "key", "unknown")]
        {
            let mut config = format!(
                "Host board\nHostName {address}\nPort {port}\nIdentitiesOnly yes\nStrictHostKeyChecking yes\n"
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
            "Port {port}\nListenAddress {address}\nHostKey {at}/host\nAuthorizedKeysFile {at}/authorized\nPidFile none\nStrictModes no\n\
             UsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\n\
             SetEnv HOME={} PATH={}\n{more}\n",
            user.display(),
            path.display(),
        );
        fs::write(server.join("config"), config).unwrap();
        let log = fs::File::create(server.join("log")).unwrap();
        let words = [inside, &["/usr/sbin/sshd", "-D", "-e", "-f"]].concat();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).arg(server.join("config")).stdin(Stdio::null()).stderr(log);
        let child = spawn(&mut command);
        wait_for(|| TcpStream::connect((address, port)).is_ok(), "sshd to listen");
        Self { home, user, child }
    }

    /// With drome there.
    pub fn usual() -> Self {
        let home = Home::new();
        let bin = folder_with_drome(&home);
        Self::start(home, &bin, "")
    }

    pub fn config(&self, name: &str) -> String {
        self.home.path().join("client").join(name).display().to_string()
    }

    pub fn check(&self, config: &str, more: &[&str]) -> Finished {
        run(self.home.drome(&["agent", "--check", &self.transport(config)]).args(more))
    }

    pub fn link(&self) -> Link {
        let mut command = Command::new("ssh");
        command.args(["-F", &self.config("config"), "board", "drome", "agent"]);
        Link::start("board", command, &own(), Duration::from_mins(1)).unwrap()
    }

    /// The words by which its machine is reached, with this configuration.
    pub fn transport(&self, config: &str) -> String {
        format!("ssh -F {} board", self.config(config))
    }

    /// The processes of sshd for connections that are open.
    pub fn sessions(&self) -> Vec<u32> {
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
    pub fn assert_clean(&self) {
        let client = self.home.path().join("client").display().to_string();
        wait_for(|| processes_with(&client).is_empty(), "no ssh to be left here");
        wait_for(|| self.sessions().is_empty(), "no session to be left there");
        wait_for(|| processes_with(&self.user.display().to_string()).is_empty(), "no agent to be left there");
    }
}
