//! Checks, before anything is measured, that connections can start from the given addresses. Without this check, a wrong address would
//! fail at connecting, with an error that looks as if local ports had run out.

use model::{Address, Plan};
use std::net::{IpAddr, SocketAddr, TcpListener};

/// Why no connection can start from an address.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The address is not this machine's.
    #[error(
        "no connection can start from {from} ({source}): it must be one of this machine's own addresses; `ip address` lists them"
    )]
    Foreign {
        /// The address.
        from: IpAddr,
        /// The system's error.
        source: std::io::Error,
    },
    /// The addresses are of different families.
    #[error(
        "no connection can start from {from} and go to {to}: one is IPv4, the other IPv6; give an address of the target's kind"
    )]
    Family {
        /// The address.
        from: IpAddr,
        /// The target.
        to: SocketAddr,
    },
}

/// Checks that every source address is this machine's, and of the target's family.
pub fn check(plan: &Plan) -> Result<(), SourceError> {
    let Address::Tcp(to) = plan.target.address else { return Ok(()) };
    for from in plan.connecting.from.iter().copied() {
        if from.is_ipv4() != to.is_ipv4() {
            return Err(SourceError::Family { from, to });
        }
        // Any free port, and at once given back.
        TcpListener::bind((from, 0)).map_err(|source| SourceError::Foreign { from, source })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Ask, Load, Target, Until};

    fn checked(to: &str, from: &[&str]) -> Result<(), String> {
        let load = Load::Closed { connections: 1, per_connection: None };
        let mut plan = Plan::new(Target::resolve(to).unwrap(), Ask::default(), load, Until::Answered(1));
        plan.connecting.from = from.iter().map(|from| from.parse().unwrap()).collect();
        check(&plan).map_err(|error| error.to_string())
    }

    #[test]
    fn an_address_that_nothing_can_come_from_is_named() {
        assert_eq!(checked("http://127.0.0.1:1/", &[]), Ok(()));
        assert_eq!(checked("http://127.0.0.1:1/", &["127.0.0.2", "127.0.0.3"]), Ok(()));
        // An address for documents (RFC 5737): no machine's own.
        let error = checked("http://127.0.0.1:1/", &["127.0.0.2", "192.0.2.1"]).unwrap_err();
        assert!(error.contains("192.0.2.1") && error.contains("ip address"), "{error}");
        let error = checked("http://127.0.0.1:1/", &["::1"]).unwrap_err();
        assert!(error.contains("::1") && error.contains("IPv6"), "{error}");
    }
}
