//! Checks text that comes in pieces, wherever they are cut.

/// A check of one text. It holds the start of a character whose rest has not come, and nothing else.
#[derive(Clone, Copy, Debug, Default)]
pub struct Utf8Check {
    held: [u8; 3],
    length: u8,
}

impl Utf8Check {
    /// Checks the next bytes. False: the text is not UTF-8, whatever follows.
    #[inline]
    pub fn take(&mut self, bytes: &[u8]) -> bool {
        let rest = if self.length == 0 { Some(bytes) } else { self.finish_character(bytes) };
        rest.is_some_and(|rest| self.take_characters(rest))
    }

    /// Whether the text may end here, and not within a character.
    #[inline]
    pub fn is_whole(self) -> bool {
        self.length == 0
    }

    fn take_characters(&mut self, bytes: &[u8]) -> bool {
        match std::str::from_utf8(bytes) {
            Ok(_) => true,
            Err(error) if error.error_len().is_none() => {
                let held = &bytes[error.valid_up_to()..];
                self.held[..held.len()].copy_from_slice(held);
                self.length = held.len() as u8;
                true
            }
            Err(_) => false,
        }
    }

    /// Puts the held bytes before these and returns the bytes behind the character that they begin: all that are left to check. `None`:
    /// they begin none.
    #[cold]
    fn finish_character<'a>(&mut self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let held = usize::from(self.length);
        let mut character = [0; 4];
        character[..held].copy_from_slice(&self.held[..held]);
        for (at, byte) in bytes.iter().enumerate().take(character.len() - held) {
            character[held + at] = *byte;
            match std::str::from_utf8(&character[..=held + at]) {
                Ok(_) => {
                    self.length = 0;
                    return Some(&bytes[at + 1..]);
                }
                Err(error) if error.error_len().is_some() => return None,
                Err(_) => {
                    self.held.copy_from_slice(&character[..3]);
                    self.length = (held + at + 1) as u8;
                }
            }
        }
        Some(&[])
    }
}
