//! The memory of the members of a cell over their answers: a look at all of them before, between and after its cycles. Pure.

/// The most looks that are stored of a start: a slope of more is not known better.
const MOST_KEPT: usize = 33;

/// Looks at the memory of each member.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// The answers of each member since the first look.
    answers: Vec<u64>,
    /// The looks at each member: its answers by then, and bytes.
    looks: Vec<Vec<[u64; 2]>>,
}

impl Memory {
    /// No look yet at so many members.
    pub fn of(members: usize) -> Self {
        Self { answers: vec![0; members], looks: vec![Vec::new(); members] }
    }

    /// Adds the answers of a member's turn. Those that are not counted belong to them: they cost memory, too.
    pub fn answered(&mut self, member: usize, answers: u64) {
        if let Some(all) = self.answers.get_mut(member) {
            *all = all.saturating_add(answers);
        }
    }

    /// Adds a look at all members; `None`: one whose memory is not known.
    pub fn look(&mut self, bytes: &[Option<u64>]) {
        for ((looks, answers), bytes) in self.looks.iter_mut().zip(&self.answers).zip(bytes) {
            looks.extend(bytes.map(|bytes| [*answers, bytes]));
        }
    }

    /// The looks at a member that are stored: all, or as many as there may be, evenly spaced, with the first and the last.
    pub fn kept(&self, member: usize) -> Vec<[u64; 2]> {
        let Some(looks) = self.looks.get(member) else { return Vec::new() };
        if looks.len() <= MOST_KEPT {
            return looks.clone();
        }
        let last = looks.len() - 1;
        (0..MOST_KEPT).map(|nth| looks[nth * last / (MOST_KEPT - 1)]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_member_has_its_own_answers_and_bytes() {
        let mut memory = Memory::of(2);
        memory.look(&[Some(100), None]);
        memory.answered(0, 7);
        memory.answered(1, 9);
        memory.answered(0, 1);
        memory.answered(5, 1);
        memory.look(&[Some(140), Some(50)]);
        memory.look(&[None, Some(60)]);
        assert_eq!(memory.kept(0), [[0, 100], [8, 140]]);
        assert_eq!(memory.kept(1), [[9, 50], [9, 60]]);
        assert!(memory.kept(2).is_empty());
    }

    #[test]
    fn of_many_looks_evenly_spaced_ones_are_kept_with_both_ends() {
        let mut memory = Memory::of(1);
        for n in 0..1001 {
            memory.look(&[Some(n)]);
            memory.answered(0, 1);
        }
        let kept = memory.kept(0);
        assert_eq!((kept.len(), kept[0], kept[MOST_KEPT - 1]), (MOST_KEPT, [0, 0], [1000, 1000]));
        assert!(kept.windows(2).all(|pair| (31..=32).contains(&(pair[1][0] - pair[0][0]))), "{kept:?}");
    }
}
