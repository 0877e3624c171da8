//! The servers: how each is started, and what it serves.

use super::model::Server;
use super::process::Running;
use anyhow::{Context, Result, bail};
use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use xtask::packages;

/// A server that does not listen after this time is given up.
const PATIENCE: Duration = Duration::from_secs(20);

/// Files of 12 bytes, 50 KB and 200 KB, and a page that the contenders read when they start.
const FILES: &[(&str, usize)] =
    &[("hello", 12), ("file-50k", 50_000), ("file-200k", 200_000), ("html-228.html", 228)];

/// The programs, and a temporary folder with the files that servers serve and their certificate.
pub struct Fixtures {
    /// Cargo's folder of release builds.
    pub release: PathBuf,
    folder: TempDir,
}

/// A server that listens.
pub struct Listening {
    pub process: Running,
    pub port: u16,
}

impl Fixtures {
    /// The results database of every drome that runs here.
    pub fn store(&self) -> String {
        self.folder.path().join("drome.sqlite").to_string_lossy().into_owned()
    }

    pub fn new(release: PathBuf) -> Result<Self> {
        let folder = tempfile::tempdir().context("can't make a temporary folder")?;
        let files = folder.path().join("files");
        fs::create_dir(&files)?;
        for (name, bytes) in FILES {
            fs::write(files.join(name), vec![b'x'; *bytes])?;
        }
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
        fs::write(folder.path().join("certificate.pem"), made.cert.pem())?;
        fs::write(folder.path().join("key.pem"), made.signing_key.serialize_pem())?;
        Ok(Self { release, folder })
    }

    /// Replaces `{files}` in an argument by the folder of the files.
    pub fn expand(&self, arg: &str) -> String {
        arg.replace("{files}", &self.folder.path().join("files").display().to_string())
    }

    /// Starts a server and waits until it listens.
    pub fn start(&self, core: usize, server: Server) -> Result<Listening> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let (program, args) = self.command(server, port)?;
        let mut process = Running::start(core, &program, &args)?;
        let deadline = Instant::now() + PATIENCE;
        while TcpStream::connect(SocketAddr::from(([127, 0, 0, 1], port))).is_err() {
            if let Some(printed) = process.output_if_ended()? {
                bail!("{}: {}", label(server), first_line(&printed));
            }
            if Instant::now() > deadline {
                bail!("{} does not listen after {} s", label(server), PATIENCE.as_secs());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(Listening { process, port })
    }

    fn command(&self, server: Server, port: u16) -> Result<(PathBuf, Vec<String>)> {
        let text = |path: &Path| path.display().to_string();
        let drome = |more: &[&str]| {
            let args = ["serve", "--port", &port.to_string()].map(str::to_owned);
            (
                self.release.join("drome"),
                [&args[..], &more.iter().map(|a| (*a).to_owned()).collect::<Vec<_>>()].concat(),
            )
        };
        Ok(match server {
            Server::Floor(body_bytes) => {
                (self.release.join("examples/floor_server"), vec![port.to_string(), body_bytes.to_string()])
            }
            Server::FloorLeaves => {
                let args = [&port.to_string(), "12", "leave"].map(str::to_owned);
                (self.release.join("examples/floor_server"), args.to_vec())
            }
            Server::Reference(args) => drome(args),
            Server::Root => drome(&["--root", &text(&self.folder.path().join("files"))]),
            Server::Nginx => self.nginx(&format!("listen 127.0.0.1:{port} backlog=4096;"))?,
            Server::NginxTls(resumes) => self.nginx(&tls(port, resumes))?,
            Server::Go => {
                let program = self.folder.path().join("go-server");
                let built = Command::new(installed("go")?)
                    .args(["build", "-trimpath", "-o", &text(&program), "."])
                    .current_dir(xtask::root().join("catalog/contenders/go/src"))
                    .output()?;
                if !built.status.success() {
                    bail!("{}", first_line(&String::from_utf8_lossy(&built.stderr)));
                }
                (program, vec![port.to_string(), text(&self.folder.path().join("files"))])
            }
            Server::Node => {
                let script = xtask::root().join("catalog/contenders/node/src/server.js");
                let args = [text(&script), port.to_string(), text(&self.folder.path().join("files"))];
                (installed("node")?, args.to_vec())
            }
        })
    }

    fn nginx(&self, listen: &str) -> Result<(PathBuf, Vec<String>)> {
        let folder = self.folder.path();
        let file = folder.join("nginx.conf");
        fs::write(&file, nginx_conf(folder, listen))?;
        let text = |path: &Path| path.display().to_string();
        let args = ["-e", "stderr", "-p", &text(folder), "-c", &text(&file)];
        Ok((installed("nginx")?, args.map(str::to_owned).to_vec()))
    }
}

/// One protocol, cipher suite, group and kind of key, so that every client does the same work.
fn tls(port: u16, resumes: bool) -> String {
    let tickets = if resumes { "on" } else { "off" };
    format!(
        "listen 127.0.0.1:{port} ssl backlog=4096;
             ssl_certificate certificate.pem; ssl_certificate_key key.pem;
             ssl_protocols TLSv1.3; ssl_ecdh_curve X25519; ssl_prefer_server_ciphers on;
             ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256;
             ssl_session_tickets {tickets}; ssl_session_cache off;"
    )
}

/// A single process, so that its CPU clock covers everything and nothing outlives it.
fn nginx_conf(folder: &Path, listen: &str) -> String {
    format!(
        "daemon off; master_process off; worker_processes 1;
         pid nginx.pid; error_log stderr;
         events {{ worker_connections 20000; }}
         http {{
             access_log off;
             sendfile on;
             keepalive_requests 1000000000;
             client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
             uwsgi_temp_path uwsgi; scgi_temp_path scgi;
             server {{ {listen} root \"{}/files\"; }}
         }}",
        folder.display()
    )
}

/// The path of a program that drome is compared with.
pub fn installed(program: &str) -> Result<PathBuf> {
    packages::find(program).with_context(|| format!("{program} is not installed: use --install"))
}

/// Its name in the table.
pub fn label(server: Server) -> String {
    match server {
        Server::Floor(_) => "the floor server".to_owned(),
        Server::FloorLeaves => "the floor server that leaves the closing to its clients".to_owned(),
        Server::Reference(args) => ["drome serve"].iter().chain(args).copied().collect::<Vec<_>>().join(" "),
        Server::Root => "drome serve --root".to_owned(),
        Server::Nginx => "nginx".to_owned(),
        Server::NginxTls(_) => "nginx with TLS".to_owned(),
        Server::Go => "Go's net/http".to_owned(),
        Server::Node => "Node.js".to_owned(),
    }
}

/// The first line that a failed program printed.
pub fn first_line(text: &str) -> &str {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("it printed nothing")
}
