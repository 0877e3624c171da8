//! What the tests of the real binary share: folders of their own, servers that are stopped again.

pub mod certificates;
pub mod counted;
pub mod example;
pub mod http;
pub mod namespace;
pub mod pages;
pub mod process;
pub mod punctual;
pub mod raced;
pub mod sshd;
pub mod tools;
pub mod ui;
#[path = "../../../../net/tests/uring/mod.rs"]
mod uring;

use model::heat::HUB;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::RwLock;
use std::time::{Duration, Instant};
use store::Listed;
use store::Store;

/// Nothing here takes longer, on however slow a machine.
pub const PATIENCE: Duration = Duration::from_mins(2);

/// The kernel counts the processes that it ends for lack of memory on the whole machine, and drome asks whether a server was one of them. So the
/// test that makes it end some runs alone (`write`) of those in which a server ends in a heat (`read`).
pub static OUT_OF_MEMORY: RwLock<()> = RwLock::new(());

/// A contender that answers `hello`.
const CONTENDER: &str = r#"
title = "TITLE"
language = "Rust"
class = "native"
kind = "server"
homepage = "http://127.0.0.1/"
[version]
command = ["echo", "1.0"]
[run]
command = COMMAND
[serves]
hello = "/hello"
"#;

/// The command of a contender that is drome's own server.
pub const SERVES: &str = r#"["{drome}", "serve", "--port", "{port}"]"#;

const STUDY: &str = r#"
title = "A small study"
contenders = CONTENDERS
[[cell]]
title = "keep-alive"
workload = "hello"
load = { closed = { connections = 2 } }
[design]
rounds = [ROUNDS, ROUNDS]
slice = "20ms"
warmup = "10ms"
measure = "100ms"
precision = 0.9
budget = "2h"
"#;

/// A folder of its own for results and cache.
pub struct Home(pub tempfile::TempDir);

impl Home {
    pub fn new() -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        std::fs::create_dir(home.temporary()).unwrap();
        home
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Where servers get their folders for a trial.
    pub fn temporary(&self) -> PathBuf {
        self.path().join("tmp")
    }

    /// Nothing of a trial is left: no process, no folder.
    pub fn assert_clean(&self) {
        assert_eq!(processes_with(&self.path().display().to_string()), Vec::<String>::new());
        let left: Vec<_> = std::fs::read_dir(self.temporary()).unwrap().flatten().map(|e| e.path()).collect();
        assert_eq!(left, Vec::<PathBuf>::new());
    }

    pub fn store(&self) -> PathBuf {
        self.path().join("drome.sqlite")
    }

    /// The real binary.
    pub fn drome(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_drome"));
        command
            .args(args)
            .env("DROME_HOME", self.path())
            .env("DROME_CACHE", self.path().join("cache"))
            .env("TMPDIR", self.temporary());
        command
    }

    /// The real binary with the catalog `own`.
    pub fn with_catalog(&self, args: &[&str]) -> Command {
        let mut command = self.drome(args);
        command.arg("--catalog").arg(self.path().join("own"));
        command
    }

    /// Adds a study of one cell with so many rounds to the catalog `own`: nothing in it takes long.
    pub fn add_study(&self, name: &str, contenders: &[&str], rounds: usize) {
        let text = STUDY.replace("CONTENDERS", &format!("{contenders:?}"));
        let text = text.replace("ROUNDS", &rounds.to_string());
        self.write(&format!("own/studies/{name}.toml"), &text);
    }

    /// Adds a contender of class `native` to the catalog `own`. `command`: a list as TOML writes it.
    pub fn add_contender(&self, name: &str, command: &str) {
        let text = CONTENDER.replace("TITLE", name).replace("COMMAND", command);
        self.write(&format!("own/contenders/{name}/contender.toml"), &text);
    }

    /// Writes a file below this folder.
    pub fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }
}

/// What a command said and how it ended.
pub struct Finished {
    pub code: i32,
    pub out: String,
    pub err: String,
}

pub fn run(command: &mut Command) -> Finished {
    finished(&process::finish(command.stdin(Stdio::null())))
}

pub fn finished(output: &Output) -> Finished {
    Finished {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Checks that what drome printed is as its JSON Schema says.
pub fn assert_as_schema(home: &Home, name: &str, json: &Value) {
    let schema: Value =
        serde_json::from_str(&run(&mut home.drome(&["generate", "schema", name])).out).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let wrong: Vec<String> = validator.iter_errors(json).map(|error| error.to_string()).collect();
    assert!(wrong.is_empty(), "{name}: {}", wrong.join("\n"));
}

/// `drome load` against an address, as JSON, with its exit code.
pub fn load(address: SocketAddr, path: &str, args: &[&str]) -> (i32, Value) {
    let url = format!("http://{address}{path}");
    let finished = run(Home::new().drome(&["load", &url, "--format", "json"]).args(args));
    let json = serde_json::from_str(&finished.out);
    (
        finished.code,
        json.unwrap_or_else(|e| panic!("{e}: code {}\n{}\n{}", finished.code, finished.out, finished.err)),
    )
}

/// How often bytes came that no request had asked for.
fn unasked(json: &Value) -> u64 {
    json["errors"]["unasked"].as_u64().unwrap()
}

/// Every sent request ends in exactly one way.
pub fn assert_accounted(json: &Value) {
    let n = |pointer: &str| json.pointer(pointer).unwrap().as_u64().unwrap();
    let of_sent = n("/errors/total") - n("/errors/connect") - n("/errors/local") - unasked(json);
    let ended = n("/requests/completed") + n("/requests/in_flight_at_end") + of_sent;
    assert_eq!(n("/requests/sent"), ended, "{json}");
}

/// A server that is killed when the test is over.
pub struct Server {
    pub child: Child,
    pub address: SocketAddr,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `drome serve` on a free port.
pub fn serve(args: &[&str]) -> Server {
    let home = Home::new();
    let mut child = process::spawn(home.drome(&["serve", "--port", "0"]).args(args).stdout(Stdio::piped()));
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line
        .trim()
        .trim_start_matches("http://")
        .trim_start_matches("https://")
        .trim_end_matches('/')
        .parse()
        .unwrap();
    Server { child, address }
}

/// What can drive the server's sockets on this machine.
pub fn back_ends() -> &'static [&'static str] {
    if uring::is_usable() { &["epoll", "uring"] } else { &["epoll"] }
}

/// Any other server; `{port}` in the arguments is a free port.
pub fn start(program: &str, args: &[&str]) -> Server {
    let port = control::machine::ports::free_port().unwrap();
    let args = args.iter().map(|arg| arg.replace("{port}", &port.to_string()));
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let child = process::spawn(&mut command);
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let server = Server { child, address };
    wait_for(|| TcpStream::connect(address).is_ok(), "the server to listen");
    server
}

/// nginx, with an access log, in `home`. `location` goes into its only server.
pub fn nginx(home: &Home, location: &str) -> Server {
    let conf = format!(
        "daemon off; master_process off; pid nginx.pid; error_log stderr;
         events {{ worker_connections 4096; }}
         http {{
             access_log access.log;
             keepalive_requests 1000000;
             client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
             uwsgi_temp_path uwsgi; scgi_temp_path scgi;
             server {{ listen 127.0.0.1:PORT backlog=4096; {location} }}
         }}"
    );
    let port = control::machine::ports::free_port().unwrap();
    home.write("nginx.conf", &conf.replace("PORT", &port.to_string()));
    let dir = home.path().display().to_string();
    let program = if Path::new("/usr/sbin/nginx").exists() { "/usr/sbin/nginx" } else { "nginx" };
    let mut command = Command::new(program);
    command.args(["-p", &dir, "-c", &format!("{dir}/nginx.conf")]).stderr(Stdio::null());
    let child = process::spawn(&mut command);
    let server = Server { child, address: SocketAddr::from(([127, 0, 0, 1], port)) };
    wait_for(|| TcpStream::connect(server.address).is_ok(), "nginx to listen");
    server
}

/// A server of one answer, whatever is asked: it sends `bytes` when `after` bytes have been read, and closes if told.
pub fn answers(bytes: &'static [u8], reads_first: bool, closes: bool) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(stream, bytes, reads_first, closes));
        }
    });
    address
}

fn answer(mut stream: TcpStream, bytes: &[u8], reads_first: bool, closes: bool) {
    let mut buffer = [0; 4096];
    if !reads_first && stream.write_all(bytes).is_err() {
        return;
    }
    while let Ok(n) = stream.read(&mut buffer) {
        if n == 0 || stream.write_all(bytes).is_err() || closes {
            return;
        }
    }
}

pub fn wait_for(mut done: impl FnMut() -> bool, what: &str) {
    let deadline = Instant::now() + PATIENCE;
    while !done() {
        assert!(Instant::now() < deadline, "waited too long for {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// How many trials all runs in a store have: starts in a cell, those of the hub aside.
pub fn trials(home: &Home) -> usize {
    let Ok(store) = Store::open(&home.store()) else { return 0 };
    let of_run = |listed: &Listed| lab::findings::all(&store, &listed.id).unwrap();
    let all = store.runs().unwrap();
    all.iter().flat_map(of_run).filter(|observation| observation.trial.contender != HUB).count()
}

/// The processes whose command line, or folder, has this text.
pub fn processes_with(text: &str) -> Vec<String> {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    all.filter_map(|entry| {
        let command = std::fs::read(entry.path().join("cmdline")).ok()?;
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        let folder = std::fs::read_link(entry.path().join("cwd")).unwrap_or_default();
        let own = entry.file_name().to_string_lossy() == std::process::id().to_string();
        let is_one = !own && (command.contains(text) || folder.display().to_string().contains(text));
        is_one.then_some(command)
    })
    .collect()
}
