//! Bytes that are being sent. The kernel reads them when the turn's entries are submitted; if it does not take them all, they are
//! still here for one turn more.

/// The place of a send's bytes, and its turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parcel {
    turn: u64,
    at: u32,
    length: u32,
}

impl Parcel {
    /// Whether it was sent in this turn.
    pub fn is_of(self, turn: u64) -> bool {
        self.turn == turn
    }
}

/// The bytes of this turn's sends and of the last one's.
pub struct Outbox {
    arenas: [Box<[u8]>; 2],
    used: usize,
    /// The turn, counted from 1, so that no parcel is of turn 0.
    turn: u64,
}

impl Outbox {
    /// An empty outbox with room for this number of bytes a turn; further bytes take a system call of their own.
    pub fn new(bytes: usize) -> Self {
        let arena = || vec![0; bytes].into_boxed_slice();
        Self { arenas: [arena(), arena()], used: 0, turn: 1 }
    }

    /// The current turn.
    pub fn turn(&self) -> u64 {
        self.turn
    }

    /// Copies `bytes`; they stay where they are until the turn after the next. `None`: no room.
    #[inline]
    pub fn put(&mut self, bytes: &[u8]) -> Option<(Parcel, *const u8)> {
        let arena = &mut self.arenas[(self.turn & 1) as usize];
        let room = arena.get_mut(self.used..self.used + bytes.len())?;
        room.copy_from_slice(bytes);
        let parcel = Parcel { turn: self.turn, at: self.used as u32, length: bytes.len() as u32 };
        self.used += bytes.len();
        Some((parcel, room.as_ptr()))
    }

    /// The part of a parcel that was not taken. `None`: it was sent too long ago.
    pub fn rest(&self, parcel: Parcel, taken: usize) -> Option<&[u8]> {
        let is_here = parcel.turn + 1 >= self.turn;
        let (at, end) = (parcel.at as usize, parcel.at as usize + parcel.length as usize);
        is_here.then(|| self.arenas[(parcel.turn & 1) as usize].get(at + taken..end)).flatten()
    }

    /// Begins the next turn; the bytes of the turn before the last are gone.
    pub fn next_turn(&mut self) {
        self.turn += 1;
        self.used = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sent_is_there_for_one_turn_more() {
        let mut outbox = Outbox::new(100);
        let (first, _) = outbox.put(b"first").unwrap();
        let (second, _) = outbox.put(b"second").unwrap();
        assert_eq!(outbox.rest(first, 2), Some(&b"rst"[..]));
        outbox.next_turn();
        outbox.put(b"another turn").unwrap();
        assert_eq!((outbox.rest(second, 0), outbox.rest(second, 6)), (Some(&b"second"[..]), Some(&b""[..])));
        assert!(first.is_of(1) && !first.is_of(2) && !Parcel::default().is_of(1));
        outbox.next_turn();
        assert_eq!(outbox.rest(first, 0), None);
    }

    #[test]
    fn a_full_turn_takes_no_more() {
        let mut outbox = Outbox::new(100);
        assert!(outbox.put(&[0; 100]).is_some() && outbox.put(b"x").is_none());
        outbox.next_turn();
        assert!(outbox.put(b"x").is_some());
    }
}
