//! Why a trial has no measurement, and whose failure that is.

use net::Errno;

/// Why a trial has no measurement.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The lab's own: a full disk, no descriptors left, somebody who asked to stop. It says nothing of the contender, so it is
    /// never stored as what came of the trial.
    #[error("{0}")]
    Lab(String),
    /// The contender's: it did not start, answered wrongly, or died.
    #[error("{0}")]
    Contender(String),
}

impl Fault {
    /// Something that the lab wanted to do, and what the system said to it.
    pub fn unable(what: &str, error: &dyn std::error::Error) -> Self {
        Self::Lab(format!("{what}: {error}"))
    }

    /// The lab wanted to ask a server, and this machine had no descriptor, port or memory left for that; `None`: it is the server
    /// that did not answer.
    pub fn own(error: &std::io::Error) -> Option<Self> {
        let lack = Errno::from_io_error(error).filter(|errno| net::is_local(*errno))?;
        Some(Self::Lab(format!("this machine has no room for one more connection ({lack})")))
    }

    /// Somebody asked to stop.
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
