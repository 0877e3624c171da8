//! With software that is not ours and not rustls's: nginx as the server, curl as the client (both OpenSSL).

use super::certificates::Authority;
use super::sides::{Side, epoll, pattern};
use net::tls::Tls;
use net::{Event, Io};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const BODY_BYTES: usize = 300_000;

/// nginx with this authority's certificate, in one process, stopped when it is dropped.
struct Nginx {
    child: Child,
    address: SocketAddr,
    _folder: tempfile::TempDir,
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn nginx(authority: &Authority, more: &str) -> Nginx {
    let folder = tempfile::tempdir().unwrap();
    let leaf = authority.leaf("localhost");
    let write = |name: &str, text: &[u8]| std::fs::write(folder.path().join(name), text).unwrap();
    write("cert.pem", leaf.pem.as_bytes());
    write("key.pem", leaf.key.serialize_pem().as_bytes());
    write("body", &pattern(BODY_BYTES));
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let config = format!(
        "daemon off; master_process off; pid nginx.pid; error_log error.log; events {{}}
         http {{ access_log off; client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3;
           uwsgi_temp_path t4; scgi_temp_path t5;
           server {{ listen {address} ssl; ssl_certificate cert.pem; ssl_certificate_key key.pem;
             ssl_session_cache builtin; root .; {more} }} }}"
    );
    write("nginx.conf", config.as_bytes());
    let program = if Path::new("/usr/sbin/nginx").exists() { "/usr/sbin/nginx" } else { "nginx" };
    let child = Command::new(program)
        .arg("-p")
        .arg(folder.path())
        .args(["-c", "nginx.conf", "-e", "error.log"])
        .stdin(Stdio::null())
        .spawn()
        .expect("this test needs nginx (nginx-light)");
    let server = Nginx { child, address, _folder: folder };
    let deadline = Instant::now() + Duration::from_mins(1);
    while TcpStream::connect(address).is_err() {
        assert!(Instant::now() < deadline, "nginx does not listen");
        std::thread::sleep(Duration::from_millis(5));
    }
    server
}

/// Asks nginx for its file on a new connection of slot 0; whether the handshake was resumed, and in what.
fn ask(client: &mut Side<Tls<net::Epoll>>, address: &SocketAddr) -> net::Handshake {
    client.told.clear();
    client.received.clear();
    client.io.connect(0, &net::Endpoint::from(*address));
    client.until(|client| client.was_told(0, Event::Secured));
    client.io.send(0, b"GET /body HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    client.until(|client| client.was_told(0, Event::Ended));
    assert!(client.has(0).starts_with(b"HTTP/1.1 200 OK\r\n"));
    assert!(client.has(0).ends_with(&pattern(BODY_BYTES)));
    assert_eq!(client.io.ended_cleanly(0), Some(true));
    let handshake = client.io.handshake(0).unwrap();
    client.io.close(0);
    handshake
}

#[test]
fn nginx_answers_and_lets_us_come_back() {
    let authority = Authority::new();
    for (more, protocol) in [("ssl_protocols TLSv1.3;", "TLS 1.3"), ("ssl_protocols TLSv1.2;", "TLS 1.2")] {
        let server = nginx(&authority, more);
        let mut client = Side::new(Tls::client(epoll(), authority.client()));
        let handshakes: Vec<_> = (0..4).map(|_| ask(&mut client, &server.address)).collect();
        let resumed: Vec<_> = handshakes.iter().map(|h| h.is_resumed).collect();
        assert_eq!(resumed, [false, true, true, true], "{protocol}");
        assert!(handshakes.iter().all(|h| h.protocol == protocol), "{handshakes:?}");
    }
}

#[test]
fn nginx_refuses_versions_that_it_was_told_to() {
    let authority = Authority::new();
    let server = nginx(&authority, "ssl_protocols TLSv1.1; ssl_ciphers ALL:@SECLEVEL=0;");
    let mut client = Side::new(Tls::client(epoll(), authority.client()));
    client.io.connect(0, &net::Endpoint::from(server.address));
    client.until(|client| client.failure(0).is_some());
    assert_eq!(
        client.reason(0),
        "the server and drome have no version of TLS in common: drome speaks 1.2 and 1.3, or the one that it was told"
    );
}

/// curl, which asks our server.
fn curl(authority: &Authority, address: SocketAddr, args: &[&str]) -> Child {
    let cacert = authority.options().cacert.unwrap();
    let resolve = format!("localhost:{}:127.0.0.1", address.port());
    Command::new("curl")
        .args(["-sS", "--max-time", "60", "--resolve", &resolve, "--cacert"])
        .arg(cacert)
        .args(args)
        .arg(format!("https://localhost:{}/", address.port()))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("this test needs curl")
}

#[test]
fn curl_is_answered() {
    let authority = Authority::new();
    let config = authority.leaf("localhost").server();
    for args in [&["--tlsv1.3"][..], &["--tls-max", "1.2"], &["--no-alpn", "--no-sessionid"]] {
        let mut server = Side::new(Tls::server(epoll(), config.clone()));
        let address = server.listen();
        let client = curl(&authority, address, args);
        server.until(|server| server.has(0).ends_with(b"\r\n\r\n"));
        // Without a length: only TLS's own word says that this is all.
        server.io.send(0, b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
        if !server.io.send(0, &pattern(BODY_BYTES)) {
            server.until(|server| server.was_told(0, Event::Drained));
        }
        server.io.close(0);
        let output = client.wait_with_output().unwrap();
        assert!(output.stdout == pattern(BODY_BYTES), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success());
    }
}

#[test]
fn curl_without_our_authority_is_refused_and_the_server_knows_why() {
    let (authority, other) = (Authority::new(), Authority::named("someone"));
    let mut server = Side::new(Tls::server(epoll(), other.leaf("localhost").server()));
    let address = server.listen();
    let mut client = curl(&authority, address, &[]);
    server.until(|server| server.failure(0).is_some());
    assert_eq!(server.reason(0), "the client does not accept the certificate (Unknown CA)");
    assert_eq!(client.wait().unwrap().code(), Some(60), "curl's own word for a certificate it can't verify");
}
