//! Reading from blocking sockets.

use std::io::{ErrorKind, Read, Result};

/// Reads some bytes, and 0 at the end. The read of a socket with a timeout fails if the process is stopped and continued meanwhile
/// (Ctrl-Z and `fg`, a frozen container), and the system does not repeat it as it does other calls (signal(7)): this does.
pub fn read_some(from: &mut impl Read, bytes: &mut [u8]) -> Result<usize> {
    loop {
        match from.read(bytes) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is interrupted every other time, then is over.
    struct Interrupted<'a>(&'a [u8], bool);

    impl Read for Interrupted<'_> {
        fn read(&mut self, bytes: &mut [u8]) -> Result<usize> {
            self.1 = !self.1;
            if self.1 { Err(ErrorKind::Interrupted.into()) } else { self.0.read(bytes) }
        }
    }

    /// Never has anything to read.
    struct Blocked;

    impl Read for Blocked {
        fn read(&mut self, _: &mut [u8]) -> Result<usize> {
            Err(ErrorKind::WouldBlock.into())
        }
    }

    #[test]
    fn an_interrupted_read_is_repeated_and_no_other_error() {
        let (mut from, mut bytes) = (Interrupted(b"abc", false), [0; 2]);
        let mut read = || read_some(&mut from, &mut bytes).unwrap();
        assert_eq!([read(), read(), read()], [2, 1, 0]);
        assert_eq!(read_some(&mut Blocked, &mut bytes).unwrap_err().kind(), ErrorKind::WouldBlock);
    }
}
