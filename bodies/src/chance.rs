//! Pseudo-random bytes: the upper halves of xorshift64* (Vigna, 2016), always from the same seed.

/// The generator's start. Any number but 0 would do.
const SEED: u64 = 0x9E37_79B9_7F4A_7C15;

/// The first `count` bytes of the sequence.
pub fn bytes(count: usize) -> Vec<u8> {
    let mut state = SEED;
    let words = std::iter::repeat_with(|| {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        state.wrapping_mul(0x2545_F491_4F6C_DD1D)
    });
    // The upper half of each word is more random than the lower.
    words.flat_map(|word| ((word >> 32) as u32).to_le_bytes()).take(count).collect()
}
