//! SHA-256 of what an entry consists of. Two stores have the same run if they have the same digest of it.

use super::row::Checked;
use sha2::{Digest as _, Sha256};

/// The digest of an entry, row by row. The order of rows does not matter, and neither does the machine that they are from.
#[derive(Debug, Default)]
pub struct Digest {
    rows: Vec<[u8; 32]>,
}

impl Digest {
    /// Adds a row.
    pub fn add(&mut self, row: &Checked) {
        self.rows.push(Sha256::digest(&row.json).into());
    }

    /// The digest in hexadecimal digits.
    pub fn hex(mut self) -> String {
        self.rows.sort_unstable();
        let mut hash = Sha256::new();
        for row in &self.rows {
            hash.update(row);
        }
        model::hex(hash.finalize())
    }
}
