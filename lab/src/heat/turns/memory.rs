//! The memory of the members of a cell over their answers, and their threads: a sample of all of them before, between and after its cycles.
//! Pure.

use control::processes::tree::Snapshot;

/// The maximum number of samples that are stored of a start: more would not make the slope more certain.
const MOST_STORED: usize = 33;

/// Samples the memory and the threads of each member.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// The answers of each member since the first sample.
    answers: Vec<u64>,
    /// The samples of each member: its answers by then, and bytes.
    samples: Vec<Vec<[u64; 2]>>,
    /// The largest number of threads of each member.
    threads: Vec<u64>,
}

impl Memory {
    /// The state before the first sample, for this number of members.
    pub fn of(members: usize) -> Self {
        Self { answers: vec![0; members], samples: vec![Vec::new(); members], threads: vec![0; members] }
    }

    /// Adds the answers of a member's turn, including those that are not counted: they cost memory, too.
    pub fn answered(&mut self, member: usize, answers: u64) {
        if let Some(all) = self.answers.get_mut(member) {
            *all = all.saturating_add(answers);
        }
    }

    /// Adds a sample of all members. One without memory is gone, or its processes are not known.
    pub fn sample(&mut self, seen: &[Snapshot]) {
        for (member, seen) in seen.iter().enumerate().take(self.samples.len()) {
            let bytes = Some(seen.rss_bytes).filter(|bytes| *bytes > 0);
            self.samples[member].extend(bytes.map(|bytes| [self.answers[member], bytes]));
            self.threads[member] = self.threads[member].max(seen.threads);
        }
    }

    /// The largest number of threads that a member had in a sample. At one moment there may be fewer: a server may end a thread with its
    /// connection, and connections that wait for their next turn.
    pub fn most_threads(&self, member: usize) -> u64 {
        self.threads.get(member).copied().unwrap_or(0)
    }

    /// The samples of a member that are stored: all, or as many as there may be, evenly spaced, with the first and the last.
    pub fn stored(&self, member: usize) -> Vec<[u64; 2]> {
        let Some(samples) = self.samples.get(member) else { return Vec::new() };
        if samples.len() <= MOST_STORED {
            return samples.clone();
        }
        let last = samples.len() - 1;
        (0..MOST_STORED).map(|nth| samples[nth * last / (MOST_STORED - 1)]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_member_has_its_own_answers_and_bytes() {
        let mut memory = Memory::of(2);
        let seen = |rss_bytes, threads| Snapshot { rss_bytes, threads, ..Snapshot::default() };
        memory.sample(&[seen(100, 1), seen(0, 0)]);
        memory.answered(0, 7);
        memory.answered(1, 9);
        memory.answered(0, 1);
        memory.answered(5, 1);
        memory.sample(&[seen(140, 9), seen(50, 2)]);
        memory.sample(&[seen(0, 0), seen(60, 3)]);
        assert_eq!(memory.stored(0), [[0, 100], [8, 140]]);
        assert_eq!(memory.stored(1), [[9, 50], [9, 60]]);
        assert!(memory.stored(2).is_empty());
        assert_eq!([0, 1, 2].map(|member| memory.most_threads(member)), [9, 3, 0]);
    }

    #[test]
    fn of_many_samples_evenly_spaced_ones_are_stored_with_both_ends() {
        let mut memory = Memory::of(1);
        for n in 0..1001 {
            memory.sample(&[Snapshot { rss_bytes: n + 1, ..Snapshot::default() }]);
            memory.answered(0, 1);
        }
        let stored = memory.stored(0);
        assert_eq!((stored.len(), stored[0], stored[MOST_STORED - 1]), (MOST_STORED, [0, 1], [1000, 1001]));
        assert!(stored.windows(2).all(|pair| (31..=32).contains(&(pair[1][0] - pair[0][0]))), "{stored:?}");
    }
}
