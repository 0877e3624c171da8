//! Load from eight machines, simulated: network namespaces on a bridge, each with a clock of its own, and a link that is slow in one
//! direction. The server's log is the judge.

use super::common::{Home, process, wait_for};
use super::load_from::{Machines, assert_same};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

const MACHINES: usize = 8;

/// So many windows are measured, each with a start of every machine: enough for a p99 that is not the maximum.
const WINDOWS: usize = 13;

const REQUESTS: u64 = 400;

/// How far the median start may be from those of the other machines. The 99th percentile, which is to be below that too, is printed:
/// beside other tests, a thread may wait for longer than that for a core.
const MOST_SKEW_MS: f64 = 5.0;

/// How late the orders to one machine come, in one direction only: its clock then seems off by half of that.
const LATE_MS: u64 = 4;

/// Namespaces on a bridge, which are removed at the end.
struct Network {
    name: String,
    /// The first three bytes of its addresses.
    net: String,
}

fn ip(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let output = process::finish(Command::new("ip").args(&words).stdin(Stdio::null()));
    if !output.status.success() {
        eprintln!("ip {line}: {}", String::from_utf8_lossy(&output.stderr));
    }
    output.status.success()
}

impl Network {
    /// `None` where this process may make no namespaces.
    fn new() -> Option<Self> {
        let id = std::process::id();
        let network = Self {
            name: format!("dl{}", id % 100_000),
            net: format!("10.{}.{}", 200 + id % 50, id / 50 % 250),
        };
        let Self { name, net } = &network;
        let bridge = [
            format!("link add {name} type bridge"),
            format!("addr add {net}.1/24 dev {name}"),
            format!("link set {name} up"),
        ];
        let is_made = bridge.iter().all(|line| ip(line)) && (0..MACHINES).all(|nth| network.add(nth));
        is_made.then_some(network)
    }

    fn space(&self, nth: usize) -> String {
        format!("{}n{nth}", self.name)
    }

    fn add(&self, nth: usize) -> bool {
        let (Self { name, net }, space) = (self, self.space(nth));
        let (outside, inside, address) = (format!("{name}v{nth}"), format!("{name}w{nth}"), nth + 2);
        [
            format!("netns add {space}"),
            format!("link add {outside} type veth peer name {inside}"),
            format!("link set {inside} netns {space}"),
            format!("link set {outside} master {name}"),
            format!("link set {outside} up"),
            format!("-n {space} addr add {net}.{address}/24 dev {inside}"),
            format!("-n {space} link set {inside} up"),
            format!("-n {space} link set lo up"),
        ]
        .iter()
        .all(|line| ip(line))
    }

    /// drome in a namespace, with a clock that is far from ours.
    fn agent(&self, nth: usize, home: &Home) -> Command {
        let space = self.space(nth);
        let seconds = (1 + nth * 86_400).to_string();
        let mut words = vec![
            "ip",
            "netns",
            "exec",
            &space,
            "unshare",
            "--time",
            "--fork",
            "--kill-child",
            "--monotonic",
            &seconds,
        ];
        let late = format!("{}", LATE_MS as f64 / 1e3);
        let relay =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/relay/late_input.py").display().to_string();
        if nth == MACHINES - 1 {
            words.splice(0..0, ["python3", &relay, &late]);
        }
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).arg(env!("CARGO_BIN_EXE_drome")).arg("agent");
        command.env("DROME_HOME", home.path()).env("TMPDIR", home.temporary());
        command
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for nth in 0..MACHINES {
            ip(&format!("netns del {}", self.space(nth)));
            // The end of a pair whose other end was in the namespace may outlive it for a moment.
            let _ = Command::new("ip")
                .args(["link", "del", &format!("{}v{nth}", self.name)])
                .stderr(Stdio::null())
                .status();
        }
        ip(&format!("link del {}", self.name));
    }
}

/// nginx at the bridge, whose log has the moment at which each answer left and how long it took.
struct Judge {
    child: Child,
    log: std::path::PathBuf,
}

impl Judge {
    fn new(home: &Home, address: &str) -> Self {
        let conf = format!(
            "daemon off; master_process off; pid nginx.pid; error_log stderr;
             events {{ worker_connections 1024; }}
             http {{
                 log_format arrivals '$remote_addr $msec $request_time';
                 access_log arrivals.log arrivals;
                 keepalive_requests 1000000;
                 client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
                 uwsgi_temp_path uwsgi; scgi_temp_path scgi;
                 server {{ listen {address}:80; location / {{ return 200 'Hello World\\n'; }} }}
             }}"
        );
        let file = home.write("judge.conf", &conf).display().to_string();
        let folder = home.path().display().to_string();
        let program = if Path::new("/usr/sbin/nginx").exists() { "/usr/sbin/nginx" } else { "nginx" };
        let child =
            process::spawn(Command::new(program).args(["-p", &folder, "-c", &file]).stdin(Stdio::null()));
        let judge = Self { child, log: home.path().join("arrivals.log") };
        wait_for(|| std::net::TcpStream::connect((address, 80)).is_ok(), "nginx to listen");
        judge
    }

    /// The machine and the arrival, in seconds, of each request so far.
    fn arrivals(&self) -> Vec<(String, f64)> {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let whole = log.rsplit_once('\n').map_or("", |(whole, _)| whole);
        let arrival = |line: &str| {
            let words: Vec<&str> = line.split(' ').collect();
            (words[0].to_owned(), words[1].parse::<f64>().unwrap() - words[2].parse::<f64>().unwrap())
        };
        whole.lines().map(arrival).collect()
    }
}

impl Drop for Judge {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How far the first request of each machine was from the median of them, in milliseconds.
fn deviations_ms(arrivals: &[(String, f64)]) -> Vec<f64> {
    let mut first: BTreeMap<&str, f64> = BTreeMap::new();
    for (machine, at_s) in arrivals {
        let earliest = first.entry(machine).or_insert(*at_s);
        *earliest = earliest.min(*at_s);
    }
    assert_eq!(first.len(), MACHINES, "every machine asked the server");
    let mut all: Vec<f64> = first.into_values().collect();
    all.sort_by(f64::total_cmp);
    let median = f64::midpoint(all[MACHINES / 2 - 1], all[MACHINES / 2]);
    all.iter().map(|at| (at - median).abs() * 1e3).collect()
}

#[test]
fn eight_machines_with_clocks_of_their_own_start_together_and_nothing_is_lost_or_counted_twice() {
    let Some(network) = Network::new() else {
        assert!(std::env::var_os("CI").is_none(), "this test must be root: it makes network namespaces");
        eprintln!("not checked: no network namespaces may be made here");
        return;
    };
    let home = Home::new();
    let address = format!("{}.1", network.net);
    let judge = Judge::new(&home, &address);
    let machines = Machines::start((0..MACHINES).map(|nth| network.agent(nth, &home)).collect());
    let mut deviations = Vec::new();
    for window in 0..WINDOWS {
        let before = window * REQUESTS as usize;
        let driven = machines.drive(&format!("http://{address}/"), 16, REQUESTS);
        assert_eq!((driven.tally.completed, driven.tally.errors.total()), (REQUESTS, 0));
        assert_same(&driven);
        wait_for(|| judge.arrivals().len() >= before + REQUESTS as usize, "nginx's log");
        let arrivals = judge.arrivals();
        assert_eq!(arrivals.len(), before + REQUESTS as usize, "the server counts what the machines count");
        deviations.extend(deviations_ms(&arrivals[before..]));
        assert_clocks(&driven.machines);
    }
    deviations.sort_by(f64::total_cmp);
    let p99 = deviations[(deviations.len() as f64 * 0.99).ceil() as usize - 1];
    let p50 = deviations[deviations.len() / 2];
    println!("starts by the server's log: p50 {p50:.1} ms, p99 {p99:.1} ms");
    assert!(p50 <= MOST_SKEW_MS, "{deviations:?}");
}

/// Each clock is told as it was set, within the bound that is told with it.
fn assert_clocks(machines: &model::Machines) {
    for (nth, machine) in machines.each.iter().enumerate() {
        let clock = machine.clock.unwrap();
        let set_ns = (1 + nth as i64 * 86_400) * 1_000_000_000;
        assert!(clock.offset_ns.abs_diff(set_ns) <= clock.bound_ns, "machine {nth}: {clock:?}");
    }
    let slow = machines.each[MACHINES - 1].clock.unwrap();
    assert!(slow.round_trip_ns >= LATE_MS * 1_000_000, "the slow link is seen: {slow:?}");
    assert!(machines.skew_ns.is_some() && machines.skew_bound_ns.unwrap() >= LATE_MS * 500_000);
}
