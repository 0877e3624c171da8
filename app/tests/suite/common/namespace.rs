//! A network namespace: another machine at the end of a link, on this machine. Making one needs root, as CI has it.

use super::process;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

/// The last numbers of the networks that were given out.
static NEXT: AtomicU8 = AtomicU8::new(1);

/// What a link does to packets, in each direction.
#[derive(Clone, Copy, Default)]
pub struct Through {
    /// Every packet is under way for so long.
    pub delay: Duration,
    /// Of so many packets one is lost; 0: none.
    pub one_lost_of: u32,
    /// So many packets a second are carried; 0: any number.
    pub packets_per_s: u32,
}

/// A namespace with one link to this one. It is removed when the test is over.
pub struct Namespace {
    pub name: String,
    /// The link's device on this side.
    pub here: String,
    /// The link's device on the other side.
    pub there: String,
    /// The address of the other side.
    pub address: String,
    /// What carries the packets, where the kernel does not.
    relay: Option<Child>,
    /// The namespace of this side, if it is not that of all tests: there, nobody else's packets are counted.
    near: Option<String>,
}

impl Namespace {
    /// A namespace behind a pair of devices between which the kernel carries packets without delay.
    pub fn new() -> Self {
        let (nth, namespace) = Self::unlinked();
        namespace.add_pair();
        namespace.linked(nth);
        namespace
    }

    /// The same, with this side in a namespace, too: see [`Self::near`].
    pub fn apart() -> Self {
        let (nth, mut namespace) = Self::unlinked();
        namespace.add_pair();
        namespace.isolate_this_side();
        namespace.linked(nth);
        namespace
    }

    fn add_pair(&self) {
        let Self { name, here, there, .. } = self;
        ip(&format!("link add {here} type veth peer name {there} netns {name}"));
    }

    /// A namespace behind a link that delays, loses or limits packets in this way. This side is a namespace, too: see [`Self::near`].
    pub fn through(through: Through) -> Self {
        let (nth, mut namespace) = Self::unlinked();
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/relay/link.py");
        let Through { delay, one_lost_of, packets_per_s } = through;
        let mut command = Command::new("python3");
        command.arg(program).args([&namespace.here, &namespace.there]).args([
            delay.as_secs_f64().to_string(),
            one_lost_of.to_string(),
            packets_per_s.to_string(),
        ]);
        let mut relay = process::spawn(command.stdin(Stdio::piped()).stdout(Stdio::piped()));
        let mut said = String::new();
        BufReader::new(relay.stdout.take().unwrap()).read_line(&mut said).unwrap();
        namespace.relay = Some(relay);
        assert_eq!(said, "ready\n", "making network devices needs root and /dev/net/tun");
        ip(&format!("link set {} netns {}", namespace.there, namespace.name));
        namespace.isolate_this_side();
        namespace.linked(nth);
        namespace
    }

    /// Puts this side of the link into a namespace, too.
    fn isolate_this_side(&mut self) {
        let near = format!("{}n", self.name);
        ip(&format!("netns add {near}"));
        ip(&format!("link set {} netns {near}", self.here));
        ip(&format!("-n {near} link set lo up"));
        self.near = Some(near);
    }

    fn unlinked() -> (u8, Self) {
        let nth = NEXT.fetch_add(1, Ordering::Relaxed);
        let id = format!("{}x{nth}", std::process::id() % 100_000);
        let namespace = Self {
            name: format!("drome-{id}"),
            here: format!("dh{id}"),
            there: format!("dt{id}"),
            address: format!("10.{}.{nth}.2", 100 + std::process::id() % 100),
            relay: None,
            near: None,
        };
        ip(&format!("netns add {}", namespace.name));
        (nth, namespace)
    }

    /// Gives both ends their addresses.
    fn linked(&self, nth: u8) {
        let Self { name, here, there, address, .. } = self;
        let near = self.near.as_ref().map_or_else(String::new, |near| format!("-n {near} "));
        for words in [
            format!("{near}addr add 10.{}.{nth}.1/24 dev {here}", 100 + std::process::id() % 100),
            format!("{near}link set {here} up"),
            format!("-n {name} addr add {address}/24 dev {there}"),
            format!("-n {name} link set {there} up"),
            format!("-n {name} link set lo up"),
        ] {
            ip(&words);
        }
    }

    /// The same program on this side of the link.
    pub fn near(&self, command: &Command) -> Command {
        let Some(near) = &self.near else { panic!("this side has no namespace of its own") };
        let mut ip = Command::new("ip");
        ip.args(["netns", "exec", near]);
        process::run_by(ip, command)
    }

    /// How an agent is started there.
    pub fn transport(&self) -> String {
        format!("ip netns exec {} env PATH={}", self.name, folder_of_drome())
    }

    /// The processes in it.
    pub fn processes(&self) -> String {
        let output = Command::new("ip").args(["netns", "pids", &self.name]).output().unwrap();
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Those of them that are drome: agents, and servers of its own.
    pub fn dromes(&self) -> Vec<String> {
        let is_drome = |pid: &&str| {
            std::fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|program| program.ends_with("drome"))
        };
        self.processes().split_whitespace().filter(is_drome).map(str::to_owned).collect()
    }

    pub fn is_empty_within(&self, limit: Duration) -> bool {
        let begun = Instant::now();
        while begun.elapsed() < limit {
            if self.processes().is_empty() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        false
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = Command::new("ip").args(["link", "del", &self.here]).output();
        for name in [Some(&self.name), self.near.as_ref()].into_iter().flatten() {
            let _ = Command::new("ip").args(["netns", "del", name]).output();
        }
        if let Some(mut relay) = self.relay.take() {
            // The end of its input ends both of its processes.
            drop(relay.stdin.take());
            let _ = relay.wait();
        }
    }
}

pub fn ip(words: &str) {
    tool("ip", words);
}

pub fn tool(program: &str, words: &str) {
    let output = process::finish(Command::new(program).args(words.split(' ')));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success(),
        "{program} {words}: {said}; this test makes network namespaces, which needs root"
    );
}

/// A PATH on which the agent's drome is this one.
pub fn folder_of_drome() -> String {
    let own = Path::new(env!("CARGO_BIN_EXE_drome")).parent().unwrap().display().to_string();
    format!("{own}:/usr/sbin:/usr/bin:/sbin:/bin")
}
