//! The entries that are written to the ring, and the tokens that identify their completions.

use super::pool::GROUP;
use crate::Slot;
use crate::wanted::{HEAD_BYTES, MAX_DROP_BYTES};
use io_uring::types::Fd;
use io_uring::{opcode, squeue};

/// `IORING_ENTER_GETEVENTS` (`include/uapi/linux/io_uring.h`): lets the kernel do the work that it put off.
pub const GET_EVENTS: u32 = 1;

/// `IORING_RECVSEND_POLL_FIRST`: nothing can be there yet, so wait before trying.
const POLL_FIRST: u16 = 1;

/// What an entry asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Op {
    /// Nothing that is waited for.
    Silent,
    Connect,
    Accept,
    /// All bytes, as they come.
    Receive,
    /// The first bytes of an answer whose body is dropped.
    Head,
    /// A number of bytes, which are dropped.
    Drop,
    Send,
    /// A report when there is room for bytes that wait.
    Room,
}

const OPS: [Op; 8] =
    [Op::Silent, Op::Connect, Op::Accept, Op::Receive, Op::Head, Op::Drop, Op::Send, Op::Room];

/// The origin of a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    pub op: Op,
    /// The generation of the connection; 24 bits of it come back.
    pub generation: u32,
    pub slot: Slot,
}

const GENERATIONS: u32 = 0xff_ffff;

impl Token {
    /// Whether `generation` is the one that was asked for.
    pub fn is_of(self, generation: u32) -> bool {
        self.generation == generation & GENERATIONS
    }
}

impl From<Token> for u64 {
    fn from(token: Token) -> Self {
        let generation = token.generation & GENERATIONS;
        (token.op as u64) << 56 | u64::from(generation) << 32 | u64::from(token.slot)
    }
}

impl From<u64> for Token {
    fn from(data: u64) -> Self {
        let op = OPS.get((data >> 56) as usize).copied().unwrap_or(Op::Silent);
        Self { op, generation: (data >> 32) as u32 & GENERATIONS, slot: data as Slot }
    }
}

/// Marks an entry whose success need not be reported.
pub fn silent(entry: squeue::Entry) -> squeue::Entry {
    let token = Token { op: Op::Silent, generation: 0, slot: 0 };
    entry.flags(squeue::Flags::SKIP_SUCCESS).user_data(token.into())
}

/// Sends everything at once or reports how much was sent. The kernel never sends the rest later, so the bytes need not stay.
#[inline]
pub fn send(send: opcode::Send, token: Token) -> squeue::Entry {
    let entry = send.flags(libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT | libc::MSG_WAITALL).build();
    entry.flags(squeue::Flags::SKIP_SUCCESS).user_data(token.into())
}

/// Makes the receive that `op` names.
pub fn receive(op: Op, fd: Fd, skip: u64, token: Token) -> squeue::Entry {
    let entry = match op {
        Op::Head => opcode::Recv::new(fd, std::ptr::null_mut(), HEAD_BYTES as u32)
            .buf_group(GROUP)
            .ioprio(POLL_FIRST)
            .build()
            .flags(squeue::Flags::BUFFER_SELECT),
        // With MSG_TRUNC, TCP drops the bytes instead of copying them: there is no memory to name (tcp(7)).
        Op::Drop => opcode::Recv::new(fd, std::ptr::null_mut(), skip.min(MAX_DROP_BYTES) as u32)
            .flags(libc::MSG_TRUNC)
            .build(),
        _ => opcode::RecvMulti::new(fd, GROUP).build(),
    };
    entry.user_data(token.into())
}

/// Passes on an error only where the ring itself fails: not when time is up, when a signal came, or when the kernel wants its
/// completions to be read first.
pub fn unless_harmless(entered: std::io::Result<usize>) -> std::io::Result<()> {
    match entered {
        Err(error) => match error.raw_os_error() {
            Some(libc::ETIME | libc::EINTR | libc::EBUSY | libc::EAGAIN) => Ok(()),
            _ => Err(error),
        },
        Ok(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_comes_back_as_it_was() {
        for op in OPS {
            let token = Token { op, generation: 0x12_3456, slot: 0x89ab_cdef };
            assert_eq!(Token::from(u64::from(token)), token);
        }
        let token = Token { op: Op::Send, generation: 0xff12_3456, slot: 1 };
        assert!(Token::from(u64::from(token)).is_of(0x0012_3456));
    }
}
