//! Servers that are nobody's friend: each is started in a folder of its own, on a plain and on an encrypted port,
//! and says in its log what it was asked.

use crate::common::certificates::Authority;
use crate::common::http;
use crate::common::{Home, is_there_or_told, process, wait_for};
use std::fs::{File, Permissions};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// What `/hello` and `/chunked` answer everywhere.
pub const BODY: &str = "Hello World\n";

/// A server as it is started. In its arguments and its configuration `{dir}` is its folder, `{port}` and `{tls}`
/// are its ports, and `{behind}` is the port of the server that it passes requests on to.
pub struct Judge {
    pub name: &'static str,
    program: &'static str,
    args: &'static [&'static str],
    conf: &'static str,
    /// The file with a line for every request, and what a request's line has; `{target}` and `{version}` stand for the request's.
    log: &'static str,
    line: &'static str,
    behind: Option<&'static Judge>,
    asked_in: AskedIn,
}

/// What a server is asked in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AskedIn {
    /// HTTP/1.1 and HTTP/2.
    Http,
    /// HTTP/2 or gRPC only: it is ready when its port for TLS accepts, and has no answer without a length.
    Http2,
    /// WebSocket: it sends messages back.
    WebSocket,
}

pub const NGINX: Judge = Judge {
    name: "nginx",
    program: "nginx",
    args: &["-p", "{dir}", "-c", "{dir}/conf"],
    conf: include_str!("nginx.conf"),
    log: "access.log",
    line: "\"GET {target} HTTP/{version}",
    behind: None,
    asked_in: AskedIn::Http,
};

pub const APACHE: Judge = Judge {
    name: "Apache",
    program: "apache2",
    args: &["-D", "FOREGROUND", "-f", "{dir}/conf"],
    conf: include_str!("apache.conf"),
    ..NGINX
};

pub const LIGHTTPD: Judge = Judge {
    name: "lighttpd",
    program: "lighttpd",
    args: &["-D", "-f", "{dir}/conf"],
    conf: include_str!("lighttpd.conf"),
    ..NGINX
};

pub const HAPROXY: Judge = Judge {
    name: "HAProxy before nginx",
    program: "haproxy",
    args: &["-db", "-f", "{dir}/conf"],
    conf: include_str!("haproxy.conf"),
    log: "stdout",
    behind: Some(&NGINX),
    ..NGINX
};

pub const NODE: Judge = Judge {
    name: "Node",
    program: "node",
    args: &["{dir}/conf"],
    conf: include_str!("node.js"),
    log: "stdout",
    ..NGINX
};

pub const PYTHON: Judge = Judge {
    name: "Python",
    program: "python3",
    args: &["{dir}/conf"],
    conf: include_str!("python.py"),
    log: "stderr",
    ..NGINX
};

pub const CADDY: Judge = Judge {
    name: "Caddy",
    program: "caddy",
    args: &["run", "--adapter", "caddyfile", "--config", "{dir}/conf"],
    conf: include_str!("Caddyfile"),
    line: "\"uri\":\"{target}\"",
    asked_in: AskedIn::Http2,
    ..NGINX
};

pub const H2O: Judge = Judge {
    name: "H2O",
    program: "h2o",
    args: &["-c", "{dir}/conf"],
    conf: include_str!("h2o.conf"),
    asked_in: AskedIn::Http2,
    ..NGINX
};

pub const NGHTTPD: Judge = Judge {
    name: "nghttpd",
    program: "nghttpd",
    args: &["-v", "-a", "127.0.0.1", "-d", "{dir}", "{tls}", "{dir}/key.pem", "{dir}/cert.pem"],
    conf: "",
    log: "stdout",
    line: ":path: {target}",
    asked_in: AskedIn::Http2,
    ..NGINX
};

/// Debian's Netty, without TLS.
pub const NETTY: Judge = Judge {
    name: "Netty",
    program: "java",
    args: GRPC_JAVA.args,
    conf: include_str!("netty.java"),
    log: "stdout",
    line: "GET {target} HTTP/{version}",
    asked_in: AskedIn::Http2,
    ..NGINX
};

/// Debian's gRPC for Python; the `python3` on the path may be another one.
pub const GRPC_PYTHON: Judge = Judge {
    name: "gRPC in Python",
    program: "/usr/bin/python3",
    args: &["{dir}/conf", "{dir}", "{port}", "{tls}"],
    conf: include_str!("grpc_python.py"),
    line: "call {target} of ",
    ..NGHTTPD
};

/// Debian's gRPC for Java, without TLS.
pub const GRPC_JAVA: Judge = Judge {
    name: "gRPC in Java",
    program: "java",
    args: &["--source", "17", "-cp", JARS, "{dir}/conf", "{port}", "{tls}"],
    conf: include_str!("grpc_java.java"),
    ..GRPC_PYTHON
};

const JARS: &str = "/usr/share/java/grpc-api.jar:/usr/share/java/grpc-core.jar:/usr/share/java/grpc-netty.jar:\
    /usr/share/java/grpc-stub.jar:/usr/share/java/grpc-context.jar:/usr/share/java/guava.jar:\
    /usr/share/java/netty-buffer.jar:/usr/share/java/netty-codec.jar:/usr/share/java/netty-codec-http.jar:\
    /usr/share/java/netty-codec-http2.jar:/usr/share/java/netty-common.jar:/usr/share/java/netty-handler.jar:\
    /usr/share/java/netty-resolver.jar:/usr/share/java/netty-transport.jar:/usr/share/java/perfmark-api.jar";

/// gRPC for Go, which `cargo xtask test` builds where Go is installed.
pub const GRPC_GO: Judge = Judge {
    name: "gRPC in Go",
    program: concat!(env!("CARGO_MANIFEST_DIR"), "/../target/tools/grpc-judge"),
    args: &["{dir}", "{port}", "{tls}"],
    conf: "",
    ..GRPC_PYTHON
};

/// Python's `websockets`, as Debian packages it.
pub const WEBSOCKETS: Judge = Judge {
    name: "websockets",
    program: "/usr/bin/python3",
    args: &["{dir}/conf"],
    conf: include_str!("websockets.py"),
    log: "stdout",
    line: "message {target}",
    asked_in: AskedIn::WebSocket,
    ..NGINX
};

/// Node's `ws`, as Debian packages it.
pub const WS: Judge = Judge { name: "ws", program: "node", conf: include_str!("ws.js"), ..WEBSOCKETS };

/// Go's Gorilla, as Debian packages it.
pub const GORILLA: Judge = Judge {
    name: "Gorilla",
    program: "sh",
    args: &[
        "-c",
        "cp {dir}/conf {dir}/echo.go && GO111MODULE=off GOFLAGS= GOPATH=/usr/share/gocode \
         go build -o {dir}/echo {dir}/echo.go && exec {dir}/echo",
    ],
    conf: include_str!("gorilla.go"),
    ..WEBSOCKETS
};

/// A judge at work, and whoever works behind it.
pub struct RunningJudge {
    judge: &'static Judge,
    home: Home,
    process: Child,
    pub plain: SocketAddr,
    pub tls: SocketAddr,
    behind: Option<Box<RunningJudge>>,
}

impl Judge {
    /// Whether its program is there. Where it is not, this is no failure but in CI.
    pub fn is_built(&self) -> bool {
        let is_there = Path::new(self.program).is_file();
        is_there_or_told(
            is_there,
            &format!("{} is missing: cargo xtask test builds it with Go", self.program),
        )
    }

    pub fn sit(&'static self) -> RunningJudge {
        let behind = self.behind.map(|judge| Box::new(judge.sit()));
        let [plain, tls] = free_ports();
        let home = folder();
        let dir = home.path().display().to_string();
        let fill = |text: &str| {
            let behind = behind.as_ref().map_or(0, |behind| behind.plain.port());
            text.replace("{dir}", &dir)
                .replace("{port}", &plain.port().to_string())
                .replace("{tls}", &tls.port().to_string())
                .replace("{behind}", &behind.to_string())
        };
        home.write("conf", &fill(self.conf));
        let process = spawn(self.program, self.args.iter().map(|arg| fill(arg)), &home);
        let mut running = RunningJudge { judge: self, home, process, plain, tls, behind };
        running.wait_until_ready();
        running
    }
}

impl RunningJudge {
    fn wait_until_ready(&mut self) {
        let name = self.judge.name;
        let ports =
            if self.judge.asked_in == AskedIn::Http2 { [self.tls; 2] } else { [self.plain, self.tls] };
        wait_for(
            || {
                let ended = self.process.try_wait().unwrap();
                assert!(ended.is_none(), "{name}: {ended:?}: {}", self.file("stderr"));
                ports.iter().all(|port| TcpStream::connect(port).is_ok())
            },
            name,
        );
        if self.judge.asked_in != AskedIn::Http {
            return;
        }
        assert_eq!(http::get(self.plain, "/hello").text(), BODY, "{name}: {}", self.file("error.log"));
        // A script's first words and its last ones can come at once where the machine is busy: one answer in
        // chunks shows that they are made.
        let is_chunked = || http::get(self.plain, "/chunked").field("transfer-encoding") == Some("chunked");
        wait_for(is_chunked, &format!("{name} to answer in chunks: {}", self.file("error.log")));
    }

    /// A file in its folder.
    pub fn path(&self, name: &str) -> String {
        self.home.path().join(name).display().to_string()
    }

    /// Where an authority is that vouches for it.
    pub fn cacert(&self) -> String {
        self.path("ca.pem")
    }

    /// Whether it has an answer without a length.
    pub fn has_chunked(&self) -> bool {
        self.judge.asked_in == AskedIn::Http
    }

    /// Each log: who wrote it, and how many requests it has with this target and this version of HTTP.
    pub fn logged(&self, target: &str, version: &str) -> Vec<(&'static str, u64)> {
        let log = self.file(self.judge.log);
        let wanted = self.judge.line.replace("{target}", target).replace("{version}", version);
        let own = log.lines().filter(|line| line.contains(&wanted)).count() as u64;
        let behind = self.behind.as_ref().map(|behind| behind.logged(target, version));
        [vec![(self.judge.name, own)], behind.unwrap_or_default()].concat()
    }

    fn file(&self, name: &str) -> String {
        String::from_utf8_lossy(&std::fs::read(self.home.path().join(name)).unwrap_or_default()).into_owned()
    }

    /// Asks it to stop; what it has to say is in its log then.
    pub fn rise(&mut self) {
        signal("-TERM", &self.process);
        let name = self.judge.name;
        wait_for(|| self.process.try_wait().unwrap().is_some(), &format!("{name} to stop"));
        self.behind.iter_mut().for_each(|behind| behind.rise());
    }
}

impl Drop for RunningJudge {
    fn drop(&mut self) {
        signal("-KILL", &self.process);
        let _ = self.process.wait();
    }
}

/// To the server and all that it started: it has a process group of its own.
fn signal(signal: &str, process: &Child) {
    let group = format!("-{}", process.id());
    let _ = Command::new("kill").args([signal, "--", &group]).stderr(Stdio::null()).status();
}

/// All that a server needs to answer. Root's servers read it as somebody else.
fn folder() -> Home {
    let home = Home::new();
    std::fs::set_permissions(home.path(), Permissions::from_mode(0o755)).unwrap();
    home.write("hello", BODY);
    home.write("large", &BODY.repeat(10_000));
    let script = home.write("chunked.cgi", include_str!("chunked.cgi"));
    std::fs::set_permissions(script, Permissions::from_mode(0o755)).unwrap();
    Authority::new(&home).sign("127.0.0.1", 4000);
    home
}

fn spawn(program: &str, args: impl Iterator<Item = String>, home: &Home) -> Child {
    let debians = Path::new("/usr/sbin").join(program);
    let file = |name: &str| File::options().create(true).append(true).open(home.path().join(name)).unwrap();
    let mut command = Command::new(if debians.exists() { debians.as_os_str() } else { program.as_ref() });
    // What it keeps of its own accord goes into its folder.
    command.args(args).process_group(0).stdin(Stdio::null()).env("XDG_CONFIG_HOME", home.path());
    process::spawn(command.stdout(file("stdout")).stderr(file("stderr")))
}

/// Two that are not the same one.
fn free_ports() -> [SocketAddr; 2] {
    let free = || control::machine::ports::free_port().unwrap();
    let first = free();
    let second = std::iter::repeat_with(free).find(|port| *port != first).unwrap();
    [first, second].map(|port| SocketAddr::from(([127, 0, 0, 1], port)))
}
