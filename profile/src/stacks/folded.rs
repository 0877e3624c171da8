//! The text form of a profile (folded stacks), which other tools read as well: a line for each stack with its number of samples, such as
//! `main;handle;write 12`.

use super::Profile;
use std::collections::BTreeMap;

/// The largest number of stacks in a file.
const MOST_STACKS: usize = 1_000_000;

/// The largest number of frames in a stack.
const MOST_FRAMES: usize = 4_096;

/// The longest name, in bytes.
const LONGEST_NAME: usize = 16_384;

/// The largest number of samples in a file. Sums stay exact as floating-point numbers, and no product of them overflows.
const MOST_SAMPLES: u64 = 1 << 48;

/// The first line of a file that drome has written.
const TITLE: &str = "# drome profile 1";

/// Why a text is not a profile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FoldedError {
    /// A line without a count.
    #[error("line {0} is not a stack and a count, such as `main;handle;write 12`")]
    Line(usize),
    /// A line of drome's own with a value that can't be read.
    #[error(
        "line {0} has a setting that can't be read: write `has_kernel=true` or `false`, and each other one as `name=number`"
    )]
    Setting(usize),
    /// Too many stacks.
    #[error("the file has more than {} stacks", MOST_STACKS)]
    Stacks,
    /// A stack that is too deep.
    #[error("a stack has more than {} frames", MOST_FRAMES)]
    Frames,
    /// A name that is empty or too long.
    #[error("a name is empty or has more than {} bytes", LONGEST_NAME)]
    Name,
    /// Too many samples.
    #[error("the file has more samples than drome can add up ({})", MOST_SAMPLES)]
    Samples,
}

impl Profile {
    /// The text form. Lines that begin with `#` have what else is known; other tools take them for comments.
    pub fn to_folded(&self) -> String {
        let mut text = format!(
            "{TITLE}\n# period_ns={} lost={} unrooted={} has_kernel={} unattached_threads={}\n",
            self.period_ns, self.lost, self.unrooted, self.has_kernel, self.unattached_threads
        );
        for (stack, count) in &self.stacks {
            text.push_str(&format!("{} {count}\n", stack.join(";")));
        }
        text
    }

    /// Reads the text form, also as other tools write it. They don't state the interval, so `period_ns` is 0 then.
    ///
    /// # Errors
    /// When a line is not a stack and a count, or the file is larger than any profile.
    pub fn from_folded(text: &str) -> Result<Self, FoldedError> {
        let mut profile = Self::default();
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() {
                continue;
            }
            if let Some(comment) = line.strip_prefix('#') {
                profile.set(comment).ok_or(FoldedError::Setting(at + 1))?;
                continue;
            }
            let (names, count) = line.rsplit_once(' ').ok_or(FoldedError::Line(at + 1))?;
            let count: u64 = count.parse().map_err(|_| FoldedError::Line(at + 1))?;
            let stack = frames(names.trim_end())?;
            profile.samples = sum(profile.samples, count)?;
            add(&mut profile.stacks, stack, count)?;
        }
        Ok(profile)
    }

    /// Takes the settings of a comment; other words are ignored. `None` if a known one can't be read.
    fn set(&mut self, comment: &str) -> Option<()> {
        for (name, value) in comment.split_whitespace().filter_map(|word| word.split_once('=')) {
            match name {
                "period_ns" => self.period_ns = value.parse().ok()?,
                "lost" => self.lost = value.parse().ok()?,
                "unrooted" => self.unrooted = value.parse().ok()?,
                "has_kernel" => self.has_kernel = value.parse().ok()?,
                "unattached_threads" => self.unattached_threads = value.parse().ok()?,
                _ => {}
            }
        }
        Some(())
    }
}

fn add(stacks: &mut BTreeMap<Vec<String>, u64>, stack: Vec<String>, count: u64) -> Result<(), FoldedError> {
    *stacks.entry(stack).or_default() += count;
    if stacks.len() > MOST_STACKS { Err(FoldedError::Stacks) } else { Ok(()) }
}

/// The names of a stack, which are joined by `;`.
pub(super) fn frames(names: &str) -> Result<Vec<String>, FoldedError> {
    let mut frames = Vec::new();
    for name in names.split(';') {
        if name.is_empty() || name.len() > LONGEST_NAME {
            return Err(FoldedError::Name);
        }
        if frames.len() == MOST_FRAMES {
            return Err(FoldedError::Frames);
        }
        frames.push(name.to_owned());
    }
    Ok(frames)
}

/// The sum of samples, within what can be added up.
pub(crate) fn sum(a: u64, b: u64) -> Result<u64, FoldedError> {
    a.checked_add(b).filter(|sum| *sum <= MOST_SAMPLES).ok_or(FoldedError::Samples)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_written_is_read_again() {
        let stack = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let before = Profile {
            samples: 15,
            lost: 2,
            unrooted: 1,
            period_ns: 1_003_009,
            has_kernel: true,
            unattached_threads: 4,
            stacks: [(stack(&["main", "operator new(unsigned long)"]), 12), (stack(&["main"]), 3)].into(),
            ..Profile::default()
        };
        let text = before.to_folded();
        assert!(text.starts_with("# drome profile 1\n# period_ns=1003009 lost=2 "), "{text}");
        assert!(text.ends_with("\nmain 3\nmain;operator new(unsigned long) 12\n"), "{text}");
        assert_eq!(Profile::from_folded(&text).unwrap(), before);
    }

    #[test]
    fn files_of_other_tools_are_read() {
        let read = Profile::from_folded("\nmain;a  2\n# a comment\nmain;a 3\r\n").unwrap();
        assert_eq!((read.samples, read.period_ns), (5, 0));
        assert_eq!(read.stacks, [(vec!["main".to_owned(), "a".to_owned()], 5)].into());
    }

    #[test]
    fn what_is_no_profile_is_refused() {
        let why = |text: &str| Profile::from_folded(text).unwrap_err();
        assert_eq!(why("main 1\nmain"), FoldedError::Line(2));
        assert_eq!(why("main;a -1"), FoldedError::Line(1));
        assert_eq!(why("main;;a 1"), FoldedError::Name);
        assert_eq!(why(&format!("{} 1", "a".repeat(LONGEST_NAME + 1))), FoldedError::Name);
        assert_eq!(why(&format!("{}a 1", "a;".repeat(MOST_FRAMES))), FoldedError::Frames);
        assert_eq!(why(&format!("a {}", u64::MAX)), FoldedError::Samples);
        assert_eq!(why(&format!("a {MOST_SAMPLES}\nb 1")), FoldedError::Samples);
        assert_eq!(why("# period_ns=x\na 1"), FoldedError::Setting(1));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[a;# =0-9\n]{0,80}") {
            if let Ok(profile) = Profile::from_folded(&text) {
                prop_assert_eq!(profile.total(), profile.samples);
                prop_assert_eq!(Profile::from_folded(&profile.to_folded()).unwrap(), profile);
            }
        }
    }
}
