//! The URLs of command lines: looked up, and reached before anything is measured.

use crate::failure::WrongInput;
use control::processes::local;
use control::verify::origin::AskedAt;
use model::Target;
use model::url::{Url, redacted, redacted_url};
use std::net::IpAddr;
use std::path::Path;

/// What stands for a port that is not known yet.
const PORT: &str = "1";

/// The usual host of servers that drome starts.
const HERE: &str = "127.0.0.1";

/// Looks up a URL's host.
pub fn resolve(url: &str) -> anyhow::Result<Target> {
    Ok(with_fragment_noted(Target::resolve(url)?))
}

/// A URL of a server on a Unix socket, whose host is not looked up.
pub fn on_socket(url: &str, path: &Path) -> anyhow::Result<Target> {
    Ok(with_fragment_noted(Target::on_socket(url, path.to_owned())?))
}

/// Notes that the URL's fragment, if it has one, is not sent.
fn with_fragment_noted(target: Target) -> Target {
    if let Some(fragment) = target.fragment.as_ref().filter(|fragment| !fragment.is_empty()) {
        note!(
            "#{fragment} is not sent: what follows # in a URL is for the client alone; write # as %23 if the server is to see it"
        );
    }
    target
}

/// Looks up a URL's host, and finds the address at which it accepts connections.
pub fn reached(url: &str) -> anyhow::Result<Target> {
    let mut target = resolve(url)?;
    load::reach(&mut target)?;
    load::probe(&target)?;
    Ok(target)
}

/// The URL that is requested of servers that drome starts, whose port drome chooses.
pub struct OwnUrl {
    /// As it was given, without its user's name and password.
    pub shown: String,
    /// Path and query.
    pub path: String,
    /// Where the servers are asked; `None`: at 127.0.0.1, or where they are on another machine.
    pub asked_at: Option<AskedAt>,
    /// Whether connections are encrypted.
    pub tls: bool,
}

impl OwnUrl {
    /// Reads the value of `--url`, in which `{port}` stands for the port. `is_elsewhere`: the servers are on another machine, which is asked
    /// at its own address.
    pub fn read(url: &str, is_elsewhere: bool) -> anyhow::Result<Self> {
        let refused = |why: &str| WrongInput(format!("--url {}: {why}", redacted_url(url)));
        let filled = url.replace("{port}", PORT).replace("{host}", HERE);
        let parts = Url::parse(&filled).map_err(|why| refused(&why))?;
        if parts.port.is_some_and(|port| port.to_string() != PORT) {
            return Err(refused(
                "drome chooses a free port for every start: write {port} in place of the port",
            )
            .into());
        }
        let target = resolve(&filled)?;
        let all: Vec<IpAddr> = target.addresses().filter_map(|at| Some(at.tcp()?.ip())).collect();
        let is_there = |at: &IpAddr| if is_elsewhere { at.is_loopback() } else { local::is_own(*at) };
        let hosts: Vec<IpAddr> = all.into_iter().filter(is_there).collect();
        if hosts.is_empty() {
            let why = if is_elsewhere {
                "with --server-on, servers are asked at the other machine's address: write 127.0.0.1 or {host} in place of the host"
            } else {
                "this is not on this machine, where drome starts the servers: its host must be an address of this machine, such as 127.0.0.1"
            };
            return Err(refused(why).into());
        }
        let (name, authorization) = (parts.host, parts.authorization);
        let is_usual = is_elsewhere || name == HERE;
        if is_elsewhere && authorization.is_some() {
            return Err(
                refused("with --server-on, requests carry no name and password: leave them out").into()
            );
        }
        let asked_at =
            (!is_usual || authorization.is_some()).then_some(AskedAt { hosts, name, authorization });
        Ok(Self { shown: redacted(url).into_owned(), path: target.path, asked_at, tls: parts.tls })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_the_url_of_servers_that_drome_starts_is_used_or_refused() {
        let read = |url: &str| OwnUrl::read(url, false);
        let usual = read("http://127.0.0.1:{port}/x?y").unwrap();
        assert_eq!((usual.path.as_str(), usual.asked_at), ("/x?y", None));
        assert_eq!(read("{host}:{port}").unwrap().asked_at, None);
        let tls = |url: &str| read(url).unwrap().tls;
        assert!(tls("https://127.0.0.1:{port}/") && !tls("http://127.0.0.1:{port}/"));
        assert_eq!(read("http://127.0.0.1/x").unwrap().path, "/x", "the port is the server's");
        let own = read("http://u:p@127.0.0.2:{port}/").unwrap();
        let asked_at = own.asked_at.unwrap();
        assert_eq!(
            (own.shown.as_str(), asked_at.name.as_str()),
            ("http://***@127.0.0.2:{port}/", "127.0.0.2")
        );
        assert_eq!(asked_at.hosts, ["127.0.0.2".parse::<IpAddr>().unwrap()]);
        assert_eq!(asked_at.authorization.unwrap().value(), "Basic dTpw");
        let named = read("http://localhost:{port}/").unwrap().asked_at.unwrap();
        assert!(named.name == "localhost" && named.hosts.iter().all(IpAddr::is_loopback), "{named:?}");
        let ipv6 = read("http://[::]:{port}/").map(|own| own.asked_at.unwrap().name);
        assert!(ipv6.is_err() || ipv6.unwrap() == "[::]", "a machine may have no IPv6");
        for (url, why) in [
            ("http://127.0.0.1:8080/", "{port} in place of the port"),
            ("http://192.0.2.1:{port}/", "not on this machine"),
            ("ftp://127.0.0.1:{port}/", "only http and https"),
            ("http://u:secret@192.0.2.1:{port}/", "http://***@192.0.2.1"),
        ] {
            let error = read(url).err().unwrap().to_string();
            assert!(error.contains(why) && !error.contains("secret"), "{url}: {error}");
        }
        let elsewhere = |url: &str| OwnUrl::read(url, true).map(|own| own.asked_at);
        assert!(elsewhere("http://127.0.0.1:{port}/").unwrap().is_none());
        assert!(elsewhere("http://{host}:{port}/").unwrap().is_none());
        assert!(
            elsewhere("http://192.0.2.1:{port}/").is_err()
                && elsewhere("http://u@127.0.0.1:{port}/").is_err()
        );
    }
}
