//! What the tests of the real binary share: folders of their own, servers that are stopped again.

pub mod catalog;
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

/// The real binary.
pub const DROME: &str = env!("CARGO_BIN_EXE_drome");

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
        let mut command = Command::new(DROME);
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

    /// The findings of the latest run, as they are reported.
    pub fn findings(&self) -> Value {
        let finished = run(&mut self.drome(&["report", "--format", "json"]));
        assert_eq!(finished.code, 0, "{}", finished.err);
        serde_json::from_str(&finished.out).unwrap()
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
    /// The command, which is shown where something else was expected of it.
    command: String,
}

impl Finished {
    pub fn new(output: &Output, command: String) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        Self { code: output.status.code().unwrap_or(-1), out, err, command }
    }

    /// It ended with this code, and standard output has all of these words.
    #[track_caller]
    pub fn assert_out(&self, code: i32, words: &[&str]) {
        self.assert_has(code, &self.out, words);
    }

    /// It ended with this code, and standard error has all of these words.
    #[track_caller]
    pub fn assert_err(&self, code: i32, words: &[&str]) {
        self.assert_has(code, &self.err, words);
    }

    #[track_caller]
    fn assert_has(&self, code: i32, text: &str, words: &[&str]) {
        let Self { out, err, command, .. } = self;
        assert_eq!(self.code, code, "{command}\n{out}{err}");
        for word in words {
            assert!(text.contains(word), "no «{word}» from {command}\n{out}{err}");
        }
    }
}

pub fn run(command: &mut Command) -> Finished {
    run_with_input(command.stdin(Stdio::null()))
}

/// The same with the standard input that the command has.
pub fn run_with_input(command: &mut Command) -> Finished {
    Finished::new(&process::finish(command), format!("{command:?}"))
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

/// All of these words are in the text.
#[track_caller]
pub fn assert_has(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "no «{word}» in\n{text}");
    }
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

/// drome's own server on every back end, plain and with TLS; `check` is told whether it is with TLS.
pub fn everywhere(args: &[&str], check: impl Fn(&Server, bool)) {
    for io in back_ends() {
        for tls in [&[][..], &["--tls"]] {
            let server = serve(&[&["--io", io], tls, args].concat());
            check(&server, !tls.is_empty());
        }
    }
}

/// Whether something is there that a test needs. Where it is not, that is said, and is a failure in CI.
pub fn is_there_or_told(is_there: bool, why_not: &str) -> bool {
    assert!(is_there || std::env::var_os("CI").is_none(), "{why_not}");
    if !is_there {
        eprintln!("not checked: {why_not}");
    }
    is_there
}

/// What can drive the server's sockets on this machine.
pub fn back_ends() -> &'static [&'static str] {
    if uring::is_usable() { &["epoll", "uring"] } else { &["epoll"] }
}

/// Shell words below which a program may lock no more memory than an ordinary user: root may lock any amount, unless it gives up this
/// capability.
pub fn ordinary() -> &'static str {
    let is_root = rustix::process::geteuid().is_root();
    if is_root { "setpriv --bounding-set -ipc_lock --inh-caps -ipc_lock" } else { "env" }
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

/// Asks again and again until it is done: at first often, and later more rarely, because some questions take time of the cores that all
/// tests share.
pub fn wait_for(mut done: impl FnMut() -> bool, what: &str) {
    let (began, mut pause) = (Instant::now(), Duration::from_millis(10));
    while !done() {
        assert!(began.elapsed() < PATIENCE, "waited too long for {what}");
        std::thread::sleep(pause);
        pause = (pause * 5 / 4).min(Duration::from_millis(100));
    }
}

/// How many trials all runs in a store have: starts in a cell, those of the hub aside.
pub fn trials(home: &Home) -> usize {
    let Ok(store) = Store::open(&home.store()) else { return 0 };
    let of_run = |listed: &Listed| {
        let measured = store.measured(&listed.id).unwrap();
        measured.starts_in_cells().iter().filter(|one| one.start.contender != HUB).count()
    };
    store.runs().unwrap().iter().map(of_run).sum()
}

/// A contender's row of a cell of findings.
pub fn contender<'f>(cell: &'f Value, name: &str) -> &'f Value {
    let rows = cell["contenders"].as_array().unwrap();
    rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{name} is not in {rows:?}"))
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
