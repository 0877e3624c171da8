//! Why a start has no measurement, and whether the lab or the contender failed.

use net::Errno;

/// Why a start has no measurement.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The lab failed: a full disk, no descriptors left, a request to stop. That says nothing about the contender, so it is
    /// never stored as the outcome of the start.
    #[error("{0}")]
    Lab(String),
    /// The contender failed: it did not start, answered wrongly, or died.
    #[error("{0}")]
    Contender(String),
}

impl Fault {
    /// The lab could not do something; `error` is what the system said.
    pub fn unable(what: &str, error: &dyn std::error::Error) -> Self {
        Self::Lab(format!("{what}: {error}"))
    }

    /// The lab's failure, if this machine had no descriptor, port or memory left to ask a server; `None`: the server did not
    /// answer.
    pub fn own(error: &std::io::Error) -> Option<Self> {
        let lack = Errno::from_io_error(error).filter(|errno| net::is_local(*errno))?;
        Some(Self::Lab(format!("this machine can't open another connection ({lack})")))
    }

    /// A user asked to stop.
    pub fn interrupted() -> Self {
        Self::Lab("interrupted".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Error, ErrorKind};

    #[test]
    fn what_this_machine_lacks_is_the_labs_own() {
        for lack in [Errno::MFILE, Errno::NFILE, Errno::ADDRNOTAVAIL, Errno::NOBUFS, Errno::NOMEM] {
            let own = Fault::own(&Error::from_raw_os_error(lack.raw_os_error()));
            assert!(matches!(own, Some(Fault::Lab(_))), "{lack}");
        }
        let refused = Error::from_raw_os_error(Errno::CONNREFUSED.raw_os_error());
        assert_eq!((Fault::own(&refused), Fault::own(&Error::from(ErrorKind::TimedOut))), (None, None));
    }
}
