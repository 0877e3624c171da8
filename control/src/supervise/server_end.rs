//! The sentence on a server's end. It is written and read here only: stores, reports and links to other machines carry it as a text.

/// How it begins. Then follows how the server ended, in the words of `ExitStatus`.
const BEGINNING: &str = "it ended (";

/// The sentence on an end that the guard reported in these words.
pub(super) fn sentence(exit: &str) -> String {
    format!("{BEGINNING}{exit})")
}

/// Whether a contender's failure is the end of a server for which the kernel may be to blame, because memory was used up: it was killed, or it
/// ended by itself, perhaps because one of its processes was killed. Signals such as SIGSEGV are its own doing.
pub fn may_be_by_the_kernel(why: &str) -> bool {
    // After the semicolon are lines of its log.
    let how = why.split(';').next().unwrap_or(why);
    let Some((_, exit)) = how.split_once(BEGINNING) else { return false };
    !exit.starts_with("signal: ") || exit.starts_with("signal: 9 ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn what_is_written_of_an_end_is_understood() {
        let end = |script: &str| {
            let status = Command::new("sh").args(["-c", script]).status().unwrap();
            let log = "; the last lines of its log, /x:\n    got signal: 15, then it ended (signal: 11)";
            format!("under load {}{log}", sentence(&status.to_string()))
        };
        assert!(may_be_by_the_kernel(&end("kill -KILL $$")) && may_be_by_the_kernel(&end("exit 1")));
        assert!(!may_be_by_the_kernel(&end("kill -SEGV $$")) && !may_be_by_the_kernel(&end("kill -TERM $$")));
        assert!(!may_be_by_the_kernel("it gave no correct answer; it ended (signal: 9 (SIGKILL))"));
    }
}
