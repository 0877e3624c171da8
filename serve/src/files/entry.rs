//! A file as it is served: what does not change from request to request is computed once.

use crate::answers::date;
use crate::files::root::Identity;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// The size up to which files are kept in memory; larger ones are sent from the kernel's memory, by their descriptor.
pub const MEMORY_BYTES: u64 = 64 * 1024;

/// A file and the fields of its head.
#[derive(Debug)]
pub struct Entry {
    /// The file and its state.
    pub identity: Identity,
    /// Its media type.
    pub content_type: &'static str,
    /// The field line `Last-Modified`; empty where no date can say it.
    pub modified: String,
    /// All field lines of an answer with the whole file, without the date and the connection.
    pub fields: String,
    /// Its bytes.
    pub content: Content,
}

/// Where the bytes of a file are.
#[derive(Debug)]
pub enum Content {
    /// In this process's memory.
    Memory(Box<[u8]>),
    /// In the kernel.
    File(Arc<OwnedFd>),
}

impl Entry {
    /// Reads what is kept of an open file. An error of the kind `UnexpectedEof`: it has become shorter.
    pub fn load(file: File, identity: Identity, content_type: &'static str) -> std::io::Result<Self> {
        let Identity { length, modified: (modified_s, _), .. } = identity;
        let content = if length <= MEMORY_BYTES {
            let mut bytes = vec![0; length as usize].into_boxed_slice();
            file.read_exact_at(&mut bytes, 0)?;
            Content::Memory(bytes)
        } else {
            Content::File(Arc::new(file.into()))
        };
        let modified = date::format(modified_s).map_or_else(String::new, |date| {
            format!("Last-Modified: {}\r\n", String::from_utf8_lossy(&date))
        });
        let fields = format!(
            "Content-Type: {content_type}\r\nContent-Length: {length}\r\n{modified}Accept-Ranges: bytes\r\n"
        );
        Ok(Self { identity, content_type, modified, fields, content })
    }

    /// The number of its bytes.
    pub fn length(&self) -> u64 {
        self.identity.length
    }

    /// The memory that it takes.
    pub fn memory_bytes(&self) -> usize {
        let bytes = match &self.content {
            Content::Memory(bytes) => bytes.len(),
            Content::File(_) => 0,
        };
        bytes + size_of::<Self>() + self.modified.len() + self.fields.len()
    }
}
