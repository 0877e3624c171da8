//! Where requests to a server go, and which host they name.

use model::url::Authorization;
use model::{Address, Protocol, Target};
use std::net::{IpAddr, SocketAddr, SocketAddrV6};

/// The address that a server listens on, and the host that requests to it name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The address to connect to.
    pub address: SocketAddr,
    /// The Host header.
    pub host: String,
    /// The credentials that requests carry.
    pub authorization: Option<Authorization>,
    /// Whether connections are encrypted.
    pub tls: bool,
    /// What is spoken on them.
    pub protocol: Protocol,
}

/// How a server that drome starts is asked, where that is not at 127.0.0.1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedAt {
    /// The addresses of this machine at which it may listen, in the order in which they are tried; at least one.
    pub hosts: Vec<IpAddr>,
    /// The host that requests name, without a port.
    pub name: String,
    /// The credentials that requests carry.
    pub authorization: Option<Authorization>,
}

impl AskedAt {
    /// The origin of a server that listens at this address.
    pub fn origin(&self, address: SocketAddr) -> Origin {
        let host = format!("{}:{}", self.name, address.port());
        Origin { host, authorization: self.authorization.clone(), ..Origin::from(address) }
    }
}

impl From<SocketAddr> for Origin {
    /// The origin of a server for which requests name the address as their host.
    fn from(address: SocketAddr) -> Self {
        Self { address, host: host_of(address), authorization: None, tls: false, protocol: Protocol::Http1 }
    }
}

impl Origin {
    /// The origin of a URL; `None` for a Unix socket.
    pub fn of(target: &Target) -> Option<Self> {
        let authorization = target.authorization.clone();
        Some(Self {
            address: target.address.tcp()?,
            host: target.host.clone(),
            authorization,
            tls: target.tls,
            protocol: Protocol::Http1,
        })
    }

    /// The same server, asked by this protocol.
    #[must_use]
    pub fn by(&self, protocol: Protocol) -> Self {
        Self { protocol, ..self.clone() }
    }

    /// The same server at another port, where connections are encrypted.
    #[must_use]
    pub fn with_tls(&self, port: u16) -> Self {
        let mut address = self.address;
        let name = self.host.strip_suffix(&format!(":{}", address.port())).unwrap_or(&self.host);
        let host = format!("{name}:{port}");
        address.set_port(port);
        Self { address, host, authorization: self.authorization.clone(), tls: true, ..*self }
    }

    /// The target for a path of this server.
    pub fn target(&self, path: &str) -> Target {
        let scheme = if self.tls { "https" } else { "http" };
        Target {
            url: format!("{scheme}://{}{path}", self.host),
            tls: self.tls,
            host: self.host.clone(),
            path: path.to_owned(),
            authorization: self.authorization.clone(),
            ..Target::at(Address::Tcp(self.address))
        }
    }
}

/// An address as a request names it: a zone means nothing to the server.
fn host_of(address: SocketAddr) -> String {
    match address {
        SocketAddr::V6(v6) => SocketAddrV6::new(*v6.ip(), v6.port(), 0, 0).to_string(),
        SocketAddr::V4(v4) => v4.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_name_the_host_of_the_url_and_go_to_its_address() {
        let url = Target::resolve("http://localhost:8080/x").unwrap();
        let target = Origin::of(&url).unwrap().target("/y");
        assert_eq!((target.host.as_str(), target.path.as_str()), ("localhost:8080", "/y"));
        assert_eq!((target.url.as_str(), target.address), ("http://localhost:8080/y", url.address));
        let own = Origin::from(SocketAddr::from(([127, 0, 0, 1], 81)));
        assert_eq!(
            (own.host.as_str(), own.target("/").url.as_str()),
            ("127.0.0.1:81", "http://127.0.0.1:81/")
        );
        let unix = Target { address: Address::Unix("/tmp/socket".into()), ..url };
        assert_eq!(Origin::of(&unix), None);
    }
}
