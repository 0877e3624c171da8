//! The servers: how each is started, and what it serves.

use super::model::Server;
use crate::drome::Drome;
use crate::process::{Listening, free_port};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use xtask::{packages, printed};

/// Files of 12 bytes to 200 KB, of which some are sent, and a page that the contenders read when they start.
const FILES: &[(&str, usize)] = &[
    ("hello", 12),
    ("message-1k", 1_000),
    ("message-64k", 64_000),
    ("file-50k", 50_000),
    ("file-200k", 200_000),
    ("html-228.html", 228),
];

/// The programs, and what servers serve: files, and their certificate. All of this is in the folder of [`Drome`].
pub struct Fixtures {
    pub drome: Drome,
    /// The folder of the programs that drome is compared with.
    pub examples: PathBuf,
}

impl Fixtures {
    pub fn new(drome: Drome, examples: PathBuf) -> Result<Self> {
        let made = Self { drome, examples };
        fs::create_dir(made.files())?;
        for (name, bytes) in FILES {
            fs::write(made.files().join(name), vec![b'x'; *bytes])?;
        }
        let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
        fs::write(made.drome.home().join("certificate.pem"), certified.cert.pem())?;
        fs::write(made.drome.home().join("key.pem"), certified.signing_key.serialize_pem())?;
        Ok(made)
    }

    fn files(&self) -> PathBuf {
        self.drome.home().join("files")
    }

    /// Replaces `{files}` in an argument by the folder of the files.
    pub fn expand(&self, arg: &str) -> String {
        arg.replace("{files}", &self.files().display().to_string())
    }

    /// Starts a server and waits until it listens.
    pub fn start(&self, core: usize, server: Server) -> Result<Listening> {
        let port = free_port()?;
        Listening::start(Some(core), port, &self.command(server, port)?).context(label(server))
    }

    fn command(&self, server: Server, port: u16) -> Result<Command> {
        let (number, files) = (port.to_string(), self.expand("{files}"));
        let drome = |more: &[&str]| self.drome.command(&[&["serve", "--port", &number], more].concat());
        let floor = |args: &[&str]| {
            let mut command = Command::new(self.examples.join("floor_server"));
            command.arg(&number).args(args);
            command
        };
        Ok(match server {
            Server::Floor(body_bytes) => floor(&[&body_bytes.to_string()]),
            Server::FloorLeaves => floor(&["12", "leave"]),
            Server::Reference(args) => drome(args),
            Server::Root => drome(&["--root", &files]),
            Server::Nginx => self.nginx(&format!("listen 127.0.0.1:{port} backlog=4096;"))?,
            Server::NginxTls(resumes) => self.nginx(&tls(port, "", resumes))?,
            Server::NginxHttp2 { is_tls: true } => self.nginx(&tls(port, " http2", false))?,
            Server::NginxHttp2 { is_tls: false } => {
                // With it, nginx 1.22 writes head and file apart, and Nagle's algorithm holds the file back for 40 ms.
                let without = "sendfile off;";
                self.nginx(&format!("listen 127.0.0.1:{port} http2 backlog=4096; {without}"))?
            }
            Server::Go => {
                let program = self.drome.home().join("go-server");
                let mut go = installed("go", &["build", "-trimpath", "-o"])?;
                go.arg(&program).arg(".").current_dir(xtask::root().join("catalog/contenders/go/src"));
                printed(&mut go)?;
                let mut command = Command::new(program);
                command.args([number, files]);
                command
            }
            Server::Node => {
                let script = xtask::root().join("catalog/contenders/node/src/server.js");
                installed("node", &[&script.to_string_lossy(), &number, &files])?
            }
        })
    }

    fn nginx(&self, listen: &str) -> Result<Command> {
        let folder = self.drome.home();
        let file = folder.join("nginx.conf");
        fs::write(&file, nginx_conf(folder, listen))?;
        installed("nginx", &["-e", "stderr", "-p", &folder.to_string_lossy(), "-c", &file.to_string_lossy()])
    }
}

/// One protocol, cipher suite, group and kind of key, so that every client does the same work.
fn tls(port: u16, http2: &str, resumes: bool) -> String {
    let tickets = if resumes { "on" } else { "off" };
    format!(
        "listen 127.0.0.1:{port} ssl{http2} backlog=4096;
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

/// The command of a program that drome is compared with.
pub fn installed(program: &str, args: &[&str]) -> Result<Command> {
    let found =
        packages::find(program).with_context(|| format!("{program} is not installed: use --install"))?;
    let mut command = Command::new(found);
    command.args(args);
    Ok(command)
}

/// Its name in the table.
pub fn label(server: Server) -> String {
    match server {
        Server::Floor(_) => "the floor server".to_owned(),
        Server::FloorLeaves => "the floor server that leaves the closing to its clients".to_owned(),
        Server::Reference(args) => ["drome serve"].iter().chain(args).copied().collect::<Vec<_>>().join(" "),
        Server::Root => "drome serve --root".to_owned(),
        Server::Nginx | Server::NginxHttp2 { is_tls: false } => "nginx".to_owned(),
        Server::NginxTls(_) | Server::NginxHttp2 { is_tls: true } => "nginx with TLS".to_owned(),
        Server::Go => "Go's net/http".to_owned(),
        Server::Node => "Node.js".to_owned(),
    }
}
