//! Where requests to a server go, and which host they name.

use model::{Address, Target};
use std::net::SocketAddr;

/// The address that a server listens on, and the host that requests to it name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The address to connect to.
    pub address: SocketAddr,
    /// The Host header.
    pub host: String,
}

impl From<SocketAddr> for Origin {
    /// The origin of a server for which requests name the address as their host.
    fn from(address: SocketAddr) -> Self {
        Self { address, host: address.to_string() }
    }
}

impl Origin {
    /// The origin of a URL; `None` for a Unix socket.
    pub fn of(target: &Target) -> Option<Self> {
        Some(Self { address: target.address.tcp()?, host: target.host.clone() })
    }

    /// The target for a path of this server.
    pub fn target(&self, path: &str) -> Target {
        Target {
            url: format!("http://{}{path}", self.host),
            host: self.host.clone(),
            path: path.to_owned(),
            address: Address::Tcp(self.address),
            tls: false,
        }
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
