//! The buffers that all TLS connections of a back end share.

use rustls::Error;
use rustls::unbuffered::{EncodeError, EncryptError};

/// The buffers that all sessions of a back end share, which grow to what a turn needs.
#[derive(Default)]
pub struct Buffers {
    /// The bytes that rustls decrypts in place.
    pub incoming: Vec<u8>,
    /// The plaintext of the last turn.
    pub plain: Vec<u8>,
    /// The bytes that are to be sent.
    pub out: Outgoing,
    /// The part of a file that is encrypted next; no memory before the first file.
    pub file: Vec<u8>,
}

/// Room for rustls to write into, and how much of it is written.
#[derive(Default)]
pub struct Outgoing {
    memory: Vec<u8>,
    filled: usize,
}

impl Outgoing {
    /// The bytes that are to be sent.
    pub fn bytes(&self) -> &[u8] {
        &self.memory[..self.filled]
    }

    /// Clears the bytes, which have been sent.
    pub fn clear(&mut self) {
        self.filled = 0;
    }

    /// Calls `write`. If the room was too small for it, grows the buffer and calls it again.
    pub fn put(&mut self, mut write: impl FnMut(&mut [u8]) -> Result<usize, Refusal>) -> Result<(), Error> {
        let mut written = write(&mut self.memory[self.filled..]);
        if let Err(Refusal::Room(needed)) = written {
            self.memory.resize(self.filled + needed, 0);
            written = write(&mut self.memory[self.filled..]);
        }
        match written {
            Ok(n) => self.filled += n,
            Err(_) => return Err(Error::EncryptError),
        }
        Ok(())
    }
}

/// Why rustls did not write.
pub enum Refusal {
    /// There is too little room: rustls needs this many bytes.
    Room(usize),
    /// More bytes must not be encrypted with the keys of this connection.
    Exhausted,
}

impl From<EncodeError> for Refusal {
    fn from(error: EncodeError) -> Self {
        match error {
            EncodeError::InsufficientSize(size) => Self::Room(size.required_size),
            EncodeError::AlreadyEncoded => Self::Exhausted,
        }
    }
}

impl From<EncryptError> for Refusal {
    fn from(error: EncryptError) -> Self {
        match error {
            EncryptError::InsufficientSize(size) => Self::Room(size.required_size),
            EncryptError::EncryptExhausted => Self::Exhausted,
        }
    }
}
